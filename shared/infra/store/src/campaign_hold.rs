//! Campaigns that are held: none of their queued mailpieces prints until they are released.
//!
//! `campaigns.held_at` is the truth, and in force with its commit: a printer asks for it. So that printers do not read past the
//! queue of a held campaign each time, its mailpieces leave the queue's index in portions behind it, and come back in portions when it is
//! released. `campaigns.hold_changed_at` says that some are left; whoever finds it goes on, so that nothing hangs on one process.

use chrono::{DateTime, Utc};
use model::id::{CampaignId, TeamId};
use model::mailpiece_state::{MailpieceBasis, MailpieceState};
use uuid::Uuid;

use crate::error::{Result, StoreError};
use crate::mailpiece_change::NewMailpieceEvent;
use crate::pool::{Store, Transaction};

/// Whether a campaign is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CampaignHold {
    /// The campaign's name.
    pub name: String,
    /// Since when it is held; `None` when it is not.
    pub held_at: Option<DateTime<Utc>>,
    /// False when it was so before.
    pub is_new: bool,
}

const FIND: &str =
    "SELECT name, held_at FROM campaigns WHERE team_id = $1 AND campaign_id = $2 FOR NO KEY UPDATE";

const HOLD: &str = "
    WITH queued AS MATERIALIZED (
        SELECT mailpiece_id FROM mailpieces
        WHERE team_id = $1 AND campaign_id = $2 AND print_run_id IS NULL AND withheld IS NULL
        ORDER BY mailpiece_id LIMIT $3 FOR NO KEY UPDATE)
    UPDATE mailpieces SET withheld = 'held' FROM queued
    WHERE mailpieces.team_id = $1 AND mailpieces.mailpiece_id = queued.mailpiece_id
    RETURNING mailpieces.mailpiece_id";

const RELEASE: &str = "
    WITH held AS MATERIALIZED (
        SELECT mailpiece_id FROM mailpieces
        WHERE team_id = $1 AND campaign_id = $2 AND withheld = 'held'
        ORDER BY mailpiece_id LIMIT $3 FOR NO KEY UPDATE)
    UPDATE mailpieces SET withheld = NULL FROM held
    WHERE mailpieces.team_id = $1 AND mailpieces.mailpiece_id = held.mailpiece_id
    RETURNING mailpieces.mailpiece_id";

impl Store {
    /// Campaigns some of whose mailpieces do not say yet what was last decided of them, the longest waiting first; at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_changing_holds(&self, limit: i64) -> Result<Vec<(TeamId, CampaignId)>> {
        let rows = self
            .query_rows(
                "SELECT team_id, campaign_id FROM campaigns WHERE hold_changed_at IS NOT NULL
                 ORDER BY hold_changed_at LIMIT $1",
                &[&limit],
            )
            .await?;
        rows.iter()
            .map(|row| {
                let id = row.get::<_, &str>(1).parse();
                id.map(|id| (TeamId(row.get(0)), id))
                    .map_err(|_| StoreError::Corrupt("the id of a campaign".to_owned()))
            })
            .collect()
    }

    /// Takes mailpieces of a held campaign out of the queue, or gives those of a released one back to it; at most `limit`. Returns whether
    /// some are left.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn apply_hold_portion(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        limit: i64,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let mut connection = self.connection().await?;
        let transaction = connection.begin_transaction().await?;
        let is_left = transaction
            .apply_hold(team_id, campaign_id, limit, now)
            .await?;
        transaction.commit().await?;
        Ok(is_left)
    }
}

impl Transaction<'_> {
    /// Holds a team's campaign, or releases it. Nobody makes or takes back mailpieces of it before the transaction ends.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has no such campaign.
    pub async fn set_campaign_held(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        is_held: bool,
        source: &str,
        now: DateTime<Utc>,
    ) -> Result<CampaignHold> {
        let id = campaign_id.as_str();
        let row = self.query_row(FIND, &[&team_id.0, &id]).await?;
        let row = row.ok_or_else(|| StoreError::NotFound(format!("the campaign {campaign_id}")))?;
        let (name, held_at): (String, Option<DateTime<Utc>>) = (row.get(0), row.get(1));
        if held_at.is_some() == is_held {
            let is_new = false;
            return Ok(CampaignHold {
                name,
                held_at,
                is_new,
            });
        }
        let held_at = is_held.then_some(now);
        self.execute(
            "UPDATE campaigns SET held_at = $2, hold_changed_at = $3, hold_source = $4 WHERE campaign_id = $1",
            &[&id, &held_at, &now, &source],
        )
        .await?;
        Ok(CampaignHold {
            name,
            held_at,
            is_new: true,
        })
    }

    async fn apply_hold(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        limit: i64,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let id = campaign_id.as_str();
        let row = self
            .query_row(
                "SELECT held_at IS NOT NULL, hold_changed_at, coalesce(hold_source, 'system') FROM campaigns
                 WHERE team_id = $1 AND campaign_id = $2 AND hold_changed_at IS NOT NULL FOR NO KEY UPDATE",
                &[&team_id.0, &id],
            )
            .await?;
        // Somebody else has come to the end.
        let Some(row) = row else { return Ok(false) };
        let (is_held, occurred_at, source): (bool, DateTime<Utc>, String) =
            (row.get(0), row.get(1), row.get(2));
        let rows = if is_held {
            self.query_rows(HOLD, &[&team_id.0, &id, &limit]).await?
        } else {
            self.query_rows(RELEASE, &[&team_id.0, &id, &limit]).await?
        };
        let state = if is_held {
            MailpieceState::Held
        } else {
            MailpieceState::Queued
        };
        let events: Vec<NewMailpieceEvent<'_>> = rows
            .iter()
            .map(|row| NewMailpieceEvent {
                mailpiece_id: row.get(0),
                event_id: Uuid::now_v7(),
                state,
                basis: MailpieceBasis::Reported,
                source: &source,
                occurred_at,
                detail: "",
            })
            .collect();
        self.record_mailpiece_events(team_id, &events, now).await?;
        if i64::try_from(rows.len()).is_ok_and(|changed| changed >= limit) {
            return Ok(true);
        }
        self.execute(
            "UPDATE campaigns SET hold_changed_at = NULL, hold_source = NULL WHERE campaign_id = $1",
            &[&id],
        )
        .await?;
        Ok(false)
    }
}
