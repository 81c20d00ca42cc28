//! Turns at the workers: however much one team asks, the others are served beside it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use contract::id::TeamId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Calls of a team that this gateway has under way at a time; the next ones wait. A mailer answers several at a time.
const CALLS_PER_TEAM: usize = 1;

/// Teams from which on those without a call are forgotten.
const TEAMS_KEPT: usize = 1_024;

/// Who has a turn and who waits for one, by team. A team's turns are gone with its last call.
#[derive(Default)]
pub(crate) struct Turns {
    teams: Mutex<HashMap<TeamId, Weak<Semaphore>>>,
}

impl Turns {
    /// Waits for the team's turn, in the order of the calls; it ends when what is returned is dropped. `None` when it has
    /// not come within the patience.
    pub(crate) async fn wait(&self, team_id: TeamId, patience: Duration) -> Option<OwnedSemaphorePermit> {
        let turns = self.of(team_id);
        tokio::time::timeout(patience, turns.acquire_owned()).await.ok()?.ok()
    }

    fn of(&self, team_id: TeamId) -> Arc<Semaphore> {
        let mut teams = self.teams.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turns) = teams.get(&team_id).and_then(Weak::upgrade) {
            return turns;
        }
        if teams.len() >= TEAMS_KEPT {
            teams.retain(|_, turns| turns.strong_count() > 0);
        }
        let turns = Arc::new(Semaphore::new(CALLS_PER_TEAM));
        teams.insert(team_id, Arc::downgrade(&turns));
        turns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(1);
    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn a_team_takes_turns_with_itself_and_with_nobody_else() {
        let (turns, one, other) = (Turns::default(), TeamId::new(), TeamId::new());
        let first = turns.wait(one, LONG).await;
        assert!(first.is_some());
        assert!(turns.wait(one, SHORT).await.is_none(), "the first call is under way");
        assert!(turns.wait(other, SHORT).await.is_some());
        drop(first);
        assert!(turns.wait(one, SHORT).await.is_some());
    }

    #[tokio::test]
    async fn teams_without_a_call_are_forgotten() {
        let (turns, busy) = (Turns::default(), TeamId::new());
        let _turn = turns.wait(busy, LONG).await;
        for _ in 0..3 * TEAMS_KEPT {
            turns.wait(TeamId::new(), LONG).await;
        }
        assert!(turns.teams.lock().unwrap().len() <= TEAMS_KEPT);
        assert!(turns.wait(busy, SHORT).await.is_none());
    }
}
