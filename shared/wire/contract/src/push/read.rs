//! Answers that only read.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Serialize;

use crate::push::field::IntegrationField;
use crate::push::issue::{IssueCode, IssueKind};
use crate::push::sync::{SyncMode, SyncStatus, timestamp};
use model::id::{IntegrationId, SyncId};
use model::limits::{BODY_BYTES, DECLARED_FIELDS, RECORDS_PER_BATCH};

/// What an integration can do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntegrationStatus {
    /// Its contacts cannot be mailed yet: the address fields are not declared, or no sync has completed.
    SetupNeeded,
    /// It can begin a sync.
    Ready,
    /// A sync is open.
    Syncing,
    /// The owner paused it.
    Paused,
    /// The owner disconnected it.
    Disconnected,
}

/// An integration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IntegrationView {
    /// Its public id.
    pub id: IntegrationId,
    /// Its name.
    pub name: String,
    /// What it can do now.
    pub status: IntegrationStatus,
    /// Whether the address fields are declared and one sync has completed.
    pub setup_complete: bool,
}

/// The open sync, beside an integration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenSyncView {
    /// Its id.
    pub id: SyncId,
    /// Its mode.
    pub mode: SyncMode,
    /// When it expires.
    #[serde(with = "timestamp")]
    #[schemars(with = "DateTime<Utc>")]
    pub expires_at: DateTime<Utc>,
    /// Batches that it received.
    pub batches_received: i64,
}

/// What a client must keep to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Limits")]
pub struct IntegrationLimits {
    /// Records in a batch.
    pub records_per_batch: usize,
    /// Bytes of a batch.
    pub bytes_per_batch: usize,
    /// Declared fields of an integration.
    pub declared_fields: usize,
    /// Hours until an open sync expires.
    pub sync_expiry_hours: i64,
}

/// Answer to GET of the API's root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IntegrationAnswer {
    /// The key's integration.
    pub integration: IntegrationView,
    /// Its open sync.
    pub open_sync: Option<OpenSyncView>,
    /// What a client must keep to.
    pub limits: IntegrationLimits,
    /// What to call next, in a sentence.
    pub next_step: String,
}

/// Answer to GET schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SchemaAnswer {
    /// In the order of their first declaration.
    pub fields: Vec<IntegrationField>,
}

/// A sync.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SyncView {
    /// Its id.
    pub id: SyncId,
    /// Its mode.
    pub mode: SyncMode,
    /// Where it stands.
    pub status: SyncStatus,
    /// When it was begun.
    // An addition.
    #[serde(with = "timestamp")]
    #[schemars(with = "DateTime<Utc>")]
    pub begun_at: DateTime<Utc>,
    /// When it expires, or would have.
    #[serde(with = "timestamp")]
    #[schemars(with = "DateTime<Utc>")]
    pub expires_at: DateTime<Utc>,
    /// Batches that it received.
    pub batches_received: i64,
    /// Upserts that it applied.
    pub records_upserted: i64,
    /// Deletes that it applied.
    pub records_deleted: i64,
    /// Records that it refused.
    pub records_rejected: i64,
    /// Contacts that it removed when it completed.
    // An addition.
    pub marked_removed: i64,
}

/// Answer to GET sync.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SyncAnswer {
    /// The latest sync.
    pub sync: Option<SyncView>,
}

/// Answer to GET syncs.
// An addition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SyncsAnswer {
    /// The newest first.
    pub syncs: Vec<SyncView>,
    /// The `after` of the next page; null on the last one.
    pub next_after: Option<SyncId>,
}

/// A stored issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RejectionItem {
    /// Its number within the sync.
    pub id: i64,
    /// The batch's number within the sync, from 1.
    pub batch: i64,
    /// Position in the batch.
    pub index: i32,
    /// The record's `external_id`, where it can be read.
    pub external_id: Option<String>,
    /// Why.
    #[schemars(with = "IssueCode")]
    pub code: String,
    /// The field at fault.
    pub field: Option<String>,
    /// A sentence for people.
    pub message: String,
    /// Present, and true, when a later batch of the sync accepted the record, or a value for the field.
    // An addition.
    #[schemars(extend("const" = true))]
    #[serde(skip_serializing_if = "is_false")]
    pub resolved: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// Answer to GET sync/rejections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RejectionsAnswer {
    /// The sync.
    pub sync_id: SyncId,
    /// Rejections or warnings.
    #[serde(rename = "type")]
    pub kind: IssueKind,
    /// In the order in which they were stored.
    pub items: Vec<RejectionItem>,
    /// The `after` of the next page; null on the last one.
    pub next_after: Option<String>,
}

/// An issue of one contact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContactIssue {
    /// The sync.
    pub sync_id: SyncId,
    /// Rejection or warning.
    #[serde(rename = "type")]
    pub kind: IssueKind,
    /// The issue.
    #[serde(flatten)]
    pub item: RejectionItem,
}

/// Answer to GET contacts.
// An addition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContactAnswer {
    /// The caller's id.
    pub external_id: String,
    /// Values by field key, as text.
    pub fields: BTreeMap<String, String>,
    /// Whether it was deleted, or a full sync did not receive it.
    pub removed: bool,
    /// When it was first received.
    #[serde(with = "timestamp")]
    #[schemars(with = "DateTime<Utc>")]
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    #[serde(with = "timestamp")]
    #[schemars(with = "DateTime<Utc>")]
    pub changed_at: DateTime<Utc>,
    /// The last sync that is known to have received it.
    pub last_sync_id: SyncId,
    /// Its newest issues, the newest first.
    pub issues: Vec<ContactIssue>,
}

impl IntegrationLimits {
    /// The limits, with the configured expiry.
    pub const fn new(sync_expiry_hours: i64) -> Self {
        Self {
            records_per_batch: RECORDS_PER_BATCH,
            bytes_per_batch: BODY_BYTES,
            declared_fields: DECLARED_FIELDS,
            sync_expiry_hours,
        }
    }
}
