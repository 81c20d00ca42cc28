//! What happened to a team's campaigns, day by day: added up where it happens, so that nobody counts it later.

use chrono::NaiveDate;
use contract::send::NotMailedReason;
use model::id::{CampaignId, ChargeId, TeamId};
use model::mailpiece_state::MailpieceState;
use tokio_postgres::Row;

use crate::error::Result;
use crate::pool::{Store, Transaction};

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CampaignFigure {
    /// Requests.
    Sends,
    /// Cards made, of later steps too.
    Cards,
    /// Scans by people.
    Scans,
    /// Recipients that were mailed. One that waited on conditions counts again on the day on which it is.
    Mailed,
    /// Recipients that were not, by reason.
    NotMailed(NotMailedReason),
    /// Mailpieces that came to this state. Counted in the transaction that records it, where somebody counts it.
    Reached(MailpieceState),
}

/// A figure of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CampaignDayFigure {
    /// The team's day.
    pub day: NaiveDate,
    /// What was counted.
    pub figure: CampaignFigure,
    /// How many.
    pub amount: i64,
}

/// The name of [`CampaignFigure::Scans`], which the statement that records scans writes.
pub(crate) const SCANS: &str = "scans";

impl CampaignFigure {
    /// The name in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sends => "sends",
            Self::Cards => "cards",
            Self::Scans => SCANS,
            Self::Mailed => "mailed",
            Self::NotMailed(reason) => reason.as_str(),
            Self::Reached(state) => state.as_str(),
        }
    }

    /// The figure of this name. Names of figures that are no more are no figure.
    fn from_name(name: &str) -> Option<Self> {
        let counted = [Self::Sends, Self::Cards, Self::Scans, Self::Mailed];
        let reasons = NotMailedReason::ALL.map(Self::NotMailed);
        let states = MailpieceState::ALL.iter().copied().map(Self::Reached);
        counted
            .into_iter()
            .chain(reasons)
            .chain(states)
            .find(|figure| figure.as_str() == name)
    }
}

pub(crate) fn campaign_day_figure_from_row(row: &Row) -> Option<CampaignDayFigure> {
    Some(CampaignDayFigure {
        day: row.get(0),
        figure: CampaignFigure::from_name(row.get(1))?,
        amount: row.get(2),
    })
}

impl Store {
    /// What happened to a team's campaigns since a day, added up over them. Costs as many rows as the campaigns have figures
    /// on these days, whatever they count.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn list_campaign_day_figures(
        &self,
        team_id: TeamId,
        since: NaiveDate,
    ) -> Result<Vec<CampaignDayFigure>> {
        let rows = self
            .query_rows(
                "SELECT day, figure, sum(amount)::bigint FROM campaign_days WHERE team_id = $1 AND day >= $2
                 GROUP BY day, figure ORDER BY day, figure",
                &[&team_id.0, &since],
            )
            .await?;
        Ok(rows
            .iter()
            .filter_map(campaign_day_figure_from_row)
            .collect())
    }

    /// Forgets days before this one, at most `limit` rows. Returns how many.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn purge_campaign_days(&self, before: NaiveDate, limit: i64) -> Result<u64> {
        self.execute(
            "DELETE FROM campaign_days WHERE ctid = ANY (ARRAY(
                 SELECT found.ctid FROM teams CROSS JOIN LATERAL (
                     SELECT ctid FROM campaign_days
                     WHERE campaign_days.team_id = teams.team_id AND day < $1 ORDER BY day LIMIT $2) found
                 LIMIT $2))",
            &[&before, &limit],
        )
        .await
    }
}

impl Transaction<'_> {
    /// Adds to the figures of a campaign's day; less than nothing takes off. The campaign is locked, so nobody waits here
    /// who does not wait for it anyway.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn update_campaign_day(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        day: NaiveDate,
        amounts: &[(CampaignFigure, i64)],
    ) -> Result<()> {
        let names: Vec<&str> = amounts.iter().map(|(figure, _)| figure.as_str()).collect();
        let numbers: Vec<i64> = amounts.iter().map(|(_, amount)| *amount).collect();
        self.execute(
            "INSERT INTO campaign_days AS stored (team_id, day, campaign_id, figure, slot, amount)
             SELECT $1, $2, $3, figure, 0, sum(amount)::bigint FROM unnest($4::text[], $5::bigint[]) AS new (figure, amount)
             GROUP BY figure ORDER BY figure
             ON CONFLICT (team_id, day, campaign_id, figure, slot) DO UPDATE SET amount = stored.amount + excluded.amount",
            &[&team_id.0, &day, &campaign_id.as_str(), &names, &numbers],
        )
        .await?;
        Ok(())
    }

    /// The cards of a charge.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn count_charge_mailpieces(
        &self,
        team_id: TeamId,
        charge_id: ChargeId,
    ) -> Result<i64> {
        let sql = "SELECT mailpieces::bigint FROM charges WHERE team_id = $1 AND charge_id = $2";
        let row = self.query_row(sql, &[&team_id.0, &charge_id.0]).await?;
        Ok(row.map_or(0, |row| row.get(0)))
    }
}
