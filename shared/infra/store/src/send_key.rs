//! The keys that senders give their sends: a request with a key is answered once, however often it is sent.
//!
//! A key is written in the transaction that claims the send, so it is there exactly as long as somebody works on the
//! send or its response is stored.

use bytes::Bytes;
use chrono::{DateTime, Utc};
use model::id::TeamId;
use model::idempotency::{IdempotencyKey, RequestHash};
use uuid::Uuid;

use crate::error::Result;
use crate::pool::{Store, Transaction};
use crate::send::{ExistingSend, NewSend, SendClaim};

/// A key, and what the request with it asks for.
#[derive(Debug, Clone, Copy)]
pub struct SendIdempotencyKey<'a> {
    /// As the sender gave it.
    pub key: &'a IdempotencyKey,
    /// Of the request that came with it.
    pub hash: RequestHash,
}

impl Store {
    /// The stored response of the finished send with this key, when that was the same request.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn find_response_by_key(
        &self,
        team_id: TeamId,
        key: SendIdempotencyKey<'_>,
    ) -> Result<Option<Bytes>> {
        let row = self
            .query_row(
                "SELECT response FROM send_keys JOIN sends USING (team_id, send_id)
                 WHERE team_id = $1 AND key = $2 AND request_hash = $3 AND state = 'finished'",
                &[&team_id.0, &key.key.as_str(), &&key.hash.0[..]],
            )
            .await?;
        Ok(row.map(|row| Bytes::copy_from_slice(row.get(0))))
    }

    /// Forgets keys from before `before`, at most `limit` of them. Returns how many.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn purge_send_keys(&self, before: DateTime<Utc>, limit: i64) -> Result<u64> {
        self.execute(
            "DELETE FROM send_keys WHERE ctid = ANY (ARRAY(
                 SELECT ctid FROM send_keys WHERE created_at < $1 ORDER BY created_at LIMIT $2))",
            &[&before, &limit],
        )
        .await
    }
}

impl Transaction<'_> {
    /// What the request's key says of it; `None` when it says nothing, and the key is free or the request's own.
    pub(crate) async fn claim_send_by_key(
        &self,
        request: NewSend<'_>,
        key: SendIdempotencyKey<'_>,
    ) -> Result<Option<SendClaim>> {
        let team_id = request.lease.team_id.0;
        let row = self
            .query_row(
                "SELECT send_keys.send_id, request_hash = $3, state, leased_until
                 FROM send_keys LEFT JOIN sends USING (team_id, send_id) WHERE team_id = $1 AND key = $2",
                &[&team_id, &key.key.as_str(), &&key.hash.0[..]],
            )
            .await?;
        let Some(row) = row else { return Ok(None) };
        let send_id: Uuid = row.get(0);
        if send_id == request.lease.send_id.0 {
            return Ok(None);
        }
        let state: Option<String> = row.get(2);
        let Some(state) = state else {
            self.free_send_key(request, key, send_id).await?;
            return Ok(None);
        };
        if !row.get::<_, bool>(1) {
            return Ok(Some(SendClaim::KeyReused));
        }
        let found = ExistingSend {
            send_id,
            state,
            leased_until: row.get(3),
        };
        Ok(Some(match self.take_over_send(request, found).await? {
            SendClaim::Running(_) => SendClaim::InProgress,
            SendClaim::New(lease) => {
                // Nothing had been decided: the key goes over to this request.
                self.free_send_key(request, key, send_id).await?;
                SendClaim::New(lease)
            }
            other => other,
        }))
    }

    async fn free_send_key(
        &self,
        request: NewSend<'_>,
        key: SendIdempotencyKey<'_>,
        send_id: Uuid,
    ) -> Result<()> {
        self.execute(
            "DELETE FROM send_keys WHERE team_id = $1 AND key = $2 AND send_id = $3",
            &[&request.lease.team_id.0, &key.key.as_str(), &send_id],
        )
        .await?;
        Ok(())
    }

    /// Writes down which send the key names from now on. `false` when somebody has taken the key in this very moment.
    pub(crate) async fn record_send_key(
        &self,
        request: NewSend<'_>,
        key: SendIdempotencyKey<'_>,
        claim: &SendClaim,
    ) -> Result<bool> {
        let send_id = match claim {
            SendClaim::New(lease) => lease.send_id,
            SendClaim::Resumed(reserved) => reserved.lease.send_id,
            SendClaim::Finished { send_id, .. } => *send_id,
            SendClaim::Running(_) | SendClaim::InProgress | SendClaim::KeyReused => {
                return Ok(true);
            }
        };
        let kept = self
            .execute(
                "INSERT INTO send_keys (team_id, key, request_hash, send_id, created_at) VALUES ($1, $2, $3, $4, $5)
                 ON CONFLICT (team_id, key) DO UPDATE SET created_at = send_keys.created_at
                     WHERE send_keys.send_id = excluded.send_id",
                &[
                    &request.lease.team_id.0,
                    &key.key.as_str(),
                    &&key.hash.0[..],
                    &send_id.0,
                    &request.now,
                ],
            )
            .await?;
        Ok(kept == 1)
    }
}
