//! What no hint is about: retries that fall due, deliveries whose hint was lost or whose worker died, and what is
//! to be cancelled, trimmed or forgotten.

use std::error::Error;
use std::time::{Duration, Instant};

use chrono::TimeDelta;
use contract::id::EndpointId;
use service::purge::Portions;
use store::{Lane, StoreError};

use crate::Dispatcher;

/// Lanes that one sweep looks at; the next one goes on behind them.
const LANES: i64 = 1_000;

/// Deliveries that one sweep cancels.
const CANCELLED_ROWS: i64 = 5_000;

/// How often rows past their time are deleted.
const PURGE_INTERVAL: Duration = Duration::from_secs(60);

/// How long the process that deletes may be silent before another one does.
const PURGE_LEASE: TimeDelta = TimeDelta::minutes(3);

/// Half a million rows of a kind a minute.
const PURGE: Portions = Portions { rows: 20_000, statements: 25 };

/// Events are kept so much longer than deliveries, because a person may have sent an old one again at the last moment.
const LATE_REDELIVERIES: TimeDelta = TimeDelta::days(7);

/// Feeds that get positions in one go, for teams that do not read theirs.
const FEEDS: i64 = 1_000;

/// Runs until the process is to stop.
pub(crate) async fn run(dispatcher: &Dispatcher) {
    let interval = Duration::from_millis(dispatcher.process.config.dispatcher.sweep_interval_ms);
    let mut looks = tokio::time::interval(interval);
    looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut sweep = Sweep { dispatcher, after: None, last_purge: None };
    loop {
        tokio::select! {
            _ = looks.tick() => {}
            () = dispatcher.process.shutdown.cancelled() => return,
        }
        if let Err(error) = sweep.look().await {
            metrics::counter!("pillarbox_housekeeping_failures_total").increment(1);
            tracing::warn!(error = &error as &dyn Error, "cannot look for due deliveries");
        }
        dispatcher.client.sweep();
    }
}

struct Sweep<'a> {
    dispatcher: &'a Dispatcher,
    /// The last lane looked at; `None` at the start of a round.
    after: Option<Lane>,
    last_purge: Option<Instant>,
}

impl Sweep<'_> {
    async fn look(&mut self) -> Result<(), StoreError> {
        self.find_lanes().await?;
        self.trim().await?;
        if self.last_purge.is_none_or(|at| at.elapsed() >= PURGE_INTERVAL) {
            self.last_purge = Some(Instant::now());
            if self.dispatcher.process.has_duty("purge deliveries", PURGE_LEASE).await? {
                self.purge().await?;
            } else {
                // Somebody else's now; an old number would be a lie.
                metrics::gauge!("pillarbox_partitions_ahead_seconds").set(f64::NAN);
            }
        }
        Ok(())
    }

    async fn find_lanes(&mut self) -> Result<(), StoreError> {
        let Dispatcher { process, .. } = self.dispatcher;
        let lanes = process.store.delivery_waiting_lanes(self.after, process.clock.now(), LANES).await?;
        let is_last = lanes.len() < usize::try_from(LANES).unwrap_or(0);
        self.after = lanes.last().map(|waiting| waiting.lane).filter(|_| !is_last);
        if lanes.is_empty() {
            return Ok(());
        }
        let due = lanes.iter().filter(|waiting| waiting.is_due).map(|waiting| waiting.lane);
        self.dispatcher.hear(due);
        let endpoint_ids: Vec<EndpointId> = lanes.iter().map(|waiting| waiting.lane.endpoint_id).collect();
        process.store.delivery_cancel_unwanted(&endpoint_ids, CANCELLED_ROWS).await?;
        Ok(())
    }

    async fn trim(&self) -> Result<(), StoreError> {
        let touched: Vec<_> = self.dispatcher.touched().drain().collect();
        if !touched.is_empty() {
            self.dispatcher.process.store.attempt_trim(&touched).await?;
        }
        Ok(())
    }

    async fn purge(&self) -> Result<(), StoreError> {
        let Dispatcher { process, .. } = self.dispatcher;
        let (store, config, now) = (&process.store, &process.config, process.clock.now());
        let deliveries_before = now - TimeDelta::days(config.dispatcher.retention_days);
        let events_before = deliveries_before - LATE_REDELIVERIES;
        PURGE.delete("deliveries", |rows| store.delivery_purge(deliveries_before, rows)).await?;
        PURGE.delete("events", |rows| store.event_purge(events_before, rows)).await?;
        store.feed_place_all(FEEDS).await?;
        PURGE.delete("feed", |rows| store.feed_purge(events_before, rows)).await?;
        let attempts = config.email.attempts;
        PURGE.delete("emails", |rows| store.email_purge(deliveries_before, attempts, rows)).await?;
        let partitions_end = store.scan_partitions_make(now).await?;
        let ahead = (partitions_end - now).as_seconds_f64();
        metrics::gauge!("pillarbox_partitions_ahead_seconds").set(ahead);
        store.scan_partitions_drop(now - TimeDelta::days(config.scans.retention_days)).await?;
        Ok(())
    }
}
