//! Work that falls due: later steps, and the daily re-check of recipients that wait on conditions.
//!
//! A job is done in portions. Each portion is one transaction that decides, makes the cards and notes how far the
//! job is, and then its charge is closed. Whoever takes the job over after a crash closes the open charge
//! first and goes on behind the last portion.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use contract::id::ChargeId;
use contract::send::{Reason, SendError};
use service::fail_point;
use store::{
    Campaign, ChargeKind, EntryAddress, Job, JobKind, PieceRow, RecipientFacts, StoreError, StoredEntry,
    retry,
};
use uuid::Uuid;

use crate::Mailer;
use crate::calendar::next_local_hour;
use crate::decide::{Candidate, Decision, decide};
use crate::reserve::{Times, batch, charge, make_cards};
use crate::rules::{AudienceRules, Profile, StepRules, step_rules};
use crate::send::{time_zone, times};
use crate::settle::{SettleError, settle_portion};

/// Recipients that one portion looks at.
const PORTION: i64 = 1_000;

/// How long the steps of a paused campaign rest before they are looked at again.
const PAUSED_REST: TimeDelta = TimeDelta::hours(1);

/// Why a job could not be done now.
#[derive(Debug, thiserror::Error)]
enum JobError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Settle(#[from] SettleError),
    #[error("{0}")]
    Campaign(SendError),
}

/// Takes due jobs, one at a time, until the process is to stop.
pub(crate) async fn run(mailer: &Mailer) {
    let mut looks =
        tokio::time::interval(Duration::from_millis(mailer.process.config.mailer.job_interval_ms));
    looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = looks.tick() => {}
            () = mailer.process.shutdown.cancelled() => return,
        }
        while !mailer.process.shutdown.is_cancelled() {
            match take_one(mailer).await {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    tracing::warn!(%error, "cannot look for due work");
                    break;
                }
            }
        }
    }
}

/// Takes one due job and works on it. False when there was none.
async fn take_one(mailer: &Mailer) -> Result<bool, StoreError> {
    let (store, settings) = (&mailer.process.store, &mailer.process.config.mailer);
    let now = mailer.process.clock.now();
    let leased_until = now + TimeDelta::milliseconds(settings.lease_ms);
    let Some(job) = store.job_take(Uuid::now_v7(), now, leased_until, settings.job_attempts).await? else {
        return Ok(false);
    };
    let lease = job.lease;
    if let Err(error) = work(mailer, job).await {
        tracing::error!(job_id = %lease.job_id, %error, "a job failed and is tried again");
        let due_at = mailer.process.clock.now() + TimeDelta::milliseconds(settings.job_pause_ms);
        store.job_put_back(lease, due_at).await?;
    }
    Ok(true)
}

async fn work(mailer: &Mailer, mut job: Job) -> Result<(), JobError> {
    let store = &mailer.process.store;
    let campaign = store.campaign_get(job.lease.team_id, &job.campaign_id).await?;
    if let Some(charge_id) = job.open_charge.take() {
        close(mailer, &job, charge_id, campaign.as_ref()).await?;
    }
    let Some(campaign) = campaign else { return Ok(finish(mailer, &job).await?) };
    let wanted = match job.kind {
        JobKind::Step { step, .. } => step,
        JobKind::Recheck => 1,
    };
    // A step that the owner has taken out since mails nobody.
    let Some(step) = campaign.steps.iter().find(|step| step.step == wanted) else {
        return Ok(finish(mailer, &job).await?);
    };
    if !campaign.is_active {
        return Ok(postpone(mailer, &job, &campaign).await?);
    }
    let step = step_rules(step, &mailer.process.config).map_err(JobError::Campaign)?;
    let columns = store.column_list(campaign.team_id).await?;
    let types: HashMap<_, _> =
        columns.into_iter().map(|column| (column.name_key, column.column_type)).collect();
    let rules =
        AudienceRules::compile(&campaign, |key| types.get(key).copied()).map_err(JobError::Campaign)?;
    while !mailer.process.shutdown.is_cancelled() {
        let people = next_people(mailer, &job).await?;
        let Some(last) = people.last().map(|person| person.position) else {
            return Ok(finish_or_repeat(mailer, &job, &campaign).await?);
        };
        let portion = Portion { job: &job, campaign: &campaign, step: &step, rules: &rules, people: &people };
        if let Some(charge_id) = portion.reserve_again_on_conflict(mailer).await? {
            fail_point::pass("job.reserved");
            close(mailer, &job, charge_id, Some(&campaign)).await?;
        }
        job.progress = last;
    }
    // Stopping: another worker goes on from here at once.
    Ok(store.job_put_back(job.lease, mailer.process.clock.now()).await?)
}

async fn close(
    mailer: &Mailer,
    job: &Job,
    charge_id: ChargeId,
    campaign: Option<&Campaign>,
) -> Result<(), SettleError> {
    // A re-check that cannot be paid leaves its recipients waiting.
    let declined_to = match job.kind {
        JobKind::Recheck => Reason::FilteredConditions,
        JobKind::Step { .. } => Reason::PaymentFailed,
    };
    settle_portion(mailer, job.lease, charge_id, campaign, declined_to).await
}

async fn finish(mailer: &Mailer, job: &Job) -> Result<(), StoreError> {
    let mut connection = mailer.process.store.connection().await?;
    let transaction = connection.begin().await?;
    transaction.job_finish(job.lease).await?;
    transaction.commit().await
}

async fn finish_or_repeat(mailer: &Mailer, job: &Job, campaign: &Campaign) -> Result<(), StoreError> {
    if matches!(job.kind, JobKind::Step { .. }) {
        return finish(mailer, job).await;
    }
    let next = next_recheck(mailer, campaign);
    retry(|| async {
        let mut connection = mailer.process.store.connection().await?;
        let transaction = connection.begin().await?;
        transaction.job_finish_recheck(job.lease, &job.campaign_id, next).await?;
        transaction.commit().await
    })
    .await
}

/// A paused campaign mails nobody: its re-check waits for the next day, its steps a while.
async fn postpone(mailer: &Mailer, job: &Job, campaign: &Campaign) -> Result<(), StoreError> {
    let due_at = match job.kind {
        JobKind::Recheck => next_recheck(mailer, campaign),
        JobKind::Step { .. } => mailer.process.clock.now() + PAUSED_REST,
    };
    mailer.process.store.job_postpone(job.lease, due_at).await
}

fn next_recheck(mailer: &Mailer, campaign: &Campaign) -> chrono::DateTime<Utc> {
    next_local_hour(
        mailer.process.clock.now(),
        time_zone(campaign),
        mailer.process.config.mailer.recheck_hour,
    )
}

/// Somebody whom a job may mail.
struct Person {
    /// Where the next portion starts behind.
    position: Uuid,
    entry_id: Uuid,
    address_id: Uuid,
    entry: EntryAddress,
    values: StoredEntry,
}

impl Person {
    fn profile(&self) -> Profile<'_> {
        let entry = &self.entry;
        Profile {
            name: (&entry.first_name, &entry.last_name),
            lines: (&entry.address_1, &entry.address_2),
            city: &entry.city,
            state: &entry.state,
            zip: &entry.zip,
            place: entry.latitude.zip(entry.longitude),
            values: &self.values,
        }
    }
}

async fn next_people(mailer: &Mailer, job: &Job) -> Result<Vec<Person>, StoreError> {
    let (store, team_id) = (&mailer.process.store, job.lease.team_id);
    match job.kind {
        JobKind::Recheck => {
            let waiting = store.recipient_waiting(team_id, &job.campaign_id, job.progress, PORTION).await?;
            Ok(waiting
                .into_iter()
                .map(|one| Person {
                    position: one.entry_id,
                    entry_id: one.entry_id,
                    address_id: one.address_id,
                    entry: one.entry,
                    values: one.values,
                })
                .collect())
        }
        JobKind::Step { charge_id, .. } => {
            let pieces = store.piece_list(team_id, charge_id, job.progress, PORTION).await?;
            let entry_ids: Vec<Uuid> = pieces.iter().map(|piece| piece.entry_id).collect();
            let mut values = store.entry_values(team_id, &entry_ids).await?;
            Ok(pieces
                .into_iter()
                .map(|piece| Person {
                    position: piece.piece_id,
                    entry_id: piece.entry_id,
                    address_id: piece.address_id,
                    entry: piece.entry,
                    values: values.remove(&piece.entry_id).unwrap_or_default(),
                })
                .collect())
        }
    }
}

/// A bounded part of a job.
struct Portion<'a> {
    job: &'a Job,
    campaign: &'a Campaign,
    step: &'a StepRules<'a>,
    rules: &'a AudienceRules,
    people: &'a [Person],
}

impl Portion<'_> {
    async fn reserve_again_on_conflict(&self, mailer: &Mailer) -> Result<Option<ChargeId>, StoreError> {
        let address_ids: Vec<Uuid> = self.people.iter().map(|person| person.address_id).collect();
        let (team_id, campaign_id) = (self.campaign.team_id, &self.campaign.campaign_id);
        let facts = mailer.process.store.recipient_facts(team_id, campaign_id, &address_ids).await?;
        let zone = time_zone(self.campaign);
        let times = times(&mailer.process.config, self.campaign, zone, self.step, mailer.process.clock.now());
        let today = times.now.with_timezone(&zone).date_naive();
        let candidates: Vec<_> =
            self.people.iter().map(|person| self.candidate(person, &facts, today)).collect();
        retry(|| self.reserve(mailer, &candidates, times)).await
    }

    /// The same checks as for a send, but that nobody waits on conditions here: they are what is looked at.
    fn candidate(&self, person: &Person, facts: &RecipientFacts, today: chrono::NaiveDate) -> Candidate {
        let before_duplicates = if facts.removed.contains(&person.address_id) {
            Some(Reason::RemovedBySender)
        } else if facts.do_not_mail.contains(&person.address_id) {
            Some(Reason::DoNotMail)
        } else {
            None
        };
        let after_duplicates = self.rules.refusal(&person.profile(), false, today);
        Candidate { address_id: person.address_id, before_duplicates, after_duplicates }
    }

    /// One transaction: decide under the campaign's lock, make the cards, note the progress. Returns the charge
    /// when there is one.
    async fn reserve(
        &self,
        mailer: &Mailer,
        candidates: &[Candidate],
        times: Times,
    ) -> Result<Option<ChargeId>, StoreError> {
        let (team_id, campaign_id) = (self.campaign.team_id, &self.campaign.campaign_id);
        let mut connection = mailer.process.store.connection().await?;
        let transaction = connection.begin().await?;
        let locked = transaction.campaign_lock(team_id, campaign_id).await?;
        let mailed = match self.job.kind {
            JobKind::Recheck => {
                let ids: Vec<Uuid> = candidates.iter().map(|candidate| candidate.address_id).collect();
                transaction.piece_mailed_since(team_id, campaign_id, &ids, times.mailed_since).await?
            }
            // A later step goes to those whom step 1 went to.
            JobKind::Step { .. } => HashSet::new(),
        };
        let decisions = decide(candidates, &mailed, locked.budget_left_cents, self.step.price_cents);
        let chosen: Vec<&Person> = self
            .people
            .iter()
            .zip(&decisions)
            .filter(|(_, decision)| **decision == Decision::Mail && locked.is_active)
            .map(|(person, _)| person)
            .collect();
        let charge_id = (!chosen.is_empty()).then(ChargeId::new);
        if let Some(charge_id) = charge_id {
            self.make_cards(&transaction, charge_id, &chosen, times).await?;
        }
        let progress = self.people.last().map_or(self.job.progress, |person| person.position);
        transaction.job_advance(self.job.lease, progress, charge_id, times.leased_until).await?;
        transaction.commit().await?;
        Ok(charge_id)
    }

    async fn make_cards(
        &self,
        transaction: &store::Transaction<'_>,
        charge_id: ChargeId,
        chosen: &[&Person],
        times: Times,
    ) -> Result<(), StoreError> {
        let links = &self.step.links;
        let destinations: Vec<_> =
            chosen.iter().map(|person| links.destinations(&person.profile())).collect();
        let cards = chosen.iter().zip(&destinations);
        let pieces: Vec<PieceRow<'_>> = cards.map(|(person, links)| piece_row(person, links)).collect();
        let batch = batch(self.step, self.campaign, charge_id, times.mail_by_date);
        let kind = match self.job.kind {
            JobKind::Recheck => ChargeKind::Recheck,
            JobKind::Step { .. } => ChargeKind::Step,
        };
        let charge = charge(&batch, &pieces, kind, &self.campaign.payment);
        make_cards(transaction, &charge, &batch, &pieces, times.now).await?;
        if self.job.kind == JobKind::Recheck {
            let entry_ids: Vec<Uuid> = chosen.iter().map(|person| person.entry_id).collect();
            let campaign_id = &self.campaign.campaign_id;
            transaction
                .recipient_mark_mailed(self.campaign.team_id, campaign_id, charge_id, &entry_ids)
                .await?;
        }
        Ok(())
    }
}

fn piece_row<'a>(person: &'a Person, destinations: &'a str) -> PieceRow<'a> {
    let entry = &person.entry;
    PieceRow {
        entry_id: person.entry_id,
        address_id: person.address_id,
        first_name: &entry.first_name,
        last_name: &entry.last_name,
        line_1: &entry.address_1,
        line_2: &entry.address_2,
        city: &entry.city,
        state: &entry.state,
        zip: &entry.zip,
        plus4: entry.plus4.as_deref(),
        verification: &entry.verification,
        destinations,
    }
}
