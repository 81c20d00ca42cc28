//! Syncs: from the begin to their completion or expiry.

use std::str::FromStr;

use chrono::{DateTime, Utc};
use contract::push::{OpenSync, SyncMode, SyncStatus, SyncView};
use model::id::{IntegrationId, SyncId, TeamId};
use tokio_postgres::Row;

use crate::error::{Result, StoreError};
use crate::integration::{SHARE_PATIENCE, lock_within_sql, syncs_lock_name};
use crate::pool::{Store, Transaction};

/// Syncs that one statement looks at when it forgets old ones: many have nothing to forget but themselves.
const SYNCS: i64 = 100;

/// What one batch adds to a sync's counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchCounts {
    /// Accepted upserts.
    pub upserted: i64,
    /// Deletes.
    pub deleted: i64,
    /// Refused records.
    pub rejected: i64,
    /// Issues to be stored.
    pub issues: i64,
}

/// Where a counted batch stands in its sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountedBatch {
    /// Its number, from 1.
    pub batch: i64,
    /// The number before its first issue's.
    pub issues_before: i64,
}

/// An open sync as a batch finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedSync {
    /// The sync.
    pub sync: SyncView,
    /// Whether an earlier batch left issues.
    pub has_issues: bool,
}

/// An open sync past its time counts as expired from that moment, whether or not somebody wrote it down.
const COLUMNS: &str = "integration_id, sync_id, mode,
    CASE WHEN status = 'open' AND expires_at <= $2 THEN 'expired' ELSE status END AS status, begun_at, expires_at,
    batches_received, records_upserted, records_deleted, records_rejected, marked_removed, last_issue";

fn open_sync_sql() -> String {
    format!(
        "SELECT {COLUMNS} FROM syncs WHERE integration_id = $1 AND status = 'open' AND expires_at > $2"
    )
}

fn sync_view_from_row(row: &Row) -> Result<SyncView> {
    let corrupt = |what: &str| StoreError::Corrupt(format!("{what} of a sync"));
    Ok(SyncView {
        id: SyncId(row.get("sync_id")),
        mode: SyncMode::from_str(row.get("mode")).map_err(|()| corrupt("mode"))?,
        status: SyncStatus::from_str(row.get("status")).map_err(|()| corrupt("status"))?,
        begun_at: row.get("begun_at"),
        expires_at: row.get("expires_at"),
        batches_received: row.get("batches_received"),
        records_upserted: row.get("records_upserted"),
        records_deleted: row.get("records_deleted"),
        records_rejected: row.get("records_rejected"),
        marked_removed: row.get("marked_removed"),
    })
}

impl Store {
    /// The sync that was begun last.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn find_latest_sync(
        &self,
        integration_id: IntegrationId,
        now: DateTime<Utc>,
    ) -> Result<Option<SyncView>> {
        // Ids of an integration grow from one begin to the next.
        let sql = format!(
            "SELECT {COLUMNS} FROM syncs WHERE integration_id = $1 ORDER BY sync_id DESC LIMIT 1"
        );
        self.query_row(&sql, &[&integration_id.0, &now])
            .await?
            .as_ref()
            .map(sync_view_from_row)
            .transpose()
    }

    /// The full sync that completed last.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn find_latest_full_sync(
        &self,
        integration_id: IntegrationId,
        now: DateTime<Utc>,
    ) -> Result<Option<SyncView>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM syncs WHERE integration_id = $1 AND mode = 'full' AND status = 'completed'
             ORDER BY sync_id DESC LIMIT 1"
        );
        self.query_row(&sql, &[&integration_id.0, &now])
            .await?
            .as_ref()
            .map(sync_view_from_row)
            .transpose()
    }

    /// Syncs begun before `before`, the newest first; at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_syncs(
        &self,
        integration_id: IntegrationId,
        before: Option<SyncId>,
        limit: i64,
        now: DateTime<Utc>,
    ) -> Result<Vec<SyncView>> {
        let before = before.map_or(uuid::Uuid::max(), |id| id.0);
        let sql = format!(
            "SELECT {COLUMNS} FROM syncs WHERE integration_id = $1 AND sync_id < $3 ORDER BY sync_id DESC LIMIT $4"
        );
        self.query_rows(&sql, &[&integration_id.0, &now, &before, &limit])
            .await?
            .iter()
            .map(sync_view_from_row)
            .collect()
    }

    /// A sync of an integration.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the integration has none with this id.
    pub async fn find_sync(
        &self,
        integration_id: IntegrationId,
        sync_id: SyncId,
        now: DateTime<Utc>,
    ) -> Result<SyncView> {
        let sql = format!("SELECT {COLUMNS} FROM syncs WHERE integration_id = $1 AND sync_id = $3");
        let row = self
            .query_row(&sql, &[&integration_id.0, &now, &sync_id.0])
            .await?;
        sync_view_from_row(&row.ok_or_else(|| StoreError::NotFound(format!("the sync {sync_id}")))?)
    }

    /// The last sync of each integration of a team's, the newest first; at most `limit`: id and name of the integration, and
    /// the sync. Costs one look-up for each integration.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_team_syncs(
        &self,
        team_id: TeamId,
        limit: i64,
        now: DateTime<Utc>,
    ) -> Result<Vec<(IntegrationId, String, SyncView)>> {
        let sql = format!(
            "SELECT latest.*, integration.name FROM integrations integration
             CROSS JOIN LATERAL (SELECT {COLUMNS} FROM syncs
                 WHERE syncs.integration_id = integration.integration_id ORDER BY sync_id DESC LIMIT 1) latest
             WHERE integration.team_id = $1 AND integration.removed_at IS NULL ORDER BY latest.begun_at DESC LIMIT $3"
        );
        let rows = self.query_rows(&sql, &[&team_id.0, &now, &limit]).await?;
        let named = |row: &Row| {
            Ok((
                IntegrationId(row.get("integration_id")),
                row.get("name"),
                sync_view_from_row(row)?,
            ))
        };
        rows.iter().map(named).collect()
    }

    /// Whether the integration has a sync with this id.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn sync_exists(
        &self,
        integration_id: IntegrationId,
        sync_id: SyncId,
    ) -> Result<bool> {
        let sql = "SELECT 1 FROM syncs WHERE integration_id = $1 AND sync_id = $2";
        Ok(self
            .query_row(sql, &[&integration_id.0, &sync_id.0])
            .await?
            .is_some())
    }

    /// Writes down that open syncs whose time has passed are expired, at most `limit` of them. Returns how many.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn expire_syncs(&self, now: DateTime<Utc>, limit: i64) -> Result<u64> {
        // A push or complete that is under way began before the time passed and is to end well: it holds the
        // integration, by the name that `syncs_lock_name` gives it, and its sync is left for another time.
        self.execute(
            "UPDATE syncs SET status = 'expired' WHERE (integration_id, sync_id) IN (
                 SELECT integration_id, sync_id FROM (
                     SELECT integration_id, sync_id FROM syncs WHERE status = 'open' AND expires_at <= $1
                     ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED) AS passed
                 WHERE pg_try_advisory_xact_lock(hashtextextended('integration/' || integration_id, 0)))",
            &[&now, &limit],
        )
        .await
    }

    /// Forgets what ended syncs received, at most `limit` batches of [`SYNCS`] syncs. Returns how many rows went.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn purge_received_contacts(&self, limit: i64) -> Result<u64> {
        let row = self
            .query_row(
                "WITH ended AS (
                     SELECT integration_id, sync_id FROM syncs WHERE status <> 'open' AND NOT is_purged
                     ORDER BY begun_at LIMIT $2 FOR UPDATE SKIP LOCKED
                 ), forgotten AS (
                     DELETE FROM sync_received WHERE ctid = ANY (ARRAY(
                         SELECT sync_received.ctid FROM ended JOIN sync_received USING (integration_id, sync_id)
                         LIMIT $1))
                     RETURNING 1
                 ), done AS (
                     UPDATE syncs SET is_purged = true FROM ended
                     WHERE syncs.integration_id = ended.integration_id AND syncs.sync_id = ended.sync_id
                         AND (SELECT count(*) FROM forgotten) < $1
                     RETURNING 1
                 )
                 SELECT (SELECT count(*) FROM forgotten) + (SELECT count(*) FROM done)",
                &[&limit, &SYNCS],
            )
            .await?;
        Ok(row.map_or(0, |row| row.get::<_, i64>(0).unsigned_abs()))
    }

    /// Forgets up to [`SYNCS`] ended syncs that were begun before `before` and are not their integration's latest: their issues,
    /// at most `limit` at a time, then themselves. Returns how many rows went.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn purge_syncs(&self, before: DateTime<Utc>, limit: i64) -> Result<u64> {
        let row = self
            .query_row(
                "WITH old AS (
                     SELECT integration_id, sync_id FROM syncs
                     WHERE begun_at < $1 AND is_purged AND EXISTS (
                         SELECT 1 FROM syncs AS later
                         WHERE later.integration_id = syncs.integration_id AND later.sync_id > syncs.sync_id)
                     ORDER BY begun_at LIMIT $3 FOR UPDATE SKIP LOCKED
                 ), forgotten AS (
                     DELETE FROM sync_issues WHERE ctid = ANY (ARRAY(
                         SELECT sync_issues.ctid FROM old JOIN sync_issues USING (integration_id, sync_id) LIMIT $2))
                     RETURNING 1
                 ), done AS (
                     DELETE FROM syncs USING old
                     WHERE syncs.integration_id = old.integration_id AND syncs.sync_id = old.sync_id
                         AND (SELECT count(*) FROM forgotten) < $2
                     RETURNING 1
                 )
                 SELECT (SELECT count(*) FROM forgotten) + (SELECT count(*) FROM done)",
                &[&before, &limit, &SYNCS],
            )
            .await?;
        Ok(row.map_or(0, |row| row.get::<_, i64>(0).unsigned_abs()))
    }
}

impl Transaction<'_> {
    /// The open sync whose time has not passed.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn find_open_sync(
        &self,
        integration_id: IntegrationId,
        now: DateTime<Utc>,
    ) -> Result<Option<SyncView>> {
        self.query_row(&open_sync_sql(), &[&integration_id.0, &now])
            .await?
            .as_ref()
            .map(sync_view_from_row)
            .transpose()
    }

    /// The open sync whose time has not passed, shared with others until the transaction ends. Waits for who holds the
    /// integration's syncs alone, and behind who waits for that: completing is not starved by pushes that keep coming,
    /// as it would be by locks on the sync's row. Three seconds at the most: who waits keeps a worker from other integrations.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when it takes longer; [`StoreError`] when the database cannot be asked.
    pub async fn share_open_sync(
        &self,
        integration_id: IntegrationId,
        now: DateTime<Utc>,
    ) -> Result<Option<SharedSync>> {
        let lock = lock_within_sql(SHARE_PATIENCE, "pg_advisory_xact_lock_shared");
        let name = syncs_lock_name(integration_id);
        let [_, open] = self
            .query_row_each(
                (&lock, &[&name]),
                (&open_sync_sql(), &[&integration_id.0, &now]),
            )
            .await?;
        let shared = |row: &Row| {
            Ok(SharedSync {
                sync: sync_view_from_row(row)?,
                has_issues: row.get::<_, i64>("last_issue") > 0,
            })
        };
        open.as_ref().map(shared).transpose()
    }

    /// The id of the sync that was begun last. The integration is held alone, so that nobody begins one meanwhile.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn find_latest_sync_id(
        &self,
        integration_id: IntegrationId,
    ) -> Result<Option<SyncId>> {
        let sql =
            "SELECT sync_id FROM syncs WHERE integration_id = $1 ORDER BY sync_id DESC LIMIT 1";
        Ok(self
            .query_row(sql, &[&integration_id.0])
            .await?
            .map(|row| SyncId(row.get(0))))
    }

    /// Begins a sync. The integration is held alone and has no open sync; one whose time has passed expires.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn begin_sync(
        &self,
        integration_id: IntegrationId,
        open: &OpenSync,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let expire =
            "UPDATE syncs SET status = 'expired' WHERE integration_id = $1 AND status = 'open'";
        self.execute(expire, &[&integration_id.0]).await?;
        self.execute(
            "INSERT INTO syncs (integration_id, sync_id, mode, status, begun_at, expires_at)
             VALUES ($1, $2, $3, 'open', $4, $5)",
            &[
                &integration_id.0,
                &open.sync_id.0,
                &open.mode.as_str(),
                &now,
                &open.expires_at,
            ],
        )
        .await?;
        Ok(())
    }

    /// Adds a batch to its sync's counters, and the numbers of the contacts that it received, of which a delta sync
    /// has none. The sync's row stays locked until the commit, so this comes last: other batches wait for the end of
    /// this one, not for its work.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn record_sync_batch(
        &self,
        integration_id: IntegrationId,
        sync_id: SyncId,
        counts: BatchCounts,
        received: &[i64],
    ) -> Result<CountedBatch> {
        let BatchCounts {
            upserted,
            deleted,
            rejected,
            issues,
        } = counts;
        let row = self
            .query_row(
                "WITH counted AS (
                     UPDATE syncs SET batches_received = batches_received + 1,
                         records_upserted = records_upserted + $3, records_deleted = records_deleted + $4,
                         records_rejected = records_rejected + $5, last_issue = last_issue + $6
                     WHERE integration_id = $1 AND sync_id = $2 AND status = 'open'
                     RETURNING batches_received, last_issue - $6 AS issues_before
                 ), noted AS (
                     INSERT INTO sync_received (integration_id, sync_id, batch, contact_numbers)
                     SELECT $1, $2, batches_received, $7 FROM counted WHERE cardinality($7::bigint[]) > 0
                 )
                 SELECT batches_received, issues_before FROM counted",
                &[&integration_id.0, &sync_id.0, &upserted, &deleted, &rejected, &issues, &received],
            )
            .await?
            // The periodic job wrote down its expiry between the look and now.
            .ok_or(StoreError::LeaseLost)?;
        Ok(CountedBatch {
            batch: row.get(0),
            issues_before: row.get(1),
        })
    }

    /// Completes a sync. The integration is held alone.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn complete_sync(
        &self,
        integration_id: IntegrationId,
        sync_id: SyncId,
        marked_removed: i64,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let changed = self
            .execute(
                "UPDATE syncs SET status = 'completed', completed_at = $3, marked_removed = $4
                 WHERE integration_id = $1 AND sync_id = $2 AND status = 'open'",
                &[&integration_id.0, &sync_id.0, &now, &marked_removed],
            )
            .await?;
        if changed != 1 {
            return Err(StoreError::LeaseLost);
        }
        self.execute(
            "UPDATE integrations SET first_completed_at = $2
             WHERE integration_id = $1 AND first_completed_at IS NULL",
            &[&integration_id.0, &now],
        )
        .await?;
        Ok(())
    }
}
