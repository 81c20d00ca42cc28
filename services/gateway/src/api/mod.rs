//! The APIs described: an OpenAPI 3.1 document made from the types that are read and written, and a page for people made
//! from the document. Both are made once and are the same for everybody.

mod document;
mod mcp;
mod operation;
mod page;
mod push;
mod read;
mod scan;
mod send;
mod shape;
mod types;
mod view;
mod withhold;

use std::sync::LazyLock;

use askama::Template;
use axum::Router;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use serde_json::Value;

use crate::{GatewayState, refuse_other_methods};

/// Where programs find the document.
pub(crate) const DOCUMENT_PATH: &str = "/api/openapi.json";

/// Where people find the page.
const PAGE_PATH: &str = "/docs";

/// Where the page finds its style.
const STYLE_PATH: &str = "/docs/style.css";

const STYLE: &str = include_str!("style.css");

/// The page has its own style, and nothing else: no script, no picture, nothing from other hosts.
const POLICY: &str = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static DOCUMENT: LazyLock<Value> = LazyLock::new(document::build_document);

// A page is written into memory.
static PAGE_BYTES: LazyLock<Bytes> = LazyLock::new(|| {
    page::ApiPage::from_document(api_document())
        .render()
        .map(Bytes::from)
        .unwrap_or_default()
});

/// The OpenAPI document of everything that the gateway answers.
pub fn api_document() -> &'static Value {
    &DOCUMENT
}

/// The document of a gateway that clients reach at this URL; empty when that is not known.
fn document_bytes(public_url: &str) -> Bytes {
    let mut document = api_document().clone();
    document["servers"] = document::list_servers(public_url);
    // A value without keys other than texts can always be written.
    serde_json::to_vec(&document)
        .map(Bytes::from)
        .unwrap_or_default()
}

/// The routes of the description.
pub(crate) fn build_router(public_url: &str) -> Router<GatewayState> {
    let document = document_bytes(public_url);
    let document = move || async move { static_response("application/json", document) };
    let page = || async { static_response("text/html; charset=utf-8", PAGE_BYTES.clone()) };
    let style = || async {
        static_response(
            "text/css; charset=utf-8",
            Bytes::from_static(STYLE.as_bytes()),
        )
    };
    Router::new()
        .route(DOCUMENT_PATH, get(document).fallback(refuse_other_methods))
        .route(PAGE_PATH, get(page).fallback(refuse_other_methods))
        .route(STYLE_PATH, get(style).fallback(refuse_other_methods))
}

fn static_response(content_type: &'static str, body: Bytes) -> Response {
    let headers = [
        (CONTENT_TYPE, content_type),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        // A new version of the service shows within minutes.
        (CACHE_CONTROL, "public, max-age=300"),
    ];
    (headers, body).into_response()
}
