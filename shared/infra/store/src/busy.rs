//! How long the process waits for the database, statement by statement, and all together: the histogram `pillarbox_database_busy_seconds`.

use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;
use tracing::field::Empty;
use tracing::{Instrument, Span};

use crate::error::{Result, StoreError};
use crate::statement_name::SqlStatement;

/// Characters of a statement that a span shows.
const SHOWN_CHARS: usize = 1_000;

static BUSY: Mutex<BusyStatements> = Mutex::new(BusyStatements {
    statements: 0,
    since: None,
});

/// Statements under way in this process, and since when there have been any.
struct BusyStatements {
    statements: usize,
    since: Option<Instant>,
}

/// One statement under way, until it is dropped.
struct BusyGuard;

impl BusyGuard {
    fn start() -> Self {
        let mut busy = lock_busy_statements();
        busy.statements += 1;
        busy.since.get_or_insert_with(Instant::now);
        Self
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        let mut busy = lock_busy_statements();
        busy.statements -= 1;
        if busy.statements > 0 {
            return;
        }
        if let Some(since) = busy.since.take() {
            metrics::histogram!("pillarbox_database_busy_seconds")
                .record(since.elapsed().as_secs_f64());
        }
    }
}

fn lock_busy_statements() -> MutexGuard<'static, BusyStatements> {
    // A panic while the lock was held cannot leave the two fields apart.
    BUSY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for the database. Time in which several statements are under way counts once: they travel together, and a
/// sum over them would be more than was waited.
///
/// A statement that comes after another one's failure in its transaction says no more than that. It lets who waits for both hear
/// of the failure itself, which is here by then: whether the work is tried again depends on it.
pub(crate) async fn track_busy_time<T>(
    statement: impl Future<Output = std::result::Result<T, Error>>,
) -> std::result::Result<T, Error> {
    let _under_way = BusyGuard::start();
    let result = statement.await;
    let code = result.as_ref().err().and_then(Error::code);
    if code == Some(&SqlState::IN_FAILED_SQL_TRANSACTION) {
        tokio::task::yield_now().await;
    }
    result
}

/// Waits for a statement, times it, and makes a span of it when traces are on. Values are parameters, so the text has
/// nothing personal. The statement comes boxed: it would be part of every future around it several times over.
pub(crate) async fn time_statement<T>(
    statement: SqlStatement<'_>,
    work: Pin<Box<impl Future<Output = std::result::Result<T, Error>>>>,
) -> Result<T> {
    let begun = Instant::now();
    let span = new_statement_span(statement);
    let result = track_busy_time(work).instrument(span.clone()).await;
    metrics::histogram!("pillarbox_database_statement_duration_seconds")
        .record(begun.elapsed().as_secs_f64());
    result.map_err(|error| {
        let failed = statement.to_error(error);
        note_failure(&span, &failed);
        failed
    })
}

/// The span of a statement, named as OpenTelemetry names those of databases. What belongs to no request and no piece of
/// work has none: a background task that looks whether there is something to do would be nearly all of what is traced.
fn new_statement_span(statement: SqlStatement<'_>) -> Span {
    if Span::current().is_none() {
        return Span::none();
    }
    let span = tracing::debug_span!(
        "statement",
        otel.name = Empty,
        otel.kind = "client",
        otel.status_code = Empty,
        db.system.name = "postgresql",
        db.operation.name = Empty,
        db.collection.name = Empty,
        db.query.summary = Empty,
        db.query.text = Empty,
        db.response.status_code = Empty,
        error.type = Empty,
        code.file.path = statement.at.file(),
        code.line.number = statement.at.line(),
    );
    if !span.is_disabled() {
        let name = statement.name();
        let (summary, (operation, table)) = (name.summary(), name.main());
        let text = statement
            .sql
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        span.record("otel.name", &summary);
        span.record("db.operation.name", operation);
        table.map(|table| span.record("db.collection.name", table));
        span.record("db.query.summary", summary);
        span.record(
            "db.query.text",
            text.chars().take(SHOWN_CHARS).collect::<String>(),
        );
    }
    span
}

fn note_failure(span: &Span, failed: &StoreError) {
    let Some(error) = failed.database_error() else {
        return;
    };
    let code = error.sqlstate();
    span.record("otel.status_code", "ERROR");
    span.record("error.type", code.unwrap_or("connection"));
    code.map(|code| span.record("db.response.status_code", code));
}
