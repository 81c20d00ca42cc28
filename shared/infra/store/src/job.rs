//! Work that falls due, done in portions under a lease.

use chrono::{DateTime, Utc};
use model::id::{CampaignId, ChargeId, JobId, TeamId};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::{Result, StoreError};
use crate::pool::{Store, Transaction};

/// What a job does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobKind {
    /// Mails a later step to the recipients of a charge.
    Step {
        /// The charge of step 1.
        charge_id: ChargeId,
        /// The step to mail.
        step: i16,
    },
    /// Looks again at the recipients that wait on filter conditions.
    Recheck,
}

/// A job that this worker holds.
#[derive(Debug, Clone)]
pub struct Job {
    /// The right to work on it.
    pub lease: JobLease,
    /// Its campaign.
    pub campaign_id: CampaignId,
    /// What it does.
    pub kind: JobKind,
    /// The last row looked at; nil before the first portion.
    pub progress: Uuid,
    /// The charge of a portion that was reserved and not settled.
    pub open_charge: Option<ChargeId>,
    /// Leases taken since the last progress, this one included.
    pub attempts: i32,
}

/// The right to work on a job until it runs out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobLease {
    /// The job's owner.
    pub team_id: TeamId,
    /// The job.
    pub job_id: JobId,
    /// Fences out whoever held it before.
    pub lease_id: Uuid,
}

/// A later step that falls due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepJobPlan {
    /// The step to mail.
    pub step: i16,
    /// When.
    pub due_at: DateTime<Utc>,
}

/// Looks at the first job of each team, and skips from team to team: what it costs does not depend on how many jobs wait.
/// The team whose first job is the oldest has its turn; where others are just taking all of its jobs, the next one.
const TAKE: &str = "WITH RECURSIVE teams AS (
        (SELECT team_id FROM jobs ORDER BY team_id LIMIT 1)
        UNION ALL
        SELECT (SELECT jobs.team_id FROM jobs WHERE jobs.team_id > teams.team_id ORDER BY jobs.team_id LIMIT 1)
        FROM teams WHERE teams.team_id IS NOT NULL
    ), lined_up AS MATERIALIZED (
        SELECT teams.team_id FROM teams CROSS JOIN LATERAL (
            SELECT due_at FROM jobs
            WHERE jobs.team_id = teams.team_id AND due_at <= $2 AND (leased_until IS NULL OR leased_until < $2)
                AND (attempts < $4 OR open_charge IS NOT NULL)
            ORDER BY due_at LIMIT 1) first
        WHERE teams.team_id <> ALL ($5) ORDER BY first.due_at
    )
    UPDATE jobs SET lease_id = $1, leased_until = $3, attempts = attempts + 1
    WHERE (team_id, job_id) IN (
        SELECT taken.team_id, taken.job_id FROM lined_up CROSS JOIN LATERAL (
            SELECT team_id, job_id FROM jobs
            WHERE jobs.team_id = lined_up.team_id AND due_at <= $2 AND (leased_until IS NULL OR leased_until < $2)
                AND (attempts < $4 OR open_charge IS NOT NULL)
            ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED) taken
        LIMIT 1)
    RETURNING team_id, job_id, campaign_id, charge_id, step, progress, open_charge, attempts";

fn job_from_row(row: &Row, lease_id: Uuid) -> Result<Job> {
    let corrupt = || StoreError::Corrupt("a job".to_owned());
    let charge_id: Option<Uuid> = row.get("charge_id");
    let step: Option<i16> = row.get("step");
    Ok(Job {
        lease: JobLease {
            team_id: TeamId(row.get("team_id")),
            job_id: JobId(row.get("job_id")),
            lease_id,
        },
        campaign_id: row
            .get::<_, &str>("campaign_id")
            .parse()
            .map_err(|_| corrupt())?,
        kind: match (charge_id, step) {
            (Some(charge_id), Some(step)) => JobKind::Step {
                charge_id: ChargeId(charge_id),
                step,
            },
            _ => JobKind::Recheck,
        },
        progress: row
            .get::<_, Option<Uuid>>("progress")
            .unwrap_or(Uuid::nil()),
        open_charge: row.get::<_, Option<Uuid>>("open_charge").map(ChargeId),
        attempts: row.get("attempts"),
    })
}

impl Store {
    /// Takes one due job that nobody holds and that was not tried more than `max_attempts` times without
    /// progress, of none of the `full_teams`. One with an open charge is taken however often it was tried: money hangs on it.
    /// `None` when there is none.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn claim_due_job(
        &self,
        lease_id: Uuid,
        now: DateTime<Utc>,
        leased_until: DateTime<Utc>,
        max_attempts: i32,
        full_teams: &[TeamId],
    ) -> Result<Option<Job>> {
        let full_teams: Vec<Uuid> = full_teams.iter().map(|team_id| team_id.0).collect();
        let row = self
            .query_row(
                TAKE,
                &[&lease_id, &now, &leased_until, &max_attempts, &full_teams],
            )
            .await?;
        row.map(|row| job_from_row(&row, lease_id)).transpose()
    }

    /// Keeps a job for its worker until `leased_until`, unless another one has taken it over.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn renew_job_lease(
        &self,
        lease: JobLease,
        leased_until: DateTime<Utc>,
    ) -> Result<()> {
        self.execute(
            "UPDATE jobs SET leased_until = $4 WHERE team_id = $1 AND job_id = $2 AND lease_id = $3",
            &[&lease.team_id.0, &lease.job_id.0, &lease.lease_id, &leased_until],
        )
        .await?;
        Ok(())
    }

    /// Gives a job back after a failure, to be tried again from `due_at`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn release_job(&self, lease: JobLease, due_at: DateTime<Utc>) -> Result<()> {
        self.execute(
            "UPDATE jobs SET lease_id = NULL, leased_until = NULL, due_at = $4
             WHERE team_id = $1 AND job_id = $2 AND lease_id = $3",
            &[&lease.team_id.0, &lease.job_id.0, &lease.lease_id, &due_at],
        )
        .await?;
        Ok(())
    }

    /// Gives a job back that waits for somebody else, to be looked at again at `due_at`. However often, it is not given up.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn postpone_job(&self, lease: JobLease, due_at: DateTime<Utc>) -> Result<()> {
        self.execute(
            "UPDATE jobs SET lease_id = NULL, leased_until = NULL, due_at = $4, attempts = 0
             WHERE team_id = $1 AND job_id = $2 AND lease_id = $3",
            &[&lease.team_id.0, &lease.job_id.0, &lease.lease_id, &due_at],
        )
        .await?;
        Ok(())
    }
}

impl Transaction<'_> {
    /// Plans the later steps of a charge.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn plan_step_jobs(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        charge_id: ChargeId,
        steps: &[StepJobPlan],
        now: DateTime<Utc>,
    ) -> Result<()> {
        for step in steps {
            self.execute(
                "INSERT INTO jobs (team_id, job_id, campaign_id, kind, charge_id, step, due_at, created_at)
                 VALUES ($1, $2, $3, 'step', $4, $5, $6, $7)",
                &[
                    &team_id.0,
                    &JobId::new().0,
                    &campaign_id.as_str(),
                    &charge_id.0,
                    &step.step,
                    &step.due_at,
                    &now,
                ],
            )
            .await?;
        }
        Ok(())
    }

    /// Plans the campaign's next re-check unless one is planned. The campaign is locked before, as by the job
    /// that ends itself when nobody waits any more.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn plan_recheck_job(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        due_at: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.execute(
            "INSERT INTO jobs (team_id, job_id, campaign_id, kind, due_at, created_at)
             VALUES ($1, $2, $3, 'recheck', $4, $5)
             ON CONFLICT (team_id, campaign_id) WHERE kind = 'recheck' DO NOTHING",
            &[
                &team_id.0,
                &JobId::new().0,
                &campaign_id.as_str(),
                &due_at,
                &now,
            ],
        )
        .await?;
        Ok(())
    }

    /// Notes how far a job is, and the charge of the portion just reserved, if it has one.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] when another worker has taken the job over.
    pub async fn advance_job(
        &self,
        lease: JobLease,
        progress: Uuid,
        open_charge: Option<ChargeId>,
        leased_until: DateTime<Utc>,
    ) -> Result<()> {
        let changed = self
            .execute(
                "UPDATE jobs SET progress = $4, open_charge = $5, leased_until = greatest(leased_until, $6),
                     attempts = 1
                 WHERE team_id = $1 AND job_id = $2 AND lease_id = $3",
                &[
                    &lease.team_id.0,
                    &lease.job_id.0,
                    &lease.lease_id,
                    &progress,
                    &open_charge.map(|id| id.0),
                    &leased_until,
                ],
            )
            .await?;
        check_lease_held(changed)
    }

    /// Notes that the portion's charge is closed.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] when another worker has taken the job over.
    pub async fn close_job_charge(&self, lease: JobLease) -> Result<()> {
        let changed = self
            .execute(
                "UPDATE jobs SET open_charge = NULL WHERE team_id = $1 AND job_id = $2 AND lease_id = $3",
                &[&lease.team_id.0, &lease.job_id.0, &lease.lease_id],
            )
            .await?;
        check_lease_held(changed)
    }

    /// Ends a job.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] when another worker has taken the job over.
    pub async fn complete_job(&self, lease: JobLease) -> Result<()> {
        let changed = self
            .execute(
                "DELETE FROM jobs WHERE team_id = $1 AND job_id = $2 AND lease_id = $3",
                &[&lease.team_id.0, &lease.job_id.0, &lease.lease_id],
            )
            .await?;
        check_lease_held(changed)
    }

    /// Ends a re-check: until `next_due_at` when somebody still waits, for good when nobody does.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] when another worker has taken the job over.
    pub async fn complete_recheck_job(
        &self,
        lease: JobLease,
        campaign_id: &CampaignId,
        next_due_at: DateTime<Utc>,
    ) -> Result<()> {
        self.lock_campaign(lease.team_id, campaign_id).await?;
        let waiting = self
            .query_row(
                "SELECT 1 FROM recipients
                 WHERE team_id = $1 AND campaign_id = $2 AND reason = 'filtered_conditions' LIMIT 1",
                &[&lease.team_id.0, &campaign_id.as_str()],
            )
            .await?;
        if waiting.is_none() {
            return self.complete_job(lease).await;
        }
        let changed = self
            .execute(
                "UPDATE jobs SET due_at = $4, progress = NULL, lease_id = NULL, leased_until = NULL, attempts = 0
                 WHERE team_id = $1 AND job_id = $2 AND lease_id = $3",
                &[&lease.team_id.0, &lease.job_id.0, &lease.lease_id, &next_due_at],
            )
            .await?;
        check_lease_held(changed)
    }
}

fn check_lease_held(changed: u64) -> Result<()> {
    if changed == 1 {
        Ok(())
    } else {
        Err(StoreError::LeaseLost)
    }
}
