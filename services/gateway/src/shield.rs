//! A local brake: whom Postgres refused for the running minute is refused here until it ends.
//!
//! A cache of refusals, not a counter: another gateway needs nothing of it, and losing it costs one query.

use std::collections::HashMap;
use std::sync::Mutex;

use chrono::{DateTime, Utc};

/// Refused subjects that are remembered; past it further ones go to Postgres.
const SUBJECTS: usize = 100_000;

/// Subjects that are refused without asking.
#[derive(Default)]
pub(crate) struct RefusalCache {
    refused_until: Mutex<HashMap<Vec<u8>, DateTime<Utc>>>,
}

impl RefusalCache {
    /// Whether a subject is refused now.
    pub(crate) fn is_refused(&self, subject: &[u8], now: DateTime<Utc>) -> bool {
        self.lock().get(subject).is_some_and(|until| now < *until)
    }

    /// Refuses a subject until the end of its window.
    pub(crate) fn insert(&self, subject: Vec<u8>, until: DateTime<Utc>, now: DateTime<Utc>) {
        let mut refused = self.lock();
        if refused.len() >= SUBJECTS {
            refused.retain(|_, until| now < *until);
        }
        if refused.len() < SUBJECTS {
            refused.insert(subject, until);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Vec<u8>, DateTime<Utc>>> {
        runtime::task::lock_mutex(&self.refused_until)
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn a_refusal_ends_with_its_window_and_the_memory_is_bounded() {
        let (shield, now) = (RefusalCache::default(), Utc::now());
        let until = now + TimeDelta::seconds(30);
        for number in 0..=SUBJECTS {
            shield.insert(number.to_be_bytes().to_vec(), until, now);
        }
        assert!(shield.is_refused(&0_usize.to_be_bytes(), now));
        assert!(
            !shield.is_refused(&SUBJECTS.to_be_bytes(), now),
            "there was no place left"
        );
        assert!(!shield.is_refused(&0_usize.to_be_bytes(), until));
        let later = until + TimeDelta::seconds(1);
        shield.insert(b"next".to_vec(), later + TimeDelta::seconds(60), later);
        assert!(
            shield.is_refused(b"next", later),
            "what has ended makes place"
        );
    }
}
