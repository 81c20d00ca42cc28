//! The tools of the Formula MCP server. A mailer does them because it is what computes formula columns when it makes
//! cards: a preview and a card come from the same code. They have a queue of their own, so that neither waits for
//! the other.
//!
//! A call in reading order: [`handler`] → [`book`] (the team's columns) → [`list`], [`check`], [`preview`], [`save`] or
//! [`explain`].

mod book;
mod check;
mod explain;
mod handler;
mod list;
mod preview;
mod save;
mod uses;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use chrono::NaiveDate;
use chrono_tz::Tz;
use contract::id::{ApiKeyId, RequestId, TeamId};
use contract::mcp::FormulaError;
use contract::message::FORMULA_QUEUE;
use queue::Consumption;
use service::Process;
use store::StoreError;

/// Answers calls of formula tools until the process is to stop.
pub(crate) async fn run(process: &Process) {
    let consumption = Consumption {
        queue: FORMULA_QUEUE,
        concurrency: process.config.mailer.formula_concurrency,
        shutdown: process.shutdown.clone(),
        grace: process.grace(),
        // Whether the process is ready depends on sends.
        is_consuming: Arc::new(AtomicBool::new(false)),
    };
    let handler = Arc::new(handler::FormulaHandler::new(process.clone()));
    queue::serve(&process.broker, consumption, handler).await;
}

/// Who asks.
#[derive(Clone, Copy)]
struct Asker<'a> {
    process: &'a Process,
    request_id: RequestId,
    team_id: TeamId,
    key_id: ApiKeyId,
    /// Until when an answer is waited for, as a Unix time in milliseconds.
    deadline_ms: i64,
}

impl Asker<'_> {
    /// Whether nobody waits for the answer any more.
    fn is_too_late(self) -> bool {
        self.process.clock.now().timestamp_millis() > self.deadline_ms
    }

    /// The day in the team's time zone.
    async fn today(self) -> Result<NaiveDate, FormulaError> {
        let team = self.process.store.team_get(self.team_id).await.map_err(failed)?;
        let zone: Tz = team.time_zone.parse().unwrap_or(Tz::UTC);
        Ok(self.process.clock.now().with_timezone(&zone).date_naive())
    }
}

/// What a failure of the database is to the client: nothing was changed.
fn failed(error: StoreError) -> FormulaError {
    tracing::error!(error = &error as &dyn std::error::Error, "the database failed");
    FormulaError::InternalError
}
