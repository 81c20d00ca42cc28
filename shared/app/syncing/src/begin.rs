//! Beginning a sync.

use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use contract::push::{BeginSyncRequest, OpenSync, PushError, RequestHash};
use messages::PushContext;
use model::id::{IntegrationId, SyncId};
use store::Transaction;

use crate::idempotent::{ChangeAnswer, ChangeError, IdempotentChange, apply_once};
use crate::{SyncerState, to_json_bytes};

/// A begin.
struct BeginChange {
    integration_id: IntegrationId,
    request: BeginSyncRequest,
    expiry: TimeDelta,
}

/// Begins a sync unless one is open.
pub async fn begin_sync(
    syncer: &SyncerState,
    context: &PushContext,
    body: &[u8],
) -> Result<ChangeAnswer, PushError> {
    let begin = BeginChange {
        integration_id: context.integration_id,
        request: BeginSyncRequest::parse(body)?,
        expiry: TimeDelta::hours(syncer.process.config.syncer.sync_expiry_hours),
    };
    apply_once(syncer, context, &begin).await
}

impl IdempotentChange for BeginChange {
    fn request_hash(&self) -> RequestHash {
        self.request.request_hash()
    }

    async fn apply(
        &self,
        transaction: &Transaction<'_>,
        now: DateTime<Utc>,
    ) -> Result<Bytes, ChangeError> {
        transaction
            .lock_integration_syncs(self.integration_id)
            .await?;
        // Its team may have removed it since the request was admitted; nothing else could end its sync.
        if !transaction.integration_exists(self.integration_id).await? {
            return Err(PushError::InvalidKey.into());
        }
        if let Some(open) = transaction.find_open_sync(self.integration_id, now).await? {
            let open = OpenSync {
                sync_id: open.id,
                mode: open.mode,
                expires_at: open.expires_at,
            };
            return Err(PushError::SyncInProgress(open).into());
        }
        let latest = transaction.find_latest_sync_id(self.integration_id).await?;
        let open = OpenSync {
            sync_id: SyncId::new_after(latest),
            mode: self.request.mode,
            expires_at: now + self.expiry,
        };
        transaction
            .begin_sync(self.integration_id, &open, now)
            .await?;
        Ok(to_json_bytes(&open))
    }
}
