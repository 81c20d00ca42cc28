//! The rules, each with the statement that finds what breaks it in a portion of a table.
//!
//! Both sides of a rule are read by one statement, so that work that commits meanwhile is seen whole or not at all. Every part of
//! a statement costs what its portion costs: what belongs to a row is looked up by index, never joined by a condition that
//! the planner may turn into a loop over the portion.

use super::walk::{IndexColumn, IndexKey};

/// A rule and how it is checked.
pub(super) struct CheckRule {
    pub(super) name: &'static str,
    pub(super) check: CheckMethod,
}

/// How a rule is checked.
pub(super) enum CheckMethod {
    /// In each portion of a table. The statement gives subject and detail of what breaks the rule. `{1}`: how many are listed;
    /// `{2}`: what the rule needs besides.
    Portions {
        key: IndexKey,
        sql: &'static str,
        needs: CheckParameter,
    },
    /// A total that stands somewhere is the sum of rows that may be too many for one statement.
    Sums(SumComparison),
}

/// What a rule's statement needs to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckParameter {
    Nothing,
    /// Charges reserved before are stuck.
    StuckBefore,
    /// Days in which an address is mailed once.
    DuplicateDays,
}

/// `{1}` in both statements is the first id that counts as recent. What is older is summed up in portions; it no longer comes
/// in meanwhile. What is recent is summed up by the statement that reads the totals.
pub(super) struct SumComparison {
    pub(super) rows: IndexKey,
    /// Group and sum.
    pub(super) rows_sql: &'static str,
    pub(super) totals: IndexKey,
    /// Group, subject, total, and the sum of what is recent.
    pub(super) totals_sql: &'static str,
    /// What the rows are called.
    pub(super) label: &'static str,
}

const CHARGES: IndexKey = IndexKey {
    table: "charges",
    filter: "true",
    columns: &[IndexColumn::Uuid("team_id"), IndexColumn::Uuid("charge_id")],
};
const OPEN_CHARGES: IndexKey = IndexKey {
    table: "charges",
    filter: "state = 'reserved'",
    columns: &[IndexColumn::Time("created_at")],
};
const CARDS_BY_CHARGE: IndexKey = IndexKey {
    table: "mailpieces",
    filter: "true",
    columns: &[IndexColumn::Uuid("charge_id"), IndexColumn::Uuid("team_id")],
};
const CARDS_BY_ADDRESS: IndexKey = IndexKey {
    table: "mailpieces",
    filter: "true",
    columns: &[
        IndexColumn::Uuid("team_id"),
        IndexColumn::Text("campaign_id"),
        IndexColumn::Uuid("address_id"),
    ],
};
const LEDGER: IndexKey = IndexKey {
    table: "ledger_transactions",
    filter: "true",
    columns: &[
        IndexColumn::Uuid("team_id"),
        IndexColumn::Uuid("transaction_id"),
    ],
};
const ENTRIES: IndexKey = IndexKey {
    table: "ledger_entries",
    ..LEDGER
};
const ACCOUNTS: IndexKey = IndexKey {
    table: "ledger_accounts",
    filter: "true",
    columns: &[IndexColumn::Uuid("team_id"), IndexColumn::Text("account")],
};
// The key of campaigns is a text, and texts have no last one: they are walked over team by team.
const TEAMS: IndexKey = IndexKey {
    table: "teams",
    filter: "true",
    columns: &[IndexColumn::Uuid("team_id")],
};
const SENDS: IndexKey = IndexKey {
    table: "sends",
    filter: "true",
    columns: &[IndexColumn::Uuid("team_id"), IndexColumn::Uuid("send_id")],
};
const RECIPIENTS_BY_CHARGE: IndexKey = IndexKey {
    table: "recipients",
    filter: "charge_id IS NOT NULL",
    columns: &[IndexColumn::Uuid("charge_id")],
};
const REFUNDS: IndexKey = IndexKey {
    table: "refunds",
    filter: "true",
    columns: &[IndexColumn::Uuid("team_id"), IndexColumn::Uuid("refund_id")],
};
const PRINT_RUNS: IndexKey = IndexKey {
    table: "print_runs",
    filter: "true",
    columns: &[IndexColumn::Uuid("run_id")],
};

const fn portions_rule(name: &'static str, key: IndexKey, sql: &'static str) -> CheckRule {
    CheckRule {
        name,
        check: CheckMethod::Portions {
            key,
            sql,
            needs: CheckParameter::Nothing,
        },
    }
}

/// All of them.
pub(super) const RULES: &[CheckRule] = &[
    portions_rule(
        "a charge is the sum of its cards",
        CHARGES,
        "WITH charge AS MATERIALIZED (SELECT * FROM charges WHERE {range} AND state <> 'declined')
         SELECT charge_id::text, format('%s cents for %s cards, but cards: %s, cents: %s', amount_cents, mailpieces,
             made.cards, made.cents)
         FROM charge CROSS JOIN LATERAL (
             SELECT count(*) AS cards, coalesce(sum(price_cents), 0) AS cents FROM mailpieces
             WHERE mailpieces.charge_id = charge.charge_id AND mailpieces.team_id = charge.team_id) made
         WHERE made.cards <> mailpieces OR made.cents <> amount_cents LIMIT {1}",
    ),
    portions_rule(
        "a card has a charge that was not declined",
        CARDS_BY_CHARGE,
        "WITH charged AS MATERIALIZED (SELECT DISTINCT charge_id, team_id FROM mailpieces WHERE {range}),
         wrong AS MATERIALIZED (
             SELECT charged.*, charge.state FROM charged LEFT JOIN LATERAL (
                 SELECT state FROM charges
                 WHERE charges.team_id = charged.team_id AND charges.charge_id = charged.charge_id LIMIT 1) charge ON true
             WHERE charge.state IS NULL OR charge.state = 'declined')
         SELECT mailpiece_id::text, format('its charge %s is %s', wrong.charge_id, coalesce(wrong.state, 'missing'))
         FROM wrong CROSS JOIN LATERAL (
             SELECT mailpiece_id FROM mailpieces
             WHERE mailpieces.charge_id = wrong.charge_id AND mailpieces.team_id = wrong.team_id OFFSET 0) mailpiece LIMIT {1}",
    ),
    portions_rule(
        "a settled charge is in the ledger with its amount, a declined one is not",
        CHARGES,
        "WITH charge AS MATERIALIZED (SELECT * FROM charges WHERE {range} AND state <> 'reserved')
         SELECT charge.charge_id::text, format('%s with %s cents, in the ledger: %s', charge.state, charge.amount_cents,
             coalesce(entry.amount_cents::text, 'nothing'))
         FROM charge
         LEFT JOIN LATERAL (
             SELECT transaction_id FROM ledger_transactions booked
             WHERE booked.team_id = charge.team_id AND booked.charge_id = charge.charge_id LIMIT 1) booked ON true
         LEFT JOIN LATERAL (
             SELECT amount_cents FROM ledger_entries entry
             WHERE entry.team_id = charge.team_id AND entry.transaction_id = booked.transaction_id
                 AND entry.account = 'sales' LIMIT 1) entry ON true
         WHERE (charge.state = 'settled' AND entry.amount_cents IS DISTINCT FROM charge.amount_cents)
             OR (charge.state = 'declined' AND entry.amount_cents IS NOT NULL) LIMIT {1}",
    ),
    portions_rule(
        "a charge in the ledger exists",
        LEDGER,
        "WITH booked AS MATERIALIZED (SELECT * FROM ledger_transactions WHERE {range} AND kind = 'charge')
         SELECT booked.transaction_id::text, format('its charge %s does not exist', booked.charge_id)
         FROM booked LEFT JOIN LATERAL (
             SELECT state FROM charges
             WHERE charges.team_id = booked.team_id AND charges.charge_id = booked.charge_id LIMIT 1) charge ON true
         WHERE charge.state IS NULL LIMIT {1}",
    ),
    CheckRule {
        name: "a charge does not stay open",
        check: CheckMethod::Portions {
            key: OPEN_CHARGES,
            sql: "SELECT charge_id::text, format('reserved since %s', created_at) FROM charges
                  WHERE {range} AND state = 'reserved' AND created_at < {2}::timestamptz LIMIT {1}",
            needs: CheckParameter::StuckBefore,
        },
    },
    portions_rule(
        "the entries of a ledger transaction sum to zero",
        ENTRIES,
        "SELECT transaction_id::text, format('%s cents', sum(amount_cents)) FROM ledger_entries
         WHERE {range} GROUP BY team_id, transaction_id HAVING sum(amount_cents) <> 0 LIMIT {1}",
    ),
    CheckRule {
        name: "an account's balance is the sum of its entries",
        check: CheckMethod::Sums(SumComparison {
            rows: ENTRIES,
            rows_sql: "SELECT team_id || account, sum(amount_cents)::bigint FROM ledger_entries
                       WHERE {range} AND transaction_id < {1} GROUP BY 1",
            totals: ACCOUNTS,
            totals_sql: "SELECT team_id || account, format('%s of team %s', account, team_id), balance_cents,
                             (SELECT coalesce(sum(amount_cents), 0)::bigint FROM ledger_entries entry
                              WHERE entry.team_id = held.team_id AND entry.transaction_id >= {1}
                                  AND entry.account = held.account)
                         FROM ledger_accounts held WHERE {range}",
            label: "entries",
        }),
    },
    CheckRule {
        name: "what a campaign's budget has committed is what its charges amount to without what was given back",
        check: CheckMethod::Sums(SumComparison {
            rows: CHARGES,
            rows_sql: "SELECT team_id || campaign_id, sum(amount_cents)::bigint FROM charges
                       WHERE {range} AND charge_id < {1} AND state <> 'declined' GROUP BY 1",
            totals: TEAMS,
            totals_sql: "WITH team AS MATERIALIZED (SELECT team_id FROM teams WHERE {range}),
                         recent AS MATERIALIZED (
                             SELECT charge.* FROM team CROSS JOIN LATERAL (
                                 SELECT team_id, campaign_id, sum(amount_cents)::bigint AS cents FROM charges
                                 WHERE charges.team_id = team.team_id AND charge_id >= {1} AND state <> 'declined'
                                 GROUP BY 1, 2) charge)
                         SELECT campaign.team_id || campaign_id, campaign_id, committed_cents + refunded_cents, coalesce(cents, 0)
                         FROM campaigns campaign LEFT JOIN recent USING (team_id, campaign_id)
                         WHERE campaign.team_id IN (SELECT team_id FROM team)",
            label: "charges",
        }),
    },
    CheckRule {
        name: "what was given back of a campaign's budget is the sum of its refunds",
        check: CheckMethod::Sums(SumComparison {
            rows: REFUNDS,
            rows_sql: "SELECT team_id || campaign_id, sum(amount_cents)::bigint FROM refunds
                       WHERE {range} AND refund_id < {1} GROUP BY 1",
            totals: TEAMS,
            totals_sql: "WITH team AS MATERIALIZED (SELECT team_id FROM teams WHERE {range}),
                         recent AS MATERIALIZED (
                             SELECT refund.* FROM team CROSS JOIN LATERAL (
                                 SELECT team_id, campaign_id, sum(amount_cents)::bigint AS cents FROM refunds
                                 WHERE refunds.team_id = team.team_id AND refund_id >= {1} GROUP BY 1, 2) refund)
                         SELECT campaign.team_id || campaign_id, campaign_id, refunded_cents, coalesce(cents, 0)
                         FROM campaigns campaign LEFT JOIN recent USING (team_id, campaign_id)
                         WHERE campaign.team_id IN (SELECT team_id FROM team)",
            label: "refunds",
        }),
    },
    portions_rule(
        "what was given back of a charge is what its cancelled cards cost",
        CHARGES,
        "WITH charge AS MATERIALIZED (SELECT team_id, charge_id FROM charges WHERE {range})
         SELECT charge_id::text, format('%s cents for %s cards given back, cancelled cards: %s, cents: %s', given.cents,
             given.cards, made.cards, made.cents)
         FROM charge CROSS JOIN LATERAL (
             SELECT coalesce(sum(mailpieces), 0) AS cards, coalesce(sum(amount_cents), 0) AS cents FROM refunds
             WHERE refunds.team_id = charge.team_id AND refunds.charge_id = charge.charge_id) given
         CROSS JOIN LATERAL (
             SELECT count(*) AS cards, coalesce(sum(price_cents), 0) AS cents FROM mailpieces
             WHERE mailpieces.charge_id = charge.charge_id AND mailpieces.team_id = charge.team_id
                 AND mailpieces.withheld = 'cancelled') made
         WHERE made.cards <> given.cards OR made.cents <> given.cents LIMIT {1}",
    ),
    portions_rule(
        "a settled refund is in the ledger with its amount, an owed one is not",
        REFUNDS,
        "WITH refund AS MATERIALIZED (SELECT * FROM refunds WHERE {range})
         SELECT refund.refund_id::text, format('%s with %s cents, in the ledger: %s', refund.state, refund.amount_cents,
             CASE WHEN booked.transaction_id IS NULL THEN 'nothing' ELSE coalesce(entry.amount_cents, 0)::text END)
         FROM refund
         LEFT JOIN LATERAL (
             SELECT transaction_id FROM ledger_transactions booked
             WHERE booked.team_id = refund.team_id AND booked.refund_id = refund.refund_id LIMIT 1) booked ON true
         LEFT JOIN LATERAL (
             SELECT amount_cents FROM ledger_entries entry
             WHERE entry.team_id = refund.team_id AND entry.transaction_id = booked.transaction_id
                 AND entry.account = 'sales' LIMIT 1) entry ON true
         WHERE (refund.state = 'settled') <> (booked.transaction_id IS NOT NULL)
             OR (refund.state = 'settled' AND coalesce(entry.amount_cents, 0) <> -refund.amount_cents) LIMIT {1}",
    ),
    portions_rule(
        "a refund in the ledger exists",
        LEDGER,
        "WITH booked AS MATERIALIZED (SELECT * FROM ledger_transactions WHERE {range} AND kind = 'refund')
         SELECT booked.transaction_id::text, format('its refund %s does not exist', booked.refund_id)
         FROM booked LEFT JOIN LATERAL (
             SELECT state FROM refunds
             WHERE refunds.team_id = booked.team_id AND refunds.refund_id = booked.refund_id LIMIT 1) refund ON true
         WHERE refund.state IS NULL LIMIT {1}",
    ),
    // Whose cards lie close together, found in the index alone, are looked at: a later step of the same campaign may be close, too.
    CheckRule {
        name: "an address is mailed once per campaign step within the duplicate window",
        check: CheckMethod::Portions {
            key: CARDS_BY_ADDRESS,
            sql: "WITH close AS MATERIALIZED (
                      SELECT DISTINCT team_id, campaign_id, address_id FROM (
                          SELECT team_id, campaign_id, address_id, created_at - lag(created_at) OVER (
                              PARTITION BY team_id, campaign_id, address_id ORDER BY created_at) AS gap
                          FROM mailpieces WHERE {range}) card
                      WHERE gap < make_interval(days => {2}::integer))
                  SELECT mailpiece_id::text,
                      format('%s step %s: mailed %s and %s', campaign_id, step, before, created_at)
                  FROM (
                      SELECT close.campaign_id, card.*, lag(created_at) OVER (
                          PARTITION BY team_id, campaign_id, address_id, step ORDER BY created_at, mailpiece_id) AS before
                      FROM close CROSS JOIN LATERAL (
                          SELECT step, mailpiece_id, created_at FROM mailpieces
                          WHERE mailpieces.team_id = close.team_id AND mailpieces.campaign_id = close.campaign_id
                              AND mailpieces.address_id = close.address_id
                              AND mailpieces.withheld IS DISTINCT FROM 'cancelled' OFFSET 0) card) mailpiece
                  WHERE created_at - before < make_interval(days => {2}::integer) LIMIT {1}",
            needs: CheckParameter::DuplicateDays,
        },
    },
    portions_rule(
        "a finished request mailed what its charge settled",
        SENDS,
        "WITH send AS MATERIALIZED (SELECT team_id, send_id, mailed FROM sends WHERE {range} AND state = 'finished')
         SELECT send_id::text, format('%s mailed, charge: %s', mailed,
             coalesce(charge.state || ' for ' || charge.mailpieces, 'none'))
         FROM send
         LEFT JOIN LATERAL (
             SELECT state, mailpieces FROM charges
             WHERE charges.team_id = send.team_id AND charges.charge_id = send.send_id LIMIT 1) charge ON true
         WHERE mailed <> CASE WHEN charge.state = 'settled' THEN (
                 -- Around a center many homes are mailed; the request counts the center.
                 SELECT count(DISTINCT coalesce(center_entry_id, mailpiece_id)) FROM mailpieces
                 WHERE mailpieces.charge_id = send.send_id AND mailpieces.team_id = send.team_id)
             ELSE 0 END LIMIT {1}",
    ),
    portions_rule(
        "a recipient shown as mailed has a card",
        RECIPIENTS_BY_CHARGE,
        "WITH without AS MATERIALIZED (
             SELECT team_id, charge_id, entry_id FROM recipients
             WHERE {range} AND charge_id IS NOT NULL AND status = 'mailed'
             EXCEPT
             SELECT team_id, charge_id, coalesce(center_entry_id, entry_id) FROM mailpieces WHERE {range})
         SELECT format('%s in %s', without.entry_id, recipient.campaign_id),
             format('its charge %s has no card for it', without.charge_id)
         FROM without CROSS JOIN LATERAL (
             SELECT campaign_id FROM recipients
             WHERE recipients.charge_id = without.charge_id AND recipients.team_id = without.team_id
                 AND recipients.entry_id = without.entry_id AND status = 'mailed' LIMIT 1) recipient LIMIT {1}",
    ),
    portions_rule(
        "a print run has the cards that it claimed, but for those set aside",
        PRINT_RUNS,
        "SELECT run_id::text, format('%s of %s cards, has: %s', mailpieces - set_aside, mailpieces, made.cards)
         FROM print_runs run CROSS JOIN LATERAL (
             SELECT count(*) AS cards FROM mailpieces WHERE print_run_id = run.run_id) made
         WHERE {range} AND made.cards <> mailpieces - set_aside LIMIT {1}",
    ),
    portions_rule(
        "a card that is printed or about to be has a settled charge",
        CARDS_BY_CHARGE,
        "WITH charged AS MATERIALIZED (SELECT DISTINCT charge_id, team_id FROM mailpieces WHERE {range}),
         wrong AS MATERIALIZED (
             SELECT charged.*, charge.state FROM charged LEFT JOIN LATERAL (
                 SELECT state FROM charges
                 WHERE charges.team_id = charged.team_id AND charges.charge_id = charged.charge_id LIMIT 1) charge ON true
             WHERE charge.state IS DISTINCT FROM 'settled')
         SELECT mailpiece_id::text,
             format('in run %s, its charge is %s', print_run_id, coalesce(wrong.state, 'missing'))
         FROM wrong CROSS JOIN LATERAL (
             SELECT mailpiece_id, print_run_id FROM mailpieces
             WHERE mailpieces.charge_id = wrong.charge_id AND mailpieces.team_id = wrong.team_id
                 AND print_run_id IS NOT NULL OFFSET 0) mailpiece LIMIT {1}",
    ),
    portions_rule(
        "a card that is printed or about to be is not withheld",
        PRINT_RUNS,
        "SELECT withheld.mailpiece_id::text, format('%s, and in run %s', withheld.withheld, run_id)
         FROM print_runs run CROSS JOIN LATERAL (
             SELECT mailpiece_id, withheld FROM mailpieces
             WHERE print_run_id = run.run_id AND withheld IS NOT NULL OFFSET 0) withheld
         WHERE {range} LIMIT {1}",
    ),
];
