//! Return addresses with fields in them: what is known of each, and how many a team may still have verified.

use std::collections::HashMap;

use chrono::{DateTime, NaiveDate, Utc};
use model::id::TeamId;
use uuid::Uuid;

use crate::error::Result;
use crate::pool::Store;

/// Days for which counts are kept: those that are over tell nothing.
const COUNTED_DAYS: i32 = 7;

/// The lines of a return address as they print; `None` when it could not be verified.
pub type ReturnLines = Option<Vec<String>>;

impl Store {
    /// What is known of a team's return addresses, by the input's id.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn find_return_addresses(
        &self,
        team_id: TeamId,
        input_ids: &[Uuid],
        now: DateTime<Utc>,
    ) -> Result<HashMap<Uuid, ReturnLines>> {
        let rows = self
            .query_rows(
                "SELECT input_id, lines FROM return_addresses
                 WHERE team_id = $1 AND input_id = ANY ($2) AND expires_at > $3",
                &[&team_id.0, &input_ids, &now],
            )
            .await?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    /// Counts `wanted` return addresses that are to be verified on this day of the team's; returns how many of them
    /// are within its limit.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn admit_return_addresses(
        &self,
        team_id: TeamId,
        day: NaiveDate,
        wanted: usize,
        limit: i32,
    ) -> Result<usize> {
        let asked = i64::try_from(wanted).unwrap_or(i64::MAX);
        if asked == 0 {
            return Ok(0);
        }
        let row = self
            .query_row(
                "INSERT INTO return_address_days AS stored (team_id, day, asked) VALUES ($1, $2, $3)
                 ON CONFLICT (team_id, day) DO UPDATE SET asked = stored.asked + excluded.asked
                 RETURNING asked",
                &[&team_id.0, &day, &asked],
            )
            .await?;
        let before = row.map_or(0, |row| row.get::<_, i64>(0)) - asked;
        let admitted = (i64::from(limit) - before).clamp(0, asked);
        Ok(usize::try_from(admitted).unwrap_or(wanted))
    }

    /// Keeps what verification said of a team's return addresses, each once.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn save_return_addresses(
        &self,
        team_id: TeamId,
        verified: &[(Uuid, ReturnLines)],
        expires_at: DateTime<Utc>,
    ) -> Result<()> {
        let mut verified: Vec<&(Uuid, ReturnLines)> = verified.iter().collect();
        // In one order, so that two requests with the same addresses cannot lock them crosswise.
        verified.sort_unstable_by_key(|(input_id, _)| *input_id);
        let ids: Vec<Uuid> = verified.iter().map(|(input_id, _)| *input_id).collect();
        // An array of arrays would have to have equal lengths: no line has a line feed.
        let lines: Vec<Option<String>> = verified
            .iter()
            .map(|(_, lines)| lines.as_ref().map(|lines| lines.join("\n")))
            .collect();
        self.execute(
            "INSERT INTO return_addresses AS stored (team_id, input_id, lines, expires_at)
             SELECT $1, input_id, string_to_array(lines, E'\\n'), $4
             FROM unnest($2::uuid[], $3::text[]) AS new (input_id, lines)
             ON CONFLICT (team_id, input_id) DO UPDATE SET
                 lines = excluded.lines, expires_at = excluded.expires_at",
            &[&team_id.0, &ids, &lines, &expires_at],
        )
        .await?;
        Ok(())
    }

    /// Forgets what has expired, at most `limit` rows of each kind. Returns how many at the most of one kind.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn purge_return_addresses(&self, now: DateTime<Utc>, limit: i64) -> Result<u64> {
        let addresses = self
            .execute(
                "DELETE FROM return_addresses WHERE expires_at <= $1 AND ctid = ANY (ARRAY(
                     SELECT ctid FROM return_addresses WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2))",
                &[&now, &limit],
            )
            .await?;
        let days = self
            .execute(
                "DELETE FROM return_address_days WHERE ctid = ANY (ARRAY(
                     SELECT ctid FROM return_address_days WHERE day < $1::date - $3::int ORDER BY day LIMIT $2))",
                &[&now.date_naive(), &limit, &COUNTED_DAYS],
            )
            .await?;
        Ok(addresses.max(days))
    }
}
