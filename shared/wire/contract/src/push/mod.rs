//! The Integrations push API: what it takes, what it answers and its errors.
//!
//! A batch in reading order: [`split_batch`] (records as raw JSON) → [`check_batch`] (which are accepted, which
//! values are dropped) → [`PushAnswer`]. All of it is pure.

mod batch;
pub(crate) mod body;
mod check;
mod error;
mod field;
mod issue;
mod read;
mod standing;
mod sync;
mod value;
mod values;

pub use batch::{PushedRecord, RecordBatch, RecordOperation, split_batch};
pub use check::{AcceptedUpsert, CheckedBatch, FieldSchema, check_batch};
pub use error::{LockedField, PushError, TypeLockReason};
pub use field::{FieldSemantic, FieldType, IntegrationField, read_declaration};
pub use issue::{
    DroppedValue, DryRunAnswer, IssueCode, IssueKind, PushAnswer, RecordRejection, WarningGroup,
    group_warnings,
};
pub use model::idempotency::{IdempotencyKey, RequestHash};
pub use read::{
    ContactAnswer, ContactIssue, IntegrationAnswer, IntegrationLimits, IntegrationStatus,
    IntegrationView, OpenSyncView, RejectionItem, RejectionsAnswer, SchemaAnswer, SyncAnswer,
    SyncView, SyncsAnswer,
};
pub use standing::{IntegrationReadiness, OperationNames, PUSH_API};
pub use sync::{
    BeginAnswer, BeginSyncRequest, CompleteAnswer, CompleteSyncRequest, DeclareAnswer, OpenSync,
    SyncMode, SyncStatus, ValidatedComplete, timestamp,
};
pub use values::{ContactFingerprint, ContactValues};
