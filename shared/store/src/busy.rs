//! How long the process waits for the database, statement by statement, and all together: the histogram `pillarbox_database_busy_seconds`.

use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tracing::Instrument;

/// Characters of a statement that a span shows.
const SHOWN_CHARS: usize = 1_000;

static BUSY: Mutex<Busy> = Mutex::new(Busy { statements: 0, since: None });

/// Statements under way in this process, and since when there have been any.
struct Busy {
    statements: usize,
    since: Option<Instant>,
}

/// One statement under way, until it is dropped.
struct UnderWay;

impl UnderWay {
    fn begin() -> Self {
        let mut busy = lock();
        busy.statements += 1;
        busy.since.get_or_insert_with(Instant::now);
        Self
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut busy = lock();
        busy.statements -= 1;
        if busy.statements > 0 {
            return;
        }
        if let Some(since) = busy.since.take() {
            metrics::histogram!("pillarbox_database_busy_seconds").record(since.elapsed().as_secs_f64());
        }
    }
}

fn lock() -> MutexGuard<'static, Busy> {
    // A panic while the lock was held cannot leave the two fields apart.
    BUSY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for the database. Time in which several statements are under way counts once: they travel together, and a
/// sum over them would be more than was waited.
pub(crate) async fn busy<T>(statement: impl Future<Output = T>) -> T {
    let _under_way = UnderWay::begin();
    statement.await
}

/// Waits for a statement, times it, and makes a span of it when traces are on. Values are parameters, so the text has
/// nothing personal. The statement comes boxed: it would be part of every future around it several times over.
pub(crate) async fn timed<T>(sql: &str, statement: Pin<Box<impl Future<Output = T>>>) -> T {
    let begun = Instant::now();
    let span = tracing::debug_span!(
        "statement",
        otel.name = tracing::field::Empty,
        otel.kind = "client",
        db.system.name = "postgresql",
        db.query.text = tracing::field::Empty,
    );
    if !span.is_disabled() {
        let text = sql.split_whitespace().collect::<Vec<_>>().join(" ");
        let (operation, _) = text.split_once(' ').unwrap_or((&text, ""));
        span.record("otel.name", operation);
        span.record("db.query.text", text.chars().take(SHOWN_CHARS).collect::<String>());
    }
    let result = busy(statement).instrument(span).await;
    metrics::histogram!("pillarbox_database_statement_duration_seconds")
        .record(begun.elapsed().as_secs_f64());
    result
}
