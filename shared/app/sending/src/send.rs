//! A send request from its body to its answer.

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use contract::send::{SendError, SendRequest, fingerprint_request, hash_request, parse_request};
use model::id::{CampaignId, RequestId, TeamId};
use model::idempotency::IdempotencyKey;
use model::limits::CENTERS_PER_REQUEST;
use runtime::fail_point;
use store::{
    Campaign, FinishedSend, NewSend, ReservedSend, SendClaim, SendIdempotencyKey, SendLease,
    StoreError,
};
use uuid::Uuid;

use crate::MailerState;
use crate::calendar::schedule_start;
use crate::cards::find_design_pictures;
use crate::execute::{SendExecution, SendMode, execute_send};
use crate::leased::with_lease_renewal;
use crate::reserve::{ReserveError, ReserveOutcome};
use crate::rules::{StepRules, check_campaign};
use crate::settle::{settle_send, to_send_error};

/// How soon a request that waits for an equal one looks for its answer; doubled at each look.
const FIRST_LOOK: Duration = Duration::from_millis(50);

/// The longest pause between two looks.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A request as it came from the queue.
pub struct IncomingSend {
    /// Its id; a redelivered one keeps it.
    pub request_id: RequestId,
    /// The key's owner.
    pub team_id: TeamId,
    /// When nobody waits for its answer any more, in milliseconds since 1970.
    pub deadline_ms: i64,
    /// The key that its sender gave it.
    pub idempotency_key: Option<IdempotencyKey>,
    /// The body of POST /api/v1/recipients.
    pub body: Bytes,
}

/// An answer to a sender.
pub enum SendAnswer {
    /// To this request.
    New(FinishedSend),
    /// To a dry run.
    Validated(Bytes),
    /// Stored by an earlier one.
    Replayed(Bytes),
}

/// Answers a request. A request that is delivered again goes on from where the database has it.
pub async fn handle_send(
    mailer: &MailerState,
    incoming: IncomingSend,
) -> Result<SendAnswer, SendError> {
    let request = tokio::task::block_in_place(|| parse_request(&incoming.body))?;
    let key = incoming.send_key()?;
    if let Some(response) = find_answer_by_key(mailer, &incoming, key).await? {
        return Ok(SendAnswer::Replayed(response));
    }
    let asked = ParsedSend {
        incoming: &incoming,
        request: &request,
        key,
    };
    let campaign = match load_campaign(mailer, incoming.team_id, &request).await {
        Ok(campaign) => campaign,
        Err(refusal) => return find_earlier_answer(mailer, asked, refusal).await,
    };
    let steps = match load_steps(mailer, &campaign).await {
        Ok(steps) => steps,
        Err(refusal) => return find_earlier_answer(mailer, asked, refusal).await,
    };
    let scheduled_for = match schedule_request(mailer, &campaign, &request) {
        Ok(start) => start,
        Err(refusal) => return find_earlier_answer(mailer, asked, refusal).await,
    };
    // A campaign that passed the check has a step.
    let step = steps.first().ok_or(SendError::InternalError)?;
    let lease = match lease_send(mailer, asked, &campaign.campaign_id).await? {
        SendLeaseOutcome::New(lease) => lease,
        SendLeaseOutcome::Open(reserved) => {
            return settle_reserved(mailer, &reserved, Some(&campaign)).await;
        }
        SendLeaseOutcome::Finished(answer) => return Ok(answer),
    };
    fail_point::fail_if_chosen("send.claimed");
    let execution = SendExecution {
        mode: SendMode::Reserve(lease),
        campaign: &campaign,
        step,
        request: &request,
        scheduled_for,
        deadline_ms: incoming.deadline_ms,
    };
    match with_lease_renewal(mailer, lease, execute_send(mailer, &execution)).await {
        Ok(ReserveOutcome::Finished(response)) => Ok(SendAnswer::New(FinishedSend {
            response,
            cost_cents: 0,
        })),
        Ok(ReserveOutcome::Open(reserved)) => {
            fail_point::fail_if_chosen("send.reserved");
            settle_reserved(mailer, &reserved, Some(&campaign)).await
        }
        Err(error) => Err(release_failed(mailer, lease, error).await),
    }
}

impl IncomingSend {
    /// The sender's key with what the request asks for.
    fn send_key(&self) -> Result<Option<SendIdempotencyKey<'_>>, SendError> {
        let Some(key) = &self.idempotency_key else {
            return Ok(None);
        };
        let hash = tokio::task::block_in_place(|| hash_request(&self.body))?;
        Ok(Some(SendIdempotencyKey { key, hash }))
    }
}

/// The answer that the request's key stands for, before anybody asks how the campaign is doing by now: what was mailed
/// was mailed.
async fn find_answer_by_key(
    mailer: &MailerState,
    incoming: &IncomingSend,
    key: Option<SendIdempotencyKey<'_>>,
) -> Result<Option<Bytes>, SendError> {
    let Some(key) = key else { return Ok(None) };
    mailer
        .process
        .store
        .find_response_by_key(incoming.team_id, key)
        .await
        .map_err(internal_error)
}

/// What a request asks, read.
#[derive(Clone, Copy)]
struct ParsedSend<'a> {
    incoming: &'a IncomingSend,
    request: &'a SendRequest<'a>,
    key: Option<SendIdempotencyKey<'a>>,
}

/// The answer to a request that its campaign refuses by now: what an equal one was answered within its 15 minutes, or is
/// about to be, stands whatever became of the campaign and its designs meanwhile. Else the refusal.
async fn find_earlier_answer(
    mailer: &MailerState,
    asked: ParsedSend<'_>,
    refusal: SendError,
) -> Result<SendAnswer, SendError> {
    let Some(campaign_id) = &asked.request.campaign_id else {
        return Err(refusal);
    };
    match lease_or_find(mailer, asked, campaign_id, NewSendPolicy::LeaveAlone).await? {
        Some(SendLeaseOutcome::Finished(answer)) => Ok(answer),
        Some(SendLeaseOutcome::Open(reserved)) => {
            // Paused or not: its later steps are planned with the charge.
            let store = &mailer.process.store;
            let campaign = store
                .find_campaign(asked.incoming.team_id, &reserved.campaign_id)
                .await
                .map_err(internal_error)?;
            settle_reserved(mailer, &reserved, campaign.as_ref()).await
        }
        Some(SendLeaseOutcome::New(_)) | None => Err(refusal),
    }
}

/// The campaign that a request goes to, when it may take so many recipients.
pub(crate) async fn load_campaign(
    mailer: &MailerState,
    team_id: TeamId,
    request: &SendRequest<'_>,
) -> Result<Campaign, SendError> {
    let campaign_id = request
        .campaign_id
        .as_ref()
        .ok_or(SendError::CampaignNotFound)?;
    tracing::Span::current().record("campaign_id", campaign_id.as_str());
    let campaign = mailer
        .process
        .store
        .find_campaign(team_id, campaign_id)
        .await
        .map_err(internal_error)?;
    let campaign = campaign.ok_or(SendError::CampaignNotFound)?;
    check_centers(&campaign, request.recipients.len())?;
    Ok(campaign)
}

/// The steps of a campaign that can mail, with their designs.
pub(crate) async fn load_steps<'c>(
    mailer: &MailerState,
    campaign: &'c Campaign,
) -> Result<Vec<StepRules<'c>>, SendError> {
    let mut steps = check_campaign(campaign, &mailer.process.config, &mailer.designs)?;
    find_design_pictures(mailer, campaign.team_id, &mut steps).await?;
    Ok(steps)
}

/// The start of the day that the request wants. Errors: `invalid_payload` for one that is past or too far ahead.
pub(crate) fn schedule_request(
    mailer: &MailerState,
    campaign: &Campaign,
    request: &SendRequest<'_>,
) -> Result<Option<DateTime<Utc>>, SendError> {
    let Some(send_on) = request.send_on else {
        return Ok(None);
    };
    schedule_start(send_on, campaign.time_zone, mailer.process.clock.now())
        .map_err(SendError::InvalidPayload)
}

async fn settle_reserved(
    mailer: &MailerState,
    reserved: &ReservedSend,
    campaign: Option<&Campaign>,
) -> Result<SendAnswer, SendError> {
    let settled = with_lease_renewal(
        mailer,
        reserved.lease,
        settle_send(mailer, reserved, campaign),
    )
    .await;
    settled
        .map(SendAnswer::New)
        .map_err(|error| to_send_error(&error))
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

pub(crate) fn internal_error(error: StoreError) -> SendError {
    tracing::error!(error = &error as &dyn Error, "the database failed");
    SendError::InternalError
}

/// What a claim gave.
enum SendLeaseOutcome {
    /// The request is ours to do.
    New(SendLease),
    /// It was reserved by a worker that is gone, and is ours to finish.
    Open(ReservedSend),
    /// It is answered.
    Finished(SendAnswer),
}

/// Whether a request that is new begins.
#[derive(Clone, Copy)]
enum NewSendPolicy {
    Begin,
    LeaveAlone,
}

/// Claims the request; waits while it, or an equal one, is worked on elsewhere.
async fn lease_send(
    mailer: &MailerState,
    asked: ParsedSend<'_>,
    campaign_id: &CampaignId,
) -> Result<SendLeaseOutcome, SendError> {
    lease_or_find(mailer, asked, campaign_id, NewSendPolicy::Begin)
        .await?
        .ok_or(SendError::InternalError)
}

/// Looks until the request is ours, or answered, or nothing of it stands. Between two looks its slot is another's; it has one
/// again before it looks, because nobody renews the lease of a request that is claimed and waits for a slot.
async fn lease_or_find(
    mailer: &MailerState,
    asked: ParsedSend<'_>,
    campaign_id: &CampaignId,
    if_new: NewSendPolicy,
) -> Result<Option<SendLeaseOutcome>, SendError> {
    let (store, settings) = (&mailer.process.store, &mailer.process.config.mailer);
    let ParsedSend {
        incoming,
        request,
        key,
    } = asked;
    let fingerprint = fingerprint_request(campaign_id, &request.recipients);
    let lease = SendLease {
        send_id: incoming.request_id,
        team_id: incoming.team_id,
        lease_id: Uuid::now_v7(),
    };
    let mut pause = FIRST_LOOK;
    loop {
        let now = mailer.process.clock.now();
        if now.timestamp_millis() > incoming.deadline_ms {
            // Nobody waits any more; a request that has not begun does not begin now.
            return Err(SendError::DeadlinePassed);
        }
        let new = NewSend {
            lease,
            campaign_id,
            fingerprint: &fingerprint,
            key,
            replay_since: now - TimeDelta::minutes(settings.replay_window_minutes),
            now,
            leased_until: now + TimeDelta::milliseconds(settings.lease_ms),
        };
        let claim = match if_new {
            NewSendPolicy::Begin => store.claim_send(new).await.map(Some),
            NewSendPolicy::LeaveAlone => store.resume_send(new).await,
        };
        match claim.map_err(internal_error)? {
            None => return Ok(None),
            Some(SendClaim::New(lease)) => return Ok(Some(SendLeaseOutcome::New(lease))),
            Some(SendClaim::Resumed(reserved)) => {
                return Ok(Some(SendLeaseOutcome::Open(reserved)));
            }
            Some(SendClaim::Finished { send_id, finished }) if send_id == incoming.request_id => {
                return Ok(Some(SendLeaseOutcome::Finished(SendAnswer::New(finished))));
            }
            Some(SendClaim::Finished { finished, .. }) => {
                return Ok(Some(SendLeaseOutcome::Finished(SendAnswer::Replayed(
                    finished.response,
                ))));
            }
            Some(SendClaim::InProgress) => return Err(SendError::InProgress),
            Some(SendClaim::KeyReused) => return Err(SendError::IdempotencyKeyReused),
            Some(SendClaim::Running(other)) => {
                mailer.wait_without_slot(tokio::time::sleep(pause)).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
                if key.is_some() {
                    // The next claim finds the answer, and writes down that the key stands for it.
                    continue;
                }
                // Whoever waited for a request gets its answer, also when it mailed nobody.
                let finished = store
                    .find_send_response(incoming.team_id, other)
                    .await
                    .map_err(internal_error)?;
                if let Some(finished) = finished {
                    return Ok(Some(SendLeaseOutcome::Finished(SendAnswer::Replayed(
                        finished.response,
                    ))));
                }
            }
        }
    }
}

/// Gives up a request that did not take effect, so that a repeat begins anew. Where that is not certain, because the
/// connection went while it was being committed, the request stays as it is, and the sender is told so.
async fn release_failed(mailer: &MailerState, lease: SendLease, error: ReserveError) -> SendError {
    let error = match error {
        ReserveError::Refused(error) => error,
        ReserveError::Store(StoreError::Unavailable(error)) => {
            tracing::error!(
                error = &error as &dyn Error,
                "lost the database while reserving"
            );
            return SendError::DeadlinePassed;
        }
        ReserveError::Store(StoreError::LeaseLost) => return SendError::DeadlinePassed,
        ReserveError::Store(error) => internal_error(error),
    };
    if let Err(error) = mailer.process.store.release_send(lease).await {
        tracing::warn!(
            error = &error as &dyn Error,
            "a failed request keeps its claim until the lease runs out"
        );
    }
    error
}
