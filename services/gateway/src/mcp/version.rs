//! The protocol's revision, as a client names it after the handshake.

use axum::http::HeaderMap;
use contract::mcp::VERSIONS;

use crate::mcp::denied::McpAccessError;

const HEADER: &str = "mcp-protocol-version";

/// Refuses a revision that the servers do not speak. Without the header the client speaks an old one.
pub(super) fn check_version(headers: &HeaderMap) -> Result<(), McpAccessError> {
    let is_known =
        |value: &axum::http::HeaderValue| VERSIONS.iter().any(|version| value == version);
    if headers.get_all(HEADER).iter().all(is_known) {
        Ok(())
    } else {
        Err(McpAccessError::UnsupportedVersion)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_that_is_not_spoken_is_refused_and_none_is_not() {
        let with = |version: &str| {
            HeaderMap::from_iter([(HEADER.parse().unwrap(), version.parse().unwrap())])
        };
        assert_eq!(check_version(&HeaderMap::new()), Ok(()));
        for version in VERSIONS {
            assert_eq!(check_version(&with(version)), Ok(()));
        }
        for version in ["2026-07-28", "", "2025-11-25, 2025-06-18"] {
            assert_eq!(
                check_version(&with(version)),
                Err(McpAccessError::UnsupportedVersion),
                "{version}"
            );
        }
    }
}
