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

pub use crate::idempotency::{IdempotencyKey, RequestHash};
pub use batch::{Batch, Operation, Record, split_batch};
pub use check::{AcceptedUpsert, CheckedBatch, Schema, check_batch};
pub use error::{LockedField, PushError, TypeKept};
pub use field::{Field, FieldType, Semantic, read_declaration};
pub use issue::{
    DryRunAnswer, IssueCode, IssueKind, PushAnswer, Rejection, Warning, WarningGroup, group_warnings,
};
pub use read::{
    ContactAnswer, ContactIssue, IntegrationAnswer, IntegrationStatus, IntegrationView, Limits, OpenSyncView,
    RejectionItem, RejectionsAnswer, SchemaAnswer, SyncAnswer, SyncView, SyncsAnswer,
};
pub use standing::{Calls, PUSH_API, Standing};
pub use sync::{
    BeginAnswer, BeginRequest, CompleteAnswer, CompleteRequest, DeclareAnswer, OpenSync, PushContext,
    SyncMode, SyncStatus, ValidatedComplete, timestamp,
};
pub use values::{Fingerprint, Values};
