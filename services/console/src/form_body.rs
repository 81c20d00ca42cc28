//! Forms and files on their way in: all of one has to be there within a time, whatever its pieces do, and what has arrived counts for
//! its source address. Who sends nothing, or a byte now and then, keeps a connection no longer than that, and nobody else waiting.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes, HttpBody};
use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt as _, stream};
use runtime::config;
use runtime::memory::{MemoryLimits, MemoryReservation};
use tokio::time::{Instant, timeout_at};

use crate::page_error::PageError;
use crate::source_memory::SourceMemory;

/// Bytes of the largest form, a do-not-mail file, with what stands around the file.
const LARGEST_BYTES: usize = 17 * 1024 * 1024;

/// What forms may take, all together and each.
#[derive(Clone)]
pub(crate) struct FormBodyLimits {
    time: Duration,
    memory: SourceMemory,
}

/// Why a body was not read to its end.
#[derive(Default)]
struct BodyErrorFlag(AtomicU8);

impl BodyErrorFlag {
    const LATE: u8 = 1;
    const NO_MEMORY: u8 = 2;

    fn note_fault(&self, fault: u8, sentence: &'static str) -> io::Error {
        self.0.store(fault, Ordering::Relaxed);
        io::Error::other(sentence)
    }

    fn failure(&self) -> Option<PageError> {
        match self.0.load(Ordering::Relaxed) {
            Self::LATE => Some(PageError::Late),
            Self::NO_MEMORY => Some(PageError::Busy),
            _ => None,
        }
    }
}

impl FormBodyLimits {
    pub(crate) fn new(settings: &config::ConsoleSettings) -> Self {
        let limits = MemoryLimits {
            total_bytes: settings.body_memory_bytes,
            largest_bytes: LARGEST_BYTES,
        };
        Self {
            time: Duration::from_millis(settings.body_timeout_ms),
            memory: SourceMemory::new(("bodies", "form"), limits, &settings.trusted_proxies),
        }
    }

    fn place_for(&self, request: &Request) -> MemoryReservation {
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
        let account = self
            .memory
            .account_of(peer.map(|ConnectInfo(peer)| *peer), request.headers());
        self.memory.budget.open_for_sender(vec![account])
    }
}

/// Answers a request whose body is not there when its time is over, counted from the end of its headers, or for which there is no
/// memory. Reading the body fails then, so that no handler takes a part for the whole.
pub(crate) async fn bound_form_body(
    State(forms): State<FormBodyLimits>,
    request: Request,
    next: Next,
) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    // Held until there is an answer.
    let place = Arc::new(forms.place_for(&request));
    let fault = Arc::<BodyErrorFlag>::default();
    let request = request_with_bounded_body(request, Instant::now() + forms.time, &place, &fault);
    let response = next.run(request).await;
    // What succeeded did so without the rest of its form.
    let has_failed = response.status().is_client_error() || response.status().is_server_error();
    match fault.failure() {
        Some(failure) if has_failed => failure.into_response(),
        _ => response,
    }
}

/// A body that arrives. Once its reader has let go of it, at its end or before, what has come is safe, whether or not its length was
/// declared: it is the handler that takes its time then, not the peer.
struct Arriving {
    pieces: BodyDataStream,
    place: Arc<MemoryReservation>,
    fault: Arc<BodyErrorFlag>,
}

impl Drop for Arriving {
    fn drop(&mut self) {
        self.place.mark_protected();
    }
}

impl Arriving {
    /// The next piece; `None` at the end.
    async fn next_piece(&mut self, until: Instant) -> io::Result<Option<Bytes>> {
        let late = |_| {
            self.fault
                .note_fault(BodyErrorFlag::LATE, "the body did not arrive in time")
        };
        let no_memory = || {
            self.fault
                .note_fault(BodyErrorFlag::NO_MEMORY, "there was no memory for the body")
        };
        let next = tokio::select! {
            next = timeout_at(until, self.pieces.next()) => next.map_err(late)?,
            () = self.place.wait_for_eviction() => return Err(no_memory()),
        };
        let Some(piece) = next.transpose().map_err(io::Error::other)? else {
            return Ok(None);
        };
        let patience = until.saturating_duration_since(Instant::now());
        self.place
            .grow(piece.len(), patience)
            .await
            .map_err(|_| no_memory())?;
        self.place.record_progress(piece.len());
        Ok(Some(piece))
    }
}

fn request_with_bounded_body(
    request: Request,
    until: Instant,
    place: &Arc<MemoryReservation>,
    fault: &Arc<BodyErrorFlag>,
) -> Request {
    let (parts, body) = request.into_parts();
    let arriving = Arriving {
        pieces: body.into_data_stream(),
        place: place.clone(),
        fault: fault.clone(),
    };
    let bounded = stream::try_unfold(arriving, move |mut arriving| async move {
        Ok::<_, io::Error>(
            arriving
                .next_piece(until)
                .await?
                .map(|piece| (piece, arriving)),
        )
    });
    Request::from_parts(parts, Body::from_stream(bounded))
}

#[cfg(test)]
mod tests {
    use runtime::memory::{MemoryAccount, MemoryBudget, MemoryDeniedError};

    use super::*;

    #[tokio::test]
    async fn a_form_of_no_declared_length_is_safe_once_it_has_come() {
        let memory = MemoryBudget::new(
            "test",
            MemoryLimits {
                total_bytes: 1_000,
                largest_bytes: 100,
            },
        );
        let open = || {
            let account = MemoryAccount {
                name: b"source".to_vec(),
                share_bytes: 100,
            };
            Arc::new(memory.open_for_sender(vec![account]))
        };
        let (place, fault) = (open(), Arc::default());
        let pieces = stream::iter([Ok::<_, io::Error>(Bytes::from_static(&[b'x'; 100]))]);
        let request = Request::new(Body::from_stream(pieces));
        let until = Instant::now() + Duration::from_secs(60);
        let request = request_with_bounded_body(request, until, &place, &fault);
        let whole = axum::body::to_bytes(request.into_body(), usize::MAX)
            .await
            .unwrap();
        assert_eq!(whole.len(), 100);
        // Longer than somebody who sends nothing keeps its place.
        let next = open().grow(1, Duration::from_secs(3)).await;
        assert_eq!(
            next,
            Err(MemoryDeniedError::TimedOut),
            "the form is still held"
        );
    }
}
