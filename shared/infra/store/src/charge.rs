//! Charges: the money for one batch of cards.

use chrono::{DateTime, Utc};
use model::id::{CampaignId, ChargeId, TeamId};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::{Result, StoreError};
use crate::pool::{Store, Transaction};
use crate::team::PaymentKind;

/// What caused a charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChargeKind {
    /// A send request; the charge has its id.
    Send,
    /// The daily re-check of waiting recipients.
    Recheck,
    /// A later step.
    Step,
}

/// How far a charge is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChargeState {
    /// Cards are made, the payment is open.
    Reserved,
    /// Paid: the cards print.
    Settled,
    /// Refused: the cards are gone.
    Declined,
}

/// A charge to be reserved.
#[derive(Debug, Clone)]
pub struct NewCharge<'a> {
    /// Its id, also the payment's idempotency key.
    pub charge_id: ChargeId,
    /// Who pays.
    pub team_id: TeamId,
    /// For which campaign.
    pub campaign_id: &'a CampaignId,
    /// For which step.
    pub step: i16,
    /// Why.
    pub kind: ChargeKind,
    /// What all cards cost.
    pub amount_cents: i64,
    /// How many cards.
    pub mailpieces: i32,
    /// How it is paid.
    pub payment: PaymentKind,
    /// The start of the day on which its cards may print at the earliest, when its sender wants a later one.
    pub scheduled_for: Option<DateTime<Utc>>,
}

/// A stored charge.
#[derive(Debug, Clone)]
pub struct Charge {
    /// Its id.
    pub charge_id: ChargeId,
    /// Who pays.
    pub team_id: TeamId,
    /// For which campaign.
    pub campaign_id: CampaignId,
    /// For which step.
    pub step: i16,
    /// What caused it.
    pub kind: ChargeKind,
    /// How far it is.
    pub state: ChargeState,
    /// What all cards cost.
    pub amount_cents: i64,
    /// How many cards.
    pub mailpieces: i32,
    /// How it is paid.
    pub payment: PaymentKind,
    /// When its cards were made.
    pub created_at: DateTime<Utc>,
    /// The start of the day on which its cards may print at the earliest, when its sender wants a later one.
    pub scheduled_for: Option<DateTime<Utc>>,
}

impl ChargeKind {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Self::Send, Self::Recheck, Self::Step]
            .into_iter()
            .find(|kind| kind.as_str() == name)
    }

    /// The name in the schema.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Recheck => "recheck",
            Self::Step => "step",
        }
    }
}

impl ChargeState {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "reserved" => Some(Self::Reserved),
            "settled" => Some(Self::Settled),
            "declined" => Some(Self::Declined),
            _ => None,
        }
    }
}

fn charge_from_row(row: &Row) -> Result<Charge> {
    let corrupt = |what: &str| StoreError::Corrupt(format!("{what} of a charge"));
    Ok(Charge {
        charge_id: ChargeId(row.get("charge_id")),
        team_id: TeamId(row.get("team_id")),
        campaign_id: row
            .get::<_, &str>("campaign_id")
            .parse()
            .map_err(|_| corrupt("campaign"))?,
        step: row.get("step"),
        kind: ChargeKind::from_name(row.get("kind")).ok_or_else(|| corrupt("kind"))?,
        state: ChargeState::from_name(row.get("state")).ok_or_else(|| corrupt("state"))?,
        amount_cents: row.get("amount_cents"),
        mailpieces: row.get("mailpieces"),
        payment: PaymentKind::parse(row.get("payment"))?,
        created_at: row.get("created_at"),
        scheduled_for: row.get("scheduled_for"),
    })
}

const COLUMNS: &str = "charge_id, team_id, campaign_id, step, kind, state, amount_cents, mailpieces, payment, created_at, \
    scheduled_for";

impl Store {
    /// A charge.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is none.
    pub async fn find_charge(&self, team_id: TeamId, charge_id: ChargeId) -> Result<Charge> {
        let sql = format!("SELECT {COLUMNS} FROM charges WHERE team_id = $1 AND charge_id = $2");
        let row = self.query_row(&sql, &[&team_id.0, &charge_id.0]).await?;
        charge_from_row(
            &row.ok_or_else(|| StoreError::NotFound(format!("the charge {charge_id}")))?,
        )
    }
}

impl Transaction<'_> {
    /// Reserves a charge.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when it stands already.
    pub async fn reserve_charge(&self, new: &NewCharge<'_>, now: DateTime<Utc>) -> Result<()> {
        self.execute(
            "INSERT INTO charges (team_id, charge_id, campaign_id, step, kind, state, amount_cents, mailpieces, payment, created_at,
                 scheduled_for)
             VALUES ($1, $2, $3, $4, $5, 'reserved', $6, $7, $8, $9, $10)",
            &[
                &new.team_id.0,
                &new.charge_id.0,
                &new.campaign_id.as_str(),
                &new.step,
                &new.kind.as_str(),
                &new.amount_cents,
                &new.mailpieces,
                &new.payment.as_str(),
                &now,
                &new.scheduled_for,
            ],
        )
        .await?;
        Ok(())
    }

    /// Settles a reserved charge: from here on its cards print, and stand in the team's feed. Returns whether this was the call that did it.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn settle_charge(
        &self,
        team_id: TeamId,
        charge_id: ChargeId,
        payment_reference: Option<&str>,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        // One statement for both: settling is on the path of every send.
        let noted = self
            .execute(
                "WITH settled AS (
                     UPDATE charges SET state = 'settled', payment_reference = $3, settled_at = $4
                     WHERE team_id = $1 AND charge_id = $2 AND state = 'reserved' RETURNING charge_id)
                 INSERT INTO feed_batches (team_id, feed, batch_id, item_ids, item_kind)
                 SELECT $1, 'mailpieces', $5, ARRAY[charge_id], 'charge' FROM settled",
                &[
                    &team_id.0,
                    &charge_id.0,
                    &payment_reference,
                    &now,
                    &Uuid::now_v7(),
                ],
            )
            .await?;
        Ok(noted == 1)
    }

    /// Locks a charge until the transaction ends; false when it is closed. Taking the money and declining both do
    /// this first, so that of two workers one cannot decline what the other has just been paid for.
    pub(crate) async fn lock_open_charge(
        &self,
        team_id: TeamId,
        charge_id: ChargeId,
    ) -> Result<bool> {
        let row = self
            .query_row(
                "SELECT state = 'reserved' FROM charges WHERE team_id = $1 AND charge_id = $2 FOR NO KEY UPDATE",
                &[&team_id.0, &charge_id.0],
            )
            .await?;
        Ok(row.is_some_and(|row| row.get(0)))
    }

    /// Declines a reserved charge that no money was taken for: its cards go, its budget is given back. The campaign is locked before, as by
    /// everybody who makes or takes back cards. Returns whether this was the call that did it.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn decline_charge(&self, declined: &Charge, now: DateTime<Utc>) -> Result<bool> {
        self.lock_campaign(declined.team_id, &declined.campaign_id)
            .await?;
        if !self
            .lock_open_charge(declined.team_id, declined.charge_id)
            .await?
        {
            return Ok(false);
        }
        let (team_id, charge_id) = (&declined.team_id.0, &declined.charge_id.0);
        // A statement of its own, after the lock: it sees what whoever held the lock before has booked.
        let changed = self
            .execute(
                "UPDATE charges SET state = 'declined', settled_at = $3
                 WHERE team_id = $1 AND charge_id = $2 AND NOT EXISTS (
                     SELECT 1 FROM ledger_transactions booked
                     WHERE booked.team_id = $1 AND booked.charge_id = $2)",
                &[team_id, charge_id, &now],
            )
            .await?;
        if changed == 0 {
            return Ok(false);
        }
        self.commit_campaign_budget(&declined.campaign_id, -declined.amount_cents)
            .await?;
        self.execute(
            "DELETE FROM mailpieces WHERE team_id = $1 AND charge_id = $2",
            &[team_id, charge_id],
        )
        .await?;
        Ok(true)
    }
}
