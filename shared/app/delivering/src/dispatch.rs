//! A dispatcher: hears of lanes with work, claims deliveries and starts their attempts.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use chrono::TimeDelta;
use futures_util::FutureExt;
use model::id::{EndpointId, TeamId};
use outbound::{OutboundClient, TargetPolicy};
use runtime::{Process, fail_point, task};
use store::{DeliveryAttempt, DeliveryLane, LeasedDelivery};
use tokio::sync::{Notify, mpsc};
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::attempt::{RetrySchedule, make_attempt};
use crate::lanes::{AttemptEnding, AttemptLimits, DeliveryLanes};
use crate::record::keep_recording;
use crate::sweep::keep_sweeping;

/// Pause after the database has failed; the sweep hears of the lanes again.
const FAILURE_PAUSE: Duration = Duration::from_millis(250);

/// Time to record the last attempts at the stop.
const LAST_RECORD_TIMEOUT: Duration = Duration::from_secs(5);

/// From one line about attempts to the next. There are thousands a second; each has its record in the database, and a span when
/// its scan has one.
const COUNT_INTERVAL: Duration = Duration::from_secs(10);

/// Brings events to the endpoints of all teams, as one of the dispatchers.
pub struct EventDispatcher {
    pub(crate) process: Process,
    pub(crate) client: OutboundClient,
    pub(crate) schedule: RetrySchedule,
    /// What this process claims with: by it, it knows its own.
    pub(crate) lease_id: Uuid,
    lanes: Mutex<DeliveryLanes>,
    /// A lane has got work or room.
    news: Notify,
    attempts: TaskTracker,
    /// Endpoints whose attempts may be more than are shown.
    touched: Mutex<HashSet<(TeamId, EndpointId)>>,
    /// Attempts since the last line about them.
    pub(crate) tally: AttemptCounter,
}

impl EventDispatcher {
    /// A dispatcher with the process's settings.
    ///
    /// # Errors
    /// When the settings cannot be used.
    pub fn new(process: Process) -> anyhow::Result<Arc<Self>> {
        let settings = &process.config.dispatcher;
        let policy = TargetPolicy::new(&process.config.outbound.allowed_networks);
        Ok(Arc::new(Self {
            client: OutboundClient::new(policy)?,
            schedule: RetrySchedule::new(settings),
            lease_id: Uuid::now_v7(),
            lanes: Mutex::new(DeliveryLanes::new(AttemptLimits {
                attempts: settings.concurrency,
                attempts_per_lane: settings.concurrency_per_endpoint,
            })),
            news: Notify::new(),
            attempts: TaskTracker::new(),
            touched: Mutex::default(),
            tally: AttemptCounter::default(),
            process,
        }))
    }

    /// Delivers until the process is to stop, and then lets what is under way end.
    pub async fn run(self: &Arc<Self>) {
        let (made, results) = mpsc::channel(self.process.config.dispatcher.concurrency);
        let recorder = task::spawn(keep_recording(self.clone(), results));
        tokio::join!(
            keep_claiming(self, &made),
            keep_sweeping(self),
            self.keep_counting(),
        );
        finish(self, made, recorder).await;
    }

    /// Writes what attempts came to until the process is to stop.
    async fn keep_counting(&self) {
        let mut looks = tokio::time::interval(COUNT_INTERVAL);
        loop {
            tokio::select! {
                _ = looks.tick() => self.tally.log(),
                () = self.process.shutdown.cancelled() => return,
            }
        }
    }

    /// Hears that these endpoints have new deliveries.
    pub fn hear_endpoints(&self, endpoint_ids: impl IntoIterator<Item = EndpointId>) {
        self.hear(endpoint_ids.into_iter().map(|endpoint_id| DeliveryLane {
            endpoint_id,
            is_retry: false,
        }));
    }

    /// Notes that these lanes may have due deliveries.
    pub(crate) fn hear(&self, heard: impl IntoIterator<Item = DeliveryLane>) {
        let mut lanes = self.lanes();
        for lane in heard {
            lanes.hear(lane);
        }
        drop(lanes);
        self.news.notify_one();
    }

    fn lanes(&self) -> MutexGuard<'_, DeliveryLanes> {
        task::lock_mutex(&self.lanes)
    }

    pub(crate) fn touched(&self) -> MutexGuard<'_, HashSet<(TeamId, EndpointId)>> {
        task::lock_mutex(&self.touched)
    }
}

/// Lets attempts under way end and records them; what does not end in time falls due again when its lease is over.
async fn finish(
    dispatcher: &EventDispatcher,
    made: mpsc::Sender<DeliveryAttempt>,
    recorder: tokio::task::JoinHandle<()>,
) {
    dispatcher.attempts.close();
    if tokio::time::timeout(
        dispatcher.process.grace_period(),
        dispatcher.attempts.wait(),
    )
    .await
    .is_err()
    {
        tracing::warn!("stopping with attempts unfinished; they are made again");
    }
    dispatcher.tally.log();
    drop(made);
    if tokio::time::timeout(LAST_RECORD_TIMEOUT, recorder)
        .await
        .is_err()
    {
        tracing::warn!("stopping with attempts unrecorded; they are made again");
    }
}

/// Claims whenever there is news, until the process is to stop.
async fn keep_claiming(dispatcher: &Arc<EventDispatcher>, made: &mpsc::Sender<DeliveryAttempt>) {
    let shutdown = &dispatcher.process.shutdown;
    let is_working = &dispatcher.process.is_working;
    is_working.store(true, Ordering::Relaxed);
    while !shutdown.is_cancelled() {
        let wanted = dispatcher.lanes().begin_claim();
        if !wanted.is_empty() {
            claim(dispatcher, &wanted, made).await;
            continue;
        }
        tokio::select! {
            () = dispatcher.news.notified() => {}
            () = shutdown.cancelled() => {}
        }
    }
    is_working.store(false, Ordering::Relaxed);
}

async fn claim(
    dispatcher: &Arc<EventDispatcher>,
    wanted: &[(DeliveryLane, usize)],
    made: &mpsc::Sender<DeliveryAttempt>,
) {
    let process = &dispatcher.process;
    let now = process.clock.now();
    let leased_until = now + TimeDelta::milliseconds(process.config.dispatcher.lease_ms);
    let asked = RequestedSlots {
        dispatcher,
        wanted,
        claimed: HashMap::new(),
    };
    let claimed = process
        .store
        .claim_due_deliveries(wanted, dispatcher.lease_id, now, leased_until)
        .await;
    let claimed = match claimed {
        Ok(claimed) => claimed,
        Err(error) => {
            tracing::warn!(error = &error as &dyn Error, "cannot claim deliveries");
            drop(asked);
            return tokio::time::sleep(FAILURE_PAUSE).await;
        }
    };
    asked.keep_for(&claimed);
    if !claimed.is_empty() {
        fail_point::fail_if_chosen("delivery.claimed");
    }
    for delivery in claimed {
        let (dispatcher, made) = (dispatcher.clone(), made.clone());
        let mut place = AttemptSlot::of(dispatcher.clone(), delivery.lane);
        dispatcher.attempts.clone().spawn(async move {
            let attempting = AssertUnwindSafe(make_attempt(&dispatcher, delivery)).catch_unwind();
            let Ok((attempt, ending)) = attempting.await else {
                metrics::counter!("pillarbox_webhook_attempt_panics_total").increment(1);
                return tracing::error!(
                    "an attempt panicked; it is made again when its lease is over"
                );
            };
            place.end_as(ending);
            fail_point::fail_if_chosen("delivery.attempted");
            // The recorder outlives all attempts. A full queue makes this wait, and with it the lane.
            let _ = made.send(attempt).await;
        });
    }
}

/// The place of an attempt in its lane, given back however the attempt ends.
struct AttemptSlot {
    dispatcher: Arc<EventDispatcher>,
    lane: DeliveryLane,
    ending: AttemptEnding,
}

impl AttemptSlot {
    fn of(dispatcher: Arc<EventDispatcher>, lane: DeliveryLane) -> Self {
        Self {
            dispatcher,
            lane,
            ending: AttemptEnding::Answered,
        }
    }

    fn end_as(&mut self, ending: AttemptEnding) {
        self.ending = ending;
    }
}

impl Drop for AttemptSlot {
    fn drop(&mut self) {
        if self.dispatcher.lanes().end_attempt(self.lane, self.ending) {
            self.dispatcher.news.notify_one();
        }
    }
}

/// The places that a claim asks for. Those that it brings no delivery for are given back however it ends.
struct RequestedSlots<'a> {
    dispatcher: &'a EventDispatcher,
    wanted: &'a [(DeliveryLane, usize)],
    claimed: HashMap<DeliveryLane, usize>,
}

impl RequestedSlots<'_> {
    /// These are attempted, each in a place of its own from now on.
    fn keep_for(mut self, claimed: &[LeasedDelivery]) {
        for delivery in claimed {
            *self.claimed.entry(delivery.lane).or_default() += 1;
        }
    }
}

impl Drop for RequestedSlots<'_> {
    fn drop(&mut self) {
        let mut lanes = self.dispatcher.lanes();
        for (lane, asked) in self.wanted {
            lanes.end_claim(*lane, *asked, self.claimed.get(lane).copied().unwrap_or(0));
        }
    }
}

/// What can come of an attempt, as the metrics call it.
const RESULTS: [&str; 4] = ["delivered", "refused", "timed_out", "unreachable"];

/// Attempts by what came of them.
#[derive(Debug, Default)]
pub(crate) struct AttemptCounter([AtomicU64; RESULTS.len()]);

impl AttemptCounter {
    pub(crate) fn count(&self, result: &str) {
        if let Some(at) = RESULTS.iter().position(|known| *known == result) {
            self.0[at].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The counts since they were last taken; `None` when there are none.
    fn take(&self) -> Option<[u64; RESULTS.len()]> {
        let counts = self
            .0
            .each_ref()
            .map(|count| count.swap(0, Ordering::Relaxed));
        counts.iter().any(|count| *count > 0).then_some(counts)
    }

    /// Writes the line, if there is something to say.
    fn log(&self) {
        if let Some([delivered, refused, timed_out, unreachable]) = self.take() {
            tracing::info!(
                delivered,
                refused,
                timed_out,
                unreachable,
                "attempts at deliveries"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_told_once() {
        let tally = AttemptCounter::default();
        assert_eq!(tally.take(), None);
        for result in ["delivered", "timed_out", "delivered"] {
            tally.count(result);
        }
        assert_eq!(tally.take(), Some([2, 0, 1, 0]));
        assert_eq!(tally.take(), None);
    }
}
