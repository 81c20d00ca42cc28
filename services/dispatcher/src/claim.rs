//! Claiming deliveries and starting their attempts.

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use chrono::TimeDelta;
use service::fail_point;
use store::{ClaimedDelivery, Lane, MadeAttempt};
use tokio::sync::mpsc;

use crate::{Dispatcher, attempt};

/// Pause after the database has failed; the sweep hears of the lanes again.
const FAILURE_PAUSE: Duration = Duration::from_millis(250);

/// Claims whenever there is news, until the process is to stop.
pub(crate) async fn run(dispatcher: &Arc<Dispatcher>, made: &mpsc::Sender<MadeAttempt>) {
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

async fn claim(dispatcher: &Arc<Dispatcher>, wanted: &[(Lane, usize)], made: &mpsc::Sender<MadeAttempt>) {
    let process = &dispatcher.process;
    let now = process.clock.now();
    let leased_until = now + TimeDelta::milliseconds(process.config.dispatcher.lease_ms);
    let claimed = process.store.delivery_claim(wanted, dispatcher.lease_id, now, leased_until).await;
    let claimed = match claimed {
        Ok(claimed) => claimed,
        Err(error) => {
            tracing::warn!(error = &error as &dyn Error, "cannot claim deliveries");
            note_claimed(dispatcher, wanted, &[]);
            return tokio::time::sleep(FAILURE_PAUSE).await;
        }
    };
    note_claimed(dispatcher, wanted, &claimed);
    if !claimed.is_empty() {
        fail_point::pass("delivery.claimed");
    }
    for delivery in claimed {
        let (dispatcher, made) = (dispatcher.clone(), made.clone());
        dispatcher.attempts.clone().spawn(async move {
            let lane = delivery.lane;
            let (attempt, ending) = attempt::make(&dispatcher, delivery).await;
            fail_point::pass("delivery.attempted");
            // The recorder outlives all attempts. A full queue makes this wait, and with it the lane.
            let _ = made.send(attempt).await;
            if dispatcher.lanes().end_attempt(lane, ending) {
                dispatcher.news.notify_one();
            }
        });
    }
}

fn note_claimed(dispatcher: &Dispatcher, wanted: &[(Lane, usize)], claimed: &[ClaimedDelivery]) {
    let mut got: HashMap<Lane, usize> = HashMap::new();
    for delivery in claimed {
        *got.entry(delivery.lane).or_default() += 1;
    }
    let mut lanes = dispatcher.lanes();
    for (lane, asked) in wanted {
        lanes.end_claim(*lane, *asked, got.get(lane).copied().unwrap_or(0));
    }
}
