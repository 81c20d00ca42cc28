//! Where an action comes from. Browsers say it with every form that they send, and only pages of this console may.

use axum::extract::{Request, State};
use axum::http::header::{HeaderName, ORIGIN, REFERER};
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use url::{Host, Origin, Url};

use crate::page_error::PageError;

/// The header in which browsers say whether a request comes from a page of the same origin.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Refuses what changes something and does not come from a page of the console at this address.
pub(crate) async fn check_origin(
    State(console_url): State<String>,
    request: Request,
    next: Next,
) -> Response {
    let is_reading = matches!(
        *request.method(),
        Method::GET | Method::HEAD | Method::OPTIONS
    );
    if is_reading || is_own(request.headers(), &console_url) {
        return next.run(request).await;
    }
    PageError::Foreign(console_url).into_response()
}

/// Whether a request was sent by another site's page, or by no page: then it shows no notice of what was done.
pub(crate) fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    headers
        .get(FETCH_SITE)
        .is_some_and(|site| site != "same-origin")
}

/// Whether an action comes from this console's own page. All that the browser says must agree, and it must say
/// something: where it comes from, or at least that it is the same origin.
fn is_own(headers: &HeaderMap, console_url: &str) -> bool {
    let site = headers
        .get(FETCH_SITE)
        .map(|site| site == "same-origin" || site == "none");
    let source = headers.get(ORIGIN).or_else(|| headers.get(REFERER));
    let is_ours = source.map(|source| {
        source
            .to_str()
            .is_ok_and(|source| is_same(source, console_url))
    });
    match (site, is_ours) {
        (None, None) => false,
        (site, is_ours) => site != Some(false) && is_ours != Some(false),
    }
}

/// Whether two addresses are of one origin. The names of this machine for itself are the same.
fn is_same(one: &str, other: &str) -> bool {
    let (Ok(one), Ok(other)) = (Url::parse(one), Url::parse(other)) else {
        return false;
    };
    let same = |one: Origin, other: Origin| match (one, other) {
        (
            Origin::Tuple(scheme, host, port),
            Origin::Tuple(other_scheme, other_host, other_port),
        ) => {
            let is_same_host =
                host == other_host || (is_loopback(&host) && is_loopback(&other_host));
            scheme == other_scheme && is_same_host && port == other_port
        }
        _ => false,
    };
    same(one.origin(), other.origin())
}

fn is_loopback(host: &Host) -> bool {
    match host {
        Host::Domain(name) => name == "localhost",
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_own(headers: &[(&'static str, &'static str)]) -> bool {
        let headers = headers.iter().map(|(name, value)| {
            (
                HeaderName::from_static(name),
                axum::http::HeaderValue::from_static(value),
            )
        });
        super::is_own(&headers.collect(), "https://console.example")
    }

    #[test]
    fn an_action_is_ours_when_all_that_the_browser_says_agrees() {
        let (ours, evil) = ("https://console.example", "https://evil.example");
        assert!(is_own(&[
            ("origin", ours),
            ("sec-fetch-site", "same-origin")
        ]));
        assert!(is_own(&[("origin", ours)]));
        assert!(is_own(&[("sec-fetch-site", "same-origin")]));
        assert!(is_own(&[("referer", "https://console.example/keys?a=b")]));
        for foreign in [
            &[][..],
            &[("origin", evil)],
            &[("origin", "null")],
            &[("origin", "https://console.example:444")],
            &[("origin", "http://console.example")],
            &[("origin", evil), ("sec-fetch-site", "same-origin")],
            &[("origin", ours), ("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "same-site")],
            &[("referer", "https://evil.example/https://console.example")],
            &[("referer", "")],
        ] {
            assert!(!is_own(foreign), "{foreign:?}");
        }
    }

    #[test]
    fn the_names_of_this_machine_for_itself_are_one_host() {
        assert!(is_same("http://localhost:8090", "http://127.0.0.1:8090"));
        assert!(is_same("http://[::1]:8090/keys", "http://localhost:8090/"));
        assert!(!is_same("http://localhost:8091", "http://127.0.0.1:8090"));
        assert!(!is_same(
            "http://localhost.example:8090",
            "http://127.0.0.1:8090"
        ));
    }
}
