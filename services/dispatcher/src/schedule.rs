//! What follows an attempt? Pure (contract: Delivery rules 2, 4 and 5).

use chrono::{DateTime, TimeDelta, Utc};
use runtime::config;
use store::{AttemptOutcome, DeliveryKind};

/// The pauses between attempts.
#[derive(Debug, Clone)]
pub(crate) struct RetrySchedule {
    delays: Vec<TimeDelta>,
    jitter_percent: f64,
}

impl RetrySchedule {
    pub(crate) fn new(settings: &config::DispatcherSettings) -> Self {
        Self {
            delays: settings
                .retry_delays_seconds
                .iter()
                .map(|delay| TimeDelta::seconds((*delay).into()))
                .collect(),
            jitter_percent: settings.retry_jitter_percent.into(),
        }
    }

    /// What follows an attempt that ended at `now`, `attempts_before` others having been made. `chance` is from 0 to 1.
    pub(crate) fn after(
        &self,
        kind: DeliveryKind,
        attempts_before: i16,
        is_success: bool,
        now: DateTime<Utc>,
        chance: f64,
    ) -> AttemptOutcome {
        if is_success {
            return AttemptOutcome::Delivered;
        }
        let delay = usize::try_from(attempts_before)
            .ok()
            .and_then(|made| self.delays.get(made));
        match (kind, delay) {
            (DeliveryKind::Event, Some(delay)) => {
                AttemptOutcome::Retry(now + self.with_jitter(*delay, chance))
            }
            _ => AttemptOutcome::Failed,
        }
    }

    fn with_jitter(&self, delay: TimeDelta, chance: f64) -> TimeDelta {
        let longer = delay.as_seconds_f64() * 1_000.0 * self.jitter_percent / 100.0 * chance;
        // A pause of hours is far from the limits of the type.
        delay + TimeDelta::milliseconds(longer as i64)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn schedule() -> RetrySchedule {
        RetrySchedule::new(&runtime::Config::with(HashMap::new()).unwrap().dispatcher)
    }

    #[test]
    fn five_attempts_at_about_5_minutes_15_minutes_1_hour_and_6_hours() {
        let now = Utc::now();
        let minutes: Vec<i64> = (0..6)
            .map_while(
                |made| match schedule().after(DeliveryKind::Event, made, false, now, 0.0) {
                    AttemptOutcome::Retry(due_at) => Some((due_at - now).num_minutes()),
                    other => {
                        assert_eq!((other, made), (AttemptOutcome::Failed, 4));
                        None
                    }
                },
            )
            .collect();
        assert_eq!(minutes, [5, 15, 60, 360]);
    }

    proptest! {
        #[test]
        fn a_pause_is_at_the_most_a_tenth_longer(made in 0_i16..4, chance in 0.0..=1.0) {
            let (schedule, now) = (schedule(), Utc::now());
            let AttemptOutcome::Retry(due_at) = schedule.after(DeliveryKind::Event, made, false, now, chance) else {
                panic!("it is tried again");
            };
            let delay = schedule.delays[usize::try_from(made).unwrap()];
            prop_assert!(due_at - now >= delay && due_at - now <= delay * 11 / 10);
        }

        #[test]
        fn success_ends_it_and_neither_test_nor_redelivery_is_retried(made in 0_i16..10, chance in 0.0..=1.0) {
            let (schedule, now) = (schedule(), Utc::now());
            for kind in [DeliveryKind::Event, DeliveryKind::Redelivery, DeliveryKind::Test] {
                prop_assert_eq!(schedule.after(kind, made, true, now, chance), AttemptOutcome::Delivered);
            }
            for kind in [DeliveryKind::Redelivery, DeliveryKind::Test] {
                prop_assert_eq!(schedule.after(kind, made, false, now, chance), AttemptOutcome::Failed);
            }
        }
    }
}
