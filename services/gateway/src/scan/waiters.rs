//! Places for questions about scans that are held open.

use tokio::sync::Semaphore;

use crate::per_team::PerTeam;

/// Questions that one gateway holds open at a time; further ones are answered at once.
const WAITERS: usize = 100;

/// Those of one team among them.
const WAITERS_PER_TEAM: usize = 10;

/// Places for questions that are held open.
pub(crate) struct Waiters {
    pub(crate) all: Semaphore,
    pub(crate) teams: PerTeam<Semaphore>,
}

impl Default for Waiters {
    fn default() -> Self {
        let of_team = || Semaphore::new(WAITERS_PER_TEAM);
        Self {
            all: Semaphore::new(WAITERS),
            teams: PerTeam::new(of_team),
        }
    }
}
