//! A dispatcher at work: claims deliveries, starts their attempts, and lets them end.

use std::collections::HashMap;
use std::error::Error;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use chrono::TimeDelta;
use futures_util::FutureExt;
use runtime::{fail_point, task};
use store::{DeliveryAttempt, DeliveryLane, LeasedDelivery};
use tokio::sync::mpsc;

use crate::attempt::make_attempt;
use crate::lanes::AttemptEnding;
use crate::record::keep_recording;
use crate::state::EventDispatcher;
use crate::sweep::keep_sweeping;

/// Pause after the database has failed; the sweep hears of the lanes again.
const FAILURE_PAUSE: Duration = Duration::from_millis(250);

/// Time to record the last attempts at the stop.
const LAST_RECORD_TIMEOUT: Duration = Duration::from_secs(5);

/// From one line about attempts to the next. There are thousands a second; each has its record in the database, and a span when
/// its scan has one.
const COUNT_INTERVAL: Duration = Duration::from_secs(10);

impl EventDispatcher {
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
