//! What no request does: expiring syncs and forgetting what is old.

use std::time::Duration;

use chrono::TimeDelta;
use store::StoreError;

use crate::Syncer;

/// Rows that one statement changes at the most.
const ROWS: i64 = 5_000;

/// Batches of an ended sync that one statement forgets at the most.
const BATCHES: i64 = 1_000;

/// Runs until the process is to stop.
pub(crate) async fn run(syncer: &Syncer) {
    let settings = &syncer.process.config.syncer;
    let mut looks = tokio::time::interval(Duration::from_millis(settings.job_interval_ms));
    looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = looks.tick() => {}
            () = syncer.process.shutdown.cancelled() => return,
        }
        if let Err(error) = tidy(syncer).await {
            tracing::warn!(%error, "cannot expire syncs or purge");
        }
    }
}

/// One bounded portion of each kind.
async fn tidy(syncer: &Syncer) -> Result<(), StoreError> {
    let (store, settings) = (&syncer.process.store, &syncer.process.config.syncer);
    let now = syncer.process.clock.now();
    store.sync_expire(now, ROWS).await?;
    store.sync_received_purge(BATCHES).await?;
    store.idempotency_purge(now - TimeDelta::days(settings.idempotency_key_days), ROWS).await?;
    store.sync_purge(now - TimeDelta::days(settings.sync_retention_days), ROWS).await?;
    Ok(())
}
