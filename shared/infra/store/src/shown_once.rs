//! Secrets on their way to the one page that shows them. They are encrypted with what only the browser has.

use chrono::{DateTime, Utc};
use contract::id::MemberId;

use crate::error::Result;
use crate::pool::{Store, Transaction};

impl Transaction<'_> {
    /// Keeps an encrypted secret for a person's next page, until `expires_at`. The hash is that of the token that opens it.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn shown_once_put(
        &self,
        user_id: MemberId,
        token_hash: &[u8; 32],
        sealed: &[u8],
        expires_at: DateTime<Utc>,
    ) -> Result<()> {
        let sql = "INSERT INTO shown_once (token_hash, member_id, sealed, expires_at) VALUES ($1, $2, $3, $4)";
        self.execute(sql, &[&&token_hash[..], &user_id.0, &sealed, &expires_at])
            .await?;
        Ok(())
    }
}

impl Store {
    /// Takes a person's encrypted secret: whoever asks again gets none.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn shown_once_take(
        &self,
        user_id: MemberId,
        token_hash: &[u8; 32],
        now: DateTime<Utc>,
    ) -> Result<Option<Vec<u8>>> {
        let sql = "DELETE FROM shown_once WHERE token_hash = $1 AND member_id = $2 RETURNING sealed, expires_at";
        let row = self.row(sql, &[&&token_hash[..], &user_id.0]).await?;
        Ok(row
            .filter(|row| row.get::<_, DateTime<Utc>>(1) > now)
            .map(|row| row.get(0)))
    }

    /// Forgets at most `limit` secrets that nobody has looked at in time; returns how many.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn shown_once_purge(&self, now: DateTime<Utc>, limit: i64) -> Result<u64> {
        self.execute(
            "DELETE FROM shown_once WHERE ctid = ANY (ARRAY(
                 SELECT ctid FROM shown_once WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2))",
            &[&now, &limit],
        )
        .await
    }
}
