//! What a request would do, without doing it.

use bytes::Bytes;
use contract::push::{
    CompleteSyncRequest, FieldSchema, PushContext, PushError, SyncMode, ValidatedComplete,
    check_batch, split_batch,
};
use store::{StoreError, SyncRemoval};

use crate::complete::{meant, refuse_unknown, share};
use crate::handler::json;
use crate::{SyncerState, internal};

/// Checks a batch by the rules of a push.
pub(crate) async fn push(
    syncer: &SyncerState,
    context: &PushContext,
    body: &[u8],
) -> Result<Bytes, PushError> {
    let fields = syncer
        .process
        .store
        .field_list(context.integration_id)
        .await
        .map_err(internal)?;
    tokio::task::block_in_place(|| {
        let batch = split_batch(body)?;
        Ok(json(
            &check_batch(&batch, &FieldSchema::new(&fields)).dry_run_answer(),
        ))
    })
}

/// Counts what completing the open sync would remove now. Pushes go on meanwhile.
pub(crate) async fn complete(
    syncer: &SyncerState,
    context: &PushContext,
    body: &[u8],
) -> Result<Bytes, PushError> {
    let request = CompleteSyncRequest::read(body)?;
    refuse_unknown(
        &syncer.process.store,
        context.integration_id,
        request.sync_id,
    )
    .await?;
    count(syncer, context, request).await.map_err(internal)?
}

async fn count(
    syncer: &SyncerState,
    context: &PushContext,
    request: CompleteSyncRequest,
) -> Result<Result<Bytes, PushError>, StoreError> {
    let mut connection = syncer.process.store.connection().await?;
    let transaction = connection.begin().await?;
    let open = transaction
        .sync_open(context.integration_id, syncer.process.clock.now())
        .await?;
    let sync = match meant(open, request.sync_id) {
        Ok(sync) => sync,
        Err(error) => return Ok(Err(error)),
    };
    let removal = match sync.mode {
        SyncMode::Full => {
            transaction
                .sync_removal(context.integration_id, sync.id)
                .await?
        }
        SyncMode::Delta => SyncRemoval {
            count: 0,
            contacts: 0,
        },
    };
    Ok(Ok(json(&ValidatedComplete {
        validated: true,
        sync_id: sync.id,
        mode: sync.mode,
        records_upserted: sync.records_upserted,
        records_deleted: sync.records_deleted,
        records_rejected: sync.records_rejected,
        would_remove: removal.count,
        share: share(removal),
    })))
}
