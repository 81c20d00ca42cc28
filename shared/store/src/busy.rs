//! How long the process waits for the database: the histogram `store_busy_seconds`.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

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
            metrics::histogram!("store_busy_seconds").record(since.elapsed().as_secs_f64());
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
