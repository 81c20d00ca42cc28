//! U+0000 in what people send: no column of the database can hold it, so no page gets to see it. Addresses and forms are
//! looked at here, once for all routes. Forms that may bring a file are read by who knows what stands beside the file
//! (`multipart.rs`, and the reader of do-not-mail files), so that nothing that was typed is lost over a file of another kind.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt as _;

use crate::page_error::PageError;

/// The character as addresses and forms write it.
const ENCODED: &str = "%00";

/// Answers a request that has the character in its address or its form, and hands on all others. A form is looked at
/// while it arrives: reading it fails at the character, so that no handler gets it whole.
pub(crate) async fn refuse_null_characters(request: Request, next: Next) -> Response {
    if let Some(failure) = find_in_address(request.uri()) {
        return failure.into_response();
    }
    let was_found = Arc::new(AtomicBool::new(false));
    let response = next
        .run(request_with_scanned_body(request, &was_found))
        .await;
    // What succeeded did so without the rest of its form.
    let has_failed = response.status().is_client_error() || response.status().is_server_error();
    if has_failed && was_found.load(Ordering::Relaxed) {
        return PageError::Invalid(IN_FORM.to_owned()).into_response();
    }
    response
}

const IN_FORM: &str = "Nothing was changed: what was sent has the character U+0000 in it, which cannot be kept. A file that \
                       is not in UTF-8 often has many: save it in that encoding and send it again.";
const IN_QUERY: &str =
    "Nothing is found: what was asked for has the character U+0000 in it, and nothing here has.";

fn find_in_address(uri: &Uri) -> Option<PageError> {
    if uri.path().contains(ENCODED) {
        return Some(PageError::NotFound);
    }
    let is_asked_for = uri.query().is_some_and(|query| query.contains(ENCODED));
    is_asked_for.then(|| PageError::Invalid(IN_QUERY.to_owned()))
}

fn request_with_scanned_body(request: Request, was_found: &Arc<AtomicBool>) -> Request {
    if is_multipart(request.headers()) {
        return request;
    }
    let (parts, body) = request.into_parts();
    let mut scanner = NulScanner { matched: 0 };
    let was_found = was_found.clone();
    let scanned = body.into_data_stream().map(move |piece| {
        let piece: Bytes = piece.map_err(io::Error::other)?;
        if scanner.finds_character(&piece) {
            was_found.store(true, Ordering::Relaxed);
            return Err(io::Error::other("the form has U+0000 in it"));
        }
        Ok(piece)
    });
    Request::from_parts(parts, Body::from_stream(scanned))
}

fn is_multipart(headers: &HeaderMap) -> bool {
    let name = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    name.is_some_and(|name| {
        name.trim_start()
            .to_ascii_lowercase()
            .starts_with("multipart/")
    })
}

/// Looks for the character in the bytes of a form that arrive piece by piece.
struct NulScanner {
    /// How many bytes of [`ENCODED`] came last.
    matched: usize,
}

impl NulScanner {
    fn finds_character(&mut self, piece: &[u8]) -> bool {
        piece.contains(&0) || piece.iter().any(|byte| self.completes_code(*byte))
    }

    fn completes_code(&mut self, byte: u8) -> bool {
        self.matched = match (self.matched, byte) {
            (_, b'%') => 1,
            (1 | 2, b'0') => self.matched + 1,
            _ => 0,
        };
        self.matched == ENCODED.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_character_is_found_wherever_pieces_end() {
        let found = |pieces: &[&str]| {
            let mut scanner = NulScanner { matched: 0 };
            pieces
                .iter()
                .any(|piece| scanner.finds_character(piece.as_bytes()))
        };
        for pieces in [
            &["a=%00"][..],
            &["a=%", "00"],
            &["a=%0", "0&b"],
            &["a=%%00"],
            &["a=%0%00"],
            &["a", "\0"],
        ] {
            assert!(found(pieces), "{pieces:?}");
        }
        for pieces in [
            &["a=%20%0A0"][..],
            &["a=%0", "A", "00"],
            &["%", "25", "00"],
            &["00", "%"],
        ] {
            assert!(!found(pieces), "{pieces:?}");
        }
        assert!(found(&["a\0b"]));
    }

    #[test]
    fn an_address_is_refused_in_its_path_and_its_query() {
        let of = |address: &str| find_in_address(&address.parse().unwrap());
        assert!(matches!(of("/password/%00"), Some(PageError::NotFound)));
        assert!(matches!(
            of("/campaigns?after=%00"),
            Some(PageError::Invalid(_))
        ));
        assert!(of("/campaigns?after=%2500").is_none());
    }
}
