//! The console: where a team runs its mail. Pages are whole HTML, made here; without JavaScript everything works.
//!
//! [`route`] says which pages there are and who may use each, [`access`] holds to it, [`page`] has a file for each
//! part of the navigation, [`answer`] and [`failure`] are how pages answer. Pages read through the store's methods;
//! what people do is noted in the transaction that does it.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests have their own time and tasks"
    )
)]

mod access;
mod answer;
mod asset;
mod download;
mod failure;
mod late;
mod nul;
mod once;
mod origin;
mod page;
mod password;
mod proof;
pub mod route;
mod security;
mod seen;
mod show;
mod turn;
mod unread;
mod upload;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use runtime::Process;
use runtime::http::ServerLimits;
use runtime::measure::add_request_metrics;
use tokio::net::TcpListener;
use tokio_util::task::TaskTracker;

use crate::late::FormBodyLimits;
use crate::password::PasswordChecker;
use crate::proof::ProofRenderer;
use crate::unread::ConsoleResponseMemory;

/// Bytes of a form; pages that take files say so themselves.
const FORM_BYTES: usize = 256 * 1024;

/// How long notes may take that are still to be written when all is answered.
const LAST_NOTES_TIMEOUT: Duration = Duration::from_secs(5);

/// What the pages share. All of it is handles: a session may go on at another console.
#[derive(Clone)]
pub(crate) struct ConsoleState {
    process: Process,
    passwords: Arc<PasswordChecker>,
    proofs: Arc<ProofRenderer>,
    /// Notes that are written behind an answer's back.
    notes: TaskTracker,
}

/// Runs the console on the configured address until the process is to stop.
///
/// # Errors
/// When the address cannot be listened on.
pub async fn run(process: Process) -> anyhow::Result<()> {
    let listen = process.config.console.listen.clone();
    let listener = TcpListener::bind(&listen)
        .await
        .with_context(|| format!("cannot listen on {listen}"))?;
    serve(process, listener).await
}

/// Runs the console on a listener until the process is to stop.
///
/// # Errors
/// When the system has no randomness, or the settings of printing, pictures or storage cannot be used.
pub async fn serve(process: Process, listener: TcpListener) -> anyhow::Result<()> {
    let settings = &process.config.console;
    let limits = ServerLimits {
        max_connections: settings.max_connections,
        connections_per_source: settings.connections_per_source,
        trusted_proxies: settings.trusted_proxies.clone(),
        first_header_timeout: Duration::from_millis(settings.first_header_timeout_ms),
        header_timeout: Duration::from_millis(settings.header_timeout_ms),
        write_timeout: Duration::from_millis(settings.write_timeout_ms),
        grace: process.grace_period(),
    };
    let (shutdown, is_working) = (process.shutdown.clone(), process.is_working.clone());
    let (passwords, proofs) = (
        Arc::new(PasswordChecker::new()?),
        Arc::new(ProofRenderer::new(&process)?),
    );
    let notes = TaskTracker::new();
    let router = router(ConsoleState {
        passwords,
        proofs,
        notes: notes.clone(),
        process,
    });
    is_working.store(true, Ordering::Relaxed);
    runtime::http::serve_router(listener, add_request_metrics(router), limits, shutdown).await;
    notes.close();
    if tokio::time::timeout(LAST_NOTES_TIMEOUT, notes.wait())
        .await
        .is_err()
    {
        tracing::warn!("stopping with failed sign-ins that are not in the log of their team");
    }
    is_working.store(false, Ordering::Relaxed);
    Ok(())
}

fn router(console: ConsoleState) -> Router {
    let config = console.process.config.clone();
    let forms = FormBodyLimits::new(&config.console);
    let unread = ConsoleResponseMemory::new(&config.console);
    let router = route::all()
        .into_iter()
        .fold(Router::new(), |router, route| {
            router.route(route.path, access::guarded(route, &console))
        });
    let router = router
        .route("/assets/{name}", axum::routing::get(asset::get))
        .fallback(failure::not_found)
        .method_not_allowed_fallback(failure::method_not_allowed)
        .layer(DefaultBodyLimit::max(FORM_BYTES))
        .layer(axum::middleware::from_fn(nul::refuse))
        .layer(axum::middleware::from_fn_with_state(forms, late::refuse))
        .layer(axum::middleware::from_fn_with_state(unread, unread::hold))
        .with_state(console);
    security::layered(router, &config.console)
}
