//! Taking work by lease out of the database: several pieces at a time, of which a team has a share. A lease is short, so that what
//! a killed worker had is taken over soon, and is renewed while its worker lives, so that long work is not.

use std::collections::HashMap;
use std::convert::Infallible;
use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use chrono::TimeDelta;
use model::id::TeamId;
use store::{JobLease, SendLease, StoreError};
use tokio::task::{JoinError, JoinSet};

use crate::MailerState;

/// How many pieces of one kind of work are under way at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkLimits {
    /// Of all teams.
    pub(crate) in_all: usize,
    /// Of one team.
    pub(crate) per_team: usize,
}

/// A kind of work that is taken by lease.
pub(crate) trait LeasedWork: Clone + Send + Sync + 'static {
    /// A piece of it, leased.
    type LeasedItem: Send + 'static;

    /// What it is, for logs.
    const NAME: &'static str;

    const BOUNDS: WorkLimits;

    /// Takes a due piece of a team that has not got its share; `None` when there is none.
    fn lease_next(
        &self,
        full_teams: &[TeamId],
    ) -> impl Future<Output = Result<Option<(TeamId, Self::LeasedItem)>, StoreError>> + Send;

    /// Works on a piece to its end. What fails stays leased or is put back.
    fn run_job(&self, piece: Self::LeasedItem) -> impl Future<Output = ()> + Send;
}

/// Takes and does what is due until the process is to stop. Pieces under way then have its grace.
pub(crate) async fn run_leased_work<W: LeasedWork>(mailer: &MailerState, work: W) {
    let process = &mailer.process;
    let mut looks =
        tokio::time::interval(Duration::from_millis(process.config.mailer.job_interval_ms));
    looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let places = TeamSlots::default();
    let mut under_way = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            () = process.shutdown.cancelled() => break,
            _ = looks.tick() => {}
            Some(ended) = under_way.join_next() => note_panic(W::NAME, ended),
        }
        if let Err(error) = lease_and_spawn(mailer, &work, &places, &mut under_way).await {
            metrics::counter!("pillarbox_housekeeping_failures_total").increment(1);
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                work = W::NAME,
                "cannot look for due work"
            );
        }
    }
    // What does not end in time is aborted, and taken over when its lease is over.
    let ending = async {
        while let Some(ended) = under_way.join_next().await {
            note_panic(W::NAME, ended);
        }
    };
    let _ = tokio::time::timeout(process.grace_period(), ending).await;
}

/// Takes what is due while there are places for it, and begins nothing once the process is to stop.
async fn lease_and_spawn<W: LeasedWork>(
    mailer: &MailerState,
    work: &W,
    places: &TeamSlots,
    under_way: &mut JoinSet<()>,
) -> Result<(), StoreError> {
    while let Some(full_teams) = places.full_teams(W::BOUNDS)
        && !mailer.process.shutdown.is_cancelled()
    {
        let Some((team_id, piece)) = work.lease_next(&full_teams).await? else {
            break;
        };
        let (place, work) = (places.acquire(team_id), work.clone());
        under_way.spawn(async move {
            let _place = place;
            work.run_job(piece).await;
        });
    }
    Ok(())
}

fn note_panic(work: &'static str, ended: Result<(), JoinError>) {
    if ended.is_err_and(|error| error.is_panic()) {
        metrics::counter!("pillarbox_due_work_panics_total").increment(1);
        tracing::error!(
            work,
            "due work panicked; it is tried again when its lease is over"
        );
    }
}

/// Places that are held, by team.
#[derive(Clone, Default)]
struct TeamSlots {
    held: Arc<Mutex<HashMap<TeamId, usize>>>,
}

/// A place, given back when it is dropped.
struct TeamSlotGuard {
    places: TeamSlots,
    team_id: TeamId,
}

impl TeamSlots {
    /// The teams that have their share; `None` when there is no place for anybody.
    fn full_teams(&self, bounds: WorkLimits) -> Option<Vec<TeamId>> {
        let held = self.lock_held_slots();
        if held.values().sum::<usize>() >= bounds.in_all {
            return None;
        }
        Some(
            held.iter()
                .filter(|(_, held)| **held >= bounds.per_team)
                .map(|(team_id, _)| *team_id)
                .collect(),
        )
    }

    fn acquire(&self, team_id: TeamId) -> TeamSlotGuard {
        *self.lock_held_slots().entry(team_id).or_default() += 1;
        TeamSlotGuard {
            places: self.clone(),
            team_id,
        }
    }

    fn lock_held_slots(&self) -> MutexGuard<'_, HashMap<TeamId, usize>> {
        runtime::task::lock_mutex(&self.held)
    }
}

impl Drop for TeamSlotGuard {
    fn drop(&mut self) {
        let mut held = self.places.lock_held_slots();
        if let Some(count) = held.get_mut(&self.team_id) {
            *count -= 1;
            if *count == 0 {
                held.remove(&self.team_id);
            }
        }
    }
}

/// Renewals in the time of one lease: that two in a row fail costs nothing.
const RENEWALS_PER_LEASE: u32 = 3;

/// Longest time that a piece of work is kept for its worker, however alive that is: longer than the statements and calls
/// in it may take.
const LONGEST: Duration = Duration::from_secs(300);

/// The lease of a send or of a job.
#[derive(Debug, Clone, Copy)]
pub(crate) enum HeldLease {
    /// Of a send.
    Send(SendLease),
    /// Of a job.
    Job(JobLease),
}

impl From<SendLease> for HeldLease {
    fn from(lease: SendLease) -> Self {
        Self::Send(lease)
    }
}

impl From<JobLease> for HeldLease {
    fn from(lease: JobLease) -> Self {
        Self::Job(lease)
    }
}

/// Works, and renews the lease meanwhile.
pub(crate) async fn with_lease_renewal<T>(
    mailer: &MailerState,
    held: impl Into<HeldLease>,
    work: impl Future<Output = T>,
) -> T {
    tokio::select! {
        biased;
        done = work => done,
        never = keep_renewing(mailer, held.into()) => match never {},
    }
}

async fn keep_renewing(mailer: &MailerState, held: HeldLease) -> Infallible {
    let lease = Duration::from_millis(mailer.process.config.mailer.lease_ms.unsigned_abs());
    let pause = lease / RENEWALS_PER_LEASE;
    let begun = tokio::time::Instant::now();
    while begun.elapsed() < LONGEST {
        tokio::time::sleep(pause).await;
        // Whether it is still ours shows at the work's next transition, which is fenced.
        if let Err(error) = renew_once(mailer, held).await {
            tracing::warn!(error = &error as &dyn Error, "a lease was not renewed");
        }
    }
    std::future::pending().await
}

async fn renew_once(mailer: &MailerState, held: HeldLease) -> Result<(), StoreError> {
    let leased_until =
        mailer.process.clock.now() + TimeDelta::milliseconds(mailer.process.config.mailer.lease_ms);
    match held {
        HeldLease::Send(lease) => {
            mailer
                .process
                .store
                .renew_send_lease(lease, leased_until)
                .await
        }
        HeldLease::Job(lease) => {
            mailer
                .process
                .store
                .renew_job_lease(lease, leased_until)
                .await
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const BOUNDS: WorkLimits = WorkLimits {
        in_all: 3,
        per_team: 2,
    };

    #[test]
    fn a_team_has_its_share_and_gives_it_back() {
        let (places, [one, other]) = (
            TeamSlots::default(),
            [1, 2].map(|id| TeamId(Uuid::from_u128(id))),
        );
        let first = places.acquire(one);
        assert_eq!(places.full_teams(BOUNDS), Some(vec![]));
        let second = places.acquire(one);
        assert_eq!(places.full_teams(BOUNDS), Some(vec![one]));
        let third = places.acquire(other);
        assert_eq!(places.full_teams(BOUNDS), None);
        drop((first, third));
        assert_eq!(places.full_teams(BOUNDS), Some(vec![]));
        drop(second);
        assert!(places.lock_held_slots().is_empty());
    }
}
