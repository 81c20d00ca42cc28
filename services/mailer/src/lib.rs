//! The mailer: takes send requests from the queue and answers them by [`sending`]. It also does what falls due, answers
//! the tools of the Formula MCP server (`formulas`), and follows mailpieces in the mail ([`tracking`]).

mod formulas;
mod handler;
mod withhold;

use std::sync::Arc;

use messages::{CALL_QUEUES, SEND_QUEUE};
use queue::ConsumerOptions;
use runtime::Process;
use sending::MailerState;
use verification::AddressVerifier;

/// Runs a mailer with the configured verifier until the process is to stop.
///
/// # Errors
/// When the configuration lacks something that sends need.
pub async fn run(process: Process) -> anyhow::Result<()> {
    let verifier = verification::build_verifier(&process.config, &process.store, &process.clock)?;
    serve(process, verifier).await
}

/// Runs a mailer with this verifier until the process is to stop.
///
/// # Errors
/// When the configuration lacks something that sends need.
pub async fn serve(process: Process, verifier: Arc<dyn AddressVerifier>) -> anyhow::Result<()> {
    let mailer = MailerState::new(process.clone(), verifier)?;
    let consumption = ConsumerOptions {
        queue: SEND_QUEUE,
        concurrency: process.config.mailer.concurrency,
        shutdown: process.shutdown.clone(),
        grace: process.grace_period(),
        is_consuming: process.is_working.clone(),
    };
    let handler = Arc::new(handler::SendHandler::new(mailer.clone(), process.clone()));
    let serving = async {
        tokio::join!(
            queue::serve_calls(&process.broker, consumption, handler),
            formulas::run(&process),
            delivering::keep_making_news(&process),
            queue::sort_dead_letters(&process.broker, CALL_QUEUES, process.shutdown.clone()),
        );
        Ok(())
    };
    let tracking = async { Ok(tracking::keep_tracking(&process).await?) };
    tokio::try_join!(sending::run_due_work(&mailer), serving, tracking)?;
    Ok(())
}
