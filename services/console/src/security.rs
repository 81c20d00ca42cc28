//! What holds for every answer: no content of other hosts, no frames, no guesses at types, nothing kept by caches; and
//! no action that another site made a browser send.

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use runtime::config;
use tower_http::catch_panic::CatchPanicLayer;

use crate::origin::check_origin;
use crate::page_error::with_words;

/// Scripts, styles, pictures and forms of ours only. Pictures also from the page itself: proofs and charts.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");
/// For a year browsers come back over TLS only, whatever a link says.
const TRANSPORT_POLICY: HeaderValue = HeaderValue::from_static("max-age=31536000");

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// The router with what holds for every answer. Actions must come from the console at its address.
pub(crate) fn with_security_layers(router: Router, settings: &config::ConsoleSettings) -> Router {
    // Where cookies need TLS, pages do.
    let is_tls_only = settings.secure_cookies;
    router
        .layer(CatchPanicLayer::custom(
            |_: Box<dyn std::any::Any + Send>| {
                tracing::error!("a page panicked");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            },
        ))
        .layer(from_fn_with_state(settings.url.clone(), check_origin))
        .layer(from_fn_with_state(is_tls_only, with_headers))
}

async fn with_headers(State(is_tls_only): State<bool>, request: Request, next: Next) -> Response {
    let mut response = with_words(next.run(request).await);
    add_headers(response.headers_mut());
    if is_tls_only {
        response
            .headers_mut()
            .insert(STRICT_TRANSPORT_SECURITY, TRANSPORT_POLICY);
    }
    response
}

fn add_headers(headers: &mut HeaderMap) {
    let fixed = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "same-origin"),
        (
            PERMISSIONS_POLICY,
            "camera=(), microphone=(), geolocation=()",
        ),
        (OPENER_POLICY, "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // Pages hold people's data; what may be kept says so itself.
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
}
