//! Periodic tasks that nobody waits for. Each has a loop of its own, so that what hangs or fails holds up nothing else.

use std::error::Error;
use std::time::Duration;

use tokio::time::{Interval, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use crate::process::Process;

/// When a periodic task is done.
pub struct PeriodicRounds {
    interval: Interval,
    shutdown: CancellationToken,
}

impl Process {
    /// Rounds of a task, at once and then so far apart at the least, until the process is to stop.
    pub fn rounds(&self, apart: Duration) -> PeriodicRounds {
        let mut interval = tokio::time::interval(apart);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        PeriodicRounds {
            interval,
            shutdown: self.shutdown.clone(),
        }
    }
}

impl PeriodicRounds {
    /// Waits for the next round. False when there is none, because the process is to stop.
    pub async fn next(&mut self) -> bool {
        tokio::select! {
            biased;
            () = self.shutdown.cancelled() => false,
            _ = self.interval.tick() => true,
        }
    }
}

/// Logs and counts a periodic task that failed. It is done again in the next round.
pub fn record_failure<T, E: Error + 'static>(task: &'static str, result: Result<T, E>) {
    if let Err(error) = result {
        metrics::counter!("pillarbox_housekeeping_failures_total").increment(1);
        tracing::warn!(error = &error as &dyn Error, task, "housekeeping failed");
    }
}
