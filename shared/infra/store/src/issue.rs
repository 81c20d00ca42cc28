//! What was wrong with single records of a sync.

use std::borrow::Cow;
use std::ops::Range;

use chrono::{DateTime, Utc};
use contract::push::{
    AcceptedUpsert, ContactIssue, DroppedValue, IssueKind, RecordRejection, RejectionItem,
};
use model::id::{IntegrationId, SyncId};
use tokio_postgres::Row;

use crate::error::{Result, StoreError};
use crate::pool::{Store, Transaction};
use crate::sync::CountedBatch;

/// Issues that one statement stores: a batch can have half a million, of eight bytes of its body each.
const ISSUES: usize = 20_000;

const COLUMNS: &str = "issue, batch, index, external_id, code, field, message, resolved_at IS NOT NULL AS is_resolved";

/// Marks the issues of accepted records as resolved: each rejection, and each dropped value whose field came again. A delete
/// resolves all. They are locked in one order, whatever that of the batch.
const RESOLVE: &str = "
    WITH resolved AS (
        SELECT issues.kind, issues.issue
        FROM unnest($3::text[], $4::text[]) AS accepted (external_id, fields)
        CROSS JOIN LATERAL (
            SELECT kind, issue, field FROM sync_issues
            WHERE integration_id = $1 AND external_id = accepted.external_id AND sync_id = $2 AND resolved_at IS NULL
        ) AS issues
        WHERE issues.kind = 'rejection' OR accepted.fields IS NULL OR accepted.fields::jsonb ? issues.field
    ), locked AS (
        SELECT kind, issue FROM sync_issues
        WHERE integration_id = $1 AND sync_id = $2 AND (kind, issue) IN (SELECT kind, issue FROM resolved)
        ORDER BY kind, issue FOR UPDATE
    )
    UPDATE sync_issues SET resolved_at = $5 FROM locked
    WHERE integration_id = $1 AND sync_id = $2 AND sync_issues.kind = locked.kind AND sync_issues.issue = locked.issue";

/// Which issues are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IssueFilter {
    /// All.
    All,
    /// Those that no later batch of the sync has resolved.
    Unresolved,
}

fn rejection_item_from_row(row: &Row) -> RejectionItem {
    RejectionItem {
        id: row.get("issue"),
        batch: row.get("batch"),
        index: row.get("index"),
        external_id: row.get("external_id"),
        code: row.get("code"),
        field: row.get("field"),
        message: row.get("message"),
        resolved: row.get("is_resolved"),
    }
}

/// The columns of issues to be stored.
#[derive(Default)]
struct IssueRows<'a> {
    kinds: Vec<&'a str>,
    indexes: Vec<i32>,
    external_ids: Vec<Option<&'a str>>,
    codes: Vec<&'a str>,
    fields: Vec<Option<&'a str>>,
    messages: Vec<&'a str>,
}

impl<'a> IssueRows<'a> {
    fn new(rejections: &'a [RecordRejection], warnings: &'a [DroppedValue]) -> Self {
        let mut rows = Self::default();
        for rejection in rejections {
            rows.kinds.push(IssueKind::Rejection.as_str());
            rows.indexes.push(to_batch_position(rejection.index));
            rows.external_ids.push(rejection.external_id.as_deref());
            rows.codes.push(rejection.code.as_str());
            rows.fields.push(rejection.field.as_deref());
            rows.messages.push(&rejection.message);
        }
        for warning in warnings {
            rows.kinds.push(IssueKind::Warning.as_str());
            rows.indexes.push(to_batch_position(warning.index));
            rows.external_ids.push(Some(&warning.external_id));
            rows.codes.push(warning.code.as_str());
            rows.fields.push(Some(&warning.field));
            rows.messages.push(&warning.message);
        }
        rows
    }

    fn portion_ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let all = self.kinds.len();
        (0..all)
            .step_by(ISSUES)
            .map(move |start| start..all.min(start + ISSUES))
    }
}

/// A position in a batch, which has a thousand at the most.
fn to_batch_position(index: usize) -> i32 {
    i32::try_from(index).unwrap_or(i32::MAX)
}

impl Transaction<'_> {
    /// Marks issues of the sync as resolved which these records answer.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn resolve_issues(
        &self,
        integration_id: IntegrationId,
        sync_id: SyncId,
        upserts: &[AcceptedUpsert<'_>],
        deletes: &[Cow<'_, str>],
        now: DateTime<Utc>,
    ) -> Result<()> {
        let upserted = upserts.iter().map(|upsert| &upsert.external_id);
        let external_ids: Vec<&str> = upserted.chain(deletes).map(AsRef::as_ref).collect();
        let fields = upserts
            .iter()
            .map(|upsert| serde_json::to_string(&upsert.values).map(Some));
        let fields = fields
            .chain(deletes.iter().map(|_| Ok(None)))
            .collect::<serde_json::Result<Vec<_>>>()?;
        self.execute(
            RESOLVE,
            &[&integration_id.0, &sync_id.0, &external_ids, &fields, &now],
        )
        .await?;
        Ok(())
    }

    /// Stores the issues of a batch under the numbers that it was counted with.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn insert_issues(
        &self,
        integration_id: IntegrationId,
        sync_id: SyncId,
        counted: CountedBatch,
        rejections: &[RecordRejection],
        warnings: &[DroppedValue],
    ) -> Result<()> {
        let rows = IssueRows::new(rejections, warnings);
        for portion in rows.portion_ranges() {
            self.insert_issue_portion(integration_id, sync_id, counted, &rows, portion)
                .await?;
        }
        Ok(())
    }

    async fn insert_issue_portion(
        &self,
        integration_id: IntegrationId,
        sync_id: SyncId,
        counted: CountedBatch,
        rows: &IssueRows<'_>,
        portion: Range<usize>,
    ) -> Result<()> {
        // A batch has at most as many issues as its body has bytes.
        let issues_before = counted.issues_before + portion.start as i64;
        self.execute(
            "INSERT INTO sync_issues
                 (integration_id, sync_id, kind, issue, batch, index, external_id, code, field, message)
             SELECT $1, $2, kind, $3::bigint + number, $4, index, external_id, code, field, message
             FROM unnest($5::text[], $6::integer[], $7::text[], $8::text[], $9::text[], $10::text[])
                 WITH ORDINALITY AS new (kind, index, external_id, code, field, message, number)",
            &[
                &integration_id.0,
                &sync_id.0,
                &issues_before,
                &counted.batch,
                &&rows.kinds[portion.clone()],
                &&rows.indexes[portion.clone()],
                &&rows.external_ids[portion.clone()],
                &&rows.codes[portion.clone()],
                &&rows.fields[portion.clone()],
                &&rows.messages[portion],
            ],
        )
        .await?;
        Ok(())
    }
}

impl Store {
    /// A sync's issues of a kind after the number `after`, in the order in which they were stored; at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_issues(
        &self,
        integration_id: IntegrationId,
        sync_id: SyncId,
        (kind, filter): (IssueKind, IssueFilter),
        after: i64,
        limit: i64,
    ) -> Result<Vec<RejectionItem>> {
        let unresolved = match filter {
            IssueFilter::All => "",
            IssueFilter::Unresolved => "AND resolved_at IS NULL",
        };
        let sql = format!(
            "SELECT {COLUMNS} FROM sync_issues
             WHERE integration_id = $1 AND sync_id = $2 AND kind = $3 AND issue > $4 {unresolved} ORDER BY issue LIMIT $5"
        );
        let rows = self
            .query_rows(
                &sql,
                &[
                    &integration_id.0,
                    &sync_id.0,
                    &kind.as_str(),
                    &after,
                    &limit,
                ],
            )
            .await?;
        Ok(rows.iter().map(rejection_item_from_row).collect())
    }

    /// The newest issues of a contact, the newest first; at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_contact_issues(
        &self,
        integration_id: IntegrationId,
        external_id: &str,
        limit: i64,
    ) -> Result<Vec<ContactIssue>> {
        let sql = format!(
            "SELECT sync_id, kind, {COLUMNS} FROM sync_issues WHERE integration_id = $1 AND external_id = $2
             ORDER BY sync_id DESC, issue DESC LIMIT $3"
        );
        self.query_rows(&sql, &[&integration_id.0, &external_id, &limit])
            .await?
            .iter()
            .map(contact_issue_from_row)
            .collect()
    }
}

fn contact_issue_from_row(row: &Row) -> Result<ContactIssue> {
    let kind: &str = row.get("kind");
    Ok(ContactIssue {
        sync_id: SyncId(row.get("sync_id")),
        kind: kind
            .parse()
            .map_err(|()| StoreError::Corrupt("kind of an issue".to_owned()))?,
        item: rejection_item_from_row(row),
    })
}
