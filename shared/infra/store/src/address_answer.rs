//! What remote verifiers answered, kept until it expires.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde_json::Value;
use uuid::Uuid;

use crate::error::Result;
use crate::pool::Store;

impl Store {
    /// The answers of a verifier that have not expired, by the input's id.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn find_address_answers(
        &self,
        verifier: &str,
        input_ids: &[Uuid],
        now: DateTime<Utc>,
    ) -> Result<HashMap<Uuid, Value>> {
        let sql = "SELECT input_id, answer FROM address_answers
                   WHERE verifier = $1 AND input_id = ANY ($2) AND expires_at > $3";
        let rows = self.query_rows(sql, &[&verifier, &input_ids, &now]).await?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    /// Keeps answers of a verifier until they expire. Each input once, in the order of their ids.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn save_address_answers(
        &self,
        verifier: &str,
        answers: &[(Uuid, Value)],
        expires_at: DateTime<Utc>,
    ) -> Result<u64> {
        let ids: Vec<Uuid> = answers.iter().map(|(id, _)| *id).collect();
        let values: Vec<&Value> = answers.iter().map(|(_, answer)| answer).collect();
        self.execute(
            "INSERT INTO address_answers (verifier, input_id, answer, expires_at)
             SELECT $1, input_id, answer, $4 FROM unnest($2::uuid[], $3::jsonb[]) AS new (input_id, answer)
             ON CONFLICT (verifier, input_id) DO UPDATE SET answer = excluded.answer, expires_at = excluded.expires_at",
            &[&verifier, &ids, &values, &expires_at],
        )
        .await
    }

    /// Forgets answers that expired before `before`, at most `limit`. Returns how many.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn purge_address_answers(&self, before: DateTime<Utc>, limit: i64) -> Result<u64> {
        self.execute(
            "DELETE FROM address_answers WHERE expires_at < $1 AND ctid = ANY (ARRAY(
                 SELECT ctid FROM address_answers WHERE expires_at < $1 ORDER BY expires_at LIMIT $2))",
            &[&before, &limit],
        )
        .await
    }
}
