//! Syncs whose completing the removal guard refused: what the owner is told until they end.

use chrono::{DateTime, Utc};
use model::id::{IntegrationId, SyncId, TeamId};
use model::limits::INTEGRATIONS_PER_TEAM;

use crate::error::Result;
use crate::pool::Store;

/// An open sync that may not remove what it did not receive until its client confirms that.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldBackSync {
    /// Whose sync.
    pub integration_id: IntegrationId,
    /// The integration's name.
    pub integration_name: String,
    /// The sync.
    pub sync_id: SyncId,
    /// When its client was refused last.
    pub held_back_at: DateTime<Utc>,
    /// Contacts that it would have removed then.
    pub count: i64,
    /// Their share of all contacts, 0 to 1.
    pub share: f64,
}

impl Store {
    /// Notes in the open sync, if it is the one that is meant, that the guard refused to complete it.
    ///
    /// # Errors
    /// [`StoreError`](crate::StoreError) when the database cannot be asked.
    pub async fn hold_back_sync(
        &self,
        integration_id: IntegrationId,
        sync_id: Option<SyncId>,
        (count, share): (i64, f64),
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.execute(
            "UPDATE syncs SET held_back_at = $3, held_back_count = $4, held_back_share = $5
             WHERE integration_id = $1 AND status = 'open' AND expires_at > $3 AND ($2::uuid IS NULL OR sync_id = $2)",
            &[&integration_id.0, &sync_id.map(|id| id.0), &now, &count, &share],
        )
        .await?;
        Ok(())
    }

    /// A team's open syncs that are held back: one of each integration at the most.
    ///
    /// # Errors
    /// [`StoreError`](crate::StoreError) when the database cannot be asked.
    pub async fn list_held_back_syncs(
        &self,
        team_id: TeamId,
        now: DateTime<Utc>,
    ) -> Result<Vec<HeldBackSync>> {
        let rows = self
            .query_rows(
                "SELECT integration_id, name, sync_id, held_back_at, held_back_count, held_back_share
                 FROM integrations JOIN syncs USING (integration_id)
                 WHERE team_id = $1 AND removed_at IS NULL AND status = 'open' AND expires_at > $2 AND held_back_at IS NOT NULL
                 ORDER BY held_back_at DESC LIMIT $3",
                &[&team_id.0, &now, &INTEGRATIONS_PER_TEAM],
            )
            .await?;
        let held_back = |row: &tokio_postgres::Row| HeldBackSync {
            integration_id: IntegrationId(row.get(0)),
            integration_name: row.get(1),
            sync_id: SyncId(row.get(2)),
            held_back_at: row.get(3),
            count: row.get(4),
            share: row.get(5),
        };
        Ok(rows.iter().map(held_back).collect())
    }
}
