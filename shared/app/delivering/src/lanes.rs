//! Which lanes may claim how many deliveries now? Pure.
//!
//! What keeps endpoints out of each other's way: a lane may hold only a fixed part of the attempts that are free or
//! already its own, and never more than the setting. Endpoints that hang fill up their own share, and each further one finds a smaller share; but
//! something stays free for the next lane, because nobody may ever take all that is left. Retries may hold half of
//! all at the most, so that they never hold back first attempts.
//!
//! An endpoint whose last attempts have all timed out is braked: it may have one attempt under way in each lane, and all
//! braked endpoints together hold a quarter of everything. The first attempt that ends otherwise takes the brake off.

use std::collections::{HashMap, VecDeque};

use model::id::EndpointId;
use store::DeliveryLane;

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

/// An endpoint is braked after so many timeouts in a row.
const BRAKED_AFTER: usize = 4;

/// Braked endpoints together may hold one in so many of all attempts.
const BRAKED_PART: usize = 4;

/// Endpoints whose timeouts are counted. Past it the counts begin anew: those that still hang are known again after
/// [`BRAKED_AFTER`] more.
const KNOWN_TIMEOUTS: usize = 10_000;

/// How an attempt ended, as far as it matters for what its endpoint may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AttemptEnding {
    /// It was held for as long as an attempt can be.
    TimedOut,
    /// With an answer of any status, or at once without one.
    Answered,
}

/// What may be under way at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AttemptLimits {
    /// Attempts in all.
    pub(crate) attempts: usize,
    /// First attempts of one endpoint; of its retries, a quarter of that.
    pub(crate) attempts_per_lane: usize,
}

/// What is under way, and where more waits.
pub(crate) struct DeliveryLanes {
    limits: AttemptLimits,
    /// Attempts under way, and how many of them are retries.
    attempts: usize,
    retries: usize,
    lanes: HashMap<DeliveryLane, LaneState>,
    /// Lanes with work, each once, the one that waits longest at the front.
    ready: VecDeque<DeliveryLane>,
    /// Timeouts in a row, up to [`BRAKED_AFTER`].
    timeouts: HashMap<EndpointId, usize>,
}

#[derive(Debug, Clone, Copy, Default)]
struct LaneState {
    attempts: usize,
    /// Whether it is in [`DeliveryLanes::ready`].
    is_ready: bool,
}

impl DeliveryLanes {
    pub(crate) fn new(limits: AttemptLimits) -> Self {
        Self {
            limits,
            attempts: 0,
            retries: 0,
            lanes: HashMap::new(),
            ready: VecDeque::new(),
            timeouts: HashMap::new(),
        }
    }

    /// Notes that a lane may have due deliveries.
    pub(crate) fn hear(&mut self, lane: DeliveryLane) {
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
    pub(crate) fn begin_claim(&mut self) -> Vec<(DeliveryLane, usize)> {
        let mut claims = Vec::new();
        let mut braked = self.braked_attempts();
        for _ in 0..self.ready.len() {
            if claims.len() >= LANES_PER_CLAIM {
                break;
            }
            let Some(lane) = self.ready.pop_front() else {
                break;
            };
            let is_braked = self.is_braked(lane);
            let room = if is_braked {
                self.braked_room(lane, braked)
            } else {
                self.room(lane)
            };
            match room {
                0 => self.ready.push_back(lane),
                room => {
                    braked += if is_braked { room } else { 0 };
                    self.state(lane).is_ready = false;
                    self.count(lane, room);
                    claims.push((lane, room));
                }
            }
        }
        claims
    }

    /// Notes what a claim of `asked` has brought. A lane that got all it asked for may have more.
    pub(crate) fn end_claim(&mut self, lane: DeliveryLane, asked: usize, got: usize) {
        self.release(lane, asked.saturating_sub(got));
        if got >= asked {
            self.hear(lane);
        }
    }

    /// Notes that an attempt has ended. True when that has made room for a lane that waits for it.
    pub(crate) fn end_attempt(&mut self, lane: DeliveryLane, ending: AttemptEnding) -> bool {
        self.release(lane, 1);
        self.note_ending(lane.endpoint_id, ending);
        !self.ready.is_empty()
    }

    /// How many a lane may claim now.
    fn room(&self, lane: DeliveryLane) -> usize {
        let free = self.limits.attempts - self.attempts;
        let (free, most) = if lane.is_retry {
            let retries_free = (self.limits.attempts / 2)
                .max(1)
                .saturating_sub(self.retries);
            (
                free.min(retries_free),
                (self.limits.attempts_per_lane / 4).max(1),
            )
        } else {
            (free, self.limits.attempts_per_lane)
        };
        let under_way = self.lanes.get(&lane).map_or(0, |state| state.attempts);
        let share = ((free + under_way) / SHARE).clamp(1, most);
        let room = share.saturating_sub(under_way).min(free);
        if under_way > 0 && room < (share / CLAIM_PART).max(1) {
            0
        } else {
            room
        }
    }

    /// How many a braked lane may claim now, while braked lanes hold so many attempts together.
    fn braked_room(&self, lane: DeliveryLane, braked: usize) -> usize {
        let is_idle = self
            .lanes
            .get(&lane)
            .is_none_or(|state| state.attempts == 0);
        let may_claim = is_idle && braked < (self.limits.attempts / BRAKED_PART).max(1);
        if may_claim { self.room(lane).min(1) } else { 0 }
    }

    fn is_braked(&self, lane: DeliveryLane) -> bool {
        self.timeouts
            .get(&lane.endpoint_id)
            .is_some_and(|timeouts| *timeouts >= BRAKED_AFTER)
    }

    /// Attempts under way at braked endpoints, those from before the brake too.
    fn braked_attempts(&self) -> usize {
        if self.timeouts.is_empty() {
            return 0;
        }
        let braked = self.lanes.iter().filter(|(lane, _)| self.is_braked(**lane));
        braked.map(|(_, state)| state.attempts).sum()
    }

    fn note_ending(&mut self, endpoint_id: EndpointId, ending: AttemptEnding) {
        if ending == AttemptEnding::Answered {
            self.timeouts.remove(&endpoint_id);
            return;
        }
        if self.timeouts.len() >= KNOWN_TIMEOUTS && !self.timeouts.contains_key(&endpoint_id) {
            self.timeouts.clear();
        }
        let timeouts = self.timeouts.entry(endpoint_id).or_default();
        *timeouts = (*timeouts + 1).min(BRAKED_AFTER);
    }

    fn state(&mut self, lane: DeliveryLane) -> &mut LaneState {
        self.lanes.entry(lane).or_default()
    }

    fn count(&mut self, lane: DeliveryLane, attempts: usize) {
        self.state(lane).attempts += attempts;
        self.attempts += attempts;
        if lane.is_retry {
            self.retries += attempts;
        }
    }

    fn release(&mut self, lane: DeliveryLane, attempts: usize) {
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
    use std::collections::HashSet;

    use model::id::EndpointId;
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    const LIMITS: AttemptLimits = AttemptLimits {
        attempts: 768,
        attempts_per_lane: 32,
    };

    fn lane(number: u128) -> DeliveryLane {
        DeliveryLane {
            endpoint_id: EndpointId(Uuid::from_u128(number)),
            is_retry: false,
        }
    }

    fn retries(number: u128) -> DeliveryLane {
        DeliveryLane {
            is_retry: true,
            ..lane(number)
        }
    }

    /// The lane claims all that it may, and gets it.
    fn fill(lanes: &mut DeliveryLanes, lane: DeliveryLane) -> usize {
        lanes.hear(lane);
        let claims = lanes.begin_claim();
        for (lane, room) in &claims {
            lanes.end_claim(*lane, *room, *room);
        }
        claims.iter().map(|(_, room)| room).sum()
    }

    #[test]
    fn a_lane_has_its_limit_and_claims_again_when_a_part_is_free() {
        let mut lanes = DeliveryLanes::new(LIMITS);
        assert_eq!(
            fill(&mut lanes, lane(1)),
            LIMITS.attempts_per_lane,
            "it is alone"
        );
        assert_eq!(lanes.begin_claim(), [], "it is full");
        let mut ended = 0;
        let claims = loop {
            assert!(
                lanes.end_attempt(lane(1), AttemptEnding::Answered),
                "the lane waits"
            );
            ended += 1;
            let claims = lanes.begin_claim();
            if !claims.is_empty() {
                break claims;
            }
        };
        assert_eq!(
            (claims[0].1, ended),
            (LIMITS.attempts_per_lane / CLAIM_PART, claims[0].1)
        );
    }

    #[test]
    fn a_hundred_endpoints_that_hang_leave_room_for_the_next() {
        let mut lanes = DeliveryLanes::new(LIMITS);
        let mut taken = 0;
        for number in 0..100 {
            taken += fill(&mut lanes, lane(number));
        }
        assert!(taken < LIMITS.attempts, "{taken}");
        assert!(fill(&mut lanes, lane(1_000)) > 0);
    }

    #[test]
    fn an_endpoint_that_only_times_out_has_one_attempt_until_one_is_answered() {
        let mut lanes = DeliveryLanes::new(LIMITS);
        for _ in 0..fill(&mut lanes, lane(1)) {
            lanes.end_attempt(lane(1), AttemptEnding::TimedOut);
        }
        assert_eq!(fill(&mut lanes, lane(1)), 1);
        assert_eq!(fill(&mut lanes, lane(1)), 0, "its one is under way");
        lanes.end_attempt(lane(1), AttemptEnding::Answered);
        assert_eq!(fill(&mut lanes, lane(1)), LIMITS.attempts_per_lane);
    }

    #[test]
    fn a_thousand_endpoints_that_hang_for_long_hold_a_quarter() {
        let mut lanes = DeliveryLanes::new(LIMITS);
        for number in (0..1_000).flat_map(|number| [number; BRAKED_AFTER]) {
            lanes.note_ending(lane(number).endpoint_id, AttemptEnding::TimedOut);
        }
        (0..1_000).for_each(|number| lanes.hear(lane(number)));
        let mut taken = 0;
        loop {
            let claims = lanes.begin_claim();
            if claims.is_empty() {
                break;
            }
            for (lane, room) in claims {
                lanes.end_claim(lane, room, room);
                taken += room;
            }
        }
        assert_eq!(taken, LIMITS.attempts / BRAKED_PART);
        let expected = (LIMITS.attempts - taken) / SHARE;
        assert_eq!(
            fill(&mut lanes, lane(9_999)),
            expected,
            "the next has its share of the rest"
        );
    }

    #[test]
    fn retries_hold_half_at_the_most_and_never_hold_back_first_attempts() {
        let mut lanes = DeliveryLanes::new(LIMITS);
        let mut taken = 0;
        for number in 0..1_000 {
            taken += fill(&mut lanes, retries(number));
        }
        assert!(taken <= LIMITS.attempts / 2, "{taken}");
        assert!(fill(&mut lanes, lane(0)) >= 8);
    }

    #[test]
    fn what_is_heard_during_a_claim_is_claimed_after_it() {
        let mut lanes = DeliveryLanes::new(LIMITS);
        lanes.hear(lane(1));
        let claims = lanes.begin_claim();
        lanes.hear(lane(1));
        lanes.end_claim(lane(1), claims[0].1, 0);
        assert_eq!(lanes.begin_claim().len(), 1);
        lanes.end_claim(lane(1), claims[0].1, 0);
        assert!(
            lanes.lanes.is_empty() && lanes.begin_claim().is_empty(),
            "nothing is left behind"
        );
    }

    #[test]
    fn lanes_that_one_claim_has_no_place_for_are_in_the_next() {
        let mut lanes = DeliveryLanes::new(LIMITS);
        let all: HashSet<DeliveryLane> = (0..200).map(lane).collect();
        all.iter().for_each(|lane| lanes.hear(*lane));
        let mut claimed = HashSet::new();
        for _ in 0..all.len().div_ceil(LANES_PER_CLAIM) {
            for (lane, asked) in lanes.begin_claim() {
                lanes.end_claim(lane, asked, 0);
                claimed.insert(lane);
            }
        }
        assert_eq!(claimed, all);
    }

    proptest! {
        #[test]
        fn counts_are_kept_and_limits_hold(
            attempts in 1_usize..200,
            attempts_per_lane in 1_usize..40,
            steps in proptest::collection::vec((0_u128..12, any::<bool>(), 0_usize..5, 0_usize..40), 1..200),
        ) {
            let mut lanes = DeliveryLanes::new(AttemptLimits { attempts, attempts_per_lane });
            let mut under_way: Vec<DeliveryLane> = Vec::new();
            for (number, is_retry, kind, got) in steps {
                let lane = DeliveryLane { is_retry, ..lane(number) };
                match kind {
                    0 | 1 => lanes.hear(lane),
                    2 => {
                        let before = lanes.braked_attempts();
                        let claims = lanes.begin_claim();
                        let most = before.max((attempts / BRAKED_PART).max(1));
                        prop_assert!(lanes.braked_attempts() <= most, "braked lanes pass their part");
                        for (lane, asked) in claims {
                            prop_assert!(!lanes.is_braked(lane) || asked == 1, "a braked lane claims one");
                            let got = got.min(asked);
                            under_way.extend(std::iter::repeat_n(lane, got));
                            lanes.end_claim(lane, asked, got);
                        }
                    }
                    _ => if let Some(lane) = under_way.pop() {
                        let ending = if kind == 3 { AttemptEnding::TimedOut } else { AttemptEnding::Answered };
                        lanes.end_attempt(lane, ending);
                        prop_assert!(ending == AttemptEnding::TimedOut || !lanes.is_braked(lane));
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
            // With nothing under way, whoever is heard claims in turn, braked or not.
            for lane in under_way {
                lanes.end_attempt(lane, AttemptEnding::TimedOut);
            }
            lanes.hear(lane(99));
            lanes.hear(lane(0));
            let mut claimed = Vec::new();
            for _ in 0..60 {
                for (lane, asked) in lanes.begin_claim() {
                    lanes.end_claim(lane, asked, 0);
                    claimed.push(lane);
                }
            }
            prop_assert!(claimed.contains(&lane(99)) && claimed.contains(&lane(0)));
        }
    }
}
