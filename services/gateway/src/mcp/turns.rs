//! Turns at the workers: however much one team asks, the others are served beside it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use contract::id::TeamId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Calls of a team that this gateway has under way at a time; the next ones wait. A mailer answers several at a time.
const CALLS_PER_TEAM: usize = 1;

/// Calls of a team that wait; each holds its arguments. Further ones are turned away.
const WAITING_PER_TEAM: usize = 32;

/// Teams from which on those without a call are forgotten.
const TEAMS_KEPT: usize = 1_024;

/// Who has a turn and who waits for one, by team. A team's turns are gone with its last call.
#[derive(Default)]
pub(crate) struct Turns {
    teams: Mutex<HashMap<TeamId, Weak<Team>>>,
}

/// A team with a call.
struct Team {
    turns: Arc<Semaphore>,
    waiting: Semaphore,
}

/// A turn; it ends when it is dropped.
pub(crate) struct Turn {
    _turn: OwnedSemaphorePermit,
    _team: Arc<Team>,
}

impl Turns {
    /// Waits for the team's turn, in the order of the calls. `None` when it has not come within the patience, or when too many
    /// wait already.
    pub(crate) async fn wait(&self, team_id: TeamId, patience: Duration) -> Option<Turn> {
        let team = self.of(team_id);
        let waiting = team.waiting.try_acquire().ok()?;
        let turn = tokio::time::timeout(patience, team.turns.clone().acquire_owned()).await.ok()?.ok()?;
        drop(waiting);
        Some(Turn { _turn: turn, _team: team })
    }

    fn of(&self, team_id: TeamId) -> Arc<Team> {
        let mut teams = self.teams.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(team) = teams.get(&team_id).and_then(Weak::upgrade) {
            return team;
        }
        if teams.len() >= TEAMS_KEPT {
            teams.retain(|_, team| team.strong_count() > 0);
        }
        let (turns, waiting) = (Semaphore::new(CALLS_PER_TEAM), Semaphore::new(WAITING_PER_TEAM));
        let team = Arc::new(Team { turns: Arc::new(turns), waiting });
        teams.insert(team_id, Arc::downgrade(&team));
        team
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
    async fn so_many_calls_of_a_team_wait_and_no_more() {
        let (turns, team) = (Arc::new(Turns::default()), TeamId::new());
        let first = turns.wait(team, LONG).await;
        let waiting: Vec<_> = (0..WAITING_PER_TEAM)
            .map(|_| {
                let turns = turns.clone();
                tokio::spawn(async move { turns.wait(team, LONG).await.is_some() })
            })
            .collect();
        while turns.of(team).waiting.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        assert!(turns.wait(team, LONG).await.is_none(), "at once");
        drop(first);
        for waiting in waiting {
            assert!(waiting.await.unwrap());
        }
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
