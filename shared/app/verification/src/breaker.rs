//! A circuit breaker: a provider that fails again and again is left alone for a while, so that requests are
//! refused at once instead of after long tries. Pure; the time is passed in.

use std::time::{Duration, Instant};

/// Counts failures in a row.
#[derive(Debug)]
pub(crate) struct CircuitBreaker {
    failures_max: u32,
    rest: Duration,
    failures: u32,
    open_until: Option<Instant>,
}

impl CircuitBreaker {
    /// Opens after `failures_max` failures in a row, for `rest`.
    pub(crate) fn new(failures_max: u32, rest: Duration) -> Self {
        Self {
            failures_max,
            rest,
            failures: 0,
            open_until: None,
        }
    }

    /// Whether the provider may be asked.
    pub(crate) fn allows_requests(&self, now: Instant) -> bool {
        self.open_until.is_none_or(|until| now >= until)
    }

    /// The provider answered.
    pub(crate) fn record_success(&mut self) {
        self.failures = 0;
        self.open_until = None;
    }

    /// The provider failed. After the rest one more failure opens the breaker again.
    pub(crate) fn record_failure(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        if self.failures >= self.failures_max {
            self.open_until = Some(now + self.rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_after_failures_in_a_row_and_tries_again_after_the_rest() {
        let rest = Duration::from_secs(10);
        let start = Instant::now();
        let mut breaker = CircuitBreaker::new(2, rest);
        breaker.record_failure(start);
        breaker.record_success();
        breaker.record_failure(start);
        assert!(breaker.allows_requests(start));
        breaker.record_failure(start);
        assert!(!breaker.allows_requests(start + Duration::from_secs(9)));
        assert!(breaker.allows_requests(start + rest));
        breaker.record_failure(start + rest);
        assert!(!breaker.allows_requests(start + rest));
        breaker.record_success();
        assert!(breaker.allows_requests(start + rest));
    }
}
