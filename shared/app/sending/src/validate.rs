//! A dry run: everything that a send does until it would take effect. No row of the request is written, and nobody waits
//! for it. What it looks up elsewhere (addresses, pictures) is remembered as for every send.

use bytes::Bytes;
use contract::send::{
    SendError, SendPrice, SendResponse, SendValidation, parse_request, write_validation,
};
use store::{PaymentKind, StoreError};

use crate::MailerState;
use crate::execute::{SendExecution, SendMode, execute_send};
use crate::reserve::{
    ReserveError, ReserveOutcome, SendPlan, address_line, build_response, decide_recipients,
};
use crate::send::{IncomingSend, internal_error, load_campaign, load_steps, schedule_request};

/// Answers what would become of a request.
pub async fn validate_send(
    mailer: &MailerState,
    incoming: &IncomingSend,
) -> Result<Bytes, SendError> {
    if mailer.process.clock.now().timestamp_millis() > incoming.deadline_ms {
        // Nobody waits any more.
        return Err(SendError::InternalError);
    }
    let request = tokio::task::block_in_place(|| parse_request(&incoming.body))?;
    let campaign = load_campaign(mailer, incoming.team_id, &request).await?;
    let steps = load_steps(mailer, &campaign).await?;
    // A campaign that passed the check has a step.
    let step = steps.first().ok_or(SendError::InternalError)?;
    let deadline_ms = incoming.deadline_ms;
    let scheduled_for = schedule_request(mailer, &campaign, &request)?;
    let execution = SendExecution {
        mode: SendMode::DryRun,
        campaign: &campaign,
        step,
        request: &request,
        scheduled_for,
        deadline_ms,
    };
    match execute_send(mailer, &execution).await {
        Ok(ReserveOutcome::Finished(answer)) => Ok(answer),
        // A dry run reserves nothing.
        Ok(ReserveOutcome::Open(_)) => Err(SendError::InternalError),
        Err(ReserveError::Refused(error)) => Err(error),
        Err(ReserveError::Store(error)) => Err(internal_error(error)),
    }
}

/// What would come of the plan now: decided as when it is reserved, with the campaign as it stands and not held.
pub(crate) async fn dry_run(
    mailer: &MailerState,
    plan: &SendPlan<'_>,
) -> Result<Bytes, ReserveError> {
    let (store, campaign) = (&mailer.process.store, plan.campaign);
    let (decided, budget) = {
        let mut connection = store.connection().await?;
        let transaction = connection.begin_transaction().await?;
        let standing = transaction
            .read_campaign_unlocked(campaign.team_id, &campaign.campaign_id)
            .await?;
        let decided = decide_recipients(&transaction, plan, standing).await?;
        (decided, standing.budget_left_cents)
    };
    plan.price_cards(&decided).map_err(ReserveError::Refused)?;
    let balance = match campaign.payment {
        PaymentKind::Balance => Some(store.find_balance(campaign.team_id).await?),
        PaymentKind::Stripe => None,
    };
    let cards = decided.mailpiece_count();
    let price = SendPrice::of_cards(cards, plan.step.price_cents, balance, budget);
    let answer = tokio::task::block_in_place(|| {
        let addresses: Vec<String> = plan.assessed.iter().map(address_line).collect();
        let response: SendResponse = build_response(plan, &decided, &addresses);
        let response = if price.is_covered() {
            response
        } else {
            response.into_declined(&decided.copy_positions())
        };
        write_validation(&SendValidation::new(response, price))
    })
    .map_err(StoreError::from)?;
    Ok(Bytes::from(answer))
}
