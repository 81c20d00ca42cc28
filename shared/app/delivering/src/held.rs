//! Results of endpoints whose rows somebody else has locked, or that a slow database does not take: they wait apart, each
//! endpoint's in their order, in a bounded number; for a lock also for a bounded time. Pure.

use std::collections::HashMap;
use std::time::Duration;

use model::id::EndpointId;
use store::DeliveryAttempt;
use tokio::time::Instant;

/// Pause before an endpoint's results are tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// Tries of an endpoint's results. With the pauses, and the time that a statement waits for a lock, they are about as long as a
/// lease: after it the deliveries are somebody else's.
const TRIES: u32 = 20;

/// The tries of results that wait for no lock, but for a slow database: there is no end to that patience.
pub(crate) const UNTRIED: u32 = 0;

/// Results that are held in all, and of one endpoint that is locked.
const HELD: usize = 4_096;
const HELD_OF_ENDPOINT: usize = 512;

/// An endpoint's results.
struct HeldEndpointAttempts {
    attempts: Vec<DeliveryAttempt>,
    tries: u32,
    due: Instant,
}

impl HeldEndpointAttempts {
    fn has_room(&self) -> bool {
        self.tries == UNTRIED || self.attempts.len() < HELD_OF_ENDPOINT
    }
}

/// What is held.
#[derive(Default)]
pub(crate) struct HeldAttempts(HashMap<EndpointId, HeldEndpointAttempts>);

impl HeldAttempts {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether so many new results may come. While some wait for a slow database, none may come for which there is no room:
    /// they would be lost.
    pub(crate) fn takes(&self, results: usize) -> bool {
        self.room() >= results || self.0.values().all(|waiting| waiting.tries != UNTRIED)
    }

    /// When the next results are to be tried.
    pub(crate) fn next_due(&self) -> Instant {
        self.0
            .values()
            .map(|waiting| waiting.due)
            .min()
            .unwrap_or_else(Instant::now)
    }

    /// Holds the results of one endpoint that were tried so often. Returns those that there is no patience or no room for.
    pub(crate) fn hold(
        &mut self,
        attempts: Vec<DeliveryAttempt>,
        tries: u32,
        now: Instant,
    ) -> Vec<DeliveryAttempt> {
        let Some(endpoint_id) = attempts.first().map(|made| made.delivery.lane.endpoint_id) else {
            return Vec::new();
        };
        if tries >= TRIES || self.room() < attempts.len() {
            return attempts;
        }
        let waiting = self.0.entry(endpoint_id);
        let waiting = waiting.or_insert(HeldEndpointAttempts {
            attempts: Vec::new(),
            tries,
            due: now + PAUSE,
        });
        waiting.attempts.extend(attempts);
        Vec::new()
    }

    /// Puts new results of endpoints that are held behind those. Returns the results of the others, and those that there is no
    /// room for.
    pub(crate) fn join(
        &mut self,
        batch: Vec<DeliveryAttempt>,
    ) -> (Vec<DeliveryAttempt>, Vec<DeliveryAttempt>) {
        let (mut others, mut full) = (Vec::new(), Vec::new());
        for made in batch {
            let room = self.room();
            match self.0.get_mut(&made.delivery.lane.endpoint_id) {
                None => others.push(made),
                Some(waiting) if room > 0 && waiting.has_room() => {
                    waiting.attempts.push(made);
                }
                Some(_) => full.push(made),
            }
        }
        (others, full)
    }

    /// Takes the results that are to be tried now, with how often they were.
    pub(crate) fn take_due(&mut self, now: Instant) -> Vec<(Vec<DeliveryAttempt>, u32)> {
        let due = self.0.extract_if(|_, waiting| waiting.due <= now);
        due.map(|(_, waiting)| (waiting.attempts, waiting.tries))
            .collect()
    }

    fn room(&self) -> usize {
        HELD.saturating_sub(self.0.values().map(|waiting| waiting.attempts.len()).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::made;

    fn ids(attempts: &[DeliveryAttempt]) -> Vec<u128> {
        attempts
            .iter()
            .map(|made| made.delivery.delivery_id.0.as_u128())
            .collect()
    }

    #[test]
    fn what_comes_for_a_held_endpoint_waits_behind_what_it_has() {
        let (mut held, now) = (HeldAttempts::default(), Instant::now());
        assert!(held.hold(vec![made(1, 10), made(1, 11)], 1, now).is_empty());
        let (others, full) = held.join(vec![made(2, 20), made(1, 12), made(2, 21)]);
        assert_eq!((ids(&others), full.len()), (vec![20, 21], 0));
        assert_eq!(held.next_due(), now + PAUSE);
        assert!(held.take_due(now).is_empty());
        let due = held.take_due(now + PAUSE);
        assert_eq!(
            (ids(&due[0].0), due[0].1, held.is_empty()),
            (vec![10, 11, 12], 1, true)
        );
    }

    #[test]
    fn patience_and_room_end() {
        let (mut held, now) = (HeldAttempts::default(), Instant::now());
        assert_eq!(held.hold(vec![made(1, 10)], TRIES, now).len(), 1);
        assert!(held.hold(vec![made(1, 0)], 1, now).is_empty());
        let (others, full) = held.join((1..=600).map(|number| made(1, number)).collect());
        assert_eq!((others.len(), full.len()), (0, 601 - HELD_OF_ENDPOINT));
        for endpoint in 2..=8 {
            held.hold(
                (0..512).map(|number| made(endpoint, number)).collect(),
                1,
                now,
            );
        }
        assert_eq!(
            held.hold(vec![made(9, 0)], 1, now).len(),
            1,
            "all endpoints together are bounded too"
        );
    }

    #[test]
    fn what_waits_for_a_slow_database_is_kept_and_what_there_is_no_room_for_does_not_come() {
        let (mut held, now) = (HeldAttempts::default(), Instant::now());
        assert!(held.hold(vec![made(1, 0)], UNTRIED, now).is_empty());
        let (others, full) = held.join((1..4_000).map(|number| made(1, number)).collect());
        assert_eq!((others.len(), full.len()), (0, 0));
        assert!(held.takes(96) && !held.takes(97));
        for (attempts, tries) in held.take_due(now + PAUSE) {
            assert!(held.hold(attempts, tries, now).is_empty());
        }
        assert!(!held.takes(97));
        held.take_due(now + PAUSE);
        held.hold((0..4_090).map(|number| made(2, number)).collect(), 1, now);
        assert!(held.takes(97), "what waits for a lock holds up nobody");
    }
}
