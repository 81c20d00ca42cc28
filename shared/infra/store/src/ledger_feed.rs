//! The ledger as programs follow it: its bookings in the order of their commits.

use chrono::{DateTime, Utc};
use model::id::{ChargeId, TeamId};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::{Result, StoreError};
use crate::pool::Store;

/// Why money moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BookingKind {
    /// It came in.
    TopUp,
    /// Mailpieces were paid for.
    Charge,
    /// Mailpieces were cancelled, and their price given back.
    Refund,
}

/// A booking in a team's ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Booking {
    /// The ledger transaction.
    pub booking_id: Uuid,
    /// Why.
    pub kind: BookingKind,
    /// How much moved, in cents; positive.
    pub amount_cents: i64,
    /// What it changes about the prepaid balance, in cents: nothing when a payment card was used.
    pub balance_change_cents: i64,
    /// What was paid, or is given back of.
    pub charge_id: Option<ChargeId>,
    /// What is given back.
    pub refund_id: Option<Uuid>,
    /// The campaign of the charge.
    pub campaign_id: Option<String>,
    /// What the operator booked a top-up with.
    pub reference: Option<String>,
    /// When it was booked.
    pub created_at: DateTime<Utc>,
}

fn booking_from_row(row: &Row) -> Result<Booking> {
    let kind = match row.get("kind") {
        "top_up" => BookingKind::TopUp,
        "charge" => BookingKind::Charge,
        "refund" => BookingKind::Refund,
        _ => {
            return Err(StoreError::Corrupt(
                "kind of a ledger transaction".to_owned(),
            ));
        }
    };
    Ok(Booking {
        booking_id: row.get("transaction_id"),
        kind,
        amount_cents: row.get("amount_cents"),
        balance_change_cents: row.get("balance_change_cents"),
        charge_id: row.get::<_, Option<Uuid>>("charge_id").map(ChargeId),
        refund_id: row.get("refund_id"),
        campaign_id: row.get("campaign_id"),
        reference: row.get("reference"),
        created_at: row.get("created_at"),
    })
}

impl Store {
    /// These bookings of a team, in no order.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn find_bookings(
        &self,
        team_id: TeamId,
        transaction_ids: &[Uuid],
    ) -> Result<Vec<Booking>> {
        if transaction_ids.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self
            .query_rows(
                "SELECT booked.transaction_id, booked.kind, booked.refund_id, booked.reference, booked.created_at,
                     coalesce(booked.charge_id, refund.charge_id) AS charge_id,
                     coalesce(charge.campaign_id, refund.campaign_id) AS campaign_id,
                     coalesce(moved.amount_cents, 0) AS amount_cents,
                     coalesce(prepaid.amount_cents, 0) AS balance_change_cents
                 FROM unnest($2::uuid[]) AS wanted (id)
                 JOIN ledger_transactions booked ON booked.team_id = $1 AND booked.transaction_id = wanted.id
                 LEFT JOIN LATERAL (
                     SELECT amount_cents FROM ledger_entries entry
                     WHERE entry.team_id = $1 AND entry.transaction_id = booked.transaction_id AND amount_cents > 0
                     LIMIT 1) moved ON true
                 LEFT JOIN ledger_entries prepaid ON prepaid.team_id = $1
                     AND prepaid.transaction_id = booked.transaction_id AND prepaid.account = 'prepaid'
                 LEFT JOIN refunds refund ON refund.team_id = $1 AND refund.refund_id = booked.refund_id
                 LEFT JOIN charges charge ON charge.team_id = $1 AND charge.charge_id = booked.charge_id",
                &[&team_id.0, &transaction_ids],
            )
            .await?;
        rows.iter().map(booking_from_row).collect()
    }
}
