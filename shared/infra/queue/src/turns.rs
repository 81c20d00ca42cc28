//! Fair turns of teams: waiting for one, holding it, and giving its slot back while a call waits for somebody else.
//! Who is next is decided in [`crate::lanes`].

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use uuid::Uuid;

use crate::lanes::{CallNumber, CallSize, LaneLimits, TeamLanes};

/// Bytes of the bodies of begun calls in one process.
const BEGUN_BYTES: usize = 48 * 1024 * 1024;

/// Bytes of calls that wait in one process, as they came.
const WAITING_BYTES: usize = 64 * 1024 * 1024;

/// A wait that is over by then keeps its slot.
const ASIDE_AFTER: Duration = Duration::from_millis(20);

/// Turns at the slots of one kind of work. Clones share them.
#[derive(Clone)]
pub struct SlotScheduler {
    lanes: Arc<Mutex<TeamLanes<oneshot::Sender<StartSignal>>>>,
}

/// What a call that waits is told.
enum StartSignal {
    Begin,
    Refused,
}

/// Too many calls wait: this one was refused, because its team has the most of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many calls of the team wait")]
pub struct CallRefusedError;

/// A call in its lane. Dropping it takes it out.
pub struct WaitingCall {
    place: ScheduledCall,
    go: oneshot::Receiver<StartSignal>,
}

/// A call's turn: it may work. Clones share it, and dropping the last one ends it.
#[derive(Clone)]
pub struct SlotPermit {
    place: Arc<ScheduledCall>,
}

/// What a call holds, given back however it ends.
struct ScheduledCall {
    turns: SlotScheduler,
    number: CallNumber,
}

impl SlotScheduler {
    /// Turns at so many slots.
    pub fn new(slots: usize) -> Self {
        let limits = LaneLimits {
            slots,
            begun_bytes: BEGUN_BYTES,
            waiting_bytes: WAITING_BYTES,
        };
        Self {
            lanes: Arc::new(Mutex::new(TeamLanes::new(limits))),
        }
    }

    /// Puts a call into its team's lane. `travelled` is its size in bytes as it came, `body` that of its body.
    pub fn enqueue_call(&self, team: Uuid, travelled: usize, body: usize) -> WaitingCall {
        let (waker, go) = oneshot::channel();
        let (number, refused) =
            self.lock_lanes()
                .enqueue_call(team, CallSize { travelled, body }, waker);
        for waker in refused {
            // Who does not wait any more need not be told.
            let _ = waker.send(StartSignal::Refused);
        }
        self.start_calls();
        WaitingCall {
            place: ScheduledCall {
                turns: self.clone(),
                number,
            },
            go,
        }
    }

    fn start_calls(&self) {
        let started = self.lock_lanes().start_calls();
        for waker in started {
            // Who does not wait any more gives back what it got when it is dropped.
            let _ = waker.send(StartSignal::Begin);
        }
    }

    fn lock_lanes(&self) -> MutexGuard<'_, TeamLanes<oneshot::Sender<StartSignal>>> {
        // Nothing in a lane's change can panic half-way.
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WaitingCall {
    /// Waits for the call's turn.
    ///
    /// # Errors
    /// [`CallRefusedError`].
    pub async fn wait_for_turn(self) -> Result<SlotPermit, CallRefusedError> {
        match self.go.await {
            Ok(StartSignal::Begin) => Ok(SlotPermit {
                place: Arc::new(self.place),
            }),
            // The sender is only dropped with the call.
            Ok(StartSignal::Refused) | Err(_) => Err(CallRefusedError),
        }
    }
}

impl SlotPermit {
    /// Lets others have the slot, and waits for this call's next turn at it.
    pub async fn yield_slot(&self) {
        YieldGuard::start(&self.place).reacquire_slot().await;
    }

    /// Waits for somebody else. When that takes its time the slot is another call's meanwhile, and this one goes on when
    /// it has a slot again.
    pub async fn release_while_waiting<T>(&self, wait: impl Future<Output = T>) -> T {
        let mut wait = pin!(wait);
        if let Ok(done) = tokio::time::timeout(ASIDE_AFTER, &mut wait).await {
            return done;
        }
        let aside = YieldGuard::start(&self.place);
        let done = wait.await;
        aside.reacquire_slot().await;
        done
    }
}

impl Drop for ScheduledCall {
    fn drop(&mut self) {
        self.turns.lock_lanes().end_call(self.number);
        self.turns.start_calls();
    }
}

/// A wait for which the slot was given back.
struct YieldGuard<'a> {
    place: &'a ScheduledCall,
    is_under_way: bool,
}

impl<'a> YieldGuard<'a> {
    fn start(place: &'a ScheduledCall) -> Self {
        place.turns.lock_lanes().release_slot(place.number);
        place.turns.start_calls();
        Self {
            place,
            is_under_way: true,
        }
    }

    /// Waits for a slot.
    async fn reacquire_slot(mut self) {
        self.is_under_way = false;
        let (waker, go) = oneshot::channel();
        let ScheduledCall { turns, number } = self.place;
        let waits_elsewhere = turns.lock_lanes().request_slot(*number, waker).is_some();
        if !waits_elsewhere {
            turns.start_calls();
            let _ = go.await;
        }
    }
}

impl Drop for YieldGuard<'_> {
    fn drop(&mut self) {
        if self.is_under_way {
            self.place
                .turns
                .lock_lanes()
                .give_up_wait(self.place.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEAM: Uuid = Uuid::from_u128(1);
    const OTHER: Uuid = Uuid::from_u128(2);

    #[tokio::test]
    async fn a_slot_is_anothers_while_its_call_waits() {
        let turns = SlotScheduler::new(1);
        let first = turns
            .enqueue_call(TEAM, 1, 1)
            .wait_for_turn()
            .await
            .unwrap();
        let (released, release) = oneshot::channel::<()>();
        let waiting = first.clone();
        let waits = tokio::spawn(async move { waiting.release_while_waiting(release).await });
        // It gets the one slot only when the first one is aside.
        let second = turns
            .enqueue_call(OTHER, 1, 1)
            .wait_for_turn()
            .await
            .unwrap();
        released.send(()).unwrap();
        assert!(!waits.is_finished(), "the slot is the second's");
        drop(second);
        waits.await.unwrap().unwrap();
        let third = turns.enqueue_call(OTHER, 1, 1).wait_for_turn();
        drop(first);
        third.await.unwrap();
    }

    #[tokio::test]
    async fn what_panics_or_is_dropped_gives_its_slot_back() {
        let turns = SlotScheduler::new(1);
        let turn = turns
            .enqueue_call(TEAM, 1, 1)
            .wait_for_turn()
            .await
            .unwrap();
        let panicked = tokio::spawn(async move {
            let _turn = turn;
            panic!("a defect");
        });
        assert!(panicked.await.is_err());
        drop(turns.enqueue_call(TEAM, 1, 1));
        turns
            .enqueue_call(OTHER, 1, 1)
            .wait_for_turn()
            .await
            .unwrap();
    }

    #[tokio::test]
    async fn a_call_for_which_there_is_no_room_is_told_so() {
        let turns = SlotScheduler::new(1);
        let _first = turns
            .enqueue_call(TEAM, 1, 1)
            .wait_for_turn()
            .await
            .unwrap();
        let large = WAITING_BYTES / 2;
        let _second = turns.enqueue_call(OTHER, large, 1);
        let third = turns.enqueue_call(TEAM, large, 1);
        let fourth = turns.enqueue_call(TEAM, 1, 1);
        assert_eq!(fourth.wait_for_turn().await.err(), Some(CallRefusedError));
        drop(third);
    }
}
