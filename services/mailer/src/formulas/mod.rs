//! The tools of the Formula MCP server. A mailer does them because it is what computes formula columns when it makes
//! cards: a preview and a card come from the same code. They have a queue of their own, so that neither waits for
//! the other.
//!
//! A call in reading order: [`handler`] → [`list`], [`check`], [`columns::preview`], [`save`] or [`explain`], all over
//! [`columns::ColumnCatalog`].

mod check;
mod explain;
mod handler;
mod list;
mod save;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use columns::ColumnsContext;
use messages::FORMULA_QUEUE;
use model::id::{ApiKeyId, RequestId};
use queue::ConsumerOptions;
use runtime::Process;

/// Answers calls of formula tools until the process is to stop.
pub(crate) async fn run(process: &Process) {
    let consumption = ConsumerOptions {
        queue: FORMULA_QUEUE,
        concurrency: process.config.mailer.formula_concurrency,
        shutdown: process.shutdown.clone(),
        grace: process.grace_period(),
        // Whether the process is ready depends on sends.
        is_consuming: Arc::new(AtomicBool::new(false)),
    };
    let handler = Arc::new(handler::FormulaHandler::new(process.clone()));
    queue::serve_calls(&process.broker, consumption, handler).await;
}

/// A call, and who makes it.
#[derive(Clone, Copy)]
struct FormulaCall<'a> {
    asker: ColumnsContext<'a>,
    request_id: RequestId,
    key_id: ApiKeyId,
}
