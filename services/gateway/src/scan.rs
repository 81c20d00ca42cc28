//! GET /q/{code}: a phone has scanned a card.

pub(crate) mod feed;
pub(crate) mod waiters;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use model::scan::{SCAN_PATH, ScanTarget};

use scanning::{ScanLookupError, ScanVisit, classify_visitor};

use crate::{GatewayState, PeerAddress};
use runtime::measure::AnswerCode;
use runtime::source::source_address;
use runtime::trace::TraceContext;

const NOT_FOUND_PAGE: &str = include_str!("scan/not_found.html");
const TRY_AGAIN_PAGE: &str = include_str!("scan/try_again.html");

/// What a phone is told to wait when the database cannot be read, in seconds.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("5");

/// Every answer is for this request alone: a phone, a proxy or a search engine that kept one would hide the next scan.
const HEADERS: [(HeaderName, HeaderValue); 4] = [
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (
        header::REFERRER_POLICY,
        HeaderValue::from_static("no-referrer"),
    ),
    (
        HeaderName::from_static("x-robots-tag"),
        HeaderValue::from_static("noindex, nofollow"),
    ),
    (
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    ),
];

/// Records the scan and redirects.
pub(crate) async fn record_and_redirect(
    State(gateway): State<GatewayState>,
    PeerAddress { 0: peer }: PeerAddress,
    request: Request,
) -> Response {
    let (uri, headers) = (request.uri().path(), request.headers());
    let source = source_address(
        peer.ip(),
        headers,
        &gateway.process.config.gateway.trusted_proxies,
    );
    let visit = ScanVisit {
        visitor: classify_visitor(|name| headers.get(name).and_then(|value| value.to_str().ok())),
        location: gateway.scans.locate(source),
        scanned_at: gateway.process.clock.now(),
        traceparent: TraceContext::to_store(),
    };
    let found = match parse_target(uri) {
        Some(target) => gateway.scans.record_scan(target, visit).await,
        None => Ok(None),
    };
    build_response(found)
}

/// Redirects without a record: somebody asks where the code leads, and does not go there.
pub(crate) async fn redirect_unrecorded(
    State(gateway): State<GatewayState>,
    request: Request,
) -> Response {
    let found = match parse_target(request.uri().path()) {
        Some(target) => gateway.scans.look_up(target).await,
        None => Ok(None),
    };
    build_response(found)
}

/// Every other method.
pub(crate) async fn method_not_allowed() -> Response {
    let mut response = html_page(StatusCode::METHOD_NOT_ALLOWED, "");
    response
        .headers_mut()
        .insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    response
}

fn parse_target(path: &str) -> Option<ScanTarget> {
    ScanTarget::parse(path.strip_prefix(SCAN_PATH)?)
}

fn build_response(found: Result<Option<String>, ScanLookupError>) -> Response {
    let destination = found
        .as_ref()
        .ok()
        .and_then(Option::as_deref)
        .map(HeaderValue::from_str);
    let mut response = match (&found, destination) {
        (Ok(_), Some(Ok(destination))) => redirect_to(destination),
        (Ok(_), _) => html_page(StatusCode::NOT_FOUND, NOT_FOUND_PAGE),
        (Err(ScanLookupError), _) => html_page(StatusCode::SERVICE_UNAVAILABLE, TRY_AGAIN_PAGE),
    };
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, RETRY_AFTER);
    }
    let code = match response.status() {
        StatusCode::FOUND => "ok",
        StatusCode::NOT_FOUND => "not_found",
        _ => "unavailable",
    };
    response.extensions_mut().insert(AnswerCode(code));
    response
}

fn redirect_to(destination: HeaderValue) -> Response {
    let mut response = html_page(StatusCode::FOUND, "");
    response.headers_mut().insert(header::LOCATION, destination);
    response
}

fn html_page(status: StatusCode, html: &'static str) -> Response {
    let mut response = Response::new(Body::from(html));
    *response.status_mut() = status;
    let headers: &mut HeaderMap = response.headers_mut();
    headers.extend(HEADERS);
    if !html.is_empty() {
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/html; charset=utf-8"),
        );
    }
    response
}
