//! Whom a request is for. What names no host, several, or nonsense is refused before anybody acts on it (RFC 9112, section 3.2): two
//! programs on a request's way could each take it for another's.

use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderValue, StatusCode, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

const REFUSED: &str = "A request names its host in one Host header.\n";

/// Refuses a request whose `Host` is missing, given twice, or malformed.
pub(super) async fn check_host(request: Request, next: Next) -> Response {
    if is_acceptable(&request) {
        return next.run(request).await;
    }
    // Where one request ends and the next begins is as uncertain then.
    let close = [(header::CONNECTION, HeaderValue::from_static("close"))];
    (StatusCode::BAD_REQUEST, close, REFUSED).into_response()
}

fn is_acceptable(request: &Request) -> bool {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) => request.version() <= Version::HTTP_10,
        (Some(host), None) => host.to_str().is_ok_and(is_host),
        (Some(_), Some(_)) => false,
    }
}

/// A host, perhaps with a port. An empty one is what a client sends whose target has none.
fn is_host(text: &str) -> bool {
    text.is_empty()
        || text.parse::<Authority>().is_ok_and(|authority| {
            let host = authority.host();
            // A comma may stand in a name by RFC 3986. Here it is two headers that somebody has joined.
            let is_one = !host.is_empty() && !host.contains(',');
            let rest = authority.as_str().strip_prefix(host);
            let is_port = |rest: &str| {
                rest.is_empty()
                    || rest
                        .strip_prefix(':')
                        .is_some_and(|port| port.is_empty() || port.parse::<u16>().is_ok())
            };
            is_one && rest.is_some_and(is_port)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_a_name_or_an_address_perhaps_with_a_port() {
        for good in [
            "",
            "x",
            "api.example.com",
            "127.0.0.1:8080",
            "[::1]",
            "[2001:db8::1]:443",
            "example.com:",
        ] {
            assert!(is_host(good), "{good}");
        }
        for bad in [
            "a b", "user@x", "x/y", "x:port", "x:99999", ":80", "x,y", "http://x", "[::1", "x?y",
            "a@b@c", "x#y",
        ] {
            assert!(!is_host(bad), "{bad}");
        }
    }
}
