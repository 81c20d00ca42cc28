//! A URL that may be asked at all.

use std::fmt;
use std::str::FromStr;

use url::{Host, ParseError, Url};

/// Characters of a URL.
const URL_CHARS: usize = 2_000;

/// An https or http URL with a host and without user or password. Whether its host may be connected to is the
/// [`TargetPolicy`](crate::TargetPolicy)'s to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetUrl {
    url: Url,
    host: Host,
    port: u16,
}

/// Why a text is no target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetUrlError {
    /// Over the limit.
    #[error("the URL has more than {URL_CHARS} characters, as it is written or as it is sent")]
    TooLong,
    /// Not a URL; the sentence says why.
    #[error("it is not a URL: {0}")]
    NotAUrl(String),
    /// Neither https nor http.
    #[error("the URL must begin with https://")]
    Scheme,
    /// It has a user or a password in it.
    #[error("the URL must not contain a user name or password")]
    UserInfo,
}

impl TargetUrl {
    /// Reads a URL as browsers do: numbers in any notation are addresses, names in any alphabet become ASCII.
    ///
    /// # Errors
    /// [`TargetUrlError`].
    pub fn parse(text: &str) -> Result<Self, TargetUrlError> {
        if text.chars().nth(URL_CHARS).is_some() {
            return Err(TargetUrlError::TooLong);
        }
        let mut url = Url::parse(text.trim()).map_err(|error| match error {
            // It begins with no scheme.
            ParseError::RelativeUrlWithoutBase => TargetUrlError::NotAUrl(
                "it must begin with https://, as https://example.com/hook does".to_owned(),
            ),
            error => TargetUrlError::NotAUrl(error.to_string()),
        })?;
        if !matches!(url.scheme(), "https" | "http") {
            return Err(TargetUrlError::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(TargetUrlError::UserInfo);
        }
        url.set_fragment(None);
        // As it is kept and read again: encoded, it may have become longer.
        if url.as_str().len() > URL_CHARS {
            return Err(TargetUrlError::TooLong);
        }
        let no_host = || TargetUrlError::NotAUrl("it has no host".to_owned());
        let host = match url.host().ok_or_else(no_host)?.to_owned() {
            // With and without the final dot it is the same name.
            Host::Domain(name) => Host::Domain(name.trim_end_matches('.').to_owned()),
            address => address,
        };
        if matches!(&host, Host::Domain(name) if name.is_empty()) {
            return Err(no_host());
        }
        let port = url.port_or_known_default().ok_or_else(no_host)?;
        Ok(Self { url, host, port })
    }

    /// The URL, without a fragment.
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// Its host, for people and for counting.
    pub fn host_name(&self) -> String {
        self.host.to_string()
    }

    /// Its host and port: what one server answers for.
    pub fn host_and_port(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Where a redirect from here leads; `None` when that is no target.
    pub(crate) fn join(&self, location: &str) -> Option<Self> {
        Self::parse(self.url.join(location).ok()?.as_str()).ok()
    }

    /// Its host; a name without a final dot.
    pub(crate) const fn host(&self) -> &Host {
        &self.host
    }

    /// Its port, or its scheme's.
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// Whether it is asked over TLS.
    pub(crate) fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// What goes into the request line.
    pub(crate) fn path_and_query(&self) -> &str {
        &self.url[url::Position::BeforePath..url::Position::AfterQuery]
    }

    /// What goes into the `Host` header: the port only when it is not the scheme's.
    pub(crate) fn host_header(&self) -> String {
        match self.url.port() {
            Some(port) => format!("{}:{port}", self.host),
            None => self.host.to_string(),
        }
    }
}

impl FromStr for TargetUrl {
    type Err = TargetUrlError;

    fn from_str(text: &str) -> Result<Self, TargetUrlError> {
        Self::parse(text)
    }
}

impl fmt::Display for TargetUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_and_how_it_is_called() {
        for (text, header, path) in [
            ("https://example.com", "example.com", "/"),
            ("https://EXAMPLE.com:443/a?b=c#d", "example.com", "/a?b=c"),
            ("https://example.com.:8443/", "example.com:8443", "/"),
            (
                "https://bücher.example/ü",
                "xn--bcher-kva.example",
                "/%C3%BC",
            ),
            (
                "https://[2606:4700::1111]:8443/",
                "[2606:4700::1111]:8443",
                "/",
            ),
            ("http://0x8.8.8.8/", "8.8.8.8", "/"),
        ] {
            let target = TargetUrl::parse(text).unwrap();
            assert_eq!(
                (target.host_header().as_str(), target.path_and_query()),
                (header, path),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_target() {
        let long = format!("https://example.com/{}", "a".repeat(URL_CHARS));
        // It would be kept, and never asked, because what is kept could not be read again.
        let longer_when_encoded = format!("https://example.com/{}", "é".repeat(URL_CHARS / 2));
        for text in [
            "",
            "example.com",
            "/hook",
            "https://",
            "https://./",
            "ftp://example.com/",
            "file:///etc/passwd",
            "https://user@example.com/",
            "https://user:password@example.com/",
            "https://:password@example.com/",
            "https://[fe80::1%25eth0]/",
            "https://[fe80::1%eth0]/",
            "https://1.2.3.256/",
            "https://exa mple.com/",
            "https://example.com:99999/",
            &long,
            &longer_when_encoded,
        ] {
            assert!(TargetUrl::parse(text).is_err(), "{text}");
        }
    }
}
