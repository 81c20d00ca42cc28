//! Tests of the lanes: what each team gets, whatever others send.

use proptest::prelude::*;

use super::*;

const LIMITS: LaneLimits = LaneLimits {
    slots: 4,
    begun_bytes: 48 << 20,
    waiting_bytes: 64 << 20,
};
const SMALL: CallSize = CallSize {
    travelled: 500,
    body: 500,
};

type NumberedLanes = TeamLanes<CallNumber>;

fn team_id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

/// A call of this team; its waker is its number.
fn enqueue_call(
    lanes: &mut NumberedLanes,
    of: u128,
    size: CallSize,
) -> (CallNumber, Vec<CallNumber>) {
    let number = lanes.last_number + 1;
    lanes.enqueue_call(team_id(of), size, number)
}

/// All calls that can begin do, and step aside at once.
fn begin_and_hang(lanes: &mut NumberedLanes) -> Vec<CallNumber> {
    let mut begun = Vec::new();
    loop {
        let started = lanes.start_calls();
        if started.is_empty() {
            return begun;
        }
        for number in started {
            lanes.release_slot(number);
            begun.push(number);
        }
    }
}

#[test]
fn lanes_take_turns_and_a_slot_is_kept_for_the_next_team() {
    let mut lanes = NumberedLanes::new(LIMITS);
    let first: Vec<_> = (0..5)
        .map(|_| enqueue_call(&mut lanes, 1, SMALL).0)
        .collect();
    assert_eq!(lanes.start_calls(), first[..3], "three of four slots");
    let second: Vec<_> = (0..2)
        .map(|_| enqueue_call(&mut lanes, 2, SMALL).0)
        .collect();
    assert_eq!(lanes.start_calls(), second[..1]);
    lanes.end_call(first[0]);
    assert_eq!(lanes.start_calls(), first[3..4], "it has waited longer");
    lanes.end_call(first[1]);
    assert_eq!(lanes.start_calls(), second[1..]);
}

#[test]
fn thousands_of_calls_that_hang_leave_slots_and_room_for_the_next_team() {
    let mut lanes = NumberedLanes::new(LIMITS);
    for _ in 0..900 {
        enqueue_call(&mut lanes, 1, SMALL);
    }
    assert_eq!(
        begin_and_hang(&mut lanes).len(),
        12,
        "an eighth of the room"
    );
    let (other, _) = enqueue_call(&mut lanes, 2, SMALL);
    assert_eq!(lanes.start_calls(), [other]);
}

#[test]
fn twenty_teams_whose_calls_hang_leave_room_for_the_next() {
    let mut lanes = NumberedLanes::new(LIMITS);
    for of in 1..=20 {
        for _ in 0..40 {
            enqueue_call(&mut lanes, of, SMALL);
        }
        assert!(!begin_and_hang(&mut lanes).is_empty());
    }
    let (other, _) = enqueue_call(&mut lanes, 21, SMALL);
    assert_eq!(lanes.start_calls(), [other]);
}

#[test]
fn what_was_begun_goes_on_before_anything_else_of_its_team_begins() {
    let mut lanes = NumberedLanes::new(LaneLimits { slots: 1, ..LIMITS });
    let (first, _) = enqueue_call(&mut lanes, 1, SMALL);
    assert_eq!(lanes.start_calls(), [first]);
    lanes.release_slot(first);
    let (second, _) = enqueue_call(&mut lanes, 1, SMALL);
    assert_eq!(lanes.start_calls(), [second]);
    let (third, _) = enqueue_call(&mut lanes, 1, SMALL);
    assert_eq!(lanes.request_slot(first, first), None);
    assert!(lanes.start_calls().is_empty(), "the slot is the second's");
    lanes.end_call(second);
    assert_eq!(lanes.start_calls(), [first]);
    lanes.end_call(first);
    assert_eq!(lanes.start_calls(), [third]);
}

#[test]
fn a_call_that_waits_twice_at_a_time_wants_its_slot_when_both_have_ended() {
    let mut lanes = NumberedLanes::new(LIMITS);
    let (number, _) = enqueue_call(&mut lanes, 1, SMALL);
    lanes.start_calls();
    lanes.release_slot(number);
    lanes.release_slot(number);
    assert_eq!(lanes.request_slot(number, 7), Some(7));
    assert_eq!(lanes.request_slot(number, 8), None);
    assert_eq!(lanes.start_calls(), [8]);
}

#[test]
fn when_room_runs_out_the_team_that_has_the_most_is_refused() {
    let mut lanes = NumberedLanes::new(LIMITS);
    let large = CallSize {
        travelled: 4 << 20,
        body: 4 << 20,
    };
    let firsts: Vec<_> = (0..15)
        .map(|_| enqueue_call(&mut lanes, 1, large))
        .collect();
    assert!(firsts.iter().all(|(_, refused)| refused.is_empty()));
    let (_, refused) = enqueue_call(&mut lanes, 2, large);
    assert!(refused.is_empty(), "64 MiB are full");
    let (_, refused) = enqueue_call(&mut lanes, 3, SMALL);
    assert_eq!(
        refused,
        [firsts[14].0],
        "the newest of whoever has the most"
    );
}

#[test]
fn a_lone_team_has_its_thousand_calls_wait() {
    let mut lanes = NumberedLanes::new(LIMITS);
    assert!((0..1_024).all(|_| enqueue_call(&mut lanes, 1, SMALL).1.is_empty()));
    let (newest, refused) = enqueue_call(&mut lanes, 1, SMALL);
    assert_eq!(refused, [newest]);
}

#[test]
fn a_team_that_waits_no_more_holds_up_nobody_behind_it() {
    let mut lanes = NumberedLanes::new(LIMITS);
    let running: Vec<_> = (0..4)
        .map(|of| enqueue_call(&mut lanes, of, SMALL).0)
        .collect();
    assert_eq!(lanes.start_calls(), running);
    let given_up = enqueue_call(&mut lanes, 10, SMALL).0;
    let next = enqueue_call(&mut lanes, 11, SMALL).0;
    assert_eq!(lanes.start_calls(), [0; 0], "no slot is free");
    lanes.end_call(given_up);
    lanes.end_call(running[0]);
    assert_eq!(lanes.start_calls(), [next]);
}

#[derive(Debug, Clone)]
enum LaneStep {
    Arrive(u128, usize),
    Aside(usize),
    Back(usize),
    GiveUp(usize),
    End(usize),
}

fn lane_step_strategy() -> impl Strategy<Value = LaneStep> {
    prop_oneof![
        3 => (1..6_u128, 0..(5_usize << 20)).prop_map(|(of, bytes)| LaneStep::Arrive(of, bytes)),
        2 => any::<usize>().prop_map(LaneStep::Aside),
        2 => any::<usize>().prop_map(LaneStep::Back),
        1 => any::<usize>().prop_map(LaneStep::GiveUp),
        2 => any::<usize>().prop_map(LaneStep::End),
    ]
}

proptest! {
    /// Whatever happens in whatever order, no bound is passed, and when all have ended nothing is held.
    #[test]
    fn bounds_hold_and_everything_is_given_back(steps in prop::collection::vec(lane_step_strategy(), 1..200)) {
        let mut lanes = NumberedLanes::new(LIMITS);
        let pick = |lanes: &NumberedLanes, at: usize| {
            let mut numbers: Vec<_> = lanes.calls.keys().copied().collect();
            numbers.sort_unstable();
            (!numbers.is_empty()).then(|| numbers[at % numbers.len()])
        };
        for step in steps {
            match step {
                LaneStep::Arrive(of, bytes) => drop(enqueue_call(&mut lanes, of, CallSize { travelled: bytes, body: bytes })),
                LaneStep::Aside(at) => if let Some(number) = pick(&lanes, at) {
                    let has_begun = lanes.calls[&number].stage != CallStage::Waiting;
                    if has_begun { lanes.release_slot(number) }
                },
                LaneStep::Back(at) => if let Some(number) = pick(&lanes, at)
                    && lanes.calls[&number].asides > 0
                {
                    lanes.request_slot(number, number);
                },
                LaneStep::GiveUp(at) => if let Some(number) = pick(&lanes, at)
                    && lanes.calls[&number].asides > 0
                {
                    lanes.give_up_wait(number);
                },
                LaneStep::End(at) => if let Some(number) = pick(&lanes, at) { lanes.end_call(number) },
            }
            lanes.start_calls();
            prop_assert!(lanes.busy_slots <= LIMITS.slots);
            prop_assert!(lanes.begun_bytes <= LIMITS.begun_bytes);
            prop_assert!(lanes.waiting_bytes <= LIMITS.waiting_bytes);
            prop_assert!(lanes.lanes.values().all(|lane| lane.slots < LIMITS.slots));
        }
        let numbers: Vec<_> = lanes.calls.keys().copied().collect();
        numbers.into_iter().for_each(|number| lanes.end_call(number));
        lanes.start_calls();
        prop_assert_eq!((lanes.busy_slots, lanes.begun_bytes, lanes.waiting_bytes), (0, 0, 0));
        prop_assert!(lanes.lanes.is_empty() && lanes.turns.is_empty());
    }
}
