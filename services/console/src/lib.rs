//! The console: where a team runs its mail. Pages are whole HTML, made here; without JavaScript everything works.
//!
//! [`router`] has the table of all pages and actions and who may use each, [`guard`] holds to it, [`page`] has a file for each
//! part of the navigation. Pages know nothing of the router: they are made of what [`extract`] gives them, with [`frame`] around
//! them, by [`render`], and lead on with a [`notice`] or fail with a [`page_error`].

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests have their own time and tasks"
    )
)]

mod assets;
mod blocking;
mod csv_download;
mod extract;
mod fingerprint;
mod form_body;
mod format;
mod frame;
mod guard;
mod multipart;
mod notice;
mod null_character;
mod origin;
mod page;
mod page_error;
mod paging;
mod password;
mod proof_renderer;
mod render;
mod response_memory;
mod role_access;
pub mod router;
mod security;
mod session;
mod source_memory;
mod state;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Context;
use runtime::Process;
use runtime::http::ServerLimits;
use runtime::measure::add_request_metrics;
use tokio::net::TcpListener;
use tokio_util::task::TaskTracker;

use crate::password::PasswordChecker;
use crate::proof_renderer::ProofRenderer;
use crate::router::console_router;
use crate::state::ConsoleState;

/// How long notes may take that are still to be written when all is answered.
const LAST_NOTES_TIMEOUT: Duration = Duration::from_secs(5);

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
    let router = console_router(ConsoleState {
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
