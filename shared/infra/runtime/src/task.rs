//! Tasks that keep their span, locks that outlive a panic, and pauses that differ between those who failed together.

use std::ops::RangeInclusive;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rand::RngExt;
use tokio::task::JoinHandle;
use tracing::Instrument;

/// Runs a task that goes on when its caller is dropped, within the caller's span: what it logs belongs to the same
/// request.
#[expect(clippy::disallowed_methods, reason = "this is what stands in for it")]
pub fn spawn<T: Send + 'static>(task: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    tokio::spawn(task.in_current_span())
}

/// A factor by chance out of a range, to multiply a pause with.
#[expect(clippy::disallowed_methods, reason = "this is what stands in for it")]
pub fn jitter(range: RangeInclusive<f64>) -> f64 {
    rand::rng().random_range(range)
}

/// Locks what is never left half-changed: a panic of somebody who held it is no reason to do without it.
pub fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
