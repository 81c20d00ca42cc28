//! Pushing a batch of records.

use std::borrow::Cow;
use std::sync::OnceLock;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use contract::push::{
    CheckedBatch, FieldSchema, IntegrationField, PushError, RecordBatch, RequestHash, SyncMode,
    check_batch, split_batch,
};
use futures_util::{TryFutureExt, future};
use messages::PushContext;
use model::id::IntegrationId;
use store::{BatchCounts, ContactBatch, Transaction};
use tracing::Span;

use crate::idempotent::{ChangeAnswer, ChangeError, IdempotentChange, apply_once};
use crate::{SyncerState, internal_error, to_json_bytes};

/// A batch to apply.
struct PushChange<'a> {
    integration_id: IntegrationId,
    hash: RequestHash,
    batch: &'a RecordBatch<'a>,
    fields: &'a [IntegrationField],
    /// Of each record, in the order sent.
    external_ids: Vec<Cow<'a, str>>,
    /// Filled when it is first asked for: a batch that was pushed before is not checked.
    checked: OnceLock<CheckedPush<'a>>,
}

/// What the check says of a batch.
struct CheckedPush<'a> {
    batch: CheckedBatch<'a>,
    response: Bytes,
}

/// Checks a batch and applies what it accepts to the open sync.
pub async fn push_batch(
    syncer: &SyncerState,
    context: &PushContext,
    body: &[u8],
) -> Result<ChangeAnswer, PushError> {
    let integration_id = context.integration_id;
    // The database looks the fields up while the batch is taken apart.
    let fields = syncer.process.store.list_fields(integration_id);
    let batch = async { tokio::task::block_in_place(|| split_batch(body)) };
    let (fields, batch) = future::try_join(fields.map_err(internal_error), batch).await?;
    let push = tokio::task::block_in_place(|| PushChange {
        integration_id,
        hash: RequestHash::hash_records(&batch.records),
        batch: &batch,
        fields: &fields,
        external_ids: batch.external_ids(),
        checked: OnceLock::new(),
    });
    let answer = apply_once(syncer, context, &push).await?;
    if matches!(answer, ChangeAnswer::New(_)) {
        push.get_or_check().count_records();
    }
    Ok(answer)
}

impl<'a> PushChange<'a> {
    fn get_or_check(&self) -> &CheckedPush<'a> {
        self.checked.get_or_init(|| {
            let batch = check_batch(self.batch, &FieldSchema::new(self.fields));
            CheckedPush {
                response: to_json_bytes(&batch.answer()),
                batch,
            }
        })
    }
}

impl IdempotentChange for PushChange<'_> {
    fn request_hash(&self) -> RequestHash {
        self.hash
    }

    async fn apply(
        &self,
        transaction: &Transaction<'_>,
        now: DateTime<Utc>,
    ) -> Result<Bytes, ChangeError> {
        let integration_id = self.integration_id;
        let shared = transaction
            .share_open_sync(integration_id, now)
            .await?
            .ok_or(PushError::NoOpenSync)?;
        let sync = shared.sync;
        // The database looks the contacts up while their values are checked.
        let known = transaction.find_known_contacts(integration_id, &self.external_ids);
        let checked = async { tokio::task::block_in_place(|| self.get_or_check()) };
        let (
            known,
            CheckedPush {
                batch: checked,
                response,
            },
        ) = future::join(known, checked).await;
        let batch = ContactBatch {
            upserts: &checked.upserts,
            deletes: &checked.deletes,
            seen: &checked.rejected_ids,
            known: &known?,
        };
        let received = transaction
            .apply_contact_batch(integration_id, sync.id, batch, now)
            .await?;
        if shared.has_issues {
            let (upserts, deletes) = (&checked.upserts, &checked.deletes);
            transaction
                .resolve_issues(integration_id, sync.id, upserts, deletes, now)
                .await?;
        }
        let received = if sync.mode == SyncMode::Full {
            received
        } else {
            Vec::new()
        };
        let counted = transaction
            .record_sync_batch(integration_id, sync.id, batch_counts(checked), &received)
            .await?;
        if !checked.rejections.is_empty() || !checked.warnings.is_empty() {
            let (rejections, warnings) = (&checked.rejections, &checked.warnings);
            transaction
                .insert_issues(integration_id, sync.id, counted, rejections, warnings)
                .await?;
        }
        Ok(response.clone())
    }
}

impl CheckedPush<'_> {
    /// Counts and notes a committed batch.
    fn count_records(&self) {
        let (checked, span) = (&self.batch, Span::current());
        let records = [
            ("upserted", checked.upserts.len()),
            ("deleted", checked.deletes.len()),
            ("rejected", checked.rejections.len()),
        ];
        for (result, records) in records {
            span.record(result, records);
            metrics::counter!("pillarbox_push_records_total", "result" => result)
                .increment(records as u64);
        }
    }
}

fn batch_counts(checked: &CheckedBatch<'_>) -> BatchCounts {
    // A batch has a thousand records, and they at most a body's length of values.
    let count = |length: usize| i64::try_from(length).unwrap_or(i64::MAX);
    BatchCounts {
        upserted: count(checked.upserts.len()),
        deleted: count(checked.deletes.len()),
        rejected: count(checked.rejections.len()),
        issues: count(checked.rejections.len() + checked.warnings.len()),
    }
}

/// Checks a batch by the rules of a push.
pub async fn validate_push(
    syncer: &SyncerState,
    context: &PushContext,
    body: &[u8],
) -> Result<Bytes, PushError> {
    let fields = syncer
        .process
        .store
        .list_fields(context.integration_id)
        .await
        .map_err(internal_error)?;
    tokio::task::block_in_place(|| {
        let batch = split_batch(body)?;
        Ok(to_json_bytes(
            &check_batch(&batch, &FieldSchema::new(&fields)).dry_run_answer(),
        ))
    })
}
