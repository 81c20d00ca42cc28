//! Which web pages may call: a browser tells where the page that makes it ask came from, and a page cannot lie there.
//! Programs send no origin.

use axum::http::{HeaderMap, header};
use url::{Host, Url};

use crate::mcp::denied::McpAccessError;

/// Lets a request in that comes from no page, from one on the reader's own machine, or from an allowed origin. The host
/// that was asked for does not count: a page can have its own name resolve to us.
pub(super) fn check_origin(headers: &HeaderMap, allowed: &[String]) -> Result<(), McpAccessError> {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let is_allowed = origins.all(|origin| {
        origin
            .to_str()
            .is_ok_and(|origin| allowed.iter().any(|allowed| allowed == origin) || is_local(origin))
    });
    if is_allowed {
        Ok(())
    } else {
        Err(McpAccessError::ForeignOrigin)
    }
}

fn is_local(origin: &str) -> bool {
    match Url::parse(origin).as_ref().map(Url::host) {
        Ok(Some(Host::Domain(name))) => name == "localhost",
        Ok(Some(Host::Ipv4(address))) => address.is_loopback(),
        Ok(Some(Host::Ipv6(address))) => address.is_loopback(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_all(origins: &[&'static str]) -> Result<(), McpAccessError> {
        let mut headers = HeaderMap::new();
        for origin in origins {
            headers.append(header::ORIGIN, origin.parse().unwrap());
        }
        check_origin(&headers, &["https://agent.example.com".to_owned()])
    }

    #[test]
    fn a_foreign_origin_is_refused_and_none_or_a_local_or_allowed_one_is_not() {
        assert_eq!(check_all(&[]), Ok(()));
        for local in [
            "http://localhost:6274",
            "https://localhost",
            "http://127.0.0.1:8080",
            "http://[::1]:3000",
        ] {
            assert_eq!(check_all(&[local]), Ok(()), "{local}");
        }
        assert_eq!(check_all(&["https://agent.example.com"]), Ok(()));
        for foreign in [
            "null",
            "",
            "http://evil.example.com",
            "https://agent.example.com.evil.example.com",
            "http://agent.example.com",
            "http://localhost.evil.example.com",
            "http://127.0.0.1.evil.example.com",
            "localhost",
        ] {
            assert_eq!(
                check_all(&[foreign]),
                Err(McpAccessError::ForeignOrigin),
                "{foreign}"
            );
        }
        assert_eq!(
            check_all(&["http://localhost", "http://evil.example.com"]),
            Err(McpAccessError::ForeignOrigin)
        );
    }
}
