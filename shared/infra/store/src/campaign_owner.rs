//! What an owner looks at and changes of a campaign, one thing at a time.

use chrono::{DateTime, Utc};
use model::id::{CampaignId, DesignId, TeamId};
use serde_json::Value;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::campaign::CampaignSummary;
use crate::error::{Result, StoreError};
use crate::pool::{Store, Transaction};

const SUMMARY: &str =
    "SELECT campaign_id, name, CASE WHEN archived_at IS NULL THEN status ELSE 'archived' END, budget_cents,
        committed_cents
    FROM campaigns";

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
    /// A team's campaigns by name, those that are put away or all others, behind the one named `after` (empty for the
    /// beginning); at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_campaign_page(
        &self,
        team_id: TeamId,
        is_archived: bool,
        after: &str,
        limit: i64,
    ) -> Result<Vec<CampaignSummary>> {
        let sql = format!(
            "{SUMMARY} WHERE team_id = $1 AND name > $2 AND (archived_at IS NOT NULL) = $4 ORDER BY name LIMIT $3"
        );
        Ok(self
            .query_rows(&sql, &[&team_id.0, &after, &limit, &is_archived])
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

    /// Activates or pauses a team's campaign that was launched and is not put away. Returns its name.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has no such campaign; [`StoreError::Limit`] for a draft and an archived one.
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
                "UPDATE campaigns SET status = $3, updated_at = $4
                 WHERE team_id = $1 AND campaign_id = $2 AND status <> 'draft' AND archived_at IS NULL RETURNING name",
                &[&team_id.0, &campaign_id.as_str(), &status, &now],
            )
            .await?;
        if let Some(row) = row {
            return Ok(row.get(0));
        }
        let name = self.find_campaign_name(team_id, campaign_id).await?;
        Err(StoreError::Limit(format!(
            "the campaign {name:?} is a draft or archived: launch or restore it first"
        )))
    }

    /// Puts a team's campaign away, so that it is active no more, or takes it back. Returns its name; `None` when it is so
    /// already.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has no such campaign.
    pub async fn set_campaign_archived(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        is_archived: bool,
        now: DateTime<Utc>,
    ) -> Result<Option<String>> {
        let row = self
            .query_row(
                "UPDATE campaigns SET archived_at = CASE WHEN $3 THEN $4::timestamptz END,
                     status = CASE WHEN $3 AND status = 'active' THEN 'paused' ELSE status END, updated_at = $4
                 WHERE team_id = $1 AND campaign_id = $2 AND (archived_at IS NOT NULL) <> $3 RETURNING name",
                &[&team_id.0, &campaign_id.as_str(), &is_archived, &now],
            )
            .await?;
        if let Some(row) = row {
            return Ok(Some(row.get(0)));
        }
        self.find_campaign_name(team_id, campaign_id).await?;
        Ok(None)
    }

    /// How many campaigns a team has, with those that are put away; counted no further than `most`. The team's row is locked,
    /// so that none is made meanwhile by whoever counts first.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn count_campaigns_locked(&self, team_id: TeamId, most: i64) -> Result<i64> {
        let sql = "SELECT 1 FROM teams WHERE team_id = $1 FOR NO KEY UPDATE";
        self.query_row(sql, &[&team_id.0]).await?;
        let sql = "SELECT count(*) FROM (SELECT FROM campaigns WHERE team_id = $1 LIMIT $2) found";
        let row = self.query_row(sql, &[&team_id.0, &most]).await?;
        Ok(row.map_or(0, |row| row.get(0)))
    }

    /// Those of these designs that are the team's.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_known_designs(
        &self,
        team_id: TeamId,
        design_ids: &[DesignId],
    ) -> Result<Vec<DesignId>> {
        let ids: Vec<Uuid> = design_ids.iter().map(|id| id.0).collect();
        let sql = "SELECT design_id FROM designs WHERE team_id = $1 AND design_id = ANY ($2)";
        let rows = self.query_rows(sql, &[&team_id.0, &ids]).await?;
        Ok(rows.iter().map(|row| DesignId(row.get(0))).collect())
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
