//! The ledger: double entry, one transaction per charge, per top-up and per refund (`cancellation.rs`, `refund.rs`).

use chrono::{DateTime, Utc};
use model::id::{ChargeId, TeamId};
use uuid::Uuid;

use crate::error::{Result, StoreError, retry_conflicts};
use crate::pool::{Store, Transaction};

/// What came of taking money from a balance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BalanceDebit {
    /// The money is taken, now or by an earlier attempt.
    Paid,
    /// The balance does not cover it; nothing was taken.
    Insufficient,
}

/// What came of a top-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TopUpResult {
    /// False when a top-up with this reference was booked before.
    pub is_new: bool,
    /// The balance now.
    pub balance_cents: i64,
}

/// A movement between two accounts.
struct LedgerMovement<'a> {
    team_id: TeamId,
    from: &'a str,
    to: &'a str,
    amount_cents: i64,
}

impl Store {
    /// The team's prepaid balance in cents.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn find_balance(&self, team_id: TeamId) -> Result<i64> {
        let sql =
            "SELECT balance_cents FROM ledger_accounts WHERE team_id = $1 AND account = 'prepaid'";
        Ok(self
            .query_row(sql, &[&team_id.0])
            .await?
            .map_or(0, |row| row.get(0)))
    }

    /// Takes a charge from the team's prepaid balance, whole or not at all, once.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] when the charge is closed; else the same charge can be tried again.
    pub async fn debit_balance(
        &self,
        team_id: TeamId,
        charge_id: ChargeId,
        amount_cents: i64,
        now: DateTime<Utc>,
    ) -> Result<BalanceDebit> {
        retry_conflicts(|| self.debit_balance_once(team_id, charge_id, amount_cents, now)).await
    }

    async fn debit_balance_once(
        &self,
        team_id: TeamId,
        charge_id: ChargeId,
        amount_cents: i64,
        now: DateTime<Utc>,
    ) -> Result<BalanceDebit> {
        let mut connection = self.connection().await?;
        let transaction = connection.begin_transaction().await?;
        let movement = LedgerMovement {
            team_id,
            from: "prepaid",
            to: "sales",
            amount_cents,
        };
        // A closed charge takes no money: whoever closed it knew better.
        if !transaction.lock_open_charge(team_id, charge_id).await? {
            return Err(StoreError::LeaseLost);
        }
        // The transaction's row comes first: whether this charge was taken before is asked before the balance.
        let Some(transaction_id) = transaction
            .insert_ledger_transaction(team_id, "charge", Some(charge_id), None, now)
            .await?
        else {
            return Ok(BalanceDebit::Paid);
        };
        let row = transaction
            .query_row(
                "UPDATE ledger_accounts SET balance_cents = balance_cents - $2
                 WHERE team_id = $1 AND account = 'prepaid' AND balance_cents >= $2 RETURNING 1",
                &[&team_id.0, &amount_cents],
            )
            .await?;
        if row.is_none() {
            return Ok(BalanceDebit::Insufficient);
        }
        transaction
            .add_to_account(team_id, "sales", amount_cents)
            .await?;
        transaction
            .insert_ledger_entries(transaction_id, &movement)
            .await?;
        transaction.commit().await?;
        Ok(BalanceDebit::Paid)
    }
}

impl Transaction<'_> {
    /// Adds to the team's prepaid balance. A reference counts once.
    ///
    /// # Errors
    /// [`StoreError::Limit`] when the reference was booked with another amount.
    pub async fn top_up_balance(
        &self,
        team_id: TeamId,
        amount_cents: i64,
        reference: &str,
        now: DateTime<Utc>,
    ) -> Result<TopUpResult> {
        let opened = self
            .insert_ledger_transaction(team_id, "top_up", None, Some(reference), now)
            .await?;
        match opened {
            Some(transaction_id) => {
                let movement = LedgerMovement {
                    team_id,
                    from: "cash",
                    to: "prepaid",
                    amount_cents,
                };
                self.record_ledger_movement(transaction_id, &movement)
                    .await?;
                self.close_top_up_request(team_id, reference).await?;
            }
            None => {
                self.refuse_other_amount(team_id, amount_cents, reference)
                    .await?
            }
        }
        let sql =
            "SELECT balance_cents FROM ledger_accounts WHERE team_id = $1 AND account = 'prepaid'";
        let row = self.query_row(sql, &[&team_id.0]).await?;
        let row =
            row.ok_or_else(|| StoreError::NotFound(format!("the ledger of team {team_id}")))?;
        Ok(TopUpResult {
            is_new: opened.is_some(),
            balance_cents: row.get(0),
        })
    }

    /// A reference that was booked with another amount is a slip, not a repetition.
    async fn refuse_other_amount(
        &self,
        team_id: TeamId,
        amount_cents: i64,
        reference: &str,
    ) -> Result<()> {
        let row = self
            .query_row(
                "SELECT entry.amount_cents FROM ledger_transactions booked
                 JOIN ledger_entries entry USING (team_id, transaction_id)
                 WHERE booked.team_id = $1 AND booked.reference = $2 AND entry.account = 'prepaid'",
                &[&team_id.0, &reference],
            )
            .await?;
        match row.map(|row| row.get::<_, i64>(0)) {
            Some(booked) if booked != amount_cents => Err(StoreError::Limit(format!(
                "the reference {reference:?} was booked before, with {booked} cents"
            ))),
            _ => Ok(()),
        }
    }

    /// Books a charge that was paid from outside (a card), once.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn record_card_sale(
        &self,
        team_id: TeamId,
        charge_id: ChargeId,
        amount_cents: i64,
        now: DateTime<Utc>,
    ) -> Result<()> {
        if let Some(transaction_id) = self
            .insert_ledger_transaction(team_id, "charge", Some(charge_id), None, now)
            .await?
        {
            let movement = LedgerMovement {
                team_id,
                from: "cash",
                to: "sales",
                amount_cents,
            };
            self.record_ledger_movement(transaction_id, &movement)
                .await?;
        }
        Ok(())
    }

    /// Opens a ledger transaction; `None` when one for this charge or reference stands already.
    async fn insert_ledger_transaction(
        &self,
        team_id: TeamId,
        kind: &str,
        charge_id: Option<ChargeId>,
        reference: Option<&str>,
        now: DateTime<Utc>,
    ) -> Result<Option<Uuid>> {
        let transaction_id = Uuid::now_v7();
        let inserted = self
            .execute(
                "INSERT INTO ledger_transactions (team_id, transaction_id, kind, charge_id, reference, created_at)
                 VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
                &[&team_id.0, &transaction_id, &kind, &charge_id.map(|id| id.0), &reference, &now],
            )
            .await?;
        Ok((inserted == 1).then_some(transaction_id))
    }

    async fn record_ledger_movement(
        &self,
        transaction_id: Uuid,
        movement: &LedgerMovement<'_>,
    ) -> Result<()> {
        self.add_to_account(movement.team_id, movement.from, -movement.amount_cents)
            .await?;
        self.add_to_account(movement.team_id, movement.to, movement.amount_cents)
            .await?;
        self.insert_ledger_entries(transaction_id, movement).await
    }

    /// Adds to an account's balance; less than nothing takes off.
    pub(crate) async fn add_to_account(
        &self,
        team_id: TeamId,
        account: &str,
        amount_cents: i64,
    ) -> Result<()> {
        self.execute(
            "UPDATE ledger_accounts SET balance_cents = balance_cents + $3 WHERE team_id = $1 AND account = $2",
            &[&team_id.0, &account, &amount_cents],
        )
        .await?;
        Ok(())
    }

    async fn insert_ledger_entries(
        &self,
        transaction_id: Uuid,
        movement: &LedgerMovement<'_>,
    ) -> Result<()> {
        self.execute(
            "INSERT INTO ledger_entries (team_id, transaction_id, account, amount_cents)
             VALUES ($1, $2, $3, -$5::bigint), ($1, $2, $4, $5::bigint)",
            &[
                &movement.team_id.0,
                &transaction_id,
                &movement.from,
                &movement.to,
                &movement.amount_cents,
            ],
        )
        .await?;
        Ok(())
    }
}
