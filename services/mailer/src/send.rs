//! A send request from its body to its answer.

use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use contract::id::{CampaignId, RequestId, TeamId};
use contract::limits::CENTERS_PER_REQUEST;
use contract::send::{SendError, SendRequest, fingerprint, parse};
use service::{Config, fail_point};
use store::{Campaign, Claim, Lease, RecipientFacts, ReservedSend, StoreError, StoredEntry, retry};
use uuid::Uuid;
use verification::VerifyError;

use crate::Mailer;
use crate::assess::{Assessed, Judgement, identify};
use crate::calendar::{mail_by_date, next_local_hour};
use crate::decide::Candidate;
use crate::fields::{ColumnLimits, Fields};
use crate::neighborhood::{Center, Neighborhoods};
use crate::prepare::{Preparation, prepare};
use crate::reserve::{Plan, ReserveError, Reserved, Times, mailed_since, reserve};
use crate::rules::{AudienceRules, StepRules, check_campaign};
use crate::settle::{settle_send, unsettled};

/// How often a request that waits for an equal one looks for its answer.
const WAIT_INTERVAL: Duration = Duration::from_millis(50);

/// Times that a request is prepared anew because others made columns meanwhile.
const PREPARATIONS: usize = 5;

/// A request as it came from the queue.
pub(crate) struct Incoming {
    pub(crate) request_id: RequestId,
    pub(crate) team_id: TeamId,
    pub(crate) deadline_ms: i64,
    pub(crate) body: Bytes,
}

/// Answers a request. A request that is delivered again goes on from where the database has it.
pub(crate) async fn send(mailer: &Mailer, incoming: Incoming) -> Result<Bytes, SendError> {
    let request = tokio::task::block_in_place(|| parse(&incoming.body))?;
    let campaign_id = request.campaign_id.as_ref().ok_or(SendError::CampaignNotFound)?;
    let store = &mailer.process.store;
    let campaign = store.campaign_get(incoming.team_id, campaign_id).await.map_err(internal)?;
    let campaign = campaign.ok_or(SendError::CampaignNotFound)?;
    check_centers(&campaign, request.recipients.len())?;
    let step = check_campaign(&campaign, &mailer.process.config)?;
    let fingerprint = fingerprint(campaign_id, &request.recipients);
    let lease = match claim(mailer, &incoming, campaign_id, &fingerprint).await? {
        Held::New(lease) => lease,
        Held::Open(reserved) => {
            return settle_send(mailer, &reserved, Some(&campaign)).await.map_err(|error| unsettled(&error));
        }
        Held::Finished(response) => return Ok(response),
    };
    fail_point::pass("send.claimed");
    match take_effect(mailer, lease, &campaign, &step, &request).await {
        Ok(Reserved::Finished(response)) => Ok(response),
        Ok(Reserved::Open(reserved)) => {
            fail_point::pass("send.reserved");
            settle_send(mailer, &reserved, Some(&campaign)).await.map_err(|error| unsettled(&error))
        }
        Err(error) => Err(fail(mailer, lease, error).await),
    }
}

/// A Neighborhood Mail request holds fewer addresses than others.
fn check_centers(campaign: &Campaign, recipients: usize) -> Result<(), SendError> {
    if campaign.neighborhood.is_none() || recipients <= CENTERS_PER_REQUEST {
        return Ok(());
    }
    let message = format!(
        "A request to this campaign holds at most {CENTERS_PER_REQUEST} addresses, not {recipients}."
    );
    Err(SendError::PayloadTooLarge(message))
}

fn internal(error: StoreError) -> SendError {
    tracing::error!(error = &error as &dyn std::error::Error, "the database failed");
    SendError::InternalError
}

/// What a claim gave.
enum Held {
    /// The request is ours to do.
    New(Lease),
    /// It was reserved by a worker that is gone, and is ours to finish.
    Open(ReservedSend),
    /// It is answered.
    Finished(Bytes),
}

/// Claims the request; waits while it, or an equal one, is worked on elsewhere.
async fn claim(
    mailer: &Mailer,
    incoming: &Incoming,
    campaign_id: &CampaignId,
    fingerprint: &[u8; 32],
) -> Result<Held, SendError> {
    let (store, settings) = (&mailer.process.store, &mailer.process.config.mailer);
    let lease = Lease { send_id: incoming.request_id, team_id: incoming.team_id, lease_id: Uuid::now_v7() };
    loop {
        let now = mailer.process.clock.now();
        if now.timestamp_millis() > incoming.deadline_ms {
            // Nobody waits any more; a request that has not begun does not begin now.
            return Err(SendError::DeadlinePassed);
        }
        let replay_since = now - TimeDelta::minutes(settings.replay_window_minutes);
        let leased_until = now + TimeDelta::milliseconds(settings.lease_ms);
        let claim = store.send_claim(lease, campaign_id, fingerprint, replay_since, now, leased_until).await;
        match claim.map_err(internal)? {
            Claim::New(lease) => return Ok(Held::New(lease)),
            Claim::Resumed(reserved) => return Ok(Held::Open(reserved)),
            Claim::Finished(response) => return Ok(Held::Finished(response)),
            Claim::Running(other) => {
                tokio::time::sleep(WAIT_INTERVAL).await;
                // Whoever waited for a request gets its answer, also when it mailed nobody.
                let finished = store.send_response(incoming.team_id, other).await.map_err(internal)?;
                if let Some(finished) = finished {
                    return Ok(Held::Finished(finished.response));
                }
            }
        }
    }
}

/// Gives up a request that did not take effect, so that a repeat begins anew. Where that is not certain, because the
/// connection went while it was being committed, the request stays as it is, and the sender is told so.
async fn fail(mailer: &Mailer, lease: Lease, error: ReserveError) -> SendError {
    let error = match error {
        ReserveError::Refused(error) => error,
        ReserveError::Store(StoreError::Unavailable(why)) => {
            tracing::error!(why, "lost the database while reserving");
            return SendError::DeadlinePassed;
        }
        ReserveError::Store(StoreError::LeaseLost) => return SendError::DeadlinePassed,
        ReserveError::Store(error) => internal(error),
        ReserveError::ColumnsChanged => SendError::InternalError,
    };
    if let Err(error) = mailer.process.store.send_release(lease).await {
        tracing::warn!(%error, "a failed request keeps its claim until the lease runs out");
    }
    error
}

/// Verifies, judges and reserves. Prepares again when other requests made columns meanwhile.
async fn take_effect(
    mailer: &Mailer,
    lease: Lease,
    campaign: &Campaign,
    step: &StepRules<'_>,
    request: &SendRequest<'_>,
) -> Result<Reserved, ReserveError> {
    let mut result = Err(ReserveError::ColumnsChanged);
    for _ in 0..PREPARATIONS {
        let preparation = sort_fields(mailer, campaign.team_id, request).await?;
        result = prepare_and_reserve(mailer, lease, campaign, step, &preparation).await;
        if !matches!(result, Err(ReserveError::ColumnsChanged)) {
            break;
        }
    }
    result
}

async fn sort_fields<'a>(
    mailer: &Mailer,
    team_id: TeamId,
    request: &'a SendRequest<'_>,
) -> Result<Preparation<'a>, StoreError> {
    let columns = mailer.process.store.column_list(team_id).await?;
    let settings = &mailer.process.config.mailer;
    let limits = ColumnLimits {
        per_request: settings.new_columns_per_request,
        per_team: settings.api_columns_per_team,
    };
    let types = request.field_types.iter().map(|(name, column_type)| (name.as_ref(), *column_type));
    let fields = Fields::new(columns, types, limits);
    Ok(tokio::task::block_in_place(|| prepare(request, fields)))
}

async fn prepare_and_reserve(
    mailer: &Mailer,
    lease: Lease,
    campaign: &Campaign,
    step: &StepRules<'_>,
    preparation: &Preparation<'_>,
) -> Result<Reserved, ReserveError> {
    let rules =
        AudienceRules::compile(campaign, preparation.fields.columns()).map_err(ReserveError::Refused)?;
    let inputs: Vec<_> = preparation.recipients.iter().map(|recipient| recipient.address()).collect();
    let verdicts = mailer.verifier.verify(&inputs, campaign.strictness).await.map_err(unverified)?;
    let assessed = tokio::task::block_in_place(|| identify(&preparation.recipients, &verdicts));
    let (facts, stored) = look_up(mailer, campaign, (&rules, step), &assessed).await?;
    let zone = time_zone(campaign);
    let times = times(&mailer.process.config, campaign, zone, step, mailer.process.clock.now());
    let judgement = Judgement {
        rules: &rules,
        facts: &facts,
        stored: &stored,
        fields: &preparation.fields,
        today: times.today,
        are_centers: campaign.neighborhood.is_some(),
    };
    let candidates: Vec<_> =
        tokio::task::block_in_place(|| assessed.iter().map(|one| judgement.candidate(one)).collect());
    let destinations: Vec<_> = tokio::task::block_in_place(|| {
        assessed.iter().map(|one| judgement.destinations(one, &step.links)).collect()
    });
    let neighborhoods = look_around(mailer, campaign, &rules, &assessed, &candidates).await?;
    let plan = Plan {
        lease,
        campaign,
        step,
        preparation,
        assessed: &assessed,
        candidates: &candidates,
        destinations: &destinations,
        neighborhoods: neighborhoods.as_ref(),
        rules: &rules,
        times,
    };
    reserve_again_on_conflict(mailer, &plan).await
}

/// A request whose addresses could not be verified is refused as a whole.
fn unverified(error: VerifyError) -> ReserveError {
    match error {
        VerifyError::Unavailable(_) => {
            tracing::warn!(%error, "a request is refused");
            ReserveError::Refused(SendError::ValidationUnavailable)
        }
        VerifyError::Store(error) => ReserveError::Store(error),
    }
}

/// Reserving meets another transaction only when entries are shared with another campaign's request.
async fn reserve_again_on_conflict(mailer: &Mailer, plan: &Plan<'_>) -> Result<Reserved, ReserveError> {
    retry(|| async {
        match reserve(mailer, plan).await {
            Err(ReserveError::Store(error)) => Err(error),
            other => Ok(other),
        }
    })
    .await?
}

/// What the database knows of the recipients: lists by address, and stored values where conditions or links need them.
async fn look_up(
    mailer: &Mailer,
    campaign: &Campaign,
    (rules, step): (&AudienceRules, &StepRules<'_>),
    assessed: &[Assessed<'_>],
) -> Result<(RecipientFacts, HashMap<Uuid, StoredEntry>), StoreError> {
    let store = &mailer.process.store;
    let address_ids: Vec<Uuid> = assessed.iter().map(|one| one.address_id).collect();
    let facts = store.recipient_facts(campaign.team_id, &campaign.campaign_id, &address_ids).await?;
    if !rules.has_conditions() && !step.links.use_stored_values() {
        return Ok((facts, HashMap::new()));
    }
    let entry_ids: Vec<Uuid> = assessed.iter().map(|one| one.entry_id).collect();
    Ok((facts, store.entry_values(campaign.team_id, &entry_ids).await?))
}

/// Neighborhood Mail: the homes around the centers that are to be looked around, judged as far as that goes before the
/// campaign is locked. `None` for other campaigns.
async fn look_around(
    mailer: &Mailer,
    campaign: &Campaign,
    rules: &AudienceRules,
    assessed: &[Assessed<'_>],
    candidates: &[Candidate],
) -> Result<Option<Neighborhoods>, StoreError> {
    let Some(settings) = campaign.neighborhood else { return Ok(None) };
    let store = &mailer.process.store;
    let centers: Vec<Center> = assessed
        .iter()
        .zip(candidates)
        .map(|(one, candidate)| Center { refusal: candidate.refusal(), place: one.place() })
        .collect();
    let mut neighborhoods = Neighborhoods::find(store, settings, &centers).await?;
    let ids = neighborhoods.address_ids();
    let facts = store.recipient_facts(campaign.team_id, &campaign.campaign_id, &ids).await?;
    neighborhoods.judge(rules, &facts);
    Ok(Some(neighborhoods))
}

/// The team's zone. A name that cannot be read was never stored; UTC stands in for it.
pub(crate) fn time_zone(campaign: &Campaign) -> Tz {
    campaign.time_zone.parse().unwrap_or(Tz::UTC)
}

/// The times that a batch of this step is decided with.
pub(crate) fn times(
    config: &Config,
    campaign: &Campaign,
    zone: Tz,
    step: &StepRules<'_>,
    now: DateTime<Utc>,
) -> Times {
    let settings = &config.mailer;
    Times {
        now,
        today: now.with_timezone(&zone).date_naive(),
        leased_until: now + TimeDelta::milliseconds(settings.lease_ms),
        mailed_since: mailed_since(campaign, settings.duplicate_window_days, now),
        mail_by_date: mail_by_date(
            now,
            zone,
            settings.cut_off,
            settings.production_days.with(step.step.postage),
        ),
        recheck_at: next_local_hour(now, zone, settings.recheck_hour),
    }
}
