//! What a request says of itself in its headers, whatever the API.

use std::time::Instant;

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use contract::id::RequestId;
use contract::key::PresentedKey;
use service::measure::AnswerCode;
use service::trace::TraceContext;

/// What a client that was refused for its rate is told to wait, in seconds.
pub(crate) const RETRY_AFTER: HeaderValue = HeaderValue::from_static("60");

/// The identity of one request, in logs, on the broker and in the database.
#[derive(Clone)]
pub(crate) struct RequestIdentity {
    pub(crate) request_id: RequestId,
    pub(crate) trace: TraceContext,
    begun: Instant,
}

impl RequestIdentity {
    /// A new request with these headers.
    pub(crate) fn new(headers: &HeaderMap) -> Self {
        let trace = TraceContext::of_request(headers);
        Self { request_id: RequestId::new(), trace, begun: Instant::now() }
    }

    /// Marks the answer with the request's id and its code, and writes the request down.
    pub(crate) fn finish(&self, route: &'static str, code: &'static str, response: &mut Response) {
        if let Ok(value) = HeaderValue::from_str(&self.request_id.to_string()) {
            response.headers_mut().insert("x-request-id", value);
        }
        response.extensions_mut().insert(AnswerCode(code));
        let seconds = self.begun.elapsed().as_secs_f64();
        tracing::info!(
            request_id = %self.request_id, trace_id = self.trace.trace_id(), route, code, seconds, "request"
        );
    }
}

/// The key in `Authorization`; an empty one when the header holds something else. `None` without the header.
pub(crate) fn bearer_key(headers: &HeaderMap) -> Option<PresentedKey> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().unwrap_or_default();
    let (scheme, key) = value.trim().split_once(' ').unwrap_or_default();
    Some(PresentedKey::new(if scheme.eq_ignore_ascii_case("bearer") { key } else { "" }))
}
