//! Values that a language model writes: what waits, what was answered, what was used up.
//!
//! Whoever writes a value holds its lease; the entry is locked before the cell, as a send locks them.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, NaiveDate, Utc};
use model::id::TeamId;
use uuid::Uuid;

use crate::error::Result;
use crate::pool::{Store, Transaction};

/// A value that this worker is to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AiCell {
    /// The entry's owner.
    pub team_id: TeamId,
    /// The column's folded name.
    pub name_key: String,
    /// The entry.
    pub entry_id: Uuid,
    /// Fences out whoever held it before, and gives way when the entry changes.
    pub lease_id: Uuid,
    /// Takes since it began to wait, this one included.
    pub attempts: i32,
}

impl Transaction<'_> {
    /// Lets the values of these columns wait for the model again, for these entries. `reason` is shown until then.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn queue_ai_cells(
        &self,
        team_id: TeamId,
        name_keys: &[&str],
        entry_ids: &[Uuid],
        reason: &str,
        now: DateTime<Utc>,
    ) -> Result<u64> {
        self.queue_ai_cells_before(team_id, name_keys, entry_ids, reason, now, None)
            .await
    }

    /// As above, but those that fell due at `due_before` or later are left alone.
    async fn queue_ai_cells_before(
        &self,
        team_id: TeamId,
        name_keys: &[&str],
        entry_ids: &[Uuid],
        reason: &str,
        now: DateTime<Utc>,
        due_before: Option<DateTime<Utc>>,
    ) -> Result<u64> {
        self.execute(
            "INSERT INTO ai_cells AS stored (team_id, name_key, entry_id, state, reason, due_at)
             SELECT $1, name_key, entry_id, 'waiting', $4, $5
             FROM unnest($2::text[]) AS name_key CROSS JOIN unnest($3::uuid[]) AS entry_id
             ORDER BY name_key, entry_id
             ON CONFLICT (team_id, name_key, entry_id) DO UPDATE SET state = 'waiting', reason = excluded.reason,
                 due_at = excluded.due_at, attempts = 0, lease_id = NULL, leased_until = NULL
             WHERE $6::timestamptz IS NULL OR stored.due_at < $6::timestamptz",
            &[&team_id.0, &name_keys, &entry_ids, &reason, &now, &due_before],
        )
        .await
    }

    /// Queues the next entries of a column whose prompt is new, at most `limit` of them. False when there is no
    /// such column.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn queue_next_ai_entries(
        &self,
        reason: &str,
        now: DateTime<Utc>,
        limit: i64,
    ) -> Result<bool> {
        let column = self
            .query_row(
                "SELECT team_id, name_key, queued_up_to, prompted_at FROM address_columns WHERE queued_up_to IS NOT NULL
                 ORDER BY team_id, column_id LIMIT 1 FOR UPDATE SKIP LOCKED",
                &[],
            )
            .await?;
        let Some(column) = column else {
            return Ok(false);
        };
        let (team_id, name_key): (Uuid, String) = (column.get(0), column.get(1));
        let (after, prompted_at): (Uuid, Option<DateTime<Utc>>) = (column.get(2), column.get(3));
        let rows = self
            .query_rows(
                "SELECT entry_id FROM address_entries WHERE team_id = $1 AND entry_id > $2
                 ORDER BY entry_id LIMIT $3",
                &[&team_id, &after, &limit],
            )
            .await?;
        let entry_ids: Vec<Uuid> = rows.iter().map(|row| row.get(0)).collect();
        self.queue_ai_cells_before(
            TeamId(team_id),
            &[&name_key],
            &entry_ids,
            reason,
            now,
            prompted_at,
        )
        .await?;
        self.execute(
            "UPDATE address_columns SET queued_up_to = $3 WHERE team_id = $1 AND name_key = $2",
            &[&team_id, &name_key, &entry_ids.last()],
        )
        .await?;
        Ok(true)
    }

    /// Writes a value into its entry and keeps the answer for the same question. False, and nothing is to be
    /// committed, when the cell is no longer this worker's: the entry has changed, or another took over.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn write_ai_cell(
        &self,
        cell: &AiCell,
        digest: &[u8],
        answer: &str,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        self.execute(
            "UPDATE address_entries SET custom = custom || jsonb_build_object($3::text, $4::text), updated_at = $5
             WHERE team_id = $1 AND entry_id = $2 AND custom ->> $3 IS DISTINCT FROM $4",
            &[&cell.team_id.0, &cell.entry_id, &cell.name_key, &answer, &now],
        )
        .await?;
        self.execute(
            "INSERT INTO ai_answers (team_id, digest, answer, made_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (team_id, digest) DO NOTHING",
            &[&cell.team_id.0, &digest, &answer, &now],
        )
        .await?;
        self.close_ai_cell(cell, "written", None).await
    }

    /// Leaves the value blank for good, until the entry or the prompt changes. False as for [`Self::write_ai_cell`].
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn blank_ai_cell(
        &self,
        cell: &AiCell,
        reason: &str,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        self.execute(
            "UPDATE address_entries SET custom = custom - $3::text, updated_at = $4
             WHERE team_id = $1 AND entry_id = $2 AND custom ? $3",
            &[&cell.team_id.0, &cell.entry_id, &cell.name_key, &now],
        )
        .await?;
        self.close_ai_cell(cell, "blank", Some(reason)).await
    }

    async fn close_ai_cell(
        &self,
        cell: &AiCell,
        state: &str,
        reason: Option<&str>,
    ) -> Result<bool> {
        let ended = self
            .execute(
                "UPDATE ai_cells SET state = $5, reason = $6, lease_id = NULL, leased_until = NULL
                 WHERE team_id = $1 AND name_key = $2 AND entry_id = $3 AND lease_id = $4",
                &[
                    &cell.team_id.0,
                    &cell.name_key,
                    &cell.entry_id,
                    &cell.lease_id,
                    &state,
                    &reason,
                ],
            )
            .await?;
        Ok(ended == 1)
    }
}

impl Store {
    /// Takes due values that nobody holds, the longest due first.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn claim_due_ai_cells(
        &self,
        lease_id: Uuid,
        now: DateTime<Utc>,
        leased_until: DateTime<Utc>,
        limit: i64,
    ) -> Result<Vec<AiCell>> {
        let rows = self
            .query_rows(
                "UPDATE ai_cells SET lease_id = $1, leased_until = $3, attempts = attempts + 1
                 WHERE ctid = ANY (ARRAY(
                     SELECT ctid FROM ai_cells
                     WHERE state = 'waiting' AND due_at <= $2 AND (leased_until IS NULL OR leased_until < $2)
                     ORDER BY due_at LIMIT $4 FOR UPDATE SKIP LOCKED))
                 RETURNING team_id, name_key, entry_id, attempts",
                &[&lease_id, &now, &leased_until, &limit],
            )
            .await?;
        let cell = |row: &tokio_postgres::Row| AiCell {
            team_id: TeamId(row.get(0)),
            name_key: row.get(1),
            entry_id: row.get(2),
            lease_id,
            attempts: row.get(3),
        };
        Ok(rows.iter().map(cell).collect())
    }

    /// Gives a value back, to be tried again from `due_at` with so many attempts counted.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn release_ai_cell(
        &self,
        cell: &AiCell,
        attempts: i32,
        due_at: DateTime<Utc>,
        reason: &str,
    ) -> Result<()> {
        self.execute(
            "UPDATE ai_cells SET lease_id = NULL, leased_until = NULL, attempts = $5, due_at = $6, reason = $7
             WHERE team_id = $1 AND name_key = $2 AND entry_id = $3 AND lease_id = $4",
            &[&cell.team_id.0, &cell.name_key, &cell.entry_id, &cell.lease_id, &attempts, &due_at, &reason],
        )
        .await?;
        Ok(())
    }

    /// Why values of AI columns are blank or not written yet, by entry and folded name.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn list_ai_cell_reasons(
        &self,
        team_id: TeamId,
        name_keys: &[&str],
        entry_ids: &[Uuid],
    ) -> Result<HashMap<Uuid, BTreeMap<String, String>>> {
        let mut reasons: HashMap<Uuid, BTreeMap<String, String>> = HashMap::new();
        if name_keys.is_empty() || entry_ids.is_empty() {
            return Ok(reasons);
        }
        let rows = self
            .query_rows(
                "SELECT entry_id, name_key, reason FROM ai_cells
                 WHERE team_id = $1 AND name_key = ANY ($2) AND entry_id = ANY ($3) AND reason IS NOT NULL",
                &[&team_id.0, &name_keys, &entry_ids],
            )
            .await?;
        for row in rows {
            reasons
                .entry(row.get(0))
                .or_default()
                .insert(row.get(1), row.get(2));
        }
        Ok(reasons)
    }

    /// The answer that a question got before.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn find_ai_answer(&self, team_id: TeamId, digest: &[u8]) -> Result<Option<String>> {
        let sql = "SELECT answer FROM ai_answers WHERE team_id = $1 AND digest = $2";
        Ok(self
            .query_row(sql, &[&team_id.0, &digest])
            .await?
            .map(|row| row.get(0)))
    }

    /// Takes so many characters out of what a team may use on a day. False when they do not fit.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn reserve_ai_characters(
        &self,
        team_id: TeamId,
        day: NaiveDate,
        characters: i64,
        limit: i64,
    ) -> Result<bool> {
        let taken = self
            .execute(
                "INSERT INTO ai_spending AS spent (team_id, day, characters)
                 SELECT $1, $2, $3::bigint WHERE $3::bigint <= $4::bigint
                 ON CONFLICT (team_id, day) DO UPDATE SET characters = spent.characters + excluded.characters
                 WHERE spent.characters + excluded.characters <= $4",
                &[&team_id.0, &day, &characters, &limit],
            )
            .await?;
        Ok(taken == 1)
    }

    /// Forgets answers that are older, and with them what was used up on days before; at most `limit` rows of each.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn purge_ai_answers(&self, before: DateTime<Utc>, limit: i64) -> Result<u64> {
        self.execute(
            "DELETE FROM ai_spending WHERE ctid = ANY (ARRAY(
                 SELECT ctid FROM ai_spending WHERE day < $1 ORDER BY day LIMIT $2))",
            &[&before.date_naive(), &limit],
        )
        .await?;
        self.execute(
            "DELETE FROM ai_answers WHERE ctid = ANY (ARRAY(
                 SELECT ctid FROM ai_answers WHERE made_at < $1 ORDER BY made_at LIMIT $2))",
            &[&before, &limit],
        )
        .await
    }
}
