//! Mailpieces that the post has not seen for too long.

use std::time::Duration;

use chrono::TimeDelta;
use runtime::Process;
use runtime::housekeeping::record_failure;
use store::{StoreError, retry_conflicts};

/// How long the process that looks may be silent before another one does.
const LEASE: TimeDelta = TimeDelta::minutes(3);

/// Mailpieces that one statement looks at.
const PORTION: i64 = 2_000;

/// Statements of a round: a million mailpieces. The next round goes on behind them.
const PORTIONS: usize = 500;

/// Marks until the process is to stop.
pub(crate) async fn keep_marking(process: &Process) {
    let interval = Duration::from_millis(process.config.scans.stalled_interval_ms);
    let mut rounds = process.rounds(interval);
    let mut sweep = StalledSweep {
        process,
        after: None,
    };
    while rounds.next().await {
        record_failure("mark stalled mailpieces", sweep.mark_round().await);
    }
}

struct StalledSweep<'a> {
    process: &'a Process,
    /// The last one looked at; `None` at the start.
    after: Option<store::MovingCursor>,
}

impl StalledSweep<'_> {
    async fn mark_round(&mut self) -> Result<(), StoreError> {
        for _ in 0..PORTIONS {
            let is_leaving = self.process.shutdown.is_cancelled();
            if is_leaving || !self.process.has_duty("stalled mailpieces", LEASE).await? {
                return Ok(());
            }
            let (store, now) = (&self.process.store, self.process.clock.now());
            let hours = self.process.config.scans.stalled_hours;
            let portion =
                retry_conflicts(|| store.mark_stalled_mailpieces(self.after, hours, PORTION, now));
            let portion = portion.await?;
            self.after = portion
                .filter(|portion| portion.looked_at == PORTION)
                .map(|portion| portion.last);
            if self.after.is_none() {
                return Ok(());
            }
        }
        Ok(())
    }
}
