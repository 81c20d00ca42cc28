//! What is logged of attempts. There are thousands a second, so a line sums up those of a while; each has its record in the
//! database, and a span when its scan has one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::DispatcherState;

/// From one line to the next.
const INTERVAL: Duration = Duration::from_secs(10);

/// What can come of an attempt, as the metrics call it.
const RESULTS: [&str; 4] = ["delivered", "refused", "timed_out", "unreachable"];

/// Attempts by what came of them.
#[derive(Debug, Default)]
pub(crate) struct AttemptCounter([AtomicU64; RESULTS.len()]);

impl AttemptCounter {
    pub(crate) fn count(&self, result: &str) {
        if let Some(at) = RESULTS.iter().position(|known| *known == result) {
            self.0[at].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The counts since they were last taken; `None` when there are none.
    fn take(&self) -> Option<[u64; RESULTS.len()]> {
        let counts = self
            .0
            .each_ref()
            .map(|count| count.swap(0, Ordering::Relaxed));
        counts.iter().any(|count| *count > 0).then_some(counts)
    }

    /// Writes the line, if there is something to say.
    pub(crate) fn log(&self) {
        if let Some([delivered, refused, timed_out, unreachable]) = self.take() {
            tracing::info!(
                delivered,
                refused,
                timed_out,
                unreachable,
                "attempts at deliveries"
            );
        }
    }
}

/// Writes lines until the process is to stop.
pub(crate) async fn run(dispatcher: &DispatcherState) {
    let mut looks = tokio::time::interval(INTERVAL);
    loop {
        tokio::select! {
            _ = looks.tick() => dispatcher.tally.log(),
            () = dispatcher.process.shutdown.cancelled() => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_told_once() {
        let tally = AttemptCounter::default();
        assert_eq!(tally.take(), None);
        for result in ["delivered", "timed_out", "delivered"] {
            tally.count(result);
        }
        assert_eq!(tally.take(), Some([2, 0, 1, 0]));
        assert_eq!(tally.take(), None);
    }
}
