//! Turns at the workers: however much one team asks, the others are served beside it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use model::id::TeamId;
use runtime::memory::{MemoryAccount, MemoryBudget, MemoryLimits};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::per_team::PerTeam;

/// Bytes of a call's arguments: a hundred rows of sixty columns are less, and calls that wait for their team's turn are to hold little.
pub(super) const ARGUMENTS_BYTES: usize = 256 * 1024;

/// Calls of a team that this gateway has under way at a time; the next ones wait. A mailer answers several at a time.
const CALLS_PER_TEAM: usize = 1;

/// Calls of a team that wait. Further ones are turned away.
const WAITING_PER_TEAM: usize = 32;

/// Bytes of arguments of calls that wait, of all teams and of one. Calls that bring more are turned away.
const WAITING_BYTES: usize = 16 * 1024 * 1024;
const WAITING_BYTES_PER_TEAM: usize = 2 * 1024 * 1024;

/// Who has a turn and who waits for one, by team.
pub(crate) struct TeamCallLimiter {
    teams: PerTeam<TeamCallPermits>,
    memory: MemoryBudget,
}

/// A team with a call.
struct TeamCallPermits {
    turns: Arc<Semaphore>,
    waiting: Semaphore,
}

impl TeamCallPermits {
    fn new() -> Self {
        Self {
            turns: Arc::new(Semaphore::new(CALLS_PER_TEAM)),
            waiting: Semaphore::new(WAITING_PER_TEAM),
        }
    }
}

impl Default for TeamCallLimiter {
    fn default() -> Self {
        let limits = MemoryLimits {
            total_bytes: WAITING_BYTES,
            largest_bytes: ARGUMENTS_BYTES,
        };
        Self {
            teams: PerTeam::new(TeamCallPermits::new),
            memory: MemoryBudget::new("arguments", limits),
        }
    }
}

/// A turn; it ends when it is dropped.
pub(crate) struct TeamCallPermit {
    _turn: OwnedSemaphorePermit,
    _team: Arc<TeamCallPermits>,
}

impl TeamCallLimiter {
    /// Waits for the team's turn, in the order of the calls, with the arguments of the call. `None` when it has not come within the
    /// patience, or when too much waits already.
    pub(crate) async fn acquire(
        &self,
        team_id: TeamId,
        arguments: Bytes,
        patience: Duration,
    ) -> Option<(TeamCallPermit, Bytes)> {
        let team = self.teams.get(team_id);
        if let Ok(turn) = team.turns.clone().try_acquire_owned() {
            return Some((
                TeamCallPermit {
                    _turn: turn,
                    _team: team,
                },
                arguments,
            ));
        }
        let waiting = team.waiting.try_acquire().ok()?;
        let arguments = self.copy_arguments(team_id, arguments).await?;
        let turn = tokio::time::timeout(patience, team.turns.clone().acquire_owned())
            .await
            .ok()?
            .ok()?;
        drop(waiting);
        Some((
            TeamCallPermit {
                _turn: turn,
                _team: team,
            },
            arguments,
        ))
    }

    /// A copy of the arguments in memory of their own: a call that waits keeps no place among the bodies. `None` when there is no
    /// room.
    async fn copy_arguments(&self, team_id: TeamId, arguments: Bytes) -> Option<Bytes> {
        let name = team_id.0.as_bytes().to_vec();
        let account = MemoryAccount {
            name,
            share_bytes: WAITING_BYTES_PER_TEAM,
        };
        let place = self.memory.open_for_answer(vec![account]);
        place.grow(arguments.len(), Duration::ZERO).await.ok()?;
        Some(place.attach_to_bytes(arguments.to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(1);
    const LONG: Duration = Duration::from_secs(60);

    async fn acquire_turn(
        turns: &TeamCallLimiter,
        team_id: TeamId,
        bytes: usize,
        patience: Duration,
    ) -> Option<(TeamCallPermit, Bytes)> {
        turns
            .acquire(team_id, Bytes::from(vec![b'x'; bytes]), patience)
            .await
    }

    #[tokio::test]
    async fn a_team_takes_turns_with_itself_and_with_nobody_else() {
        let (turns, one, other) = (TeamCallLimiter::default(), TeamId::new(), TeamId::new());
        let first = acquire_turn(&turns, one, 0, LONG).await;
        assert!(first.is_some());
        assert!(
            acquire_turn(&turns, one, 0, SHORT).await.is_none(),
            "the first call is under way"
        );
        assert!(acquire_turn(&turns, other, 0, SHORT).await.is_some());
        drop(first);
        assert!(acquire_turn(&turns, one, 0, SHORT).await.is_some());
    }

    #[tokio::test]
    async fn so_many_calls_of_a_team_wait_and_no_more() {
        let (turns, team) = (Arc::new(TeamCallLimiter::default()), TeamId::new());
        let first = acquire_turn(&turns, team, 0, LONG).await;
        let waiting: Vec<_> = (0..WAITING_PER_TEAM)
            .map(|_| {
                let turns = turns.clone();
                tokio::spawn(async move { acquire_turn(&turns, team, 0, LONG).await.is_some() })
            })
            .collect();
        while turns.teams.get(team).waiting.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        assert!(
            acquire_turn(&turns, team, 0, LONG).await.is_none(),
            "at once"
        );
        drop(first);
        for waiting in waiting {
            assert!(waiting.await.unwrap());
        }
    }

    #[tokio::test]
    async fn so_many_bytes_of_a_team_wait_and_no_more() {
        let (turns, one, other) = (TeamCallLimiter::default(), TeamId::new(), TeamId::new());
        let _under_way = (
            acquire_turn(&turns, one, 0, LONG).await,
            acquire_turn(&turns, other, 0, LONG).await,
        );
        let kept = async |team_id| {
            turns
                .copy_arguments(team_id, Bytes::from(vec![b'x'; ARGUMENTS_BYTES]))
                .await
        };
        let mut waiting = Vec::new();
        while let Some(arguments) = kept(one).await {
            waiting.push(arguments);
        }
        assert_eq!(waiting.len(), WAITING_BYTES_PER_TEAM / ARGUMENTS_BYTES);
        assert!(
            acquire_turn(&turns, one, 1, LONG).await.is_none(),
            "at once"
        );
        assert!(kept(other).await.is_some(), "others have their own");
        waiting.pop();
        assert!(kept(one).await.is_some(), "what goes makes room");
    }
}
