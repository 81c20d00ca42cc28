//! Refunds that a payment provider still owes a team.

use chrono::{DateTime, Utc};
use model::id::{ChargeId, TeamId};
use uuid::Uuid;

use crate::error::Result;
use crate::pool::{Store, Transaction};

/// A refund that a worker asks the provider for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwedRefund {
    /// Whose money.
    pub team_id: TeamId,
    /// Its id, also the key under which the provider gives back once.
    pub refund_id: Uuid,
    /// What was paid.
    pub charge_id: ChargeId,
    /// The provider's id of that payment; `None` is a fault of ours.
    pub paid_by: Option<String>,
    /// How much, in cents.
    pub amount_cents: i64,
    /// When the mailpieces were cancelled; the provider was not asked before.
    pub created_at: DateTime<Utc>,
    /// Tries, this one included.
    pub attempts: i32,
}

/// A claim is its own lease: nobody else takes the row before `due_at`.
const CLAIM: &str = "
    UPDATE refunds SET attempts = refunds.attempts + 1, due_at = $2
    FROM (
        SELECT team_id, refund_id FROM refunds
        WHERE state = 'owed' AND due_at <= $1 AND team_id <> ALL ($3)
        ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED) due, charges charge
    WHERE refunds.team_id = due.team_id AND refunds.refund_id = due.refund_id
        AND charge.team_id = refunds.team_id AND charge.charge_id = refunds.charge_id
    RETURNING refunds.team_id, refunds.refund_id, refunds.charge_id, charge.payment_reference, refunds.amount_cents,
        refunds.created_at, refunds.attempts";

impl Store {
    /// Takes a due refund of none of the `full_teams`, for which nobody else asks before `leased_until`. `None` when there is none.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn claim_owed_refund(
        &self,
        now: DateTime<Utc>,
        leased_until: DateTime<Utc>,
        full_teams: &[TeamId],
    ) -> Result<Option<OwedRefund>> {
        let full_teams: Vec<Uuid> = full_teams.iter().map(|team_id| team_id.0).collect();
        let row = self
            .query_row(CLAIM, &[&now, &leased_until, &full_teams])
            .await?;
        Ok(row.map(|row| OwedRefund {
            team_id: TeamId(row.get(0)),
            refund_id: row.get(1),
            charge_id: ChargeId(row.get(2)),
            paid_by: row.get(3),
            amount_cents: row.get(4),
            created_at: row.get(5),
            attempts: row.get(6),
        }))
    }

    /// Says when a refund is asked for again; `None` is never, unless an operator wants it. One that was settled meanwhile stays so.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn postpone_refund(
        &self,
        team_id: TeamId,
        refund_id: Uuid,
        due_at: Option<DateTime<Utc>>,
    ) -> Result<()> {
        self.execute(
            "UPDATE refunds SET due_at = coalesce($3::timestamptz, 'infinity'::timestamptz) WHERE team_id = $1 AND refund_id = $2 AND state = 'owed'",
            &[&team_id.0, &refund_id, &due_at],
        )
        .await?;
        Ok(())
    }
}

impl Transaction<'_> {
    /// Settles a refund that the provider has given back, and books it. Returns whether this was the call that did it.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn settle_owed_refund(
        &self,
        owed: &OwedRefund,
        payment_reference: &str,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let settled = self
            .execute(
                "UPDATE refunds SET state = 'settled', settled_at = $3, payment_reference = $4
                 WHERE team_id = $1 AND refund_id = $2 AND state = 'owed'",
                &[&owed.team_id.0, &owed.refund_id, &now, &payment_reference],
            )
            .await?;
        if settled == 0 {
            return Ok(false);
        }
        self.record_card_refund(owed.team_id, owed.refund_id, owed.amount_cents, now)
            .await?;
        Ok(true)
    }

    /// Books what goes back to a card. A booking has the id of its refund.
    async fn record_card_refund(
        &self,
        team_id: TeamId,
        refund_id: Uuid,
        amount_cents: i64,
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.execute(
            "INSERT INTO ledger_transactions (team_id, transaction_id, kind, refund_id, created_at)
             VALUES ($1, $2, 'refund', $2, $3)",
            &[&team_id.0, &refund_id, &now],
        )
        .await?;
        if amount_cents == 0 {
            return Ok(());
        }
        self.execute(
            "INSERT INTO ledger_entries (team_id, transaction_id, account, amount_cents)
             VALUES ($1, $2, 'cash', $3::bigint), ($1, $2, 'sales', -$3::bigint)",
            &[&team_id.0, &refund_id, &amount_cents],
        )
        .await?;
        // In the order of a sale.
        self.add_to_account(team_id, "cash", amount_cents).await?;
        self.add_to_account(team_id, "sales", -amount_cents).await
    }
}
