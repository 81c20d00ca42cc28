//! What an owner looks at and changes of a campaign, one thing at a time.

use chrono::{DateTime, Utc};
use model::id::{CampaignId, TeamId};
use serde_json::Value;
use tokio_postgres::Row;

use crate::campaign::CampaignSummary;
use crate::error::{Result, StoreError};
use crate::pool::{Store, Transaction};

const SUMMARY: &str =
    "SELECT campaign_id, name, status, budget_cents, committed_cents FROM campaigns";

fn campaign_summary_from_row(row: &Row) -> CampaignSummary {
    CampaignSummary {
        campaign_id: row.get(0),
        name: row.get(1),
        status: row.get(2),
        budget_cents: row.get(3),
        committed_cents: row.get(4),
    }
}

fn not_found(campaign_id: &CampaignId) -> StoreError {
    StoreError::NotFound(format!("the campaign {campaign_id}"))
}

impl Store {
    /// A team's campaigns by name, behind the one named `after` (empty for the beginning); at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_campaign_page(
        &self,
        team_id: TeamId,
        after: &str,
        limit: i64,
    ) -> Result<Vec<CampaignSummary>> {
        let sql = format!("{SUMMARY} WHERE team_id = $1 AND name > $2 ORDER BY name LIMIT $3");
        Ok(self
            .query_rows(&sql, &[&team_id.0, &after, &limit])
            .await?
            .iter()
            .map(campaign_summary_from_row)
            .collect())
    }

    /// The filter conditions of those of a team's campaigns that have these ids and filter.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_campaign_conditions(
        &self,
        team_id: TeamId,
        campaign_ids: &[&str],
    ) -> Result<Vec<(String, Value)>> {
        let sql = "SELECT campaign_id, conditions FROM campaigns
             WHERE team_id = $1 AND campaign_id = ANY ($2) AND conditions IS NOT NULL";
        let rows = self.query_rows(sql, &[&team_id.0, &campaign_ids]).await?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    /// A team's campaign in short.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has no such campaign.
    pub async fn find_campaign_summary(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
    ) -> Result<CampaignSummary> {
        let sql = format!("{SUMMARY} WHERE team_id = $1 AND campaign_id = $2");
        let row = self
            .query_row(&sql, &[&team_id.0, &campaign_id.as_str()])
            .await?;
        row.as_ref()
            .map(campaign_summary_from_row)
            .ok_or_else(|| not_found(campaign_id))
    }
}

impl Transaction<'_> {
    /// The name of a team's campaign.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has no such campaign.
    pub async fn find_campaign_name(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
    ) -> Result<String> {
        let sql = "SELECT name FROM campaigns WHERE team_id = $1 AND campaign_id = $2";
        let row = self
            .query_row(sql, &[&team_id.0, &campaign_id.as_str()])
            .await?;
        row.map(|row| row.get(0))
            .ok_or_else(|| not_found(campaign_id))
    }

    /// Activates or pauses a team's campaign. Returns its name.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has no such campaign.
    pub async fn set_campaign_active(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        is_active: bool,
        now: DateTime<Utc>,
    ) -> Result<String> {
        let status = if is_active { "active" } else { "paused" };
        let row = self
            .query_row(
                "UPDATE campaigns SET status = $3, updated_at = $4 WHERE team_id = $1 AND campaign_id = $2
                 RETURNING name",
                &[&team_id.0, &campaign_id.as_str(), &status, &now],
            )
            .await?;
        row.map(|row| row.get(0))
            .ok_or_else(|| not_found(campaign_id))
    }

    /// Gives a team's campaign another map area, as GeoJSON; `None` is everywhere. Returns its name.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has no such campaign.
    pub async fn set_campaign_area(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        area: Option<&str>,
        now: DateTime<Utc>,
    ) -> Result<String> {
        let row = self
            .query_row(
                "UPDATE campaigns SET area = $3, updated_at = $4 WHERE team_id = $1 AND campaign_id = $2
                 RETURNING name",
                &[&team_id.0, &campaign_id.as_str(), &area, &now],
            )
            .await?;
        row.map(|row| row.get(0))
            .ok_or_else(|| not_found(campaign_id))
    }

    /// The conditions of a team's campaign; nobody changes them before the transaction ends.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has no such campaign.
    pub async fn lock_campaign_conditions(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
    ) -> Result<Option<Value>> {
        let sql = "SELECT conditions FROM campaigns WHERE team_id = $1 AND campaign_id = $2 FOR NO KEY UPDATE";
        let row = self
            .query_row(sql, &[&team_id.0, &campaign_id.as_str()])
            .await?;
        row.map(|row| row.get(0))
            .ok_or_else(|| not_found(campaign_id))
    }

    /// Gives a team's campaign other filter conditions; `None` is none. Returns its name. The caller holds the team's columns
    /// locked and has checked the tree against them.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has no such campaign.
    pub async fn set_campaign_conditions(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        conditions: Option<&Value>,
        now: DateTime<Utc>,
    ) -> Result<String> {
        let row = self
            .query_row(
                "UPDATE campaigns SET conditions = $3, updated_at = $4 WHERE team_id = $1 AND campaign_id = $2
                 RETURNING name",
                &[&team_id.0, &campaign_id.as_str(), &conditions, &now],
            )
            .await?;
        row.map(|row| row.get(0))
            .ok_or_else(|| not_found(campaign_id))
    }
}
