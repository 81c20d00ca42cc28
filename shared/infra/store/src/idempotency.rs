//! Requests that are done once, however often they are sent.
//!
//! Key, request, change and answer are written in one transaction: whoever finds the key finds the answer, and
//! a request that failed leaves no key behind.

use bytes::Bytes;
use chrono::{DateTime, Utc};
use contract::push::{IdempotencyKey, RequestHash};
use model::id::IntegrationId;

use crate::error::Result;
use crate::pool::{Store, Transaction};

/// Where a request with a key stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdempotencyKeyState {
    /// It is new, and this transaction alone may do it.
    New,
    /// Another transaction is doing it, or another request with the same key.
    Running,
    /// It was done: the stored answer.
    Done(Bytes),
    /// The key was used for another request.
    Reused,
}

impl Transaction<'_> {
    /// Claims a key until the transaction ends, without waiting for anybody.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn claim_idempotency_key(
        &self,
        integration_id: IntegrationId,
        key: &IdempotencyKey,
        hash: RequestHash,
    ) -> Result<IdempotencyKeyState> {
        let name = format!("idempotency/{integration_id}/{}", key.as_str());
        // Two statements: the second must see what the key's last holder committed.
        let [claimed, done] = self
            .query_row_each(
                ("SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))", &[&name]),
                (
                    "SELECT request_hash, response FROM idempotency_keys WHERE integration_id = $1 AND key = $2",
                    &[&integration_id.0, &key.as_str()],
                ),
            )
            .await?;
        if claimed.is_none_or(|row| !row.get::<_, bool>(0)) {
            return Ok(IdempotencyKeyState::Running);
        }
        Ok(match done {
            None => IdempotencyKeyState::New,
            Some(row) if row.get::<_, &[u8]>(0) == hash.0 => {
                IdempotencyKeyState::Done(Bytes::copy_from_slice(row.get(1)))
            }
            Some(_) => IdempotencyKeyState::Reused,
        })
    }

    /// Stores the answer of the request that this transaction claimed.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn store_idempotent_response(
        &self,
        integration_id: IntegrationId,
        key: &IdempotencyKey,
        hash: RequestHash,
        response: &[u8],
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.execute(
            "INSERT INTO idempotency_keys (integration_id, key, request_hash, response, created_at)
             VALUES ($1, $2, $3, $4, $5)",
            &[
                &integration_id.0,
                &key.as_str(),
                &&hash.0[..],
                &response,
                &now,
            ],
        )
        .await?;
        Ok(())
    }
}

impl Store {
    /// Forgets keys from before `before`, at most `limit` of them. Returns how many.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn purge_idempotency_keys(&self, before: DateTime<Utc>, limit: i64) -> Result<u64> {
        self.execute(
            "DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
                 SELECT ctid FROM idempotency_keys WHERE created_at < $1 ORDER BY created_at LIMIT $2))",
            &[&before, &limit],
        )
        .await
    }
}
