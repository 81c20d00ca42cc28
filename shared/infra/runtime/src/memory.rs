//! Memory that many peers share and that none can keep from the others: what slow senders have sent so far, and what slow readers
//! have not read yet.
//!
//! It is taken in steps, as bytes come, and counts for accounts: a team's, a source address's. An account has a share; when that is
//! used up, it waits for itself, and those of its peers that are slow make place. When all of the budget is used up, slow peers of all
//! do; who holds most does, too, when somebody has waited for long. The oldest always has room to come to its end, so that halves of
//! things cannot hold each other up.

mod ledger;

use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::response::Response;
use bytes::Bytes;
use http_body_util::{BodyExt, Collected};
use hyper::body::{Frame, SizeHint};
use tokio::time::Instant;

use self::ledger::{Asked, HolderSignal, MemoryLedger};

use crate::task::lock_mutex;

/// How often is looked whether somebody has become slow, while others wait.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Answers up to this size pass: a connection holds as much anyway.
const SMALL_ANSWER_BYTES: u64 = 32 * 1024;

/// Bytes of an answer that are handed to its connection at a time.
const ANSWER_STEP_BYTES: usize = 32 * 1024;

/// How much there is.
#[derive(Debug, Clone, Copy)]
pub struct MemoryLimits {
    /// Bytes in all.
    pub total_bytes: usize,
    /// Bytes of the largest thing that is held: so much of the whole, and of each share, is there for the oldest alone.
    pub largest_bytes: usize,
}

/// For whom memory counts.
#[derive(Debug, Clone)]
pub struct MemoryAccount {
    /// What tells it from others.
    pub name: Vec<u8>,
    /// Bytes that it has at the most.
    pub share_bytes: usize,
}

/// Why memory was not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MemoryDeniedError {
    /// It made place for others.
    #[error("it was too slow, or held too much, while others waited")]
    Evicted,
    /// None became free in time.
    #[error("no memory became free in time")]
    TimedOut,
    /// Too many of its account waited already.
    #[error("too many of the same account waited for memory already")]
    TurnedAway,
}

/// A budget. Clones share it.
#[derive(Clone)]
pub struct MemoryBudget {
    name: &'static str,
    shared: Arc<SharedLedger>,
}

struct SharedLedger {
    ledger: Mutex<MemoryLedger>,
    looked_at: Mutex<Instant>,
}

/// A place in a budget; what it holds is given back when it is dropped.
pub struct MemoryReservation {
    budget: MemoryBudget,
    accounts: Vec<MemoryAccount>,
    is_with_peer: bool,
    signal: Arc<HolderSignal>,
    /// Given with the first bytes: who has none yet is not among those who have come.
    id: OnceLock<u64>,
}

impl MemoryBudget {
    /// A budget, with its name among the metrics.
    pub fn new(name: &'static str, limits: MemoryLimits) -> Self {
        let (ledger, looked_at) = (
            Mutex::new(MemoryLedger::new(limits)),
            Mutex::new(Instant::now()),
        );
        Self {
            name,
            shared: Arc::new(SharedLedger { ledger, looked_at }),
        }
    }

    /// A place that holds nothing yet, for a peer that is about to send.
    pub fn open_for_sender(&self, accounts: Vec<MemoryAccount>) -> MemoryReservation {
        self.open_reservation(accounts, true)
    }

    /// A place that holds nothing yet, for something that is about to be made.
    pub fn open_for_answer(&self, accounts: Vec<MemoryAccount>) -> MemoryReservation {
        self.open_reservation(accounts, false)
    }

    fn open_reservation(
        &self,
        accounts: Vec<MemoryAccount>,
        is_with_peer: bool,
    ) -> MemoryReservation {
        MemoryReservation {
            budget: self.clone(),
            accounts,
            is_with_peer,
            signal: Arc::default(),
            id: OnceLock::new(),
        }
    }

    fn with_ledger<T>(&self, change: impl FnOnce(&mut MemoryLedger, Instant) -> T) -> T {
        let mut ledger = lock_mutex(&self.shared.ledger);
        let before = ledger.totals();
        let changed = change(&mut ledger, Instant::now());
        let after = ledger.totals();
        if before != after {
            metrics::gauge!("pillarbox_memory_held_bytes", "budget" => self.name)
                .set(after.0 as f64);
            metrics::counter!("pillarbox_memory_evictions_total", "budget" => self.name)
                .increment(after.1 - before.1);
        }
        changed
    }

    /// Looks for slow ones, once in an interval however many wait.
    fn rebalance_if_due(&self) {
        let mut looked_at = lock_mutex(&self.shared.looked_at);
        if looked_at.elapsed() >= LOOK_INTERVAL {
            *looked_at = Instant::now();
            drop(looked_at);
            self.with_ledger(MemoryLedger::rebalance);
        }
    }
}

impl MemoryReservation {
    /// Waits for so much more.
    ///
    /// # Errors
    /// [`MemoryDeniedError`].
    pub async fn grow(&self, bytes: usize, patience: Duration) -> Result<(), MemoryDeniedError> {
        if self.signal.evicted.is_cancelled() {
            return Err(MemoryDeniedError::Evicted);
        }
        match self.with_holder(|ledger, id, now| ledger.request_bytes(id, bytes, now)) {
            Asked::Granted => return Ok(()),
            Asked::Waits => {}
            Asked::TurnedAway => return Err(MemoryDeniedError::TurnedAway),
        }
        let deadline = tokio::time::sleep(patience);
        tokio::pin!(deadline);
        loop {
            tokio::select! {
                biased;
                () = self.signal.evicted.cancelled() => return Err(MemoryDeniedError::Evicted),
                () = self.signal.granted.notified() => return Ok(()),
                () = &mut deadline => return self.give_up().await,
                () = tokio::time::sleep(LOOK_INTERVAL) => self.budget.rebalance_if_due(),
            }
        }
    }

    /// Waits no longer. What was granted meanwhile is kept, and the word of it taken: the next wait would take it for its own.
    async fn give_up(&self) -> Result<(), MemoryDeniedError> {
        if !self.with_holder(|ledger, id, _| ledger.cancel_request(id)) {
            return Err(MemoryDeniedError::TimedOut);
        }
        self.signal.granted.notified().await;
        Ok(())
    }

    /// The peer has sent so much.
    pub fn record_progress(&self, bytes: usize) {
        if let Some(id) = self.id.get() {
            self.budget
                .with_ledger(|ledger, now| ledger.record_progress(*id, bytes, now));
        }
    }

    /// The peer has sent everything: from now on the place is safe.
    pub fn mark_protected(&self) {
        if let Some(id) = self.id.get() {
            self.budget
                .with_ledger(|ledger, _| ledger.mark_protected(*id));
        }
    }

    /// Has the place hold exactly so much, of what it holds already: others get the rest.
    pub fn hold_exactly(&self, bytes: usize) {
        self.with_holder(|ledger, id, now| ledger.set_held(id, bytes, now));
    }

    /// The bytes, which hold the place until their last handle goes.
    pub fn attach_to_bytes(self, bytes: Vec<u8>) -> Bytes {
        Bytes::from_owner(Held {
            bytes,
            _place: self,
        })
    }

    /// Ends when the place has to be left for others.
    pub async fn wait_for_eviction(&self) {
        self.signal.evicted.cancelled().await;
    }

    /// Has an answer whose body is all there count until it has been read, or has made place for others: then its connection breaks
    /// off. Those that do not count ([`is_counted`]) pass.
    pub async fn hold_answer(self, answer: Response) -> Response {
        if !is_counted(&answer) {
            return answer;
        }
        let (parts, body) = answer.into_parts();
        // What is all there cannot fail.
        let content = body
            .collect()
            .await
            .map(Collected::to_bytes)
            .unwrap_or_default();
        let left = content.len() as u64;
        self.with_holder(|ledger, id, now| ledger.set_content(id, content, now));
        Response::from_parts(parts, Body::new(HeldAnswer { place: self, left }))
    }

    /// Changes the ledger as one who is in it.
    fn with_holder<T>(&self, change: impl FnOnce(&mut MemoryLedger, u64, Instant) -> T) -> T {
        self.budget.with_ledger(|ledger, now| {
            let open =
                || ledger.add_holder(&self.accounts, self.is_with_peer, self.signal.clone(), now);
            let id = *self.id.get_or_init(open);
            change(ledger, id, now)
        })
    }
}

/// Whether an answer is large enough to count: small ones, and those that are made while they are read, pass.
pub fn is_counted(answer: &Response) -> bool {
    answer.body().size_hint().lower() > SMALL_ANSWER_BYTES
}

/// Bytes with their place.
struct Held {
    bytes: Vec<u8>,
    _place: MemoryReservation,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for MemoryReservation {
    fn drop(&mut self) {
        if let Some(id) = self.id.get() {
            self.budget
                .with_ledger(|ledger, now| ledger.close_holder(*id, now));
        }
    }
}

/// The body of an answer that counts.
struct HeldAnswer {
    place: MemoryReservation,
    left: u64,
}

impl HttpBody for HeldAnswer {
    type Data = Bytes;
    type Error = MemoryDeniedError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, MemoryDeniedError>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let id = self.place.id.get();
        let next = id.and_then(|id| {
            self.place
                .budget
                .with_ledger(|ledger, now| ledger.next_bytes(*id, ANSWER_STEP_BYTES, now))
        });
        Poll::Ready(Some(match next {
            Some(bytes) => {
                self.left -= bytes.len() as u64;
                Ok(Frame::data(bytes))
            }
            None => Err(MemoryDeniedError::Evicted),
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(1);
    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn what_a_place_does_not_hold_any_more_others_get() {
        let limits = MemoryLimits {
            total_bytes: 200,
            largest_bytes: 100,
        };
        let budget = MemoryBudget::new("test", limits);
        let [oldest, second] = [(); 2].map(|()| budget.open_for_answer(Vec::new()));
        assert_eq!(oldest.grow(10, SHORT).await, Ok(()));
        assert_eq!(second.grow(100, SHORT).await, Ok(()));
        second.hold_exactly(40);
        let third = budget.open_for_answer(Vec::new());
        assert_eq!(third.grow(60, SHORT).await, Ok(()));
        assert_eq!(budget.with_ledger(|ledger, _| ledger.totals().0), 110);
    }

    #[tokio::test]
    async fn what_is_granted_as_the_deadline_strikes_is_granted_once() {
        let budget = MemoryBudget::new(
            "test",
            MemoryLimits {
                total_bytes: 200,
                largest_bytes: 100,
            },
        );
        let [oldest, second, third] = [(); 3].map(|()| budget.open_for_answer(Vec::new()));
        assert_eq!(
            (oldest.grow(100, LONG).await, second.grow(100, LONG).await),
            (Ok(()), Ok(()))
        );
        assert_eq!(
            third.with_holder(|ledger, id, now| ledger.request_bytes(id, 50, now)),
            Asked::Waits
        );
        drop(second);
        assert_eq!(third.give_up().await, Ok(()));
        assert_eq!(
            third.grow(60, SHORT).await,
            Err(MemoryDeniedError::TimedOut),
            "only the oldest has room for more"
        );
        assert_eq!(budget.with_ledger(|ledger, _| ledger.totals().0), 150);
    }
}
