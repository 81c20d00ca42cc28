//! W3C trace context: taken from the caller or begun here, and carried on. With traces on, the current span decides.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use axum::http::{Extensions, HeaderMap, HeaderValue};
use axum::response::Response;
use model::id::{RequestId, TeamId};
use opentelemetry::trace::{SpanContext, SpanId, TraceFlags, TraceId, TraceState};
use queue::QueueCall;
use rand::RngExt;
use tracing::field::Empty;
use tracing::{Instrument, Span};

use crate::allowance::RateAllowance;
use crate::export;
use crate::measure::{AnswerCode, note_asker};

/// A request's place in a trace (W3C Trace Context, version 00).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    trace_id: String,
    /// The span below which others go; `None` when nobody records one.
    span_id: Option<String>,
    flags: String,
}

impl TraceContext {
    /// The place of the current span; `None` when it is in no trace.
    fn of_current() -> Option<Self> {
        let current = export::current_span_context()?;
        Some(Self {
            trace_id: current.trace_id().to_string(),
            span_id: Some(current.span_id().to_string()),
            flags: format!("{:02x}", current.trace_flags()),
        })
    }

    /// Reads a `traceparent` header; a malformed or absent one begins a new trace.
    pub fn from_header(header: Option<&str>) -> Self {
        header.and_then(Self::parse).unwrap_or_else(Self::generate)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "ids of traces are random by their standard"
    )]
    fn generate() -> Self {
        let trace_id: u128 = rand::rng().random_range(1..=u128::MAX);
        Self {
            trace_id: format!("{trace_id:032x}"),
            span_id: None,
            flags: "00".to_owned(),
        }
    }

    /// Reads a `traceparent`; `None` when it is malformed.
    pub fn parse(header: &str) -> Option<Self> {
        let mut parts = header.trim().split('-');
        let (version, trace_id, parent_id, flags) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let is_hex = |text: &str, length: usize| {
            text.len() == length
                && text
                    .bytes()
                    .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
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
    #[expect(
        clippy::disallowed_methods,
        reason = "ids of spans are random by their standard"
    )]
    pub fn to_header(&self) -> String {
        let span_id = self.span_id.clone().unwrap_or_else(|| {
            let span_id: u64 = rand::rng().random_range(1..=u64::MAX);
            format!("{span_id:016x}")
        });
        format!("00-{}-{span_id}-{}", self.trace_id, self.flags)
    }

    /// The same for the library that records spans. Whether a stranger's trace is recorded is not the stranger's choice,
    /// so the flag is left out; what is recorded is chosen by the trace's id.
    fn to_span_context(&self) -> Option<SpanContext> {
        let trace_id = TraceId::from_hex(&self.trace_id).ok()?;
        let span_id = SpanId::from_hex(self.span_id.as_deref()?).ok()?;
        Some(SpanContext::new(
            trace_id,
            span_id,
            TraceFlags::default(),
            true,
            TraceState::default(),
        ))
    }

    /// The span of a worker's work for a call, below its caller's in the trace. What is logged in it belongs to the request;
    /// its empty fields are the worker's to fill.
    pub fn work_span(&self, call: &QueueCall, queue: &'static str) -> Span {
        let span = tracing::info_span!(
            "work",
            otel.name = format!("{queue} process"),
            otel.kind = "consumer",
            messaging.system = "rabbitmq",
            messaging.operation.type = "process",
            messaging.destination.name = queue,
            request_id = %call.id,
            trace_id = self.trace_id(),
            team_id = %call.team,
            kind = call.kind,
            campaign_id = Empty,
            received = Empty,
            mailed = Empty,
            not_mailed = Empty,
            cards = Empty,
            charge = Empty,
            amount_cents = Empty,
            integration_id = Empty,
            upserted = Empty,
            deleted = Empty,
            rejected = Empty,
        );
        self.set_as_parent(&span);
        span
    }

    /// The place of the current span, as it is stored with what is done later because of it; `None` when the span is not sent
    /// to a collector, so that nobody would look for what lies below it.
    pub fn to_store() -> Option<String> {
        let current = export::current_span_context().filter(SpanContext::is_sampled);
        current
            .and_then(|_| Self::of_current())
            .map(|place| place.to_header())
    }

    /// Puts a span that has not begun below this place. Without traces it does nothing.
    pub fn set_as_parent(&self, span: &Span) {
        if export::is_on()
            && let Some(place) = self.to_span_context()
        {
            export::set_remote_parent(span, place);
        }
    }
}

/// Does a worker's work in its span, and writes a line of it when it is over. `code_of` is what came of it.
pub async fn run_in_span<T>(
    span: Span,
    work: impl Future<Output = T>,
    code_of: fn(&T) -> &'static str,
) -> T {
    let begun = Instant::now();
    let result = work.instrument(span.clone()).await;
    let seconds = begun.elapsed().as_secs_f64();
    span.in_scope(|| tracing::info!(code = code_of(&result), seconds, "call"));
    result
}

/// What a request is called in logs, in traces, on the broker and in the database.
#[derive(Debug, Clone)]
pub struct RequestIdentity {
    /// Its id.
    pub request_id: RequestId,
    /// Its place in a trace.
    pub trace: TraceContext,
    /// Clones share it.
    asker: Arc<OnceLock<TeamId>>,
    /// Clones share it, too.
    allowance: Arc<OnceLock<RateAllowance>>,
}

impl RequestIdentity {
    /// That of a request with these extensions; a new one where nobody has begun it.
    pub fn from_extensions(extensions: &Extensions) -> Self {
        let begin = || Self::new(RequestId::new(), TraceContext::generate());
        extensions.get().cloned().unwrap_or_else(begin)
    }

    fn new(request_id: RequestId, trace: TraceContext) -> Self {
        Self {
            request_id,
            trace,
            asker: Arc::default(),
            allowance: Arc::default(),
        }
    }

    /// Notes who asks: the key's owner, and the kind of the key.
    pub fn asked_by(&self, team_id: TeamId, key_kind: &'static str) {
        note_asker(team_id, key_kind);
        self.asker.get_or_init(|| team_id);
    }

    /// Whose key the request came with; `None` until that is known.
    pub fn asker(&self) -> Option<TeamId> {
        self.asker.get().copied()
    }

    /// Notes how often whoever asks may still ask.
    pub fn note_allowance(&self, allowance: RateAllowance) {
        self.allowance.get_or_init(|| allowance);
    }

    /// Marks the answer with the request's id, with what is left of its rate if it was counted, and with what the API calls its
    /// outcome.
    pub fn mark_response(&self, code: &'static str, response: &mut Response) {
        if let Ok(value) = HeaderValue::from_str(&self.request_id.to_string()) {
            response.headers_mut().insert("x-request-id", value);
        }
        if let Some(allowance) = self.allowance.get() {
            allowance.write_headers(response.headers_mut());
        }
        response.extensions_mut().insert(AnswerCode(code));
    }

    /// A new request with these headers, and its span, below its caller's.
    pub(crate) fn start(method: &'static str, route: &str, headers: &HeaderMap) -> (Self, Span) {
        let request_id = RequestId::new();
        let span = tracing::info_span!(
            "request",
            otel.name = export::is_on().then(|| format!("{method} {route}")),
            otel.kind = "server",
            otel.status_code = Empty,
            http.request.method = method,
            http.route = route,
            http.response.status_code = Empty,
            %request_id,
            trace_id = Empty,
            team_id = Empty,
            key_kind = Empty,
        );
        let header = headers
            .get("traceparent")
            .and_then(|value| value.to_str().ok());
        if let Some(caller) = header.and_then(TraceContext::parse) {
            caller.set_as_parent(&span);
        }
        let trace = span.in_scope(|| {
            TraceContext::of_current().unwrap_or_else(|| TraceContext::from_header(header))
        });
        span.record("trace_id", trace.trace_id());
        (Self::new(request_id, trace), span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_carried_on_and_a_malformed_one_begun_anew() {
        let sent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let context = TraceContext::from_header(Some(sent));
        assert_eq!(context.trace_id(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(context.to_header(), sent);
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
