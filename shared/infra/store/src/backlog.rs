//! What waits for somebody, for operators to see.

use chrono::{DateTime, TimeDelta, Utc};
use design::Product;

use crate::error::Result;
use crate::pool::Store;

/// The kinds of what waits. `sends_open` and `charges_open`: nobody works on them any more, and they are not closed.
/// `..._due`: their time has come. `..._given_up`: tried too often; an operator must look. `cards_late`: not printed on
/// the day after their mail-by date. `cards_set_aside`: they could not print.
pub const BACKLOG_KINDS: [&str; 10] = [
    "sends_open",
    "charges_open",
    "jobs_due",
    "jobs_given_up",
    "deliveries_due",
    "emails_due",
    "emails_given_up",
    "ai_values_due",
    "cards_late",
    "cards_set_aside",
];

/// Rows of a kind that are counted at the most.
const COUNTED: i64 = 10_000;

/// How long a charge is open in the course of things: a request's deadline and a worker's lease.
const CHARGE_PATIENCE: TimeDelta = TimeDelta::minutes(5);

/// When something is given up.
#[derive(Debug, Clone, Copy)]
pub struct BacklogRules {
    /// Tries of a job.
    pub job_attempts: i32,
    /// Tries of an e-mail.
    pub email_attempts: i32,
}

/// What waits of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BacklogStatus {
    /// One of [`BACKLOG_KINDS`].
    pub kind: &'static str,
    /// How many, 10,000 at the most.
    pub rows: i64,
    /// How long the oldest of those counted is overdue; zero when there is none.
    pub overdue: TimeDelta,
}

/// Each part reads a bounded number of rows of an index that holds only what waits. Lanes of deliveries are hopped over, as
/// most of a lane may wait for its retry.
const WAITING: &str = "
    WITH RECURSIVE lane AS (
        (SELECT endpoint_id, is_retry FROM deliveries WHERE state = 'waiting'
         ORDER BY endpoint_id, is_retry LIMIT 1)
        UNION ALL
        SELECT next.endpoint_id, next.is_retry FROM lane CROSS JOIN LATERAL (
            SELECT endpoint_id, is_retry FROM deliveries
            WHERE state = 'waiting' AND (endpoint_id, is_retry) > (lane.endpoint_id, lane.is_retry)
            ORDER BY endpoint_id, is_retry LIMIT 1) next
    )
    SELECT 'sends_open' AS kind, count(*) AS rows, min(since) AS since FROM (
        SELECT leased_until AS since FROM sends WHERE state = 'reserved' AND leased_until < $1
        ORDER BY leased_until LIMIT $2) found
    UNION ALL
    SELECT 'charges_open', count(*), min(since) FROM (
        SELECT created_at AS since FROM charges WHERE state = 'reserved' AND created_at < $3
        ORDER BY created_at LIMIT $2) found
    UNION ALL
    SELECT 'jobs_due', count(*), min(since) FROM (
        SELECT due_at AS since FROM jobs
        WHERE due_at <= $1 AND (attempts < $4 OR open_charge IS NOT NULL)
            AND (leased_until IS NULL OR leased_until < $1)
        ORDER BY due_at LIMIT $2) found
    UNION ALL
    SELECT 'jobs_given_up', count(*), min(since) FROM (
        SELECT due_at AS since FROM jobs
        WHERE due_at <= $1 AND attempts >= $4 AND open_charge IS NULL
            AND (leased_until IS NULL OR leased_until < $1)
        ORDER BY due_at LIMIT $2) found
    UNION ALL
    SELECT 'deliveries_due', count(*), min(since) FROM (
        SELECT due.since FROM (SELECT * FROM lane LIMIT $2) lane CROSS JOIN LATERAL (
            SELECT due_at AS since FROM deliveries
            WHERE state = 'waiting' AND endpoint_id = lane.endpoint_id AND is_retry = lane.is_retry AND due_at <= $1
            ORDER BY due_at LIMIT $2) due
        LIMIT $2) found
    UNION ALL
    SELECT 'emails_due', count(*), min(since) FROM (
        SELECT due_at AS since FROM emails WHERE sent_at IS NULL AND due_at <= $1 AND attempts < $5
        ORDER BY due_at LIMIT $2) found
    UNION ALL
    SELECT 'emails_given_up', count(*), min(since) FROM (
        SELECT due_at AS since FROM emails WHERE sent_at IS NULL AND due_at <= $1 AND attempts >= $5
        ORDER BY due_at LIMIT $2) found
    UNION ALL
    SELECT 'ai_values_due', count(*), min(since) FROM (
        SELECT due_at AS since FROM ai_cells WHERE state = 'waiting' AND due_at <= $1
        ORDER BY due_at LIMIT $2) found
    UNION ALL
    SELECT 'cards_late', count(*), min(since) FROM (
        SELECT late.since FROM unnest($6::text[]) AS product (name) CROSS JOIN LATERAL (
            SELECT mail_by_date::timestamp AT TIME ZONE 'UTC' AS since FROM mailpieces
            WHERE print_run_id IS NULL AND print_problem IS NULL AND withheld IS NULL AND mailpieces.product = product.name
                AND mail_by_date < ($1 AT TIME ZONE 'UTC')::date
            ORDER BY mail_by_date LIMIT $2) late
        LIMIT $2) found
    UNION ALL
    SELECT 'cards_set_aside', count(*), min(since) FROM (
        SELECT created_at AS since FROM mailpieces WHERE print_problem IS NOT NULL LIMIT $2) found";

impl Store {
    /// What waits, in the order of [`BACKLOG_KINDS`].
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn count_backlog(
        &self,
        rules: BacklogRules,
        now: DateTime<Utc>,
    ) -> Result<[BacklogStatus; BACKLOG_KINDS.len()]> {
        let products = Product::ALL.map(Product::as_str);
        let rows = self
            .query_rows(
                WAITING,
                &[
                    &now,
                    &COUNTED,
                    &(now - CHARGE_PATIENCE),
                    &rules.job_attempts,
                    &rules.email_attempts,
                    &&products[..],
                ],
            )
            .await?;
        Ok(BACKLOG_KINDS.map(|kind| {
            let row = rows.iter().find(|row| row.get::<_, &str>("kind") == kind);
            let since: Option<DateTime<Utc>> = row.and_then(|row| row.get("since"));
            BacklogStatus {
                kind,
                rows: row.map_or(0, |row| row.get("rows")),
                overdue: since.map_or(TimeDelta::zero(), |since| {
                    (now - since).max(TimeDelta::zero())
                }),
            }
        }))
    }
}
