//! What no hint is about: retries that fall due, deliveries whose hint was lost or whose worker died, and what is
//! to be cancelled, trimmed or forgotten.

use std::time::Duration;

use chrono::TimeDelta;
use model::id::EndpointId;
use runtime::housekeeping::record_failure;
use runtime::purge::PurgePortions;
use store::{DeliveryLane, StoreError};

use crate::cancel::CANCELLED_ROWS;
use crate::state::EventDispatcher;

/// Lanes that one sweep looks at; the next one goes on behind them.
const LANES: i64 = 1_000;

/// How often rows past their time are deleted.
const PURGE_INTERVAL: Duration = Duration::from_secs(60);

/// How long the process that deletes may be silent before another one does.
const PURGE_LEASE: TimeDelta = TimeDelta::minutes(3);

/// Half a million rows of a kind a minute.
const PURGE: PurgePortions = PurgePortions {
    rows: 20_000,
    statements: 25,
};

/// Events are kept so much longer than deliveries, because a person may have sent an old one again at the last moment.
const LATE_REDELIVERIES: TimeDelta = TimeDelta::days(7);

/// Feeds that get positions in one go, for teams that do not read theirs.
const FEEDS: i64 = 1_000;

/// Runs until the process is to stop.
pub(crate) async fn keep_sweeping(dispatcher: &EventDispatcher) {
    // What is forgotten is no reason for a retry to wait.
    tokio::join!(
        keep_looking(dispatcher),
        keep_trimming(dispatcher),
        keep_forgetting(dispatcher)
    );
}

fn sweep_interval(dispatcher: &EventDispatcher) -> Duration {
    Duration::from_millis(dispatcher.process.config.dispatcher.sweep_interval_ms)
}

async fn keep_looking(dispatcher: &EventDispatcher) {
    let mut sweep = LaneSweep {
        dispatcher,
        after: None,
    };
    let mut rounds = dispatcher.process.rounds(sweep_interval(dispatcher));
    while rounds.next().await {
        record_failure("look for due deliveries", sweep.find_lanes().await);
        dispatcher.client.close_idle();
    }
}

async fn keep_trimming(dispatcher: &EventDispatcher) {
    let mut rounds = dispatcher.process.rounds(sweep_interval(dispatcher));
    while rounds.next().await {
        record_failure("trim attempts", trim(dispatcher).await);
    }
}

async fn keep_forgetting(dispatcher: &EventDispatcher) {
    let mut rounds = dispatcher.process.rounds(PURGE_INTERVAL);
    while rounds.next().await {
        record_failure("purge deliveries", purge(dispatcher).await);
        record_failure("make and drop partitions", partition(dispatcher).await);
    }
}

struct LaneSweep<'a> {
    dispatcher: &'a EventDispatcher,
    /// The last lane looked at; `None` at the start of a round.
    after: Option<DeliveryLane>,
}

impl LaneSweep<'_> {
    async fn find_lanes(&mut self) -> Result<(), StoreError> {
        let EventDispatcher { process, .. } = self.dispatcher;
        let lanes = process
            .store
            .list_waiting_lanes(self.after, process.clock.now(), LANES)
            .await?;
        let is_last = lanes.len() < usize::try_from(LANES).unwrap_or(0);
        self.after = lanes
            .last()
            .map(|waiting| waiting.lane)
            .filter(|_| !is_last);
        if lanes.is_empty() {
            return Ok(());
        }
        let due = lanes
            .iter()
            .filter(|waiting| waiting.is_due)
            .map(|waiting| waiting.lane);
        self.dispatcher.hear(due);
        let endpoint_ids: Vec<EndpointId> = lanes
            .iter()
            .map(|waiting| waiting.lane.endpoint_id)
            .collect();
        process
            .store
            .cancel_unwanted_deliveries(&endpoint_ids, CANCELLED_ROWS)
            .await?;
        Ok(())
    }
}

async fn trim(dispatcher: &EventDispatcher) -> Result<(), StoreError> {
    let touched: Vec<_> = dispatcher.touched().drain().collect();
    if !touched.is_empty() {
        dispatcher.process.store.trim_attempts(&touched).await?;
    }
    Ok(())
}

async fn purge(dispatcher: &EventDispatcher) -> Result<(), StoreError> {
    let EventDispatcher { process, .. } = dispatcher;
    if !process.has_duty("purge deliveries", PURGE_LEASE).await? {
        return Ok(());
    }
    let (store, config, now) = (&process.store, &process.config, process.clock.now());
    let deliveries_before = now - TimeDelta::days(config.dispatcher.retention_days);
    let events_before = deliveries_before - LATE_REDELIVERIES;
    PURGE
        .delete("deliveries", |rows| {
            store.purge_deliveries(deliveries_before, rows)
        })
        .await;
    PURGE
        .delete("events", |rows| store.purge_events(events_before, rows))
        .await;
    record_failure("give feeds positions", store.place_all_feeds(FEEDS).await);
    PURGE
        .delete("feed", |rows| store.purge_scan_feed(events_before, rows))
        .await;
    let attempts = config.email.attempts;
    PURGE
        .delete("emails", |rows| {
            store.purge_emails(deliveries_before, attempts, rows)
        })
        .await;
    Ok(())
}

/// Makes the partitions of the months to come, and drops those of months past their time.
async fn partition(dispatcher: &EventDispatcher) -> Result<(), StoreError> {
    let EventDispatcher { process, .. } = dispatcher;
    if !process.has_duty("partitions", PURGE_LEASE).await? {
        // Somebody else's now; an old number would be a lie.
        metrics::gauge!("pillarbox_partitions_ahead_seconds").set(f64::NAN);
        return Ok(());
    }
    let (store, now) = (&process.store, process.clock.now());
    // Neither hangs on the other.
    let dropped = store
        .drop_scan_partitions(now - TimeDelta::days(process.config.scans.retention_days))
        .await;
    let ahead = (store.create_scan_partitions(now).await? - now).as_seconds_f64();
    metrics::gauge!("pillarbox_partitions_ahead_seconds").set(ahead);
    dropped.map(drop)
}
