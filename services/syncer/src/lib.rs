//! The syncer: takes what integrations push from the queue and answers it by [`syncing`]. It also expires syncs and forgets
//! what is old.

mod handler;

use std::sync::Arc;

use messages::{CALL_QUEUES, PUSH_QUEUE};
use queue::ConsumerOptions;
use runtime::Process;
use syncing::SyncerState;

/// Runs a syncer until the process is to stop.
///
/// # Errors
/// None today; the signature is that of every process.
pub async fn run(process: Process) -> anyhow::Result<()> {
    let syncer = SyncerState::new(process.clone());
    let consumption = ConsumerOptions {
        queue: PUSH_QUEUE,
        concurrency: process.config.syncer.concurrency,
        shutdown: process.shutdown.clone(),
        grace: process.grace_period(),
        is_consuming: process.is_working.clone(),
    };
    let handler = Arc::new(handler::PushHandler::new(syncer.clone()));
    tokio::join!(
        queue::serve_calls(&process.broker, consumption, handler),
        queue::sort_dead_letters(&process.broker, CALL_QUEUES, process.shutdown.clone()),
        syncing::run_housekeeping(&syncer),
    );
    Ok(())
}
