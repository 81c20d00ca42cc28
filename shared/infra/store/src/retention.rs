//! Forgetting what is old, in bounded portions: each finds its rows by an index in the order of time, and deletes so many
//! at the most.

use chrono::{DateTime, Utc};

use crate::error::{Result, StoreError};
use crate::pool::Store;

/// Months for which partitions are made ahead.
const MONTHS_AHEAD: i32 = 2;

impl Store {
    /// Makes the partitions that scans will need. Returns until when there are some.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked, or somebody holds the table for longer than two seconds.
    pub async fn create_scan_partitions(&self, now: DateTime<Utc>) -> Result<DateTime<Utc>> {
        let row = self
            .query_row(
                "SELECT scan_partitions_make($1, $2)",
                &[&now, &MONTHS_AHEAD],
            )
            .await?;
        row.map(|row| row.get(0))
            .ok_or_else(|| StoreError::Corrupt("the partitions of scans".to_owned()))
    }

    /// Forgets the months of scans that ended before `before`. Returns how many.
    ///
    /// # Errors
    /// As [`Store::create_scan_partitions`].
    pub async fn drop_scan_partitions(&self, before: DateTime<Utc>) -> Result<u64> {
        let row = self
            .query_row("SELECT scan_partitions_drop($1)", &[&before])
            .await?;
        Ok(row.map_or(0, |row| row.get::<_, i64>(0).unsigned_abs()))
    }

    /// Forgets ended deliveries from before `before` with their attempts, at most `limit` of them. Returns how many.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn purge_deliveries(&self, before: DateTime<Utc>, limit: i64) -> Result<u64> {
        let row = self
            .query_row(
                "WITH old AS (
                     DELETE FROM deliveries WHERE ctid = ANY (ARRAY(
                         SELECT found.ctid FROM endpoints CROSS JOIN LATERAL (
                             SELECT ctid FROM deliveries
                             WHERE deliveries.team_id = endpoints.team_id
                                 AND deliveries.endpoint_id = endpoints.endpoint_id
                                 AND delivery_id < first_id_of($1) AND created_at < $1 AND state <> 'waiting'
                             ORDER BY delivery_id LIMIT $2) found
                         LIMIT $2))
                     RETURNING team_id, endpoint_id, delivery_id
                 ), forgotten AS (
                     DELETE FROM attempts USING old
                     WHERE attempts.team_id = old.team_id AND attempts.endpoint_id = old.endpoint_id
                         AND attempts.delivery_id = old.delivery_id
                 )
                 SELECT count(*) FROM old",
                &[&before, &limit],
            )
            .await?;
        Ok(row.map_or(0, |row| row.get::<_, i64>(0).unsigned_abs()))
    }

    /// Forgets events from before `before`, at most `limit` of them. It must lie so much earlier than that of
    /// [`Store::purge_deliveries`] that no delivery of them can still be waiting. Returns how many.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn purge_events(&self, before: DateTime<Utc>, limit: i64) -> Result<u64> {
        self.execute(
            "DELETE FROM events WHERE ctid = ANY (ARRAY(
                 SELECT found.ctid FROM teams CROSS JOIN LATERAL (
                     SELECT ctid FROM events
                     WHERE events.team_id = teams.team_id AND event_id < first_id_of($1) AND created_at < $1
                     ORDER BY event_id LIMIT $2) found
                 LIMIT $2))",
            &[&before, &limit],
        )
        .await
    }

    /// Forgets facts of mailpieces that were recorded before `before`, at most `limit` of them: what a mailpiece has become stays
    /// with it. Returns how many.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn purge_mailpiece_events(&self, before: DateTime<Utc>, limit: i64) -> Result<u64> {
        // A mailpiece is older than its facts, and ids are in the order of time.
        self.execute(
            "DELETE FROM mailpiece_events WHERE ctid = ANY (ARRAY(
                 SELECT found.ctid FROM teams CROSS JOIN LATERAL (
                     SELECT ctid FROM mailpiece_events
                     WHERE mailpiece_events.team_id = teams.team_id AND mailpiece_id < first_id_of($1) AND recorded_at < $1
                     ORDER BY mailpiece_id LIMIT $2) found
                 LIMIT $2))",
            &[&before, &limit],
        )
        .await
    }

    /// Forgets e-mails that were made before `before` and sent, or given up after `attempts` tries, at most `limit` of
    /// them. Returns how many.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn purge_emails(
        &self,
        before: DateTime<Utc>,
        attempts: i32,
        limit: i64,
    ) -> Result<u64> {
        self.execute(
            "DELETE FROM emails WHERE ctid = ANY (ARRAY(
                 SELECT found.ctid FROM teams CROSS JOIN LATERAL (
                     SELECT ctid FROM emails
                     WHERE emails.team_id = teams.team_id AND email_id < first_id_of($1) AND created_at < $1
                         AND (sent_at IS NOT NULL OR emails.attempts >= $2)
                     ORDER BY email_id LIMIT $3) found
                 LIMIT $3))",
            &[&before, &attempts, &limit],
        )
        .await
    }
}
