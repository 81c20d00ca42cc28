//! Syncing: what integrations push into the address book.
//!
//! The use cases: [`declare_fields`] fields, [begin](begin_sync) a sync, [`push_batch`] batches of contacts, [complete](complete_sync) the sync;
//! [`validate_push`] and [`validate_complete`] tell what would come of them; [`run_housekeeping`] expires syncs and forgets
//! what is old. What changes something is applied once for each idempotency key, however often it is sent
//! (`idempotent.rs`). A declaration needs no key: sent again it changes nothing and answers the same.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod declare;
mod housekeeping;
mod idempotent;
mod push;
mod sync;

pub use declare::declare_fields;
pub use housekeeping::run as run_housekeeping;
pub use idempotent::ChangeAnswer;
pub use push::{push_batch, validate_push};
pub use sync::{begin_sync, complete_sync, validate_complete};

use std::error::Error;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use contract::push::PushError;
use runtime::Process;
use store::StoreError;

/// What the use cases share. Clones share it all.
#[derive(Clone)]
pub struct SyncerState {
    process: Process,
}

impl SyncerState {
    /// What this process syncs with.
    pub const fn new(process: Process) -> Self {
        Self { process }
    }

    /// The time by the process's clock.
    pub fn now(&self) -> DateTime<Utc> {
        self.process.clock.now()
    }
}

/// An answer's JSON. Answers hold texts and numbers, which can always be written.
fn to_json_bytes(answer: &impl serde::Serialize) -> Bytes {
    serde_json::to_vec(answer)
        .map(Bytes::from)
        .unwrap_or_default()
}

/// What it is to the client when an integration is not found: its team has removed it since the request was admitted.
fn removed_or_internal_error(error: StoreError) -> PushError {
    match error {
        StoreError::NotFound(_) => PushError::InvalidKey,
        error => internal_error(error),
    }
}

/// What a failure of the database is to the client: nothing was changed.
fn internal_error(error: StoreError) -> PushError {
    tracing::error!(error = &error as &dyn Error, "the database failed");
    PushError::InternalError
}
