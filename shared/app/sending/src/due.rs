//! Work that falls due: later steps, and the daily re-check of recipients that wait on conditions.
//!
//! A job is done in portions. Each portion is one transaction that decides, makes the cards and notes how far the
//! job is, and then its charge is closed. Whoever takes the job over after a crash closes the open charge
//! first and goes on behind the last portion.

mod people;
mod portion;

use std::error::Error;

use chrono::{TimeDelta, Utc};
use contract::send::{NotMailedReason, SendError};
use model::id::{ChargeId, TeamId};
use queue::{CallRefusedError, SlotScheduler};
use runtime::fail_point;
use store::{Campaign, Job, JobKind, StoreError, retry_conflicts};
use tracing::field::Empty;
use tracing::{Instrument, Span};
use uuid::Uuid;
use verification::VerificationError;

use self::people::next_recipients;
use self::portion::{JobPortion, PortionOutcome};
use crate::MailerState;
use crate::calendar::next_local_hour;
use crate::cards::{MailpieceDraftError, find_design_pictures};
use crate::leased::with_lease_renewal;
use crate::leased::{LeasedWork, WorkLimits};
use crate::rules::{AudienceRules, step_rules};
use crate::settle::{SettleError, settle_portion};

/// How long the steps of a paused campaign rest before they are looked at again.
const PAUSED_REST: TimeDelta = TimeDelta::hours(1);

/// Why a job could not be done now.
#[derive(Debug, thiserror::Error)]
enum JobError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Settle(#[from] SettleError),
    #[error(transparent)]
    Cards(#[from] MailpieceDraftError),
    #[error("{0}")]
    Campaign(SendError),
    #[error(transparent)]
    Refused(#[from] CallRefusedError),
}

impl JobError {
    /// Whether the job waits for somebody else: a provider that is away, an owner whose design cannot print. That may take
    /// days, and no try of it says that the job is at fault.
    fn is_external(&self) -> bool {
        matches!(
            self,
            Self::Campaign(_)
                | Self::Settle(SettleError::Payment(_))
                | Self::Cards(MailpieceDraftError::Verify(VerificationError::Unavailable(
                    _
                )))
        )
    }
}

/// Jobs that work at a time in one process, while others wait for somebody.
const SLOTS: usize = 3;

/// Due jobs of all teams.
#[derive(Clone)]
pub(crate) struct DueJobs {
    mailer: MailerState,
    slots: SlotScheduler,
}

impl DueJobs {
    pub(crate) fn new(mailer: MailerState) -> Self {
        Self {
            mailer,
            slots: SlotScheduler::new(SLOTS),
        }
    }
}

impl LeasedWork for DueJobs {
    type LeasedItem = Job;

    const NAME: &'static str = "due jobs";

    // Most of them may wait for a payment provider that hangs.
    const BOUNDS: WorkLimits = WorkLimits {
        in_all: 32,
        per_team: 4,
    };

    async fn lease_next(&self, full_teams: &[TeamId]) -> Result<Option<(TeamId, Job)>, StoreError> {
        let (process, settings) = (&self.mailer.process, &self.mailer.process.config.mailer);
        let now = process.clock.now();
        let leased_until = now + TimeDelta::milliseconds(settings.lease_ms);
        let lease_id = Uuid::now_v7();
        let job = process
            .store
            .claim_due_job(
                lease_id,
                now,
                leased_until,
                settings.job_attempts,
                full_teams,
            )
            .await?;
        Ok(job.map(|job| (job.lease.team_id, job)))
    }

    async fn run_job(&self, job: Job) {
        let (lease, span) = (job.lease, job_span(&job));
        let Err(error) = self.run_in_slot(job).instrument(span.clone()).await else {
            return;
        };
        span.in_scope(|| {
            tracing::error!(
                error = &error as &dyn Error,
                "a job failed and is tried again"
            )
        });
        let (process, settings) = (&self.mailer.process, &self.mailer.process.config.mailer);
        let due_at = process.clock.now() + TimeDelta::milliseconds(settings.job_pause_ms);
        let put_back = match error.is_external() {
            true => process.store.postpone_job(lease, due_at).await,
            false => process.store.release_job(lease, due_at).await,
        };
        if let Err(error) = put_back {
            tracing::warn!(job_id = %lease.job_id, error = &error as &dyn Error, "a failed job keeps its lease until it runs out");
        }
    }
}

impl DueJobs {
    /// Does the job when it is its team's turn.
    async fn run_in_slot(&self, job: Job) -> Result<(), JobError> {
        let queued = self.slots.enqueue_call(job.lease.team_id.0, 0, 0);
        let turn = with_lease_renewal(&self.mailer, job.lease, queued.wait_for_turn()).await?;
        // Boxed: it is large, and would be moved from layer to layer.
        Box::pin(process_job(&self.mailer.with_slot(turn), job)).await
    }
}

/// The span of a job: a trace of its own, since nobody waits for it.
fn job_span(job: &Job) -> Span {
    let kind = match job.kind {
        JobKind::Step { .. } => "step",
        JobKind::Recheck => "recheck",
    };
    tracing::info_span!(
        "job",
        otel.name = format!("{kind} process"),
        job_id = %job.lease.job_id,
        team_id = %job.lease.team_id,
        campaign_id = %job.campaign_id,
        kind,
        charge = Empty,
        amount_cents = Empty,
    )
}

async fn process_job(mailer: &MailerState, mut job: Job) -> Result<(), JobError> {
    let store = &mailer.process.store;
    let campaign = store
        .find_campaign(job.lease.team_id, &job.campaign_id)
        .await?;
    if let Some(charge_id) = job.open_charge.take() {
        with_lease_renewal(
            mailer,
            job.lease,
            close_open_charge(mailer, &job, charge_id, campaign.as_ref()),
        )
        .await?;
    }
    let Some(campaign) = campaign else {
        return Ok(finish_job(mailer, &job).await?);
    };
    let wanted = match job.kind {
        JobKind::Step { step, .. } => step,
        JobKind::Recheck => 1,
    };
    // A step that the owner has taken out since mails nobody.
    let Some(step) = campaign.steps.iter().find(|step| step.step == wanted) else {
        return Ok(finish_job(mailer, &job).await?);
    };
    if !campaign.is_active {
        return Ok(suspend_job(mailer, &job, &campaign).await?);
    }
    let mut step =
        step_rules(step, &mailer.process.config, &mailer.designs).map_err(JobError::Campaign)?;
    let steps = std::slice::from_mut(&mut step);
    let found = with_lease_renewal(
        mailer,
        job.lease,
        find_design_pictures(mailer, campaign.team_id, steps),
    )
    .await;
    found.map_err(JobError::Campaign)?;
    let columns = store.list_columns(campaign.team_id).await?;
    let rules = AudienceRules::compile(&campaign, &columns).map_err(JobError::Campaign)?;
    while !mailer.process.shutdown.is_cancelled() {
        let people = next_recipients(mailer, &job, &campaign).await?;
        let Some(last) = people.last().map(|person| person.position) else {
            return Ok(finish_or_repeat(mailer, &job, &campaign).await?);
        };
        let portion = JobPortion {
            job: &job,
            campaign: &campaign,
            step: &step,
            rules: &rules,
            recipients: &people,
        };
        if !with_lease_renewal(mailer, job.lease, mail_portion(mailer, &portion)).await? {
            return Ok(suspend_job(mailer, &job, &campaign).await?);
        }
        job.progress = last;
        // A long job keeps no other team's waiting.
        with_lease_renewal(mailer, job.lease, mailer.yield_slot()).await;
    }
    // Stopping: another worker goes on from here at once.
    Ok(store
        .release_job(job.lease, mailer.process.clock.now())
        .await?)
}

/// Mails a portion and closes its charge. False when the campaign was paused meanwhile: the portion is still to be done.
async fn mail_portion(mailer: &MailerState, portion: &JobPortion<'_>) -> Result<bool, JobError> {
    match portion.reserve_with_retry(mailer).await? {
        PortionOutcome::Open(charge_id) => {
            fail_point::fail_if_chosen("job.reserved");
            close_open_charge(mailer, portion.job, charge_id, Some(portion.campaign)).await?;
            tracing::info!(%charge_id, people = portion.recipients.len(), "mailed a portion");
        }
        PortionOutcome::Nobody => {}
        PortionOutcome::Paused => return Ok(false),
    }
    Ok(true)
}

async fn close_open_charge(
    mailer: &MailerState,
    job: &Job,
    charge_id: ChargeId,
    campaign: Option<&Campaign>,
) -> Result<(), SettleError> {
    // A re-check that cannot be paid leaves its recipients waiting.
    let declined_to = match job.kind {
        JobKind::Recheck => NotMailedReason::FilteredConditions,
        JobKind::Step { .. } => NotMailedReason::PaymentFailed,
    };
    settle_portion(mailer, job.lease, charge_id, campaign, declined_to).await
}

async fn finish_job(mailer: &MailerState, job: &Job) -> Result<(), StoreError> {
    let mut connection = mailer.process.store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    transaction.complete_job(job.lease).await?;
    transaction.commit().await
}

async fn finish_or_repeat(
    mailer: &MailerState,
    job: &Job,
    campaign: &Campaign,
) -> Result<(), StoreError> {
    if matches!(job.kind, JobKind::Step { .. }) {
        return finish_job(mailer, job).await;
    }
    let next = next_recheck_at(mailer, campaign);
    retry_conflicts(|| async {
        let mut connection = mailer.process.store.connection().await?;
        let transaction = connection.begin_transaction().await?;
        transaction
            .complete_recheck_job(job.lease, &job.campaign_id, next)
            .await?;
        transaction.commit().await
    })
    .await
}

/// A paused campaign mails nobody: its re-check begins anew on the next day, its steps go on where they are after a while.
async fn suspend_job(
    mailer: &MailerState,
    job: &Job,
    campaign: &Campaign,
) -> Result<(), StoreError> {
    match job.kind {
        JobKind::Recheck => finish_or_repeat(mailer, job, campaign).await,
        JobKind::Step { .. } => {
            let due_at = mailer.process.clock.now() + PAUSED_REST;
            mailer.process.store.postpone_job(job.lease, due_at).await
        }
    }
}

fn next_recheck_at(mailer: &MailerState, campaign: &Campaign) -> chrono::DateTime<Utc> {
    next_local_hour(
        mailer.process.clock.now(),
        campaign.time_zone,
        mailer.process.config.mailer.recheck_hour,
    )
}
