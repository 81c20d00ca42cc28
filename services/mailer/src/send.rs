//! A send request from its body to its answer.

use std::time::Duration;

use bytes::Bytes;
use chrono::TimeDelta;
use contract::id::{CampaignId, RequestId, TeamId};
use contract::limits::CENTERS_PER_REQUEST;
use contract::send::{SendError, fingerprint, parse};
use service::fail_point;
use store::{Campaign, Claim, Lease, ReservedSend, StoreError};
use uuid::Uuid;

use crate::Mailer;
use crate::cards::find_design_pictures;
use crate::lease::while_held;
use crate::reserve::{ReserveError, Reserved};
use crate::rules::check_campaign;
use crate::settle::{settle_send, unsettled};
use crate::take_effect::{Taking, take_effect};

/// How often a request that waits for an equal one looks for its answer.
const WAIT_INTERVAL: Duration = Duration::from_millis(50);

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
    let mut steps = check_campaign(&campaign, &mailer.process.config, &mailer.designs)?;
    find_design_pictures(mailer, campaign.team_id, &mut steps).await?;
    // A campaign that passed the check has a step.
    let step = steps.first().ok_or(SendError::InternalError)?;
    let fingerprint = fingerprint(campaign_id, &request.recipients);
    let lease = match claim(mailer, &incoming, campaign_id, &fingerprint).await? {
        Held::New(lease) => lease,
        Held::Open(reserved) => return settle(mailer, &reserved, &campaign).await,
        Held::Finished(response) => return Ok(response),
    };
    fail_point::pass("send.claimed");
    let taking =
        Taking { lease, campaign: &campaign, step, request: &request, deadline_ms: incoming.deadline_ms };
    match while_held(mailer, lease, take_effect(mailer, &taking)).await {
        Ok(Reserved::Finished(response)) => Ok(response),
        Ok(Reserved::Open(reserved)) => {
            fail_point::pass("send.reserved");
            settle(mailer, &reserved, &campaign).await
        }
        Err(error) => Err(fail(mailer, lease, error).await),
    }
}

async fn settle(mailer: &Mailer, reserved: &ReservedSend, campaign: &Campaign) -> Result<Bytes, SendError> {
    let settled = while_held(mailer, reserved.lease, settle_send(mailer, reserved, Some(campaign))).await;
    settled.map_err(|error| unsettled(&error))
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
    };
    if let Err(error) = mailer.process.store.send_release(lease).await {
        tracing::warn!(%error, "a failed request keeps its claim until the lease runs out");
    }
    error
}
