//! What a request says of itself in its headers, whatever the API.

use axum::http::{HeaderMap, HeaderValue, header};
use model::key::PresentedKey;

/// What a client that was refused for its rate is told to wait, in seconds.
pub(crate) const RETRY_AFTER: HeaderValue = HeaderValue::from_static("60");

/// The key in `Authorization`; an empty one when the header holds something else. `None` without the header.
pub(crate) fn bearer_key(headers: &HeaderMap) -> Option<PresentedKey> {
    let value = headers
        .get(header::AUTHORIZATION)?
        .to_str()
        .unwrap_or_default();
    let (scheme, key) = value.trim().split_once(' ').unwrap_or_default();
    Some(PresentedKey::new(
        if scheme.eq_ignore_ascii_case("bearer") {
            key
        } else {
            ""
        },
    ))
}
