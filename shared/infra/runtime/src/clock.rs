//! The time, passed in, so that tests can move it across minutes and months.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, TimeDelta, Utc};

/// A clock. Clones show the same time.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    ahead_ms: Arc<AtomicI64>,
}

impl Clock {
    /// The system's clock.
    pub fn system() -> Self {
        Self::default()
    }

    /// The time, to the microsecond, as the database keeps it.
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub fn now(&self) -> DateTime<Utc> {
        let ahead = TimeDelta::milliseconds(self.ahead_ms.load(Ordering::Relaxed));
        let now = Utc::now() + ahead;
        DateTime::from_timestamp_micros(now.timestamp_micros()).unwrap_or(now)
    }

    /// Moves this clock and its clones ahead of the system's, for tests.
    pub fn advance(&self, by: TimeDelta) {
        self.ahead_ms
            .fetch_add(by.num_milliseconds(), Ordering::Relaxed);
    }
}
