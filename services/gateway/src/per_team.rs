//! What each team has of something while it uses it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use model::id::TeamId;

/// Teams from which on those that use nothing are forgotten.
const TEAMS_KEPT: usize = 1_024;

/// One `T` for each team, made when the team comes and gone with its last handle.
pub(crate) struct PerTeam<T> {
    make: fn() -> T,
    teams: Mutex<HashMap<TeamId, Weak<T>>>,
}

impl<T> PerTeam<T> {
    /// Of teams that have what `make` makes.
    pub(crate) fn new(make: fn() -> T) -> Self {
        Self {
            make,
            teams: Mutex::default(),
        }
    }

    /// The team's.
    pub(crate) fn get(&self, team_id: TeamId) -> Arc<T> {
        let mut teams = runtime::task::lock_mutex(&self.teams);
        if let Some(team) = teams.get(&team_id).and_then(Weak::upgrade) {
            return team;
        }
        if teams.len() >= TEAMS_KEPT {
            teams.retain(|_, team| team.strong_count() > 0);
        }
        let team = Arc::new((self.make)());
        teams.insert(team_id, Arc::downgrade(&team));
        team
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn teams_that_use_nothing_are_forgotten() {
        let (teams, busy) = (PerTeam::new(Vec::<u8>::new), TeamId::new());
        let used = teams.get(busy);
        for _ in 0..3 * TEAMS_KEPT {
            teams.get(TeamId::new());
        }
        assert!(teams.teams.lock().unwrap().len() <= TEAMS_KEPT);
        assert!(Arc::ptr_eq(&used, &teams.get(busy)));
    }
}
