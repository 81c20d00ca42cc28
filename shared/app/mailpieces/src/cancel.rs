//! Cancelling what an order names.

use chrono::{DateTime, Utc};
use messages::CancelOrder;
use model::id::{CampaignId, ChargeId, RequestId, TeamId};
use runtime::fail_point;
use store::{
    CancellationCounts, ChargeKind, ChargeState, MailpieceCancellation, SendStatus, Store,
    StoreError, Transaction, retry_conflicts,
};
use uuid::Uuid;

/// Mailpieces that one order cancels: the homes of the largest request.
pub const MAILPIECES_PER_ORDER: usize = 10_000;

/// Why nothing was cancelled.
#[derive(Debug, thiserror::Error)]
pub enum CancelMailpiecesError {
    /// The team has no such mailpiece.
    #[error("the team has no such mailpiece")]
    MailpieceNotFound,
    /// Nothing is known of such a request of the team.
    #[error("the team has no such request")]
    RequestNotFound,
    /// The team has no such campaign.
    #[error("the team has no such campaign")]
    CampaignNotFound,
    /// Some of the mailpieces are not paid for yet, or the request has no answer yet.
    #[error("the request is being worked on")]
    InProgress,
    /// The order names more than [`MAILPIECES_PER_ORDER`].
    #[error("more mailpieces than an order may name")]
    TooMany,
    /// The database could not be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Where the mailpieces of an order are looked for.
enum CancelScope<'a> {
    Mailpiece(Uuid),
    Charge(ChargeId),
    Reference(&'a str),
}

/// Cancels those of the mailpieces that an order names that are in no print run, and gives back what they cost. Returns how all that
/// it names stand afterwards, which is the same however often it is ordered.
///
/// # Errors
/// [`CancelMailpiecesError`]: nothing has changed then.
pub async fn cancel_mailpieces(
    store: &Store,
    team_id: TeamId,
    order: &CancelOrder,
    source: &str,
    now: DateTime<Utc>,
) -> Result<CancellationCounts, CancelMailpiecesError> {
    let (campaign_id, scope) = match order {
        CancelOrder::Mailpiece { mailpiece_id } => {
            let found = store
                .find_mailpiece_campaign(team_id, *mailpiece_id)
                .await?;
            let campaign_id = found.ok_or(CancelMailpiecesError::MailpieceNotFound)?;
            (campaign_id, CancelScope::Mailpiece(*mailpiece_id))
        }
        CancelOrder::Request { request_id } => {
            let Some(campaign_id) = find_paid_campaign(store, team_id, *request_id, now).await?
            else {
                // It is answered, and has mailed nobody.
                return Ok(CancellationCounts::default());
            };
            (campaign_id, CancelScope::Charge(ChargeId(request_id.0)))
        }
        CancelOrder::Reference {
            campaign_id,
            reference,
        } => (campaign_id.clone(), CancelScope::Reference(reference)),
    };
    let cancellation = MailpieceCancellation {
        team_id,
        campaign_id: &campaign_id,
        source,
    };
    let counts = retry_conflicts(|| cancel_once(store, cancellation, &scope, now)).await;
    match counts {
        Ok(Ok(counts)) => {
            fail_point::fail_if_chosen("cancel.committed");
            Ok(counts)
        }
        Ok(Err(refused)) => Err(refused),
        Err(StoreError::NotFound(_)) => Err(CancelMailpiecesError::CampaignNotFound),
        Err(error) => Err(error.into()),
    }
}

/// The campaign of a request whose charge is settled; `None` when the request has mailed nobody.
async fn find_paid_campaign(
    store: &Store,
    team_id: TeamId,
    request_id: RequestId,
    now: DateTime<Utc>,
) -> Result<Option<CampaignId>, CancelMailpiecesError> {
    // Before the charge: a request that is done has made its charge, if it makes one.
    let status = store.find_send_status(team_id, request_id, now).await?;
    match store.find_charge(team_id, ChargeId(request_id.0)).await {
        // Charges of later steps have ids that no request has.
        Ok(charge) if charge.kind != ChargeKind::Send => {
            Err(CancelMailpiecesError::RequestNotFound)
        }
        Ok(charge) => match charge.state {
            ChargeState::Settled => Ok(Some(charge.campaign_id)),
            ChargeState::Declined => Ok(None),
            ChargeState::Reserved => Err(CancelMailpiecesError::InProgress),
        },
        Err(StoreError::NotFound(_)) => match status {
            SendStatus::Done(_) => Ok(None),
            SendStatus::Running => Err(CancelMailpiecesError::InProgress),
            SendStatus::Unknown => Err(CancelMailpiecesError::RequestNotFound),
        },
        Err(error) => Err(error.into()),
    }
}

/// The transaction. What it refuses is inside, so that conflicts alone are tried again.
async fn cancel_once(
    store: &Store,
    cancellation: MailpieceCancellation<'_>,
    scope: &CancelScope<'_>,
    now: DateTime<Utc>,
) -> Result<Result<CancellationCounts, CancelMailpiecesError>, StoreError> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let (team_id, campaign_id) = (cancellation.team_id, cancellation.campaign_id);
    transaction.lock_campaign(team_id, campaign_id).await?;
    let mailpiece_ids = list_named(&transaction, cancellation, scope).await?;
    if mailpiece_ids.len() > MAILPIECES_PER_ORDER {
        return Ok(Err(CancelMailpiecesError::TooMany));
    }
    transaction
        .cancel_mailpieces(cancellation, &mailpiece_ids, now)
        .await?;
    let counts = transaction
        .count_cancellations(team_id, &mailpiece_ids)
        .await?;
    if counts.unpaid > 0 {
        // Rolled back: an answer that tells of some only would have to be asked for again, and nobody would.
        return Ok(Err(CancelMailpiecesError::InProgress));
    }
    transaction.commit().await?;
    Ok(Ok(counts))
}

async fn list_named(
    transaction: &Transaction<'_>,
    cancellation: MailpieceCancellation<'_>,
    scope: &CancelScope<'_>,
) -> Result<Vec<Uuid>, StoreError> {
    let MailpieceCancellation {
        team_id,
        campaign_id,
        ..
    } = cancellation;
    match scope {
        CancelScope::Mailpiece(mailpiece_id) => Ok(vec![*mailpiece_id]),
        CancelScope::Charge(charge_id) => {
            transaction
                .list_charge_mailpiece_ids(team_id, *charge_id)
                .await
        }
        CancelScope::Reference(reference) => {
            // One more than may be, to know whether there are more.
            let limit = MAILPIECES_PER_ORDER as i64 + 1;
            transaction
                .list_reference_mailpiece_ids(team_id, campaign_id, reference, limit)
                .await
        }
    }
}
