//! The proof that pieces, charges, budgets, the ledger and the duplicate guard agree.

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::error::Result;
use crate::pool::Store;

/// Discrepancies of one kind that are listed at the most.
const LISTED: i64 = 100;

/// Something that does not agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Discrepancy {
    /// The rule that is broken.
    pub rule: String,
    /// The row it is broken in.
    pub subject: String,
    /// The figures that do not agree.
    pub detail: String,
}

/// Each rule with the query that finds what breaks it: subject and detail. $1: charges reserved before this
/// are stuck. $2: days in which an address is mailed once. $3: rows listed.
const RULES: &[(&str, &str)] = &[
    (
        "a charge is the sum of its cards",
        "SELECT charge_id::text, format('%s cents for %s cards, but cards: %s, cents: %s', amount_cents,
             charge.pieces, count(piece_id), coalesce(sum(price_cents), 0))
         FROM charges charge LEFT JOIN pieces USING (team_id, charge_id)
         WHERE charge.state <> 'declined' AND ($1::timestamptz, $2::int) IS NOT NULL
         GROUP BY charge.team_id, charge_id, amount_cents, charge.pieces
         HAVING count(piece_id) <> charge.pieces OR coalesce(sum(price_cents), 0) <> amount_cents LIMIT $3",
    ),
    (
        "a card has a charge that was not declined",
        "SELECT piece_id::text, format('its charge %s is %s', piece.charge_id, coalesce(charge.state, 'missing'))
         FROM pieces piece LEFT JOIN charges charge USING (team_id, charge_id)
         WHERE (charge.state IS NULL OR charge.state = 'declined') AND ($1::timestamptz, $2::int) IS NOT NULL LIMIT $3",
    ),
    (
        "a settled charge is in the ledger with its amount, a declined one is not",
        "SELECT charge.charge_id::text, format('%s with %s cents, in the ledger: %s', charge.state, charge.amount_cents,
             coalesce(entry.amount_cents::text, 'nothing'))
         FROM charges charge
         LEFT JOIN ledger_transactions booked
             ON booked.team_id = charge.team_id AND booked.charge_id = charge.charge_id
         LEFT JOIN ledger_entries entry
             ON entry.team_id = booked.team_id AND entry.transaction_id = booked.transaction_id AND entry.account = 'sales'
         WHERE ((charge.state = 'settled' AND entry.amount_cents IS DISTINCT FROM charge.amount_cents)
             OR (charge.state = 'declined' AND entry.amount_cents IS NOT NULL))
             AND ($1::timestamptz, $2::int) IS NOT NULL LIMIT $3",
    ),
    (
        "a charge in the ledger exists",
        "SELECT booked.transaction_id::text, format('its charge %s does not exist', booked.charge_id)
         FROM ledger_transactions booked LEFT JOIN charges charge USING (team_id, charge_id)
         WHERE booked.kind = 'charge' AND charge.state IS NULL AND ($1::timestamptz, $2::int) IS NOT NULL LIMIT $3",
    ),
    (
        "a charge does not stay open",
        "SELECT charge_id::text, format('reserved since %s', created_at) FROM charges
         WHERE state = 'reserved' AND created_at < $1 AND $2::int IS NOT NULL LIMIT $3",
    ),
    (
        "the entries of a ledger transaction sum to zero",
        "SELECT transaction_id::text, format('%s cents', sum(amount_cents)) FROM ledger_entries
         WHERE ($1::timestamptz, $2::int) IS NOT NULL
         GROUP BY team_id, transaction_id HAVING sum(amount_cents) <> 0 LIMIT $3",
    ),
    (
        "an account's balance is the sum of its entries",
        "SELECT format('%s of team %s', account, team_id), format('%s cents, entries: %s', balance_cents,
             coalesce(sum(amount_cents), 0))
         FROM ledger_accounts LEFT JOIN ledger_entries USING (team_id, account)
         WHERE ($1::timestamptz, $2::int) IS NOT NULL
         GROUP BY team_id, account, balance_cents HAVING balance_cents <> coalesce(sum(amount_cents), 0) LIMIT $3",
    ),
    (
        "what a campaign's budget has committed is what its charges amount to",
        "SELECT campaign.campaign_id, format('%s cents, charges: %s', committed_cents, coalesce(sum(amount_cents), 0))
         FROM campaigns campaign LEFT JOIN charges charge
             ON charge.team_id = campaign.team_id AND charge.campaign_id = campaign.campaign_id
                 AND charge.state <> 'declined'
         WHERE ($1::timestamptz, $2::int) IS NOT NULL
         GROUP BY campaign.campaign_id, committed_cents
         HAVING committed_cents <> coalesce(sum(amount_cents), 0) LIMIT $3",
    ),
    (
        "an address is mailed once per campaign step within the duplicate window",
        "SELECT piece_id::text, format('%s step %s: mailed %s and %s', campaign_id, step, before, created_at)
         FROM (SELECT piece_id, campaign_id, step, created_at, lag(created_at) OVER (
                   PARTITION BY team_id, campaign_id, address_id, step ORDER BY created_at, piece_id) AS before
               FROM pieces) piece
         WHERE created_at - before < make_interval(days => $2) AND $1::timestamptz IS NOT NULL LIMIT $3",
    ),
    (
        "a finished request mailed what its charge settled",
        "SELECT send_id::text, format('%s mailed, charge: %s', mailed,
             coalesce(charge.state || ' for ' || charge.pieces, 'none'))
         FROM sends LEFT JOIN charges charge ON charge.team_id = sends.team_id AND charge.charge_id = sends.send_id
         WHERE sends.state = 'finished' AND ($1::timestamptz, $2::int) IS NOT NULL
             AND mailed <> CASE WHEN charge.state = 'settled' THEN (
                     -- Around a center many homes are mailed; the request counts the center.
                     SELECT count(DISTINCT coalesce(center_entry_id, piece_id)) FROM pieces
                     WHERE pieces.team_id = charge.team_id AND pieces.charge_id = charge.charge_id)
                 ELSE 0 END LIMIT $3",
    ),
    (
        "a recipient shown as mailed has a card",
        "SELECT format('%s in %s', entry_id, campaign_id), format('its charge %s has no card for it', charge_id)
         FROM recipients recipient
         WHERE status = 'mailed' AND charge_id IS NOT NULL AND ($1::timestamptz, $2::int) IS NOT NULL
             AND NOT EXISTS (SELECT 1 FROM pieces piece WHERE piece.team_id = recipient.team_id
                 AND piece.charge_id = recipient.charge_id
                 AND coalesce(piece.center_entry_id, piece.entry_id) = recipient.entry_id) LIMIT $3",
    ),
    (
        "a print run has the cards that it claimed, but for those set aside",
        "SELECT run_id::text, format('%s of %s cards, has: %s', run.pieces - set_aside, run.pieces, count(piece_id))
         FROM print_runs run LEFT JOIN pieces ON print_run_id = run_id
         WHERE ($1::timestamptz, $2::int) IS NOT NULL
         GROUP BY run_id HAVING count(piece_id) <> run.pieces - set_aside LIMIT $3",
    ),
    (
        "a card that is printed or about to be has a settled charge",
        "SELECT piece_id::text, format('in run %s, its charge is %s', print_run_id, coalesce(charge.state, 'missing'))
         FROM pieces piece LEFT JOIN charges charge USING (team_id, charge_id)
         WHERE print_run_id IS NOT NULL AND charge.state IS DISTINCT FROM 'settled'
             AND ($1::timestamptz, $2::int) IS NOT NULL LIMIT $3",
    ),
];

impl Store {
    /// Checks every rule on one snapshot of the database. Charges reserved before `stuck_before` count as stuck;
    /// an address may be mailed once in `duplicate_days`. Reads whole tables: for an operator, not for a request.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn check(&self, stuck_before: DateTime<Utc>, duplicate_days: i32) -> Result<Vec<Discrepancy>> {
        let mut connection = self.connection().await?;
        let transaction = connection.begin().await?;
        transaction.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY", &[]).await?;
        transaction.execute("SET LOCAL statement_timeout = 0", &[]).await?;
        let mut found = Vec::new();
        for (rule, sql) in RULES {
            for row in transaction.rows(sql, &[&stuck_before, &duplicate_days, &LISTED]).await? {
                found.push(Discrepancy { rule: (*rule).to_owned(), subject: row.get(0), detail: row.get(1) });
            }
        }
        Ok(found)
    }

    /// The names of the rules that [`Store::check`] checks.
    pub fn check_rules() -> impl Iterator<Item = &'static str> {
        RULES.iter().map(|(rule, _)| *rule)
    }
}
