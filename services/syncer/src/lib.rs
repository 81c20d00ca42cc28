//! The syncer: takes what integrations push from the queue. It also does what falls due: expiry of syncs and
//! forgetting what is old.
//!
//! A request in reading order: [`handler`] → [`once`] (the same request is done once) → [`begin`], [`push`] or
//! [`complete`]. A declaration, [`declare`], needs no key: done again it changes nothing and answers the same. What would only be
//! checked is in [`validate`].

mod begin;
mod complete;
mod declare;
mod handler;
mod housekeeping;
mod once;
mod push;
mod validate;

use std::error::Error;
use std::sync::Arc;

use contract::message::{CALL_QUEUES, PUSH_QUEUE};
use contract::push::PushError;
use queue::ConsumerOptions;
use runtime::Process;
use store::StoreError;

/// What the parts of a syncer share. Clones share it all.
#[derive(Clone)]
pub(crate) struct SyncerState {
    process: Process,
}

/// Runs a syncer until the process is to stop.
///
/// # Errors
/// None today; the signature is that of every process.
pub async fn run(process: Process) -> anyhow::Result<()> {
    let syncer = SyncerState { process };
    let process = &syncer.process;
    let consumption = ConsumerOptions {
        queue: PUSH_QUEUE,
        concurrency: process.config.syncer.concurrency,
        shutdown: process.shutdown.clone(),
        grace: process.grace(),
        is_consuming: process.is_working.clone(),
    };
    let handler = Arc::new(handler::PushHandler::new(syncer.clone()));
    tokio::join!(
        queue::serve(&process.broker, consumption, handler),
        queue::sort_dead_letters(&process.broker, CALL_QUEUES, process.shutdown.clone()),
        housekeeping::run(&syncer),
    );
    Ok(())
}

/// What it is to the client when an integration is not found: its team has removed it since the request was admitted.
fn removed_or_internal(error: StoreError) -> PushError {
    match error {
        StoreError::NotFound(_) => PushError::InvalidKey,
        error => internal(error),
    }
}

/// What a failure of the database is to the client: nothing was changed.
fn internal(error: StoreError) -> PushError {
    tracing::error!(error = &error as &dyn Error, "the database failed");
    PushError::InternalError
}
