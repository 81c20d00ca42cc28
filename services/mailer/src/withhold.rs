//! Mailpieces that somebody does not want printed, or not now: orders of the gateway, on the queue of sends.

use bytes::Bytes;
use contract::withhold::{
    CampaignHoldAnswer, CancelledMailpiece, CancelledMailpieces, CancelledState, WithholdError,
};
use mailpieces::{CancelMailpiecesError, MAILPIECES_PER_ORDER, cancel_mailpieces};
use messages::{
    CANCEL_MAILPIECES_V1, CancelOrder, HOLD_CAMPAIGN_V1, HoldOrder, REPLY_ERROR, REPLY_OK,
};
use model::id::TeamId;
use queue::{QueueCall, QueueReply};
use runtime::Process;
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::{Actor, CampaignHold, StoreError, retry_conflicts};

/// What the history of a mailpiece calls whoever has the team's key.
const SOURCE: &str = "api";

/// Answers an order; `None` for a call of another kind.
pub(crate) async fn answer_order(process: &Process, call: &QueueCall) -> Option<QueueReply> {
    let answered = match call.kind.as_str() {
        CANCEL_MAILPIECES_V1 => cancel_ordered(process, call).await,
        HOLD_CAMPAIGN_V1 => hold_ordered(process, call).await,
        _ => return None,
    };
    Some(match answered {
        Ok(body) => QueueReply::new(REPLY_OK, body),
        Err(error) => QueueReply::new(REPLY_ERROR, to_bytes(&error)),
    })
}

async fn cancel_ordered(process: &Process, call: &QueueCall) -> Result<Bytes, WithholdError> {
    let order: CancelOrder = read_order(process, call)?;
    let (store, now) = (&process.store, process.clock.now());
    let counts = cancel_mailpieces(store, TeamId(call.team), &order, SOURCE, now)
        .await
        .map_err(to_withhold_error)?;
    match order {
        CancelOrder::Mailpiece { mailpiece_id } if counts.cancelled == 1 => {
            Ok(to_bytes(&CancelledMailpiece {
                id: mailpiece_id,
                state: CancelledState::Cancelled,
                refunded_cents: counts.refunded_cents,
            }))
        }
        CancelOrder::Mailpiece { .. } if counts.printed == 1 => Err(WithholdError::AlreadyPrinted),
        // Its charge was declined meanwhile.
        CancelOrder::Mailpiece { .. } => Err(WithholdError::MailpieceNotFound),
        CancelOrder::Request { .. } | CancelOrder::Reference { .. } => {
            Ok(to_bytes(&CancelledMailpieces {
                cancelled: counts.cancelled,
                already_printed: counts.printed,
                refunded_cents: counts.refunded_cents,
            }))
        }
    }
}

async fn hold_ordered(process: &Process, call: &QueueCall) -> Result<Bytes, WithholdError> {
    let order: HoldOrder = read_order(process, call)?;
    let held = retry_conflicts(|| hold_in_transaction(process, TeamId(call.team), &order)).await;
    match held {
        Ok(hold) => Ok(to_bytes(&CampaignHoldAnswer {
            campaign_id: order.campaign_id.into(),
            held_at: hold.held_at,
        })),
        Err(StoreError::NotFound(_)) => Err(WithholdError::CampaignNotFound),
        Err(error) => Err(to_internal_error(error)),
    }
}

async fn hold_in_transaction(
    process: &Process,
    team_id: TeamId,
    order: &HoldOrder,
) -> store::Result<CampaignHold> {
    let mut connection = process.store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let name = transaction.find_api_key_name(order.key_id).await?;
    let actor = Actor::KeyHolder {
        key_id: order.key_id,
        name: &name,
    };
    let change = (&order.campaign_id, order.is_held);
    let now = process.clock.now();
    let hold =
        campaigns::set_campaign_held_within(&transaction, actor, team_id, change, now).await?;
    transaction.commit().await?;
    Ok(hold)
}

/// Reads an order that somebody still waits for; what has not begun in time does not begin.
fn read_order<T: DeserializeOwned>(
    process: &Process,
    call: &QueueCall,
) -> Result<T, WithholdError> {
    if process.clock.now().timestamp_millis() > call.deadline_ms {
        return Err(WithholdError::DeadlinePassed);
    }
    serde_json::from_slice(&call.body).map_err(|error| {
        tracing::error!(
            error = &error as &dyn std::error::Error,
            "an order cannot be read"
        );
        WithholdError::InternalError
    })
}

fn to_withhold_error(error: CancelMailpiecesError) -> WithholdError {
    match error {
        CancelMailpiecesError::MailpieceNotFound => WithholdError::MailpieceNotFound,
        CancelMailpiecesError::RequestNotFound => WithholdError::RequestNotFound,
        CancelMailpiecesError::CampaignNotFound => WithholdError::CampaignNotFound,
        CancelMailpiecesError::InProgress => WithholdError::InProgress,
        CancelMailpiecesError::TooMany => WithholdError::PayloadTooLarge(format!(
            "More than {MAILPIECES_PER_ORDER} mailpieces have this reference: cancel by request or one by one."
        )),
        CancelMailpiecesError::Store(error) => to_internal_error(error),
    }
}

fn to_internal_error(error: StoreError) -> WithholdError {
    tracing::error!(error = &error as &dyn std::error::Error, "an order failed");
    WithholdError::InternalError
}

fn to_bytes(answer: &impl Serialize) -> Bytes {
    // Ids, numbers and texts can always be written.
    serde_json::to_vec(answer)
        .map(Bytes::from)
        .unwrap_or_default()
}
