//! The way in: finds out who asks, counts them, refuses what is malformed, and passes the rest to the workers
//! over the broker. It keeps nothing that another gateway would need.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests have their own time and tasks"
    )
)]

mod admission;
mod answers;
mod api;
mod body;
mod expand;
mod mcp;
mod per_team;
mod push;
mod read;
mod recipients;
mod requests;
mod scan;
mod state;
mod withhold;

use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{get, post};
use runtime::http::ServerLimits;
use runtime::measure::add_request_metrics;
use runtime::{Config, Process};
use tokio::net::TcpListener;
use tower_http::normalize_path::NormalizePath;

pub use crate::api::api_document;
use crate::read::ReadQuestion;
use crate::state::{GatewayState, PeerAddress, method_not_allowed, refuse_other_methods};

/// Runs the gateway on the configured address until the process is to stop.
///
/// # Errors
/// When the address cannot be listened on.
pub async fn run(process: Process) -> anyhow::Result<()> {
    let listen = process.config.gateway.listen.clone();
    let listener = TcpListener::bind(&listen)
        .await
        .with_context(|| format!("cannot listen on {listen}"))?;
    serve(process, listener).await
}

/// Runs the gateway on a listener until the process is to stop.
///
/// # Errors
/// When a configured file cannot be read.
pub async fn serve(process: Process, listener: TcpListener) -> anyhow::Result<()> {
    let limits = connection_limits(&process.config, process.grace_period());
    let shutdown = process.shutdown.clone();
    if let Ok(address) = listener.local_addr() {
        tracing::info!(%address, "listening");
    }
    let is_working = process.is_working.clone();
    let gateway = GatewayState::start(process)?;
    let router = without_trailing_slashes(add_request_metrics(build_router(gateway.clone())));
    let serving = runtime::http::serve_router(listener, router, limits, shutdown);
    // A load balancer sends nothing before calls have their channels: they would be refused.
    let starting = async {
        gateway.wait_until_open().await;
        is_working.store(true, Ordering::Relaxed);
        std::future::pending().await
    };
    tokio::select! {
        () = serving => {}
        () = starting => {}
    }
    is_working.store(false, Ordering::Relaxed);
    Ok(())
}

fn connection_limits(config: &Config, grace: Duration) -> ServerLimits {
    let settings = &config.gateway;
    ServerLimits {
        max_connections: settings.max_connections,
        connections_per_source: settings.connections_per_source,
        trusted_proxies: settings.trusted_proxies.clone(),
        first_header_timeout: Duration::from_millis(settings.first_header_timeout_ms),
        header_timeout: Duration::from_millis(settings.header_timeout_ms),
        write_timeout: Duration::from_millis(settings.write_timeout_ms),
        grace,
    }
}

/// A path with a slash behind it is the path: clients that join URLs end up there, and find the errors that are documented.
fn without_trailing_slashes(router: Router) -> Router {
    Router::new().fallback_service(NormalizePath::trim_trailing_slash(router))
}

fn build_router(gateway: GatewayState) -> Router {
    Router::new()
        .route(
            "/api/v1/recipients",
            post(recipients::post_recipients).fallback(method_not_allowed),
        )
        .route(
            "/api/v1/scans",
            get(scan::feed::get_scan_feed).fallback(refuse_other_methods),
        )
        .route(
            requests::PATH,
            get(requests::get_request_status).fallback(refuse_other_methods),
        )
        .merge(withhold::build_router())
        .merge(build_read_router())
        .nest(push::BASE_PATH, push::build_router())
        .route(
            mcp::FORMULAS_PATH,
            mcp::server_route(mcp::McpServer::Formulas),
        )
        .route(
            "/q/{code}",
            get(scan::record_and_redirect)
                .head(scan::redirect_unrecorded)
                .fallback(scan::method_not_allowed),
        )
        .route_layer(from_fn_with_state(gateway.clone(), answers::hold_answer))
        // The same bytes for everybody, which nobody's answer makes more.
        .merge(api::build_router(
            &gateway.process.config.gateway.public_url,
        ))
        .fallback(not_found)
        .with_state(gateway)
}

fn build_read_router() -> Router<GatewayState> {
    read::PATHS.iter().fold(Router::new(), |router, path| {
        router.route(path, get(answer_read).fallback(refuse_other_methods))
    })
}

/// Answers what a team wants to know of what it has sent.
async fn answer_read(
    State(gateway): State<GatewayState>,
    PeerAddress { 0: peer }: PeerAddress,
    request: Request,
) -> Response {
    let answer = async |team_id, parts: &Parts| {
        let query = parts.uri.query().unwrap_or_default();
        let question = ReadQuestion::parse(parts.uri.path(), query)?;
        let Process { store, clock, .. } = &gateway.process;
        question.answer(store, team_id, clock.now()).await
    };
    recipients::answer_team_query(&gateway, &gateway.reads_gate, peer, request, answer).await
}

async fn not_found() -> (StatusCode, axum::Json<serde_json::Value>) {
    let body =
        serde_json::json!({"code": "not_found", "message": "There is nothing at this path."});
    (StatusCode::NOT_FOUND, axum::Json(body))
}
