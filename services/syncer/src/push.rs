//! Pushing a batch of records.

use bytes::Bytes;
use chrono::{DateTime, Utc};
use contract::id::IntegrationId;
use contract::push::{
    CheckedBatch, PushContext, PushError, RequestHash, Schema, SyncMode, check_batch, split_batch,
};
use futures_util::{TryFutureExt, future};
use store::{BatchCounts, ContactBatch, Transaction};

use crate::handler::{Answer, json};
use crate::once::{Change, Refused, once};
use crate::{Syncer, internal};

/// A checked batch.
struct Push<'a> {
    integration_id: IntegrationId,
    hash: RequestHash,
    checked: CheckedBatch<'a>,
    response: Bytes,
}

/// Checks a batch and applies what it accepts to the open sync. The answer is known before the database is asked.
pub(crate) async fn push(syncer: &Syncer, context: &PushContext, body: &[u8]) -> Result<Answer, PushError> {
    // The database looks the fields up while the batch is taken apart.
    let fields = syncer.process.store.field_list(context.integration_id);
    let batch = async { tokio::task::block_in_place(|| split_batch(body)) };
    let (fields, batch) = future::try_join(fields.map_err(internal), batch).await?;
    let push = tokio::task::block_in_place(|| {
        let checked = check_batch(&batch, &Schema::new(&fields));
        let (hash, response) = (RequestHash::of_records(&batch.records), json(&checked.answer()));
        Ok::<_, PushError>(Push { integration_id: context.integration_id, hash, checked, response })
    })?;
    let answer = once(syncer, context, &push).await?;
    if matches!(answer, Answer::New(_)) {
        push.count();
    }
    Ok(answer)
}

impl Change for Push<'_> {
    fn hash(&self) -> RequestHash {
        self.hash
    }

    async fn apply(&self, transaction: &Transaction<'_>, now: DateTime<Utc>) -> Result<Bytes, Refused> {
        let (integration_id, checked) = (self.integration_id, &self.checked);
        let sync = transaction.sync_share(integration_id, now).await?.ok_or(PushError::NoOpenSync)?;
        let batch = ContactBatch {
            upserts: &checked.upserts,
            deletes: &checked.deletes,
            seen: &checked.rejected_ids,
        };
        let received = transaction.contact_apply(integration_id, sync.id, batch, now).await?;
        let received = if sync.mode == SyncMode::Full { received } else { Vec::new() };
        let counted = transaction.sync_count(integration_id, sync.id, self.counts(), &received).await?;
        if !checked.rejections.is_empty() || !checked.warnings.is_empty() {
            let (rejections, warnings) = (&checked.rejections, &checked.warnings);
            transaction.issue_store(integration_id, sync.id, counted, rejections, warnings).await?;
        }
        Ok(self.response.clone())
    }
}

impl Push<'_> {
    /// Counts a committed batch.
    fn count(&self) {
        let checked = &self.checked;
        let records = [
            ("upserted", checked.upserts.len()),
            ("deleted", checked.deletes.len()),
            ("rejected", checked.rejections.len()),
        ];
        for (result, records) in records {
            metrics::counter!("pillarbox_push_records_total", "result" => result).increment(records as u64);
        }
    }

    fn counts(&self) -> BatchCounts {
        // A batch has a thousand records, and they at most a body's length of values.
        let count = |length: usize| i64::try_from(length).unwrap_or(i64::MAX);
        let checked = &self.checked;
        BatchCounts {
            upserted: count(checked.upserts.len()),
            deleted: count(checked.deletes.len()),
            rejected: count(checked.rejections.len()),
            issues: count(checked.rejections.len() + checked.warnings.len()),
        }
    }
}
