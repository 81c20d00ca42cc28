//! Which lanes may claim how many deliveries now? Pure.
//!
//! What keeps endpoints out of each other's way: a lane may hold only a fixed part of the attempts that are free or
//! already its own, and never more than the setting. Endpoints that hang fill up their own share, and each further one finds a smaller share; but
//! something stays free for the next lane, because nobody may ever take all that is left. Retries may hold half of
//! all at the most, so that they never hold back first attempts.

use std::collections::{HashMap, VecDeque};

use store::Lane;

/// A lane may hold one in so many of the attempts that are free or its own. With the usual settings that is as much as
/// an endpoint may have at all while nobody else has any, and a hundred endpoints that hang leave room for more.
const SHARE: usize = 24;

/// Lanes in one claim.
const LANES_PER_CLAIM: usize = 64;

/// Lanes that are known to have work; further ones are heard of again at the next sweep.
const KNOWN_LANES: usize = 10_000;

/// A lane that has attempts under way claims again when this part of its share is free: claims of one by one would
/// cost more than they bring.
const CLAIM_PART: usize = 4;

/// What may be under way at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Attempts in all.
    pub(crate) attempts: usize,
    /// First attempts of one endpoint; of its retries, a quarter of that.
    pub(crate) attempts_per_lane: usize,
}

/// What is under way, and where more waits.
pub(crate) struct Lanes {
    limits: Limits,
    /// Attempts under way, and how many of them are retries.
    attempts: usize,
    retries: usize,
    lanes: HashMap<Lane, LaneState>,
    /// Lanes with work, each once, the one that waits longest at the front.
    ready: VecDeque<Lane>,
}

#[derive(Debug, Clone, Copy, Default)]
struct LaneState {
    attempts: usize,
    /// Whether it is in [`Lanes::ready`].
    is_ready: bool,
}

impl Lanes {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, attempts: 0, retries: 0, lanes: HashMap::new(), ready: VecDeque::new() }
    }

    /// Notes that a lane may have due deliveries.
    pub(crate) fn hear(&mut self, lane: Lane) {
        if self.ready.len() >= KNOWN_LANES {
            return;
        }
        let state = self.lanes.entry(lane).or_default();
        if !state.is_ready {
            state.is_ready = true;
            self.ready.push_back(lane);
        }
    }

    /// The lanes that claim now, each with how many: as many are counted as under way. Lanes without room go on
    /// waiting.
    pub(crate) fn begin_claim(&mut self) -> Vec<(Lane, usize)> {
        let mut claims = Vec::new();
        for _ in 0..self.ready.len() {
            let Some(lane) = self.ready.pop_front().filter(|_| claims.len() < LANES_PER_CLAIM) else { break };
            match self.room(lane) {
                0 => self.ready.push_back(lane),
                room => {
                    self.state(lane).is_ready = false;
                    self.count(lane, room);
                    claims.push((lane, room));
                }
            }
        }
        claims
    }

    /// Notes what a claim of `asked` has brought. A lane that got all it asked for may have more.
    pub(crate) fn end_claim(&mut self, lane: Lane, asked: usize, got: usize) {
        self.release(lane, asked.saturating_sub(got));
        if got >= asked {
            self.hear(lane);
        }
    }

    /// Notes that an attempt has ended. True when that has made room for a lane that waits for it.
    pub(crate) fn end_attempt(&mut self, lane: Lane) -> bool {
        self.release(lane, 1);
        !self.ready.is_empty()
    }

    /// How many a lane may claim now.
    fn room(&self, lane: Lane) -> usize {
        let free = self.limits.attempts - self.attempts;
        let (free, most) = if lane.is_retry {
            let retries_free = (self.limits.attempts / 2).max(1).saturating_sub(self.retries);
            (free.min(retries_free), (self.limits.attempts_per_lane / 4).max(1))
        } else {
            (free, self.limits.attempts_per_lane)
        };
        let under_way = self.lanes.get(&lane).map_or(0, |state| state.attempts);
        let share = ((free + under_way) / SHARE).clamp(1, most);
        let room = share.saturating_sub(under_way).min(free);
        if under_way > 0 && room < (share / CLAIM_PART).max(1) { 0 } else { room }
    }

    fn state(&mut self, lane: Lane) -> &mut LaneState {
        self.lanes.entry(lane).or_default()
    }

    fn count(&mut self, lane: Lane, attempts: usize) {
        self.state(lane).attempts += attempts;
        self.attempts += attempts;
        if lane.is_retry {
            self.retries += attempts;
        }
    }

    fn release(&mut self, lane: Lane, attempts: usize) {
        let state = self.state(lane);
        state.attempts -= attempts;
        if state.attempts == 0 && !state.is_ready {
            self.lanes.remove(&lane);
        }
        self.attempts -= attempts;
        if lane.is_retry {
            self.retries -= attempts;
        }
    }
}

#[cfg(test)]
mod tests {
    use contract::id::EndpointId;
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    const LIMITS: Limits = Limits { attempts: 768, attempts_per_lane: 32 };

    fn lane(number: u128) -> Lane {
        Lane { endpoint_id: EndpointId(Uuid::from_u128(number)), is_retry: false }
    }

    fn retries(number: u128) -> Lane {
        Lane { is_retry: true, ..lane(number) }
    }

    /// The lane claims all that it may, and gets it.
    fn fill(lanes: &mut Lanes, lane: Lane) -> usize {
        lanes.hear(lane);
        let claims = lanes.begin_claim();
        for (lane, room) in &claims {
            lanes.end_claim(*lane, *room, *room);
        }
        claims.iter().map(|(_, room)| room).sum()
    }

    #[test]
    fn a_lane_has_its_limit_and_claims_again_when_a_part_is_free() {
        let mut lanes = Lanes::new(LIMITS);
        assert_eq!(fill(&mut lanes, lane(1)), LIMITS.attempts_per_lane, "it is alone");
        assert_eq!(lanes.begin_claim(), [], "it is full");
        let mut ended = 0;
        let claims = loop {
            assert!(lanes.end_attempt(lane(1)), "the lane waits");
            ended += 1;
            let claims = lanes.begin_claim();
            if !claims.is_empty() {
                break claims;
            }
        };
        assert_eq!((claims[0].1, ended), (LIMITS.attempts_per_lane / CLAIM_PART, claims[0].1));
    }

    #[test]
    fn a_hundred_endpoints_that_hang_leave_room_for_the_next() {
        let mut lanes = Lanes::new(LIMITS);
        let mut taken = 0;
        for number in 0..100 {
            taken += fill(&mut lanes, lane(number));
        }
        assert!(taken < LIMITS.attempts, "{taken}");
        assert!(fill(&mut lanes, lane(1_000)) > 0);
    }

    #[test]
    fn retries_hold_half_at_the_most_and_never_hold_back_first_attempts() {
        let mut lanes = Lanes::new(LIMITS);
        let mut taken = 0;
        for number in 0..1_000 {
            taken += fill(&mut lanes, retries(number));
        }
        assert!(taken <= LIMITS.attempts / 2, "{taken}");
        assert!(fill(&mut lanes, lane(0)) >= 8);
    }

    #[test]
    fn what_is_heard_during_a_claim_is_claimed_after_it() {
        let mut lanes = Lanes::new(LIMITS);
        lanes.hear(lane(1));
        let claims = lanes.begin_claim();
        lanes.hear(lane(1));
        lanes.end_claim(lane(1), claims[0].1, 0);
        assert_eq!(lanes.begin_claim().len(), 1);
        lanes.end_claim(lane(1), claims[0].1, 0);
        assert!(lanes.lanes.is_empty() && lanes.begin_claim().is_empty(), "nothing is left behind");
    }

    proptest! {
        #[test]
        fn counts_are_kept_and_limits_hold(
            attempts in 1_usize..200,
            attempts_per_lane in 1_usize..40,
            steps in proptest::collection::vec((0_u128..12, any::<bool>(), 0_usize..4, 0_usize..40), 1..200),
        ) {
            let mut lanes = Lanes::new(Limits { attempts, attempts_per_lane });
            let mut under_way: Vec<Lane> = Vec::new();
            for (number, is_retry, kind, got) in steps {
                let lane = Lane { is_retry, ..lane(number) };
                match kind {
                    0 | 1 => lanes.hear(lane),
                    2 => for (lane, asked) in lanes.begin_claim() {
                        let got = got.min(asked);
                        under_way.extend(std::iter::repeat_n(lane, got));
                        lanes.end_claim(lane, asked, got);
                    },
                    _ => if let Some(lane) = under_way.pop() {
                        lanes.end_attempt(lane);
                    },
                }
                prop_assert_eq!(lanes.attempts, under_way.len());
                prop_assert!(lanes.attempts <= attempts);
                let retries = under_way.iter().filter(|lane| lane.is_retry).count();
                prop_assert!(retries <= (attempts / 2).max(1));
                for lane in &under_way {
                    let of_lane = under_way.iter().filter(|other| *other == lane).count();
                    prop_assert!(of_lane <= attempts_per_lane);
                }
            }
            // With nothing under way, whoever is heard claims in turn.
            for lane in under_way {
                lanes.end_attempt(lane);
            }
            lanes.hear(lane(99));
            let has_claimed = (0..30).any(|_| {
                let claims = lanes.begin_claim();
                for (lane, asked) in &claims {
                    lanes.end_claim(*lane, *asked, 0);
                }
                claims.iter().any(|(claimed, _)| *claimed == lane(99))
            });
            prop_assert!(has_claimed);
        }
    }
}
