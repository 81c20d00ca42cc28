//! Links.

use serde::Deserialize;
use url::Url;

use crate::limits::LINK_CHARS;
use crate::template::{Rendered, Template};

/// An https link, for what prints and what a QR code falls back to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct SecureLink(Url);

/// Where a QR code leads: a template that becomes an http or https link.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Destination(Template);

impl SecureLink {
    /// The link.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl Destination {
    /// The template.
    pub const fn template(&self) -> &Template {
        &self.0
    }

    /// The link with a recipient's values; `None` when a needed field is empty or what comes of it is no http
    /// or https link, so that the fallback link prints.
    pub fn render<'v>(&self, lookup: impl Fn(&str) -> Option<&'v str>) -> Option<String> {
        let Rendered { text, empty_fields } = self.0.render(lookup);
        (empty_fields.is_empty() && web_link(&text).is_ok()).then_some(text)
    }
}

/// Reads an http or https link.
fn web_link(text: &str) -> Result<Url, String> {
    if text.chars().nth(LINK_CHARS).is_some() {
        return Err(format!("the link has more than {LINK_CHARS} characters"));
    }
    if text.contains(|character: char| character.is_whitespace() || character.is_control()) {
        return Err(format!("the link {text:?} has a space in it"));
    }
    let url = Url::parse(text).map_err(|error| format!("{text:?} is not a link: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("the link {text:?} must begin with https:// or http://"));
    }
    Ok(url)
}

impl TryFrom<String> for SecureLink {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let url = web_link(&text)?;
        if url.scheme() != "https" {
            return Err(format!("the link {text:?} must begin with https://"));
        }
        Ok(Self(url))
    }
}

impl TryFrom<String> for Destination {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let template = Template::parse(&text).map_err(|error| error.to_string())?;
        // A destination that begins with a field is whatever the recipient's value is; any other is tried
        // with a value that can stand everywhere in a link, even for a port.
        if template.fields().next().is_none() || !template.leading_text().is_empty() {
            web_link(&template.render(|_| Some("1")).text)?;
        }
        Ok(Self(template))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn destination(text: &str) -> Result<Destination, String> {
        Destination::try_from(text.to_owned())
    }

    #[test]
    fn a_fallback_link_is_https_with_a_host() {
        assert!(SecureLink::try_from("https://example.com/a?b=c#d".to_owned()).is_ok());
        for text in [
            "",
            "example.com",
            "http://example.com",
            "https://",
            "ftp://example.com",
            "https://example.com/a b",
        ] {
            assert!(SecureLink::try_from(text.to_owned()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_destination_is_checked_as_far_as_it_is_known() {
        for text in
            ["http://example.com", "https://{{domain}}/x?name={{first_name}}", "{{link}}", "{{link|x}}/y"]
        {
            assert!(destination(text).is_ok(), "{text}");
        }
        for text in ["", "javascript:{{code}}", "mailto:{{email}}", "https://{{domain", "/{{path}}"] {
            assert!(destination(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_destination_that_is_no_link_for_a_recipient_is_none() {
        let whole = destination("{{link}}").unwrap();
        assert_eq!(whole.render(|_| Some("https://a.example/b")).as_deref(), Some("https://a.example/b"));
        assert_eq!(whole.render(|_| Some("javascript:alert(1)")), None);
        let part = destination("https://example.com/{{code}}").unwrap();
        assert_eq!(part.render(|_| None), None);
        assert_eq!(part.render(|_| Some("7")).as_deref(), Some("https://example.com/7"));
    }
}
