//! Reading bodies within bounds: of bytes, of time, and of memory over all requests.

use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderMap;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Body as _;
use model::id::TeamId;
use model::limits::BODY_BYTES;
use runtime::memory::{MemoryAccount, MemoryBudget, MemoryLimits, MemoryReservation};
use runtime::source::build_source_key;
use runtime::{Process, task};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use crate::admission::AdmissionError;
use crate::expand::BodyEncoding;

/// Bytes of a refused request's body that are read and thrown away, so that its sender gets to see the answer: one
/// that is still writing when the connection closes may never read it.
const DRAINED_BYTES: usize = BODY_BYTES + 1024 * 1024;

/// How long a refused request's body is thrown away before the connection closes.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(3);

/// A body takes memory in steps of so much at the least, and of half of what it has: never more than twice what has arrived.
const STEP_BYTES: usize = 64 * 1024;

/// A team has one in so many parts of the memory, a source address one in so many.
const TEAM_PART: usize = 4;
const SOURCE_PART: usize = 2;

/// Bodies whose sender is not known yet have one in so many bytes of the memory, and room for one of the largest at the least.
const ANONYMOUS_PART: usize = 4;

/// Bodies that are expanded at a time; the next ones wait for their turn. So much memory of decoders there is beside the budget.
const EXPANSIONS: usize = 2;

/// Why a body cannot be read.
const LATE: &str = "The body cannot be read: it did not arrive in time.";
const CUT_OFF: &str = "The body cannot be read: it was cut off.";

/// Reads bodies, as many at a time as memory allows: a body counts, for its sender, as far as it has arrived and until its last
/// handle is dropped.
pub(crate) struct BodyReader {
    /// Of bodies whose sender has shown a key.
    known: BodyBudget,
    /// Of those that are read before it is known whose they are: nobody who has shown a key waits for one of them.
    anonymous: BodyBudget,
    expansions: Arc<Semaphore>,
    timeout: Duration,
    process: Process,
}

struct BodyBudget {
    budget: MemoryBudget,
    total_bytes: usize,
}

/// Whether the headers already say that the body is over the limit.
pub(crate) fn declared_too_large(body: &Body) -> Option<AdmissionError> {
    (body.size_hint().lower() > BODY_BYTES as u64).then_some(AdmissionError::BodyTooLarge)
}

impl BodyBudget {
    fn new(name: &'static str, total_bytes: usize) -> Self {
        Self {
            budget: MemoryBudget::new(
                name,
                MemoryLimits {
                    total_bytes,
                    largest_bytes: BODY_BYTES,
                },
            ),
            total_bytes,
        }
    }

    fn memory_account(&self, name: Vec<u8>, part: usize) -> MemoryAccount {
        MemoryAccount {
            name,
            share_bytes: (self.total_bytes / part).max(BODY_BYTES),
        }
    }

    fn source_account(&self, source: IpAddr) -> MemoryAccount {
        self.memory_account(build_source_key("body", source), SOURCE_PART)
    }

    fn team_account(&self, team_id: TeamId) -> MemoryAccount {
        self.memory_account([b"team:", &team_id.0.as_bytes()[..]].concat(), TEAM_PART)
    }
}

impl BodyReader {
    pub(crate) fn new(process: &Process) -> Self {
        let settings = &process.config.gateway;
        let anonymous_bytes = (settings.body_memory_bytes / ANONYMOUS_PART).max(BODY_BYTES);
        Self {
            known: BodyBudget::new("bodies", settings.body_memory_bytes),
            anonymous: BodyBudget::new("anonymous_bodies", anonymous_bytes),
            expansions: Arc::new(Semaphore::new(EXPANSIONS)),
            timeout: Duration::from_millis(settings.body_timeout_ms),
            process: process.clone(),
        }
    }

    /// Reads a body whole, up to the limit and not past it, and expands it when it came compressed, up to the same limit. What its team or its source sends beside it, it may have to wait for; for
    /// others only when the memory is full of what moves. Errors: [`AdmissionError::UnsupportedEncoding`], before anything is read;
    /// [`AdmissionError::BodyTooLarge`]; [`AdmissionError::BodyUnreadable`] when it was cut off or too slow, or is not encoded as it says; [`AdmissionError::Failed`] when there was no memory for it in time, when it was slow and others waited for
    /// its memory, or when the process stops.
    pub(crate) async fn read(
        &self,
        team_id: TeamId,
        source: IpAddr,
        headers: &HeaderMap,
        body: &mut Body,
    ) -> Result<Bytes, AdmissionError> {
        let encoding = BodyEncoding::from_headers(headers)?;
        let accounts = vec![
            self.known.team_account(team_id),
            self.known.source_account(source),
        ];
        let place = self.known.budget.open_for_sender(accounts);
        let bytes = self.read_into(&place, body).await?;
        match encoding {
            None => Ok(place.attach_to_bytes(bytes)),
            Some(encoding) => self.expand_in(place, encoding, bytes).await,
        }
    }

    /// As [`BodyReader::read`], for a body that is to tell whose it is, and which is not expanded for that: it waits for others of its kind only, and above all for those
    /// of its own source.
    pub(crate) async fn read_anonymous(
        &self,
        source: IpAddr,
        body: &mut Body,
    ) -> Result<Bytes, AdmissionError> {
        let accounts = vec![self.anonymous.source_account(source)];
        let place = self.anonymous.budget.open_for_sender(accounts);
        let bytes = self.read_into(&place, body).await?;
        Ok(place.attach_to_bytes(bytes))
    }

    async fn read_into(
        &self,
        place: &MemoryReservation,
        body: &mut Body,
    ) -> Result<Vec<u8>, AdmissionError> {
        let bytes = tokio::select! {
            bytes = collect_body(place, body, self.timeout) => bytes?,
            () = place.wait_for_eviction() => return Err(AdmissionError::Failed),
            () = self.process.last_moment() => return Err(AdmissionError::Failed),
        };
        place.mark_protected();
        Ok(bytes)
    }

    /// Expands a body that has arrived. What it becomes nobody knows before, so it has room for the largest meanwhile: that is a
    /// moment, since it waits for no peer any more. The room comes before the turn: a team that has to wait for its own memory
    /// keeps no turn from others.
    async fn expand_in(
        &self,
        place: MemoryReservation,
        encoding: BodyEncoding,
        encoded: Vec<u8>,
    ) -> Result<Bytes, AdmissionError> {
        place.hold_exactly(encoded.len());
        let prepared = async {
            let room = BODY_BYTES.saturating_sub(encoded.len());
            place.grow(room, self.timeout).await.ok()?;
            let turn = self.expansions.clone().acquire_owned();
            timeout(self.timeout, turn).await.ok()?.ok()
        };
        let turn = tokio::select! {
            turn = prepared => turn.ok_or(AdmissionError::Failed)?,
            () = self.process.last_moment() => return Err(AdmissionError::Failed),
        };
        // Milliseconds of computing, which a thread that serves connections does not have. They hold room and turn to their end,
        // also when the client is gone before.
        let expansion = tokio::task::spawn_blocking(move || {
            let expanded = encoding.expand_bytes(&encoded);
            drop((encoded, turn));
            (place, expanded)
        });
        let (place, expanded) = expansion.await.map_err(|error| {
            tracing::error!(error = &error as &dyn Error, "a body's expansion failed");
            AdmissionError::Failed
        })?;
        let bytes = expanded?;
        place.hold_exactly(bytes.len());
        Ok(place.attach_to_bytes(bytes))
    }
}

/// Collects a body that has so much time to arrive, and so much to wait for memory.
async fn collect_body(
    place: &MemoryReservation,
    body: &mut Body,
    time: Duration,
) -> Result<Vec<u8>, AdmissionError> {
    let expected = body
        .size_hint()
        .exact()
        .map_or(BODY_BYTES, |bytes| bytes as usize)
        .min(BODY_BYTES);
    let (mut bytes, mut granted) = (Vec::new(), 0);
    let (mut time_to_arrive, mut time_for_memory) = (time, time);
    loop {
        let begun = Instant::now();
        let frame = timeout(time_to_arrive, body.frame()).await;
        time_to_arrive = time_to_arrive.saturating_sub(begun.elapsed());
        let Some(frame) = frame.map_err(|_| AdmissionError::BodyUnreadable(LATE))? else {
            return Ok(bytes);
        };
        let Ok(data) = frame
            .map_err(|_| AdmissionError::BodyUnreadable(CUT_OFF))?
            .into_data()
        else {
            continue;
        };
        let needed = bytes.len() + data.len();
        if needed > BODY_BYTES {
            return Err(AdmissionError::BodyTooLarge);
        }
        if needed > granted {
            let step = (bytes.len() / 2)
                .max(STEP_BYTES)
                .min(expected.saturating_sub(granted))
                .max(needed - granted);
            let begun = Instant::now();
            place
                .grow(step, time_for_memory)
                .await
                .map_err(|_| AdmissionError::Failed)?;
            time_for_memory = time_for_memory.saturating_sub(begun.elapsed());
            granted += step;
            bytes.reserve_exact(granted - bytes.len());
        }
        bytes.extend_from_slice(&data);
        place.record_progress(data.len());
    }
}

/// Throws away what is left of a refused request's body, within bounds, while the answer goes out.
pub(crate) fn drain_body(mut body: Body) {
    if !body.is_end_stream() {
        task::spawn(async move { skip_body(&mut body, |_| {}).await });
    }
}

/// Reads what is left of a refused request's body, within bounds, and keeps none of it; `look` sees the bytes pass.
pub(crate) async fn skip_body(body: &mut Body, mut look: impl FnMut(&[u8])) {
    let passed = async {
        let mut bytes = 0;
        while let Some(Ok(frame)) = body.frame().await {
            let Some(data) = frame.data_ref() else {
                continue;
            };
            look(data);
            bytes += data.len();
            if bytes > DRAINED_BYTES {
                break;
            }
        }
    };
    // What does not come in time is left.
    let _ = timeout(DRAIN_TIMEOUT, passed).await;
}
