//! The one place where an outcome of the push API becomes HTTP (contract: Errors, Push API).

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use contract::push::PushError;
use serde::Serialize;
use serde_json::json;

use crate::admission::RETRY_AFTER;
use crate::expand::ACCEPTED_ENCODINGS;

/// How a client without a key is told to bring one.
pub(crate) const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"Pillarbox\"");

/// Header of an answer that an earlier attempt was given.
pub(crate) const REPLAYED: &str = "idempotency-replayed";

/// A successful answer.
pub(crate) struct ReplayableAnswer {
    /// JSON.
    pub body: Bytes,
    /// Whether it was stored by an earlier attempt.
    pub is_replayed: bool,
}

impl ReplayableAnswer {
    /// A new answer. Answers hold texts and numbers, which can always be written.
    pub(crate) fn new(answer: &impl Serialize) -> Self {
        let body = serde_json::to_vec(answer)
            .map(Bytes::from)
            .unwrap_or_default();
        Self {
            body,
            is_replayed: false,
        }
    }
}

pub(crate) fn build_response(result: Result<ReplayableAnswer, PushError>) -> Response {
    match result {
        Ok(ReplayableAnswer { body, is_replayed }) => {
            let mut response = json_response(StatusCode::OK, body);
            if is_replayed {
                response
                    .headers_mut()
                    .insert(REPLAYED, HeaderValue::from_static("true"));
            }
            response
        }
        Err(error) => {
            let mut response = json_response(error_status(&error), error_body(&error));
            match error {
                PushError::InvalidKey => {
                    response
                        .headers_mut()
                        .insert(header::WWW_AUTHENTICATE, CHALLENGE);
                }
                PushError::RateLimited => {
                    response
                        .headers_mut()
                        .insert(header::RETRY_AFTER, RETRY_AFTER);
                }
                PushError::UnsupportedEncoding => {
                    response
                        .headers_mut()
                        .insert(header::ACCEPT_ENCODING, ACCEPTED_ENCODINGS);
                }
                _ => {}
            }
            response
        }
    }
}

pub(crate) fn error_status(error: &PushError) -> StatusCode {
    match error {
        PushError::InvalidJson(_)
        | PushError::InvalidRequest(_)
        | PushError::MissingIdempotencyKey
        | PushError::InvalidIdempotencyKey
        | PushError::TooManyFields { .. }
        | PushError::InvalidSyncId
        | PushError::InvalidType
        | PushError::InvalidCursor
        | PushError::InvalidLimit => StatusCode::BAD_REQUEST,
        PushError::InvalidKey => StatusCode::UNAUTHORIZED,
        PushError::IntegrationUnavailable => StatusCode::FORBIDDEN,
        PushError::SyncNotFound | PushError::ContactNotFound => StatusCode::NOT_FOUND,
        PushError::NoOpenSync
        | PushError::SyncInProgress(_)
        | PushError::FieldLocked { .. }
        | PushError::IdempotencyKeyReused
        | PushError::InProgress
        | PushError::RemovalGuard { .. } => StatusCode::CONFLICT,
        PushError::TooManyRecords { .. } | PushError::PayloadTooLarge => {
            StatusCode::PAYLOAD_TOO_LARGE
        }
        PushError::UnsupportedEncoding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        PushError::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        PushError::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
        PushError::DeadlinePassed => StatusCode::GATEWAY_TIMEOUT,
    }
}

fn error_body(error: &PushError) -> Bytes {
    let mut body = json!({"error": {"code": error.code(), "message": error.to_string()}});
    if let Some(details) = error.details() {
        body["error"]["details"] = details;
    }
    Bytes::from(body.to_string())
}

/// An answer with this body.
pub(crate) fn json_response(status: StatusCode, body: Bytes) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    response
}

/// Nothing stands at this path of the API.
pub(crate) async fn not_found() -> Response {
    other_error(
        StatusCode::NOT_FOUND,
        "not_found",
        "There is nothing at this path.",
    )
}

/// The path takes other methods, which the server lists in `Allow`.
pub(crate) async fn method_not_allowed() -> Response {
    other_error(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "This path does not take this method.",
    )
}

/// An error with this code that is not one of the API's own.
pub(crate) fn other_error(status: StatusCode, code: &str, message: &str) -> Response {
    let body = json!({"error": {"code": code, "message": message}});
    json_response(status, Bytes::from(body.to_string()))
}
