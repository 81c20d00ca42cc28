//! The ledger as people see it: money that came in and money that was spent.

use chrono::{DateTime, Utc};
use model::id::{ChargeId, LedgerTransactionId, TeamId};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::{Result, StoreError};
use crate::pool::Store;

/// Why money moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LedgerKind {
    /// It came in.
    TopUp,
    /// Cards were paid for.
    Charge,
    /// Cards were cancelled, and what they cost was given back.
    Refund,
}

/// One transaction of a team's ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerLine {
    /// Its place in the ledger.
    pub transaction_id: LedgerTransactionId,
    /// When it was booked.
    pub created_at: DateTime<Utc>,
    /// Why.
    pub kind: LedgerKind,
    /// How much moved, in cents; positive.
    pub amount_cents: i64,
    /// What it changes about the prepaid balance, in cents: nothing when the charge was paid by card.
    pub balance_cents: i64,
    /// What the operator booked a top-up with.
    pub reference: Option<String>,
    /// What was paid, or given back of.
    pub charge_id: Option<ChargeId>,
    /// The name of the campaign whose cards were paid.
    pub campaign_name: Option<String>,
}

fn ledger_line_from_row(row: &Row) -> Result<LedgerLine> {
    Ok(LedgerLine {
        transaction_id: LedgerTransactionId(row.get(0)),
        created_at: row.get(1),
        kind: match row.get(2) {
            "top_up" => LedgerKind::TopUp,
            "charge" => LedgerKind::Charge,
            "refund" => LedgerKind::Refund,
            _ => {
                return Err(StoreError::Corrupt(
                    "kind of a ledger transaction".to_owned(),
                ));
            }
        },
        reference: row.get(3),
        charge_id: row.get::<_, Option<Uuid>>(4).map(ChargeId),
        campaign_name: row.get(5),
        amount_cents: row.get(6),
        balance_cents: row.get(7),
    })
}

impl Store {
    /// A team's ledger, the newest first, before the transaction that `before` names; at most `limit`. Of this kind
    /// only, unless it is `None`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_ledger_lines(
        &self,
        team_id: TeamId,
        kind: Option<LedgerKind>,
        before: Option<LedgerTransactionId>,
        limit: i64,
    ) -> Result<Vec<LedgerLine>> {
        // Written out, so that each has the plan of its own index.
        let of_kind = match kind {
            None => "",
            Some(LedgerKind::TopUp) => "AND kind = 'top_up'",
            Some(LedgerKind::Charge) => "AND kind = 'charge'",
            Some(LedgerKind::Refund) => "AND kind = 'refund'",
        };
        let sql = format!(
            "SELECT booked.transaction_id, booked.created_at, booked.kind, booked.reference, charges.charge_id,
                 campaigns.name, moved.amount_cents, coalesce(prepaid.amount_cents, 0)
             FROM (
                 SELECT team_id, transaction_id, created_at, kind, reference, charge_id, refund_id FROM ledger_transactions
                 WHERE team_id = $1 AND transaction_id < $2 {of_kind}
                 ORDER BY transaction_id DESC LIMIT $3) AS booked
             CROSS JOIN LATERAL (
                 SELECT amount_cents FROM ledger_entries entry
                 WHERE entry.team_id = booked.team_id AND entry.transaction_id = booked.transaction_id
                     AND amount_cents > 0 LIMIT 1) AS moved
             LEFT JOIN ledger_entries prepaid ON prepaid.team_id = booked.team_id
                 AND prepaid.transaction_id = booked.transaction_id AND prepaid.account = 'prepaid'
             LEFT JOIN refunds ON refunds.team_id = booked.team_id AND refunds.refund_id = booked.refund_id
             LEFT JOIN charges ON charges.team_id = booked.team_id
                 AND charges.charge_id = coalesce(booked.charge_id, refunds.charge_id)
             LEFT JOIN campaigns ON campaigns.campaign_id = charges.campaign_id
             ORDER BY booked.transaction_id DESC"
        );
        let before = before.map_or(Uuid::max(), |id| id.0);
        self.query_rows(&sql, &[&team_id.0, &before, &limit])
            .await?
            .iter()
            .map(ledger_line_from_row)
            .collect()
    }
}
