//! Charges as people see them: one line for each request, re-check or later step, and what its cards cost.

use chrono::{DateTime, Utc};
use model::id::{ChargeId, TeamId};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::charge::{ChargeKind, ChargeState};
use crate::error::{Result, StoreError};
use crate::pool::Store;
use crate::team::PaymentKind;

/// Kinds of cards of one charge that are listed: products times postages are fewer.
const KINDS: i64 = 100;

/// A charge, for lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChargeSummary {
    /// Its id; a send's charge has the send's request id.
    pub charge_id: ChargeId,
    /// The campaign's public id.
    pub campaign_id: String,
    /// The campaign's name.
    pub campaign_name: String,
    /// What caused it.
    pub kind: ChargeKind,
    /// Which step's cards.
    pub step: i16,
    /// How far it is.
    pub state: ChargeState,
    /// What all cards cost, in cents.
    pub amount_cents: i64,
    /// How many cards; of a declined charge they are gone.
    pub mailpieces: i32,
    /// How it is paid.
    pub payment: PaymentKind,
    /// The provider's id of the payment.
    pub payment_reference: Option<String>,
    /// When its cards were made.
    pub created_at: DateTime<Utc>,
    /// When it was settled or declined.
    pub settled_at: Option<DateTime<Utc>>,
}

/// The cards of a charge with one product, postage and price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChargedMailpieces {
    /// Such as `postcard_4x6`.
    pub product: String,
    /// `standard` or `first_class`.
    pub postage: String,
    /// Of one card, in cents.
    pub price_cents: i64,
    /// How many.
    pub mailpieces: i64,
}

const LIST: &str = "
    SELECT charge.charge_id, charge.campaign_id, campaigns.name, charge.kind, charge.step, charge.state,
        charge.amount_cents, charge.mailpieces, charge.payment, charge.payment_reference, charge.created_at,
        charge.settled_at
    FROM charges charge JOIN campaigns USING (campaign_id) WHERE charge.team_id = $1";

fn charge_summary_from_row(row: &Row) -> Result<ChargeSummary> {
    let corrupt = |what: &str| StoreError::Corrupt(format!("{what} of a charge"));
    Ok(ChargeSummary {
        charge_id: ChargeId(row.get(0)),
        campaign_id: row.get(1),
        campaign_name: row.get(2),
        kind: ChargeKind::from_name(row.get(3)).ok_or_else(|| corrupt("kind"))?,
        step: row.get(4),
        state: ChargeState::from_name(row.get(5)).ok_or_else(|| corrupt("state"))?,
        amount_cents: row.get(6),
        mailpieces: row.get(7),
        payment: PaymentKind::parse(row.get(8))?,
        payment_reference: row.get(9),
        created_at: row.get(10),
        settled_at: row.get(11),
    })
}

impl Store {
    /// A team's charges, the newest first, before the one that `before` names; at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_charges(
        &self,
        team_id: TeamId,
        before: Option<ChargeId>,
        limit: i64,
    ) -> Result<Vec<ChargeSummary>> {
        let before = before.map_or(Uuid::max(), |id| id.0);
        let sql =
            format!("{LIST} AND charge.charge_id < $2 ORDER BY charge.charge_id DESC LIMIT $3");
        self.query_rows(&sql, &[&team_id.0, &before, &limit])
            .await?
            .iter()
            .map(charge_summary_from_row)
            .collect()
    }

    /// A team's charge, for people.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has none with this id.
    pub async fn find_charge_summary(
        &self,
        team_id: TeamId,
        charge_id: ChargeId,
    ) -> Result<ChargeSummary> {
        let row = self
            .query_row(
                &format!("{LIST} AND charge.charge_id = $2"),
                &[&team_id.0, &charge_id.0],
            )
            .await?;
        charge_summary_from_row(
            &row.ok_or_else(|| StoreError::NotFound(format!("the charge {charge_id}")))?,
        )
    }

    /// What the cards of a charge are, by product, postage and price. It reads the charge's cards, which are bounded by
    /// what one request may mail.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_charge_mailpieces(
        &self,
        team_id: TeamId,
        charge_id: ChargeId,
    ) -> Result<Vec<ChargedMailpieces>> {
        let rows = self
            .query_rows(
                "SELECT product, postage, price_cents, count(*) FROM mailpieces
                 WHERE team_id = $1 AND charge_id = $2
                 GROUP BY product, postage, price_cents ORDER BY product, postage, price_cents LIMIT $3",
                &[&team_id.0, &charge_id.0, &KINDS],
            )
            .await?;
        Ok(rows
            .iter()
            .map(|row| ChargedMailpieces {
                product: row.get(0),
                postage: row.get(1),
                price_cents: row.get(2),
                mailpieces: row.get(3),
            })
            .collect())
    }
}
