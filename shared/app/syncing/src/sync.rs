//! A sync is opened, and completed.

use std::error::Error;

use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use contract::push::{
    BeginSyncRequest, CompleteAnswer, CompleteSyncRequest, OpenSync, PushError, RequestHash,
    SyncMode, SyncView, ValidatedComplete,
};
use messages::PushContext;
use model::id::{IntegrationId, SyncId};
use store::{Store, StoreError, SyncRemoval, Transaction};

use crate::idempotent::{ChangeAnswer, ChangeError, IdempotentChange, apply_once};
use crate::{SyncerState, internal_error, removed_or_internal_error, to_json_bytes};

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

/// A complete.
struct CompleteChange {
    integration_id: IntegrationId,
    request: CompleteSyncRequest,
    guard: Option<RemovalLimits>,
}

/// How much a full sync removes without asking.
#[derive(Debug, Clone, Copy)]
struct RemovalLimits {
    /// Share of the contacts.
    percent: i16,
    /// Contacts, whatever their share.
    minimum: i32,
}

/// Completes the open sync. A full one removes what it did not receive.
pub async fn complete_sync(
    syncer: &SyncerState,
    context: &PushContext,
    body: &[u8],
) -> Result<ChangeAnswer, PushError> {
    let request = CompleteSyncRequest::parse(body)?;
    let (store, integration_id) = (&syncer.process.store, context.integration_id);
    // A sync that is nobody's is told apart from one that is not open here, not under the lock.
    refuse_unknown_sync(store, integration_id, request.sync_id).await?;
    let integration = store
        .find_integration(integration_id)
        .await
        .map_err(removed_or_internal_error)?;
    let guard = integration
        .removal_guard_percent
        .map(|percent| RemovalLimits {
            percent,
            minimum: integration.removal_guard_minimum,
        });
    let sync_id = request.sync_id;
    let answer = apply_once(
        syncer,
        context,
        &CompleteChange {
            integration_id,
            request,
            guard,
        },
    )
    .await;
    if let Err(PushError::RemovalGuard { count, share, .. }) = answer {
        record_held_back_removal(syncer, integration_id, sync_id, (count, share)).await;
    }
    answer
}

/// Notes for the owner that the guard refused. The refusal has rolled its transaction back, so this is one of its own; when
/// it fails the client is told all the same, and asking again notes it again.
async fn record_held_back_removal(
    syncer: &SyncerState,
    integration_id: IntegrationId,
    sync_id: Option<SyncId>,
    removal: (i64, f64),
) {
    let (store, now) = (&syncer.process.store, syncer.process.clock.now());
    if let Err(error) = store
        .hold_back_sync(integration_id, sync_id, removal, now)
        .await
    {
        tracing::error!(
            error = &error as &dyn Error,
            "a sync held back could not be noted"
        );
    }
}

/// Refuses an id that is no sync's of the integration.
async fn refuse_unknown_sync(
    store: &Store,
    integration_id: IntegrationId,
    sync_id: Option<SyncId>,
) -> Result<(), PushError> {
    match sync_id {
        Some(sync_id)
            if !store
                .sync_exists(integration_id, sync_id)
                .await
                .map_err(internal_error)? =>
        {
            Err(PushError::SyncNotFound)
        }
        _ => Ok(()),
    }
}

/// The open sync, if it is the one that is meant.
fn select_open_sync(
    open: Option<SyncView>,
    sync_id: Option<SyncId>,
) -> Result<SyncView, PushError> {
    open.filter(|open| sync_id.is_none_or(|meant| meant == open.id))
        .ok_or(PushError::NoOpenSync)
}

impl IdempotentChange for CompleteChange {
    fn request_hash(&self) -> RequestHash {
        self.request.request_hash()
    }

    async fn apply(
        &self,
        transaction: &Transaction<'_>,
        now: DateTime<Utc>,
    ) -> Result<Bytes, ChangeError> {
        let integration_id = self.integration_id;
        transaction.lock_integration_syncs(integration_id).await?;
        let open = transaction.find_open_sync(integration_id, now).await?;
        let sync = select_open_sync(open, self.request.sync_id)?;
        let marked_removed = match sync.mode {
            SyncMode::Delta => 0,
            SyncMode::Full => self.remove_missing(transaction, sync.id, now).await?,
        };
        transaction
            .complete_sync(integration_id, sync.id, marked_removed, now)
            .await?;
        Ok(to_json_bytes(&CompleteAnswer {
            ok: true,
            sync_id: sync.id,
            mode: sync.mode,
            records_upserted: sync.records_upserted,
            records_deleted: sync.records_deleted,
            records_rejected: sync.records_rejected,
            marked_removed,
        }))
    }
}

impl CompleteChange {
    async fn remove_missing(
        &self,
        transaction: &Transaction<'_>,
        sync_id: SyncId,
        now: DateTime<Utc>,
    ) -> Result<i64, ChangeError> {
        if let Some(guard) = self.guard
            && !self.request.confirm_removal
        {
            guard.check_removal(
                transaction
                    .preview_sync_removal(self.integration_id, sync_id)
                    .await?,
            )?;
        }
        Ok(transaction
            .remove_missing_contacts(self.integration_id, sync_id, now)
            .await?)
    }
}

impl RemovalLimits {
    /// Refuses a removal of more than the share of the contacts, unless they are fewer than the minimum.
    fn check_removal(self, removal: SyncRemoval) -> Result<(), PushError> {
        let is_within_share = i128::from(removal.count) * 100
            <= i128::from(removal.contacts) * i128::from(self.percent);
        if is_within_share || removal.count < i64::from(self.minimum) {
            return Ok(());
        }
        Err(PushError::RemovalGuard {
            count: removal.count,
            share: removal_share(removal),
            limit: f64::from(self.percent) / 100.0,
        })
    }
}

/// The share of the contacts that would be removed, 0 to 1, to four digits.
fn removal_share(removal: SyncRemoval) -> f64 {
    if removal.contacts == 0 {
        return 0.0;
    }
    (removal.count as f64 / removal.contacts as f64 * 10_000.0).round() / 10_000.0
}

/// Counts what completing the open sync would remove now. Pushes go on meanwhile.
pub async fn validate_complete(
    syncer: &SyncerState,
    context: &PushContext,
    body: &[u8],
) -> Result<Bytes, PushError> {
    let request = CompleteSyncRequest::parse(body)?;
    refuse_unknown_sync(
        &syncer.process.store,
        context.integration_id,
        request.sync_id,
    )
    .await?;
    count_removal(syncer, context, request)
        .await
        .map_err(internal_error)?
}

async fn count_removal(
    syncer: &SyncerState,
    context: &PushContext,
    request: CompleteSyncRequest,
) -> Result<Result<Bytes, PushError>, StoreError> {
    let mut connection = syncer.process.store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let open = transaction
        .find_open_sync(context.integration_id, syncer.process.clock.now())
        .await?;
    let sync = match select_open_sync(open, request.sync_id) {
        Ok(sync) => sync,
        Err(error) => return Ok(Err(error)),
    };
    let removal = match sync.mode {
        SyncMode::Full => {
            transaction
                .preview_sync_removal(context.integration_id, sync.id)
                .await?
        }
        SyncMode::Delta => SyncRemoval {
            count: 0,
            contacts: 0,
        },
    };
    Ok(Ok(to_json_bytes(&ValidatedComplete {
        validated: true,
        sync_id: sync.id,
        mode: sync.mode,
        records_upserted: sync.records_upserted,
        records_deleted: sync.records_deleted,
        records_rejected: sync.records_rejected,
        would_remove: removal.count,
        share: removal_share(removal),
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guard_stops_a_removal_of_more_than_its_share() {
        let guarded = |count, contacts, percent| {
            RemovalLimits {
                percent,
                minimum: 0,
            }
            .check_removal(SyncRemoval { count, contacts })
        };
        assert_eq!(guarded(0, 0, 0), Ok(()));
        assert_eq!(guarded(10, 100, 10), Ok(()));
        assert_eq!(guarded(100, 100, 100), Ok(()));
        assert_eq!(
            guarded(11, 100, 10),
            Err(PushError::RemovalGuard {
                count: 11,
                share: 0.11,
                limit: 0.1
            })
        );
        assert!(guarded(1, 1_000_000, 0).is_err());
    }

    #[test]
    fn the_guard_lets_few_contacts_go_whatever_their_share() {
        let guarded = |count, contacts| {
            RemovalLimits {
                percent: 20,
                minimum: 25,
            }
            .check_removal(SyncRemoval { count, contacts })
        };
        assert_eq!(guarded(24, 24), Ok(()));
        assert!(guarded(25, 25).is_err());
        assert_eq!(guarded(25, 125), Ok(()));
        assert!(guarded(26, 125).is_err());
    }
}
