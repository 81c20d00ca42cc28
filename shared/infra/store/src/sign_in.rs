//! Signing in: attempts that are counted, and where people have signed in from before.

use chrono::{DateTime, Utc};
use model::id::MemberId;

use crate::error::{Result, StoreError};
use crate::pool::{Store, Transaction};

/// Sources of a person that are remembered: the latest ones.
const SOURCES: i64 = 20;

impl Store {
    /// Counts an attempt against a limit; returns how many the window has, this one included.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn count_window_attempt(
        &self,
        subject: &[u8],
        window_start: DateTime<Utc>,
    ) -> Result<i32> {
        let row = self
            .query_row(
                "INSERT INTO rate_windows AS existing (subject, window_start, requests) VALUES ($1, $2, 1)
                 ON CONFLICT (subject, window_start) DO UPDATE SET requests = existing.requests + 1
                 RETURNING requests",
                &[&subject, &window_start],
            )
            .await?;
        row.map(|row| row.get(0))
            .ok_or_else(|| StoreError::Corrupt("a count gave no row".to_owned()))
    }

    /// Takes an attempt back that is not to count after all.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn uncount_window_attempt(
        &self,
        subject: &[u8],
        window_start: DateTime<Utc>,
    ) -> Result<()> {
        let sql = "UPDATE rate_windows SET requests = greatest(requests - 1, 0)
             WHERE subject = $1 AND window_start = $2";
        self.execute(sql, &[&subject, &window_start]).await?;
        Ok(())
    }

    /// Whether a person has signed in from this source before.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn is_source_known(&self, user_id: MemberId, source: &[u8; 32]) -> Result<bool> {
        let sql = "SELECT 1 FROM sign_in_sources WHERE member_id = $1 AND source = $2";
        Ok(self
            .query_row(sql, &[&user_id.0, &&source[..]])
            .await?
            .is_some())
    }
}

impl Transaction<'_> {
    /// Remembers where a person has signed in from; the oldest place beyond 20 is forgotten.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn record_sign_in_source(
        &self,
        user_id: MemberId,
        source: &[u8; 32],
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.execute(
            "INSERT INTO sign_in_sources (member_id, source, signed_in_at) VALUES ($1, $2, $3)
             ON CONFLICT (member_id, source) DO UPDATE SET signed_in_at = excluded.signed_in_at",
            &[&user_id.0, &&source[..], &now],
        )
        .await?;
        self.execute(
            "DELETE FROM sign_in_sources WHERE member_id = $1 AND source IN
                 (SELECT source FROM sign_in_sources WHERE member_id = $1
                  ORDER BY signed_in_at DESC, source OFFSET $2)",
            &[&user_id.0, &SOURCES],
        )
        .await?;
        Ok(())
    }
}
