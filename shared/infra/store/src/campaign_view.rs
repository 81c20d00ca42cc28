//! Campaigns as their team's programs read them.

use chrono::{DateTime, NaiveDate, Utc};
use model::id::{CampaignId, DesignId, TeamId};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::campaign_day::{CampaignDayFigure, campaign_day_figure_from_row};
use crate::error::Result;
use crate::pool::Store;

/// A campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CampaignView {
    /// Its public id.
    pub campaign_id: String,
    /// Its name.
    pub name: String,
    /// `active` or `paused`.
    pub status: String,
    /// `api` or `list`.
    pub audience: String,
    /// `audience` or `neighborhood`.
    pub kind: String,
    /// Since when its queued mailpieces are held; `None` when they are not.
    pub held_at: Option<DateTime<Utc>>,
    /// Cents; `None` without a limit.
    pub budget_cents: Option<i64>,
    /// What settled and pending charges take of the budget.
    pub committed_cents: i64,
    /// Days; `None` when off.
    pub resend_protection_days: Option<i32>,
    /// Minutes; `None` is the installation's setting.
    pub cancel_minutes: Option<i32>,
    /// Hours; `None` is the installation's setting.
    pub stalled_hours: Option<i32>,
    /// Whether an address from which a mailpiece came back is mailed again.
    pub mails_returned: bool,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When its settings were changed last.
    pub updated_at: DateTime<Utc>,
}

/// A step of a campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CampaignViewStep {
    /// From 1.
    pub step: i16,
    /// `None` until one is chosen.
    pub design_id: Option<DesignId>,
    /// `standard` or `first_class`.
    pub postage: String,
    /// Days after step 1.
    pub delay_days: i32,
}

const VIEW: &str = "
    SELECT campaign_id, name, status, audience, kind, held_at, budget_cents, committed_cents, resend_protection_days,
        cancel_minutes, stalled_hours, mails_returned, created_at, updated_at
    FROM campaigns";

fn campaign_view_from_row(row: &Row) -> CampaignView {
    CampaignView {
        campaign_id: row.get("campaign_id"),
        name: row.get("name"),
        status: row.get("status"),
        audience: row.get("audience"),
        kind: row.get("kind"),
        held_at: row.get("held_at"),
        budget_cents: row.get("budget_cents"),
        committed_cents: row.get("committed_cents"),
        resend_protection_days: row.get("resend_protection_days"),
        cancel_minutes: row.get("cancel_minutes"),
        stalled_hours: row.get("stalled_hours"),
        mails_returned: row.get("mails_returned"),
        created_at: row.get("created_at"),
        updated_at: row.get("updated_at"),
    }
}

impl Store {
    /// A team's campaigns in the order of their ids, behind `after` (empty for the beginning); at most `limit`.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn list_campaign_views(
        &self,
        team_id: TeamId,
        after: &str,
        limit: i64,
    ) -> Result<Vec<CampaignView>> {
        let sql =
            format!("{VIEW} WHERE team_id = $1 AND campaign_id > $2 ORDER BY campaign_id LIMIT $3");
        let rows = self.query_rows(&sql, &[&team_id.0, &after, &limit]).await?;
        Ok(rows.iter().map(campaign_view_from_row).collect())
    }

    /// A team's campaign; `None` when it has no such one.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn find_campaign_view(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
    ) -> Result<Option<CampaignView>> {
        let sql = format!("{VIEW} WHERE team_id = $1 AND campaign_id = $2");
        let row = self
            .query_row(&sql, &[&team_id.0, &campaign_id.as_str()])
            .await?;
        Ok(row.as_ref().map(campaign_view_from_row))
    }

    /// The steps of a campaign, from the first.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn list_campaign_view_steps(
        &self,
        campaign_id: &CampaignId,
    ) -> Result<Vec<CampaignViewStep>> {
        let sql = "SELECT step, design_id, postage, delay_days FROM campaign_steps WHERE campaign_id = $1 ORDER BY step";
        let rows = self.query_rows(sql, &[&campaign_id.as_str()]).await?;
        Ok(rows
            .iter()
            .map(|row| CampaignViewStep {
                step: row.get("step"),
                design_id: row.get::<_, Option<Uuid>>("design_id").map(DesignId),
                postage: row.get("postage"),
                delay_days: row.get("delay_days"),
            })
            .collect())
    }

    /// What happened to one campaign on `days` days from `from` on. Costs a look into an index for each day, and the figures.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn list_campaign_figures(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        from: NaiveDate,
        days: i32,
    ) -> Result<Vec<CampaignDayFigure>> {
        let rows = self
            .query_rows(
                "SELECT counted.day, counted.figure, sum(counted.amount)::bigint
                 FROM generate_series(0, $4::integer - 1) AS wanted (number)
                 CROSS JOIN LATERAL (
                     SELECT day, figure, amount FROM campaign_days
                     WHERE team_id = $1 AND day = $3::date + wanted.number AND campaign_id = $2
                     ORDER BY figure, slot) counted
                 GROUP BY counted.day, counted.figure ORDER BY counted.day, counted.figure",
                &[&team_id.0, &campaign_id.as_str(), &from, &days],
            )
            .await?;
        Ok(rows
            .iter()
            .filter_map(campaign_day_figure_from_row)
            .collect())
    }
}
