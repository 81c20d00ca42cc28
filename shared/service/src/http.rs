//! An HTTP/1.1 server that a stranger cannot hold up: bounded connections, a time limit on headers and
//! idleness, and a stop that lets running requests finish.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// Headers of a request at the most.
const MAX_HEADERS: usize = 64;

/// Bytes of a request's headers, and of what is read ahead of a body.
const MAX_BUFFER_BYTES: usize = 64 * 1024;

/// Pause after a failed accept: the process is out of file descriptors, or the peer is gone.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// What a server puts up with.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at a time; further ones wait in the system's queue.
    pub max_connections: usize,
    /// From accepting a connection, or the end of its last request, to the end of the next request's headers.
    pub header_timeout: Duration,
    /// After the stop: how long running requests may take.
    pub grace: Duration,
}

/// Serves `router` until `shutdown`, then lets running requests finish. Handlers find the peer's address as
/// `ConnectInfo<SocketAddr>`.
pub async fn serve(listener: TcpListener, router: Router, limits: Limits, shutdown: CancellationToken) {
    let slots = Arc::new(Semaphore::new(limits.max_connections));
    let graceful = GracefulShutdown::new();
    loop {
        let (slot, accepted) = tokio::select! {
            next = next_connection(&listener, &slots) => next,
            () = shutdown.cancelled() => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                spawn_connection(stream, peer, router.clone(), limits, &graceful, slot);
            }
            Err(error) => {
                tracing::debug!(%error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    // No new connections: the listener is closed before the running ones are waited for.
    drop(listener);
    if tokio::time::timeout(limits.grace, graceful.shutdown()).await.is_err() {
        tracing::warn!("stopping with requests unfinished");
    }
}

async fn next_connection(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> (Option<OwnedSemaphorePermit>, std::io::Result<(TcpStream, SocketAddr)>) {
    // The semaphore is never closed.
    let slot = slots.clone().acquire_owned().await.ok();
    (slot, listener.accept().await)
}

fn spawn_connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    limits: Limits,
    graceful: &GracefulShutdown,
    slot: Option<OwnedSemaphorePermit>,
) {
    // Answers are written whole; waiting to fill a packet would only delay them.
    let _ = stream.set_nodelay(true);
    let service = router.map_request(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        request.map(axum::body::Body::new)
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_BUFFER_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
    let connection = graceful.watch(connection);
    tokio::spawn(async move {
        // An error is the peer's: it went away or spoke no HTTP.
        let _ = connection.await;
        drop(slot);
    });
}
