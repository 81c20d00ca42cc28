//! What follows an attempt (pure).

use std::time::Duration;

/// Longest pause after a failure.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// What is waited after 429 without a Retry-After, and at the most with one.
const RATE_WINDOW: Duration = Duration::from_secs(60);
const LONGEST_RATE_WAIT: Duration = Duration::from_secs(600);

/// Times in a row that 429 is waited out: a quota that others use up all the time.
const RATE_WAITS: u32 = 60;

/// How often and how long.
#[derive(Debug, Clone, Copy)]
pub(super) struct RetryPolicy {
    /// Attempts that fail, one at least.
    pub(super) tries: u32,
    /// The pause after the first failure; each further one is twice as long.
    pub(super) pause: Duration,
}

/// What came of sending a request once.
#[derive(Debug)]
pub(super) enum RequestAttempt {
    /// An answer.
    Answered {
        /// The HTTP status.
        status: u16,
        /// What the service asks to wait.
        retry_after: Option<Duration>,
        /// What the service says that the request has cost.
        cost_cents: Option<i64>,
        /// Whether the service says that it has answered the request before.
        is_replayed: bool,
        /// The body.
        body: Vec<u8>,
    },
    /// None, or not all of one: nobody knows whether the request was carried out.
    Lost(String),
}

/// What follows.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RetryDecision {
    /// It is the answer.
    Take,
    /// The same again, after this time.
    Again(Duration),
    /// The service would say the same again.
    Stop,
    /// It was tried often enough.
    GiveUp,
}

/// The attempts at one request so far.
#[derive(Debug)]
pub(super) struct RetryState {
    patience: RetryPolicy,
    attempts: u32,
    failures: u32,
    rate_waits: u32,
    has_lost_an_answer: bool,
}

impl RetryState {
    pub(super) const fn new(patience: RetryPolicy) -> Self {
        Self {
            patience,
            attempts: 0,
            failures: 0,
            rate_waits: 0,
            has_lost_an_answer: false,
        }
    }

    pub(super) const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Whether an attempt may have been carried out without our knowing.
    pub(super) const fn has_lost_an_answer(&self) -> bool {
        self.has_lost_an_answer
    }

    /// Notes an attempt and says what follows.
    pub(super) fn record_attempt(&mut self, attempt: &RequestAttempt) -> RetryDecision {
        self.attempts += 1;
        match attempt {
            RequestAttempt::Answered {
                status: 200..=299, ..
            } => RetryDecision::Take,
            RequestAttempt::Answered {
                status: 429,
                retry_after,
                ..
            } => {
                self.rate_waits += 1;
                if self.rate_waits > RATE_WAITS {
                    return RetryDecision::GiveUp;
                }
                RetryDecision::Again(retry_after.unwrap_or(RATE_WINDOW).min(LONGEST_RATE_WAIT))
            }
            // Nothing was done (contract: Errors); 409 in_progress is our own earlier attempt, still running.
            RequestAttempt::Answered {
                status: 500 | 503, ..
            } => self.record_failure(),
            RequestAttempt::Answered {
                status: 409, body, ..
            } if is_in_progress(body) => self.record_failure(),
            // 502: a balancer lost its connection to whoever was doing it.
            RequestAttempt::Answered {
                status: 408 | 502 | 504,
                ..
            }
            | RequestAttempt::Lost(_) => {
                self.has_lost_an_answer = true;
                self.record_failure()
            }
            RequestAttempt::Answered { .. } => RetryDecision::Stop,
        }
    }

    fn record_failure(&mut self) -> RetryDecision {
        self.failures += 1;
        self.rate_waits = 0;
        if self.failures >= self.patience.tries {
            return RetryDecision::GiveUp;
        }
        let doubled = self
            .patience
            .pause
            .saturating_mul(1 << (self.failures - 1).min(16));
        // Clients that failed together do not come back together.
        RetryDecision::Again(
            doubled
                .min(LONGEST_PAUSE)
                .mul_f64(runtime::task::jitter(0.75..=1.0)),
        )
    }
}

fn is_in_progress(body: &[u8]) -> bool {
    super::parse_error_body(body).is_some_and(|told| told.code == "in_progress")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PATIENCE: RetryPolicy = RetryPolicy {
        tries: 4,
        pause: Duration::from_secs(1),
    };

    fn build_answer(status: u16) -> RequestAttempt {
        RequestAttempt::Answered {
            status,
            retry_after: None,
            cost_cents: None,
            is_replayed: false,
            body: Vec::new(),
        }
    }

    #[test]
    fn what_the_service_says_for_good_is_not_repeated() {
        for status in [301, 400, 401, 403, 404, 405, 409, 413, 422] {
            assert_eq!(
                RetryState::new(PATIENCE).record_attempt(&build_answer(status)),
                RetryDecision::Stop,
                "{status}"
            );
        }
    }

    #[test]
    fn pauses_double_and_the_tries_end() {
        let mut course = RetryState::new(PATIENCE);
        for seconds in [1.0, 2.0, 4.0] {
            let RetryDecision::Again(pause) =
                course.record_attempt(&RequestAttempt::Lost(String::new()))
            else {
                panic!("{course:?}")
            };
            assert!(
                (0.75 * seconds..=seconds).contains(&pause.as_secs_f64()),
                "{pause:?}"
            );
        }
        assert_eq!(
            course.record_attempt(&build_answer(503)),
            RetryDecision::GiveUp
        );
        assert!(course.has_lost_an_answer());
    }

    #[test]
    fn a_rate_limit_is_waited_out_as_told_and_uses_up_no_try() {
        let mut course = RetryState::new(PATIENCE);
        let limited = |seconds| RequestAttempt::Answered {
            status: 429,
            retry_after: Some(Duration::from_secs(seconds)),
            cost_cents: None,
            is_replayed: false,
            body: Vec::new(),
        };
        for _ in 0..RATE_WAITS {
            assert_eq!(
                course.record_attempt(&limited(7)),
                RetryDecision::Again(Duration::from_secs(7))
            );
        }
        assert_eq!(course.record_attempt(&limited(7)), RetryDecision::GiveUp);
        assert_eq!(
            RetryState::new(PATIENCE).record_attempt(&limited(9_999)),
            RetryDecision::Again(LONGEST_RATE_WAIT)
        );
    }

    #[test]
    fn an_attempt_that_is_still_running_is_waited_for() {
        let body = br#"{"error": {"code": "in_progress", "message": "."}}"#.to_vec();
        let mut course = RetryState::new(PATIENCE);
        let running = RequestAttempt::Answered {
            status: 409,
            retry_after: None,
            cost_cents: None,
            is_replayed: false,
            body,
        };
        assert!(matches!(
            course.record_attempt(&running),
            RetryDecision::Again(_)
        ));
    }

    proptest! {
        #[test]
        fn every_course_ends(statuses in proptest::collection::vec(prop_oneof![Just(0_u16), Just(429), 400_u16..600], 400)) {
            let mut course = RetryState::new(PATIENCE);
            let ends = statuses.iter().any(|status| {
                let attempt = if *status == 0 { RequestAttempt::Lost(String::new()) } else { build_answer(*status) };
                !matches!(course.record_attempt(&attempt), RetryDecision::Again(_))
            });
            prop_assert!(ends);
        }
    }
}
