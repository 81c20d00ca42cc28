//! Reading bodies within bounds: of bytes, of time, and of memory over all requests.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use contract::limits::BODY_BYTES;
use http_body_util::BodyExt;
use hyper::body::Body as _;
use service::config;
use service::source::subject;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::refusal::Refusal;

/// Bytes of a refused request's body that are read and thrown away, so that its sender gets to see the answer: one
/// that is still writing when the connection closes may never read it.
const DRAINED_BYTES: usize = BODY_BYTES + 1024 * 1024;

/// How long a refused request's body is thrown away before the connection closes.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(3);

/// The unit in which memory is reserved.
const UNIT_BYTES: usize = 1024;

/// Bodies whose sender is not known yet have one in so many bytes of the memory, and room for one of the largest at the least.
const ANONYMOUS_PART: usize = 4;

/// Lines in which sources without a key wait to have a body read, one at a time in each: whoever holds a line for as long as a body may
/// take holds up few others. Which source is in which line nobody outside can tell.
const ANONYMOUS_LINES: usize = 64;

/// Reads bodies, as many at a time as memory allows: a body counts until its last handle is dropped.
pub(crate) struct BodyReader {
    memory: Arc<Semaphore>,
    anonymous: Anonymous,
    timeout: Duration,
}

/// What bodies share that are read before their sender is known: nobody who has shown a key waits for one of them.
struct Anonymous {
    memory: Arc<Semaphore>,
    lines: [Semaphore; ANONYMOUS_LINES],
    hashing: RandomState,
}

/// A body with its place in memory, which is given back when the last handle on the bytes goes.
struct HeldBody {
    bytes: Bytes,
    _memory: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for HeldBody {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Whether the headers already say that the body is over the limit.
pub(crate) fn declared_too_large(body: &Body) -> Option<Refusal> {
    (body.size_hint().lower() > BODY_BYTES as u64).then_some(Refusal::BodyTooLarge)
}

impl BodyReader {
    pub(crate) fn new(settings: &config::Gateway) -> Self {
        let semaphore = |bytes: usize| Arc::new(Semaphore::new(bytes.div_ceil(UNIT_BYTES)));
        let anonymous = Anonymous {
            memory: semaphore((settings.body_memory_bytes / ANONYMOUS_PART).max(BODY_BYTES)),
            lines: std::array::from_fn(|_| Semaphore::new(1)),
            hashing: RandomState::new(),
        };
        Self {
            memory: semaphore(settings.body_memory_bytes),
            anonymous,
            timeout: Duration::from_millis(settings.body_timeout_ms),
        }
    }

    /// Reads a body whole, up to the limit and not past it. Errors: [`Refusal::BodyTooLarge`];
    /// [`Refusal::BodyUnreadable`] when it was cut off or too slow; [`Refusal::Failed`] when there was no memory for
    /// it in time.
    pub(crate) async fn read(&self, body: &mut Body) -> Result<Bytes, Refusal> {
        self.read_within(&self.memory, body).await
    }

    /// As [`BodyReader::read`], for a body that is to tell whose it is: it waits for others of its kind, and above all for those of its
    /// own source.
    pub(crate) async fn read_anonymous(&self, source: IpAddr, body: &mut Body) -> Result<Bytes, Refusal> {
        let Anonymous { memory, lines, hashing } = &self.anonymous;
        // A remainder of the number of lines.
        let line = &lines[hashing.hash_one(subject("body", source)) as usize % ANONYMOUS_LINES];
        let turn = tokio::time::timeout(self.timeout, line.acquire()).await.ok().and_then(Result::ok);
        let _turn = turn.ok_or(Refusal::Failed)?;
        self.read_within(memory, body).await
    }

    async fn read_within(&self, memory: &Arc<Semaphore>, body: &mut Body) -> Result<Bytes, Refusal> {
        let expected = body.size_hint().exact().map_or(BODY_BYTES, |bytes| bytes as usize).min(BODY_BYTES);
        let units = u32::try_from(expected.div_ceil(UNIT_BYTES)).unwrap_or(u32::MAX);
        let memory = tokio::time::timeout(self.timeout, memory.clone().acquire_many_owned(units))
            .await
            .ok()
            .and_then(Result::ok)
            .ok_or(Refusal::Failed)?;
        let bytes = tokio::time::timeout(self.timeout, collect(body, expected))
            .await
            .map_err(|_| Refusal::BodyUnreadable("The body cannot be read: it did not arrive in time."))??;
        Ok(Bytes::from_owner(HeldBody { bytes, _memory: memory }))
    }
}

async fn collect(body: &mut Body, expected: usize) -> Result<Bytes, Refusal> {
    // A body of unknown length grows as it comes; a known one is held in one piece from the start.
    let mut bytes = BytesMut::with_capacity(if body.size_hint().exact().is_some() { expected } else { 0 });
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Refusal::BodyUnreadable("The body cannot be read: it was cut off."))?;
        if let Ok(data) = frame.into_data() {
            if bytes.len() + data.len() > BODY_BYTES {
                return Err(Refusal::BodyTooLarge);
            }
            bytes.extend_from_slice(&data);
        }
    }
    Ok(bytes.freeze())
}

/// Throws away what is left of a refused request's body, within bounds, while the answer goes out.
pub(crate) fn drain(mut body: Body) {
    if !body.is_end_stream() {
        tokio::spawn(async move { pass_over(&mut body, |_| {}).await });
    }
}

/// Reads what is left of a refused request's body, within bounds, and keeps none of it; `look` sees the bytes pass.
pub(crate) async fn pass_over(body: &mut Body, mut look: impl FnMut(&[u8])) {
    let passed = async {
        let mut bytes = 0;
        while let Some(Ok(frame)) = body.frame().await {
            let Some(data) = frame.data_ref() else { continue };
            look(data);
            bytes += data.len();
            if bytes > DRAINED_BYTES {
                break;
            }
        }
    };
    // What does not come in time is left.
    let _ = tokio::time::timeout(DRAIN_TIMEOUT, passed).await;
}
