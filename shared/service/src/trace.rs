//! W3C trace context: taken from the caller or begun here, and carried on. With traces on, the current span decides.

use axum::http::HeaderMap;
use opentelemetry::trace::{SpanContext, SpanId, TraceFlags, TraceId, TraceState};
use rand::RngExt;
use tracing::Instrument;

use crate::export;

/// A request's place in a trace (W3C Trace Context, version 00).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    trace_id: String,
    /// The span below which others go; `None` when nobody records one.
    span_id: Option<String>,
    flags: String,
}

impl TraceContext {
    /// The place of a request with these headers: the current span's, or that of its `traceparent`, or a new trace.
    pub fn of_request(headers: &HeaderMap) -> Self {
        if let Some(current) = export::current() {
            return Self {
                trace_id: current.trace_id().to_string(),
                span_id: Some(current.span_id().to_string()),
                flags: format!("{:02x}", current.trace_flags()),
            };
        }
        Self::from_header(headers.get("traceparent").and_then(|value| value.to_str().ok()))
    }

    /// Reads a `traceparent` header; a malformed or absent one begins a new trace.
    pub fn from_header(header: Option<&str>) -> Self {
        header.and_then(Self::parse).unwrap_or_else(Self::begin)
    }

    fn begin() -> Self {
        let trace_id: u128 = rand::rng().random_range(1..=u128::MAX);
        Self { trace_id: format!("{trace_id:032x}"), span_id: None, flags: "00".to_owned() }
    }

    fn parse(header: &str) -> Option<Self> {
        let mut parts = header.trim().split('-');
        let (version, trace_id, parent_id, flags) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let is_hex = |text: &str, length: usize| {
            text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        let is_zero = |text: &str| text.bytes().all(|byte| byte == b'0');
        let valid = is_hex(version, 2)
            && version != "ff"
            && is_hex(trace_id, 32)
            && !is_zero(trace_id)
            && is_hex(parent_id, 16)
            && !is_zero(parent_id)
            && is_hex(flags, 2);
        valid.then(|| Self {
            trace_id: trace_id.to_owned(),
            span_id: Some(parent_id.to_owned()),
            flags: flags.to_owned(),
        })
    }

    /// The trace's id, for logs: 32 hexadecimal digits.
    pub fn trace_id(&self) -> &str {
        &self.trace_id
    }

    /// The header to send on: below the current span, or the caller's when nobody records one here.
    pub fn header(&self) -> String {
        let span_id = self.span_id.clone().unwrap_or_else(|| {
            let span_id: u64 = rand::rng().random_range(1..=u64::MAX);
            format!("{span_id:016x}")
        });
        format!("00-{}-{span_id}-{}", self.trace_id, self.flags)
    }

    /// The same for the library that records spans. Whether a stranger's trace is recorded is not the stranger's choice,
    /// so the flag is left out; what is recorded is chosen by the trace's id.
    fn remote(&self) -> Option<SpanContext> {
        let trace_id = TraceId::from_hex(&self.trace_id).ok()?;
        let span_id = SpanId::from_hex(self.span_id.as_deref()?).ok()?;
        Some(SpanContext::new(trace_id, span_id, TraceFlags::default(), true, TraceState::default()))
    }

    /// Records what a worker does for a call from `queue`, below the caller's span. Costs nothing when traces are off.
    pub async fn work<T>(&self, queue: &'static str, work: impl Future<Output = T>) -> T {
        if !export::is_on() {
            return work.await;
        }
        let span = tracing::debug_span!(
            "work",
            otel.name = format!("{queue} process"),
            otel.kind = "consumer",
            messaging.system = "rabbitmq",
            messaging.destination.name = queue,
        );
        if let Some(caller) = self.remote() {
            export::follow(&span, caller);
        }
        work.instrument(span).await
    }
}

/// The span of a request with these headers, below its caller's; none when traces are off.
pub(crate) fn request_span(method: &'static str, route: &str, headers: &HeaderMap) -> tracing::Span {
    if !export::is_on() {
        return tracing::Span::none();
    }
    let span = tracing::debug_span!(
        "request",
        otel.name = format!("{method} {route}"),
        otel.kind = "server",
        http.request.method = method,
        http.route = route,
        http.response.status_code = tracing::field::Empty,
        otel.status_code = tracing::field::Empty,
    );
    let header = headers.get("traceparent").and_then(|value| value.to_str().ok());
    if let Some(caller) = header.and_then(TraceContext::parse).and_then(|context| context.remote()) {
        export::follow(&span, caller);
    }
    span
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_carried_on_and_a_malformed_one_begun_anew() {
        let sent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let context = TraceContext::from_header(Some(sent));
        assert_eq!(context.trace_id(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(context.header(), sent);
        for wrong in [
            "",
            "00-0-0-0",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        ] {
            let begun = TraceContext::from_header(Some(wrong));
            assert_eq!(begun.trace_id().len(), 32, "{wrong}");
            assert_ne!(begun, TraceContext::from_header(None));
        }
    }
}
