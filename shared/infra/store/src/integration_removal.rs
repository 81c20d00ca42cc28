//! Removing an integration: at once it opens for nobody and its contacts count no more; later they are erased.

use chrono::{DateTime, Utc};
use model::id::IntegrationId;

use crate::error::{Result, StoreError};
use crate::integration::Integration;
use crate::pool::{Store, Transaction};

/// What an integration has stored beside its contacts, in the order in which it is erased, each with what follows the integration in
/// its key.
const STORED: [(&str, &str); 5] = [
    ("sync_received", "sync_id"),
    ("sync_issues", "sync_id"),
    ("idempotency_keys", "key"),
    ("syncs", "sync_id"),
    ("integration_fields", "key"),
];

impl Store {
    /// Erases what the integration has stored that was removed first, if it was before `before`: at most `limit` rows. Returns how
    /// many; fewer than `limit` when nothing of it is left.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn erase_removed_integration(
        &self,
        before: DateTime<Utc>,
        limit: i64,
        now: DateTime<Utc>,
    ) -> Result<u64> {
        let Some(integration_id) = self.find_integration_to_erase(before).await? else {
            return Ok(0);
        };
        let row = self
            .query_row(
                "SELECT contacts_erase($1, $2)",
                &[&integration_id.0, &limit],
            )
            .await?;
        let mut erased: i64 = row.map_or(0, |row| row.get(0));
        for (table, order) in STORED {
            let left = limit - erased;
            if left <= 0 {
                return Ok(erased.unsigned_abs());
            }
            let sql = format!(
                "DELETE FROM {table} WHERE ctid = ANY (ARRAY(
                     SELECT ctid FROM {table} WHERE integration_id = $1 ORDER BY {order} LIMIT $2))"
            );
            erased += self
                .execute(&sql, &[&integration_id.0, &left])
                .await?
                .cast_signed();
        }
        if erased < limit {
            let sql = "UPDATE integrations SET erased_at = $2 WHERE integration_id = $1";
            self.execute(sql, &[&integration_id.0, &now]).await?;
        }
        Ok(erased.unsigned_abs())
    }

    async fn find_integration_to_erase(
        &self,
        before: DateTime<Utc>,
    ) -> Result<Option<IntegrationId>> {
        let sql = "SELECT integration_id FROM integrations
             WHERE removed_at < $1 AND removed_at IS NOT NULL AND erased_at IS NULL ORDER BY removed_at LIMIT 1";
        Ok(self
            .query_row(sql, &[&before])
            .await?
            .map(|row| IntegrationId(row.get(0))))
    }
}

impl Transaction<'_> {
    /// Removes an integration: its keys are revoked, its open sync ends and removes nothing, and whoever lists a team's
    /// integrations or contacts finds it no more. What was begun before goes through first, for which it waits 20 seconds at the
    /// most.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when it was removed before; [`StoreError::Busy`] when its requests take longer. Nothing is
    /// changed then.
    pub async fn remove_integration(
        &self,
        integration: &Integration,
        now: DateTime<Utc>,
    ) -> Result<()> {
        // As begin and complete do: first the syncs, then the rows.
        self.lock_integration_syncs(integration.integration_id)
            .await?;
        let Integration {
            integration_id,
            team_id,
            name,
            ..
        } = integration;
        let removed = self
            .execute(
                "UPDATE integrations SET removed_at = $3
                 WHERE team_id = $1 AND integration_id = $2 AND removed_at IS NULL",
                &[&team_id.0, &integration_id.0, &now],
            )
            .await?;
        if removed == 0 {
            return Err(StoreError::NotFound(format!("the integration {name:?}")));
        }
        self.execute(
            "UPDATE syncs SET status = 'expired' WHERE integration_id = $1 AND status = 'open'",
            &[&integration_id.0],
        )
        .await?;
        self.execute(
            "UPDATE api_keys SET revoked_at = $2 WHERE integration_id = $1 AND revoked_at IS NULL",
            &[&integration_id.0, &now],
        )
        .await?;
        Ok(())
    }
}
