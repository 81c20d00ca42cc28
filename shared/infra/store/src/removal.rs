//! The removal of what a full sync did not receive, and taking it back.

use chrono::{DateTime, Utc};
use model::id::{IntegrationId, SyncId};

use crate::error::{Result, StoreError};
use crate::pool::{Store, Transaction};

/// How long a statement over all contacts of an integration may run, in place of the usual bound.
const WHOLE_TIMEOUT: &str = "10min";

/// Memory for the set of received contacts while a full sync completes; past it Postgres uses files.
const COMPLETE_WORK_MEMORY: &str = "64MB";

/// What completing a full sync would remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncRemoval {
    /// Contacts that the sync did not receive.
    pub count: i64,
    /// All contacts that are not removed.
    pub contacts: i64,
}

/// Numbers of the contacts that stand and were not received. Both sides come from an index or a narrow table.
const NOT_RECEIVED: &str = "SELECT contact_number FROM contacts
    WHERE integration_id = $1 AND removed_at IS NULL AND NOT EXISTS (
        SELECT 1 FROM (SELECT unnest(contact_numbers) AS received_number FROM sync_received
                       WHERE integration_id = $1 AND sync_id = $2) AS received
        WHERE received_number = contact_number)";

/// A removal that can be taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastSyncRemoval {
    /// The full sync that removed.
    pub sync_id: SyncId,
    /// When it completed.
    pub completed_at: DateTime<Utc>,
    /// How many contacts it removed.
    pub removed: i64,
}

impl Store {
    /// The last removal of an integration, unless it was before `since` or was taken back already.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn find_last_removal(
        &self,
        integration_id: IntegrationId,
        since: DateTime<Utc>,
    ) -> Result<Option<LastSyncRemoval>> {
        let row = self
            .query_row(
                "SELECT sync_id, completed_at, marked_removed FROM (
                     SELECT sync_id, completed_at, marked_removed, undone_at FROM syncs
                     WHERE integration_id = $1 AND status = 'completed' AND marked_removed > 0
                     ORDER BY sync_id DESC LIMIT 1) AS last
                 WHERE undone_at IS NULL AND completed_at >= $2",
                &[&integration_id.0, &since],
            )
            .await?;
        Ok(row.map(|row| LastSyncRemoval {
            sync_id: SyncId(row.get(0)),
            completed_at: row.get(1),
            removed: row.get(2),
        }))
    }
}

impl Transaction<'_> {
    /// Restores what the last removal removed, unless it was before `since`. Contacts that came back or were deleted meanwhile stay
    /// as they are. Returns how many were restored.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no removal to take back.
    pub async fn undo_last_removal(
        &self,
        integration_id: IntegrationId,
        since: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<i64> {
        self.lock_integration_syncs(integration_id).await?;
        self.allow_whole().await?;
        let sync_id = self.mark_removal_undone(integration_id, since, now).await?;
        let restored = self
            .execute(
                "UPDATE contacts SET removed_at = NULL, removed_in = NULL, changed_at = $3
                 WHERE integration_id = $1 AND removed_in = $2",
                &[&integration_id.0, &sync_id.0, &now],
            )
            .await?;
        Ok(restored.cast_signed())
    }

    /// What completing the full sync would remove now.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn preview_sync_removal(
        &self,
        integration_id: IntegrationId,
        sync_id: SyncId,
    ) -> Result<SyncRemoval> {
        self.apply_removal_settings().await?;
        let sql = format!(
            "SELECT count(*), (SELECT count(*) FROM contacts WHERE integration_id = $1 AND removed_at IS NULL)
             FROM ({NOT_RECEIVED}) AS missing"
        );
        let row = self
            .query_row(&sql, &[&integration_id.0, &sync_id.0])
            .await?;
        Ok(row.map_or(
            SyncRemoval {
                count: 0,
                contacts: 0,
            },
            |row| SyncRemoval {
                count: row.get(0),
                contacts: row.get(1),
            },
        ))
    }

    /// Removes the contacts that the full sync did not receive. The integration is held alone. Returns how many.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn remove_missing_contacts(
        &self,
        integration_id: IntegrationId,
        sync_id: SyncId,
        now: DateTime<Utc>,
    ) -> Result<i64> {
        self.apply_removal_settings().await?;
        // The missing ones are found in two indexes; only they are read and written.
        let sql = format!(
            "UPDATE contacts SET removed_at = $3, removed_in = $2, changed_in = $2, changed_at = $3
             WHERE integration_id = $1 AND removed_at IS NULL AND contact_number = ANY (ARRAY({NOT_RECEIVED}))"
        );
        let removed = self
            .execute(&sql, &[&integration_id.0, &sync_id.0, &now])
            .await?;
        Ok(removed.cast_signed())
    }

    /// Settings under which a set of any size is compared: without statistics Postgres may guess it tiny and
    /// compare each contact with each.
    async fn apply_removal_settings(&self) -> Result<()> {
        self.execute("SET LOCAL enable_nestloop = off", &[]).await?;
        self.execute(
            &format!("SET LOCAL work_mem = '{COMPLETE_WORK_MEMORY}'"),
            &[],
        )
        .await?;
        self.allow_whole().await
    }

    async fn allow_whole(&self) -> Result<()> {
        self.execute(
            &format!("SET LOCAL statement_timeout = '{WHOLE_TIMEOUT}'"),
            &[],
        )
        .await?;
        Ok(())
    }

    /// Marks the last removal as taken back; returns its sync.
    async fn mark_removal_undone(
        &self,
        integration_id: IntegrationId,
        since: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<SyncId> {
        let row = self
            .query_row(
                "UPDATE syncs SET undone_at = $2
                 WHERE undone_at IS NULL AND completed_at >= $3 AND (integration_id, sync_id) IN (
                     SELECT integration_id, sync_id FROM syncs
                     WHERE integration_id = $1 AND status = 'completed' AND marked_removed > 0
                     ORDER BY sync_id DESC LIMIT 1)
                 RETURNING sync_id",
                &[&integration_id.0, &now, &since],
            )
            .await?
            .ok_or_else(|| StoreError::NotFound("a removal that can be taken back".to_owned()))?;
        Ok(SyncId(row.get(0)))
    }
}
