//! An HTTP/1.1 server that a stranger cannot hold up: bounded connections, in all and of one source, a time limit on headers,
//! idleness and unread answers, and a stop that lets running requests finish.

mod host;
mod patient;
mod source;

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::middleware::from_fn;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use ipnet::IpNet;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use self::patient::WriteTimeoutStream;
use self::source::{ConnectionCounter, ConnectionGuard};
use crate::task;

/// Headers of a request at the most.
const MAX_HEADERS: usize = 64;

/// Bytes of a request's headers, and of what is read ahead of a body.
const MAX_BUFFER_BYTES: usize = 64 * 1024;

/// Pause after a failed accept: the process is out of file descriptors, or the peer is gone.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// What a server puts up with.
#[derive(Debug, Clone)]
pub struct ServerLimits {
    /// Connections at a time; further ones wait in the system's queue.
    pub max_connections: usize,
    /// Of these from one source address; further ones are closed.
    pub connections_per_source: usize,
    /// Load balancers, which bring the connections of many and may open some ahead.
    pub trusted_proxies: Vec<IpNet>,
    /// From accepting a connection to the end of its first request's headers.
    pub first_header_timeout: Duration,
    /// From the end of a connection's last request to the end of the next one's headers.
    pub header_timeout: Duration,
    /// How long 64 KB of an answer may wait for their reader.
    pub write_timeout: Duration,
    /// After the stop: how long running requests may take.
    pub grace: Duration,
}

/// A connection that was accepted, with its places.
struct AcceptedConnection {
    stream: TcpStream,
    peer: SocketAddr,
    place: ConnectionGuard,
    _slot: Option<OwnedSemaphorePermit>,
}

/// Serves `router` until `shutdown`, then lets running requests finish. Handlers find the peer's address as
/// `ConnectInfo<SocketAddr>`.
pub async fn serve_router(
    listener: TcpListener,
    router: Router,
    limits: ServerLimits,
    shutdown: CancellationToken,
) {
    let slots = Arc::new(Semaphore::new(limits.max_connections));
    let sources = ConnectionCounter::new(
        limits.connections_per_source,
        limits.trusted_proxies.clone(),
    );
    let router = router.layer(from_fn(host::check_host));
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            next = next_connection(&listener, &slots, &sources) => next,
            () = shutdown.cancelled() => break,
        };
        match accepted {
            Ok(Some(accepted)) => spawn_connection(accepted, router.clone(), &limits, &graceful),
            Ok(None) => metrics::counter!("pillarbox_connections_refused_total").increment(1),
            Err(error) => {
                tracing::debug!(error = &error as &dyn Error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    // No new connections: the listener is closed before the running ones are waited for.
    drop(listener);
    if tokio::time::timeout(limits.grace, graceful.shutdown())
        .await
        .is_err()
    {
        tracing::warn!("stopping with requests unfinished");
    }
}

/// The next connection; `None` when its source has as many as it may.
async fn next_connection(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
    sources: &Arc<ConnectionCounter>,
) -> std::io::Result<Option<AcceptedConnection>> {
    // The semaphore is never closed.
    let slot = slots.clone().acquire_owned().await.ok();
    let (stream, peer) = listener.accept().await?;
    let place = sources.admit(peer.ip());
    Ok(place.map(|place| AcceptedConnection {
        stream,
        peer,
        place,
        _slot: slot,
    }))
}

fn spawn_connection(
    accepted: AcceptedConnection,
    router: Router,
    limits: &ServerLimits,
    graceful: &GracefulShutdown,
) {
    let AcceptedConnection {
        stream,
        peer,
        place,
        _slot,
    } = accepted;
    // Answers are written whole; waiting to fill a packet would only delay them.
    let _ = stream.set_nodelay(true);
    let first_header_timeout = match place {
        ConnectionGuard::Trusted => limits.header_timeout,
        ConnectionGuard::Counted(..) => limits.first_header_timeout,
    };
    let begun = Arc::new(Notify::new());
    let has_begun = begun.clone();
    let service = router.map_request(move |mut request: Request<Incoming>| {
        begun.notify_one();
        request.extensions_mut().insert(ConnectInfo(peer));
        request.map(axum::body::Body::new)
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_BUFFER_BYTES)
        .serve_connection(
            TokioIo::new(WriteTimeoutStream::new(stream, limits.write_timeout)),
            TowerToHyperService::new(service),
        );
    let connection = graceful.watch(connection);
    task::spawn(async move {
        let _places = (place, _slot);
        tokio::pin!(connection);
        // An error is the peer's: it went away, spoke no HTTP, or did not read.
        tokio::select! {
            _ = &mut connection => return,
            () = has_begun.notified() => {}
            () = tokio::time::sleep(first_header_timeout) => return,
        }
        let _ = connection.await;
    });
}
