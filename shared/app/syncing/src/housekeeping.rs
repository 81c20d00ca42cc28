//! What no request does: expiring syncs and forgetting what is old.

use std::time::Duration;

use chrono::TimeDelta;
use runtime::housekeeping::record_failure;
use runtime::purge::PurgePortions;
use store::StoreError;

use crate::SyncerState;

/// With one go every 5 seconds, over a million rows of a kind a minute.
const PURGE: PurgePortions = PurgePortions {
    rows: 5_000,
    statements: 20,
};

/// Syncs that one statement expires at the most.
const EXPIRED: i64 = 5_000;

/// How long the process that does it may be silent before another one does.
const LEASE: TimeDelta = TimeDelta::seconds(30);

/// The same for batches of ended syncs, each of which has the numbers of a thousand contacts.
const BATCHES: PurgePortions = PurgePortions {
    rows: 1_000,
    statements: 20,
};

/// Runs until the process is to stop.
pub async fn run(syncer: &SyncerState) {
    let interval = Duration::from_millis(syncer.process.config.syncer.job_interval_ms);
    let mut rounds = syncer.process.rounds(interval);
    while rounds.next().await {
        record_failure("expire syncs and purge", purge_expired(syncer).await);
    }
}

/// A bounded number of portions of each kind, by one syncer for all.
async fn purge_expired(syncer: &SyncerState) -> Result<(), StoreError> {
    if !syncer.process.has_duty("purge syncs", LEASE).await? {
        return Ok(());
    }
    let (store, settings) = (&syncer.process.store, &syncer.process.config.syncer);
    let now = syncer.process.clock.now();
    let expired = store.expire_syncs(now, EXPIRED).await;
    BATCHES
        .delete("syncs", |rows| store.purge_received_contacts(rows))
        .await;
    let keys_before = now - TimeDelta::days(settings.idempotency_key_days);
    PURGE
        .delete("idempotency_keys", |rows| {
            store.purge_idempotency_keys(keys_before, rows)
        })
        .await;
    let syncs_before = now - TimeDelta::days(settings.sync_retention_days);
    PURGE
        .delete("syncs", |rows| store.purge_syncs(syncs_before, rows))
        .await;
    let missed_before = settings.removals_undone_since(now);
    PURGE
        .delete("contacts", |rows| {
            store.erase_removed_contacts(missed_before, rows)
        })
        .await;
    let removed_before = now - TimeDelta::days(settings.removed_integration_days);
    PURGE
        .delete("integrations", |rows| {
            store.erase_removed_integration(removed_before, rows, now)
        })
        .await;
    // What could not be expired is no reason to keep what is old.
    expired.map(drop)
}
