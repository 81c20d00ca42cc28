//! Counting and timing: requests that we answer, and requests that we make to providers.

use std::time::Instant;

use axum::Router;
use axum::extract::{MatchedPath, Request};
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use model::id::TeamId;
use tracing::{Instrument, Span};

use crate::trace::RequestIdentity;

/// The route of a request for a path that there is not.
const NO_ROUTE: &str = "none";

/// The status of a request whose client hung up before its answer.
const GONE: &str = "gone";

/// What an API calls the outcome of a request, left in the answer for metrics and logs. The API's code bounds them.
#[derive(Debug, Clone, Copy)]
pub struct AnswerCode(pub &'static str);

/// Counts and times the requests of these routes, gives each its [`RequestIdentity`], and writes a line of each when it is
/// over. What is logged meanwhile belongs to its span.
pub fn add_request_metrics(router: Router) -> Router {
    router.layer(from_fn(measure_request))
}

async fn measure_request(mut request: Request, next: Next) -> Response {
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or(NO_ROUTE, MatchedPath::as_str)
        .to_owned();
    let method = method_name(request.method());
    let (identity, span) = RequestIdentity::start(method, &route, request.headers());
    request.extensions_mut().insert(identity);
    let mut running = RunningRequest::start(route, method, span.clone());
    let response = next.run(request).instrument(span).await;
    running.record_answer(&response);
    response
}

/// Notes on the current request who asks, for its line and its trace: the key's owner, and the kind of the key.
pub fn note_asker(team_id: TeamId, key_kind: &'static str) {
    let span = Span::current();
    span.record("team_id", tracing::field::display(team_id));
    span.record("key_kind", key_kind);
}

/// Methods are the client's to choose; those that no route has are one.
fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PATCH => "PATCH",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

/// A request being answered. It is counted and logged when it is dropped, so also when its client has hung up.
struct RunningRequest {
    route: String,
    method: &'static str,
    begun: Instant,
    span: Span,
    answer: Option<(StatusCode, &'static str)>,
}

impl RunningRequest {
    fn start(route: String, method: &'static str, span: Span) -> Self {
        metrics::gauge!("pillarbox_http_requests_running").increment(1);
        Self {
            route,
            method,
            begun: Instant::now(),
            span,
            answer: None,
        }
    }

    fn record_answer(&mut self, response: &Response) {
        let status = response.status();
        let code = match response.extensions().get::<AnswerCode>() {
            Some(AnswerCode(code)) => code,
            None if status.is_client_error() || status.is_server_error() => "error",
            None => "ok",
        };
        self.answer = Some((status, code));
        self.span
            .record("http.response.status_code", status.as_u16());
        if status.is_server_error() {
            self.span.record("otel.status_code", "ERROR");
        }
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        let (status, code) = match &self.answer {
            Some((status, code)) => (status.as_str().to_owned(), *code),
            None => (GONE.to_owned(), GONE),
        };
        let (route, method) = (self.route.clone(), self.method);
        let seconds = self.begun.elapsed().as_secs_f64();
        self.span
            .in_scope(|| tracing::info!(method, route, status, code, seconds, "request"));
        metrics::gauge!("pillarbox_http_requests_running").decrement(1);
        metrics::histogram!(
            "pillarbox_http_request_duration_seconds", "route" => route.clone(), "method" => method
        )
        .record(seconds);
        metrics::counter!(
            "pillarbox_http_requests_total",
            "route" => route, "method" => method, "status" => status, "code" => code
        )
        .increment(1);
    }
}

/// What a provider's answer comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderOutcome {
    /// It did what it was asked.
    Ok,
    /// It did not; the same may succeed later.
    Failed,
    /// It did not, and will not.
    Refused,
}

impl ProviderOutcome {
    const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Refused => "refused",
        }
    }
}

/// Counts and times one request to a provider; `judge` says what its result comes to.
pub async fn provider_call<T>(
    provider: &'static str,
    call: impl Future<Output = T>,
    judge: impl FnOnce(&T) -> ProviderOutcome,
) -> T {
    let begun = Instant::now();
    let span = match Span::current().is_none() {
        true => Span::none(),
        false => tracing::debug_span!("provider", otel.name = provider, otel.kind = "client"),
    };
    let result = call.instrument(span).await;
    let seconds = begun.elapsed().as_secs_f64();
    metrics::histogram!("pillarbox_provider_call_duration_seconds", "provider" => provider)
        .record(seconds);
    metrics::counter!(
        "pillarbox_provider_calls_total", "provider" => provider, "result" => judge(&result).name()
    )
    .increment(1);
    result
}
