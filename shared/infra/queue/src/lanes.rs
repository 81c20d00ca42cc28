//! Whose call is worked on next? Pure.
//!
//! Calls wait in a lane for each team, and lanes take turns. A call that is begun holds a *slot* while it works, and gives
//! it back while it waits for somebody else: a slow host, a provider, an equal request. It is then *aside*.
//!
//! What keeps teams out of each other's way, whatever one of them sends:
//! - A team never holds the last slots: those that are kept free are another team's at once.
//! - A team may hold a fixed part of the room for begun calls that is free or its own, and begins no further one past it.
//!   Each further team finds a smaller part, but something stays free for the next.
//! - When calls wait for more room than there is, the team whose calls take up the most of it has its newest refused.

use std::collections::{HashMap, VecDeque};

use uuid::Uuid;

/// One in so many slots, one at least, is kept from a team that holds all others.
const KEPT_FREE: usize = 4;

/// A team may hold one in so many bytes of the room for begun calls that is free or its own: while all of its calls work,
/// and while some of them are aside. One call may always begin where there is room.
const PART_AT_WORK: usize = 4;
const PART_ASIDE: usize = 8;

/// A call takes at least so much of the room for begun calls, however small its body: there are 96 at the most.
const LEAST_BEGUN_BYTES: usize = 512 * 1024;

/// A call takes at least so much of the room for waiting calls: there are 1,024 at the most.
const LEAST_WAITING_BYTES: usize = 64 * 1024;

/// What there is room for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LaneLimits {
    /// Calls that work at a time.
    pub(crate) slots: usize,
    /// Bytes of the bodies of begun calls, those aside included.
    pub(crate) begun_bytes: usize,
    /// Bytes of calls that wait to be begun, as they came.
    pub(crate) waiting_bytes: usize,
}

/// The bytes of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallSize {
    /// As it came, perhaps compressed.
    pub(crate) travelled: usize,
    /// Of its body.
    pub(crate) body: usize,
}

/// A call's number among those of its process.
pub(crate) type CallNumber = u64;

/// Calls of all teams, with what wakes whoever waits for a call's turn.
pub(crate) struct TeamLanes<W> {
    limits: LaneLimits,
    last_number: CallNumber,
    calls: HashMap<CallNumber, CallState<W>>,
    lanes: HashMap<Uuid, TeamLane>,
    /// Teams whose calls want a slot, each once; the next one is at the front.
    turns: VecDeque<Uuid>,
    busy_slots: usize,
    begun_bytes: usize,
    waiting_bytes: usize,
}

struct CallState<W> {
    team: Uuid,
    stage: CallStage,
    begun_bytes: usize,
    waiting_bytes: usize,
    /// Waits under way at the same time, for which the slot was given back.
    asides: usize,
    /// Of a call that wants a slot.
    waker: Option<W>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallStage {
    Waiting,
    Working,
    Aside,
    /// Begun, and waiting for a slot to go on.
    Returning,
}

#[derive(Default)]
struct TeamLane {
    waiting: VecDeque<CallNumber>,
    returning: VecDeque<CallNumber>,
    slots: usize,
    begun: usize,
    begun_bytes: usize,
    waiting_bytes: usize,
    /// Whether it is in [`TeamLanes::turns`].
    has_turn: bool,
}

impl TeamLane {
    fn wants_slot(&self) -> bool {
        !self.waiting.is_empty() || !self.returning.is_empty()
    }

    fn is_empty(&self) -> bool {
        self.begun == 0 && !self.wants_slot()
    }
}

impl<W> TeamLanes<W> {
    pub(crate) fn new(limits: LaneLimits) -> Self {
        Self {
            limits,
            last_number: 0,
            calls: HashMap::new(),
            lanes: HashMap::new(),
            turns: VecDeque::new(),
            busy_slots: 0,
            begun_bytes: 0,
            waiting_bytes: 0,
        }
    }

    /// Takes a call into its team's lane. Returns its number, and the wakers of calls that are refused for want of room.
    pub(crate) fn enqueue_call(
        &mut self,
        team: Uuid,
        size: CallSize,
        waker: W,
    ) -> (CallNumber, Vec<W>) {
        self.last_number += 1;
        let number = self.last_number;
        let call = CallState {
            team,
            stage: CallStage::Waiting,
            begun_bytes: size.body.max(LEAST_BEGUN_BYTES),
            waiting_bytes: size.travelled.max(LEAST_WAITING_BYTES),
            asides: 0,
            waker: Some(waker),
        };
        self.waiting_bytes += call.waiting_bytes;
        let lane = self.lanes.entry(team).or_default();
        lane.waiting_bytes += call.waiting_bytes;
        lane.waiting.push_back(number);
        self.calls.insert(number, call);
        self.line_up(team);
        (number, self.refuse_over_room())
    }

    /// The wakers of all calls that begin or go on now: each has a slot.
    pub(crate) fn start_calls(&mut self) -> Vec<W> {
        let mut started = Vec::new();
        let mut blocked = 0;
        while blocked < self.turns.len() && self.busy_slots < self.limits.slots {
            let Some(team) = self.turns.pop_front() else {
                break;
            };
            let begun = self.start_one(team);
            if let Some(lane) = self.lanes.get_mut(&team) {
                lane.has_turn = false;
            }
            let is_back_in_line = self.line_up(team);
            self.forget_if_empty(team);
            match begun {
                Some(waker) => {
                    blocked = 0;
                    started.extend(waker);
                }
                // A team that has nothing left to begin is gone from the line, and blocks nobody.
                None if is_back_in_line => blocked += 1,
                None => {}
            }
        }
        started
    }

    /// A working call gives its slot back while it waits. Waits at the same time are counted.
    pub(crate) fn release_slot(&mut self, number: CallNumber) {
        let Some(call) = self.calls.get_mut(&number) else {
            return;
        };
        call.asides += 1;
        if call.stage != CallStage::Working {
            return;
        }
        call.stage = CallStage::Aside;
        self.busy_slots -= 1;
        if let Some(lane) = self.lanes.get_mut(&call.team) {
            lane.slots -= 1;
        }
    }

    /// A wait has ended, and the call wants a slot again. While it waits elsewhere too it goes on without: then it gets
    /// the waker back.
    pub(crate) fn request_slot(&mut self, number: CallNumber, waker: W) -> Option<W> {
        let Some(call) = self.calls.get_mut(&number) else {
            return Some(waker);
        };
        call.asides = call.asides.saturating_sub(1);
        if call.asides > 0 || call.stage != CallStage::Aside {
            return Some(waker);
        }
        call.stage = CallStage::Returning;
        call.waker = Some(waker);
        let team = call.team;
        self.lanes
            .entry(team)
            .or_default()
            .returning
            .push_back(number);
        self.line_up(team);
        None
    }

    /// A wait was given up: nobody goes on behind it.
    pub(crate) fn give_up_wait(&mut self, number: CallNumber) {
        if let Some(call) = self.calls.get_mut(&number) {
            call.asides = call.asides.saturating_sub(1);
        }
    }

    /// A call has ended, wherever it was.
    pub(crate) fn end_call(&mut self, number: CallNumber) {
        let Some(call) = self.calls.remove(&number) else {
            return;
        };
        let Some(lane) = self.lanes.get_mut(&call.team) else {
            return;
        };
        match call.stage {
            CallStage::Waiting => {
                lane.waiting.retain(|waiting| *waiting != number);
                lane.waiting_bytes -= call.waiting_bytes;
                self.waiting_bytes -= call.waiting_bytes;
                return self.forget_if_empty(call.team);
            }
            CallStage::Working => {
                lane.slots -= 1;
                self.busy_slots -= 1;
            }
            CallStage::Returning => lane.returning.retain(|returning| *returning != number),
            CallStage::Aside => {}
        }
        lane.begun -= 1;
        lane.begun_bytes -= call.begun_bytes;
        self.begun_bytes -= call.begun_bytes;
        self.forget_if_empty(call.team);
    }

    /// Puts a team that wants a slot behind all others that do; true when it was put there.
    fn line_up(&mut self, team: Uuid) -> bool {
        let Some(lane) = self.lanes.get_mut(&team) else {
            return false;
        };
        let has_to_wait = lane.wants_slot() && !lane.has_turn;
        if has_to_wait {
            lane.has_turn = true;
            self.turns.push_back(team);
        }
        has_to_wait
    }

    fn forget_if_empty(&mut self, team: Uuid) {
        if self
            .lanes
            .get(&team)
            .is_some_and(|lane| lane.is_empty() && !lane.has_turn)
        {
            self.lanes.remove(&team);
        }
    }

    /// Gives the team's next call a slot. What was begun goes on before anything else begins.
    fn start_one(&mut self, team: Uuid) -> Option<Option<W>> {
        let kept_free = (self.limits.slots / KEPT_FREE).max(1);
        let most = self.limits.slots.saturating_sub(kept_free).max(1);
        let lane = self.lanes.get(&team).filter(|lane| lane.slots < most)?;
        let number = match lane.returning.front() {
            Some(number) => *number,
            None => *lane
                .waiting
                .front()
                .filter(|number| self.may_begin(lane, **number))?,
        };
        let (call, lane) = (self.calls.get_mut(&number)?, self.lanes.get_mut(&team)?);
        if call.stage == CallStage::Waiting {
            lane.waiting.pop_front();
            lane.waiting_bytes -= call.waiting_bytes;
            self.waiting_bytes -= call.waiting_bytes;
            lane.begun += 1;
            lane.begun_bytes += call.begun_bytes;
            self.begun_bytes += call.begun_bytes;
        } else {
            lane.returning.pop_front();
        }
        call.stage = CallStage::Working;
        lane.slots += 1;
        self.busy_slots += 1;
        Some(call.waker.take())
    }

    fn may_begin(&self, lane: &TeamLane, number: CallNumber) -> bool {
        let bytes = self.calls.get(&number).map_or(0, |call| call.begun_bytes);
        let free = self.limits.begun_bytes.saturating_sub(self.begun_bytes);
        let part = if lane.begun == lane.slots {
            PART_AT_WORK
        } else {
            PART_ASIDE
        };
        let is_within_share = lane.begun_bytes + bytes <= (free + lane.begun_bytes) / part;
        bytes <= free && (lane.begun == 0 || is_within_share)
    }

    /// Takes calls out of the lanes that take up the most room, the newest first, until the rest has room.
    fn refuse_over_room(&mut self) -> Vec<W> {
        let mut refused = Vec::new();
        while self.waiting_bytes > self.limits.waiting_bytes {
            let largest = self.lanes.values().max_by_key(|lane| lane.waiting_bytes);
            let Some(newest) = largest.and_then(|lane| lane.waiting.back().copied()) else {
                break;
            };
            refused.extend(
                self.calls
                    .get_mut(&newest)
                    .and_then(|call| call.waker.take()),
            );
            self.end_call(newest);
        }
        refused
    }
}

#[cfg(test)]
#[path = "lanes_tests.rs"]
mod tests;
