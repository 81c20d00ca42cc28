//! Closing a charge: take the payment, then in one transaction settle or decline it, with everything that hangs
//! on it. Whoever finds an open charge does the same: the payment carries the charge's id, so it is taken once.

use std::error::Error;

use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use contract::send::{NotMailedReason, SendError, SendResponse, write_response};
use model::id::ChargeId;
use model::limits::RESPONSE_BYTES;
use runtime::fail_point;
use store::{
    Campaign, CampaignFigure, Charge, FinishedSend, JobLease, PaymentKind, ReservedSend,
    StepJobPlan, StoreError, Transaction, retry_conflicts,
};
use tracing::Span;

use crate::MailerState;
use crate::payment::{PaymentOutcome, PaymentUncertainError, count_charge};

/// Why a charge could not be closed. It stays open and is tried again.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettleError {
    /// The payment provider gave no answer that counts.
    #[error(transparent)]
    Payment(#[from] PaymentUncertainError),
    /// The database failed, or another worker has closed it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Closes a send's charge and returns the answer.
pub(crate) async fn settle_send(
    mailer: &MailerState,
    reserved: &ReservedSend,
    campaign: Option<&Campaign>,
) -> Result<FinishedSend, SettleError> {
    let store = &mailer.process.store;
    let charge = store
        .find_charge(reserved.lease.team_id, ChargeId(reserved.lease.send_id.0))
        .await?;
    let payment = take_payment(mailer, &charge).await?;
    fail_point::fail_if_chosen("send.charged");
    let replacement = corrected_response(reserved, &payment).map_err(StoreError::from)?;
    let now = mailer.process.clock.now();
    let cost_cents = if payment.is_paid() {
        charge.amount_cents
    } else {
        0
    };
    let close = ChargeClosing {
        charge: &charge,
        payment: &payment,
        campaign,
        declined_to: NotMailedReason::PaymentFailed,
        now,
    };
    retry_conflicts(|| async {
        let mut connection = store.connection().await?;
        let transaction = connection.begin_transaction().await?;
        close_charge(&transaction, &close).await?;
        let stored = replacement
            .as_ref()
            .map(|(body, mailed)| (&body[..], *mailed));
        transaction
            .complete_send(reserved.lease, stored, cost_cents, now)
            .await?;
        transaction.commit().await
    })
    .await?;
    count_closed(&charge, &payment);
    fail_point::fail_if_chosen("send.settled");
    let response =
        replacement.map_or_else(|| reserved.response.clone(), |(body, _)| Bytes::from(body));
    Ok(FinishedSend {
        response,
        cost_cents,
    })
}

/// The answer and its count of mailed recipients, where they differ from what was stored as if the charge succeeds:
/// after a decline, and when the whole answer is larger than a response may be.
fn corrected_response(
    reserved: &ReservedSend,
    payment: &PaymentOutcome,
) -> serde_json::Result<Option<(Vec<u8>, i32)>> {
    let is_paid = payment.is_paid();
    if is_paid && reserved.response.len() <= RESPONSE_BYTES {
        return Ok(None);
    }
    let whole: SendResponse = serde_json::from_slice(&reserved.response)?;
    let answer = if is_paid {
        whole
    } else {
        whole.into_declined(&reserved.copies)
    };
    Ok(Some((
        write_response(&answer)?,
        answer.summary.mailed as i32,
    )))
}

/// Closes the charge of a job's portion.
pub(crate) async fn settle_portion(
    mailer: &MailerState,
    lease: JobLease,
    charge_id: ChargeId,
    campaign: Option<&Campaign>,
    declined_to: NotMailedReason,
) -> Result<(), SettleError> {
    let store = &mailer.process.store;
    let charge = store.find_charge(lease.team_id, charge_id).await?;
    let payment = take_payment(mailer, &charge).await?;
    fail_point::fail_if_chosen("job.charged");
    let now = mailer.process.clock.now();
    let close = ChargeClosing {
        charge: &charge,
        payment: &payment,
        campaign,
        declined_to,
        now,
    };
    retry_conflicts(|| async {
        let mut connection = store.connection().await?;
        let transaction = connection.begin_transaction().await?;
        close_charge(&transaction, &close).await?;
        transaction.close_job_charge(lease).await?;
        transaction.commit().await
    })
    .await?;
    count_closed(&charge, &payment);
    Ok(())
}

/// Takes a charge's money. A payment provider may be slow; a balance is in the database.
async fn take_payment(
    mailer: &MailerState,
    charge: &Charge,
) -> Result<PaymentOutcome, PaymentUncertainError> {
    let paying = mailer.payments.charge(charge, mailer.process.clock.now());
    if charge.payment == PaymentKind::Balance {
        paying.await
    } else {
        mailer.wait_without_slot(paying).await
    }
}

/// What a charge is closed with.
struct ChargeClosing<'a> {
    charge: &'a Charge,
    payment: &'a PaymentOutcome,
    campaign: Option<&'a Campaign>,
    /// What the recipients become when it is declined.
    declined_to: NotMailedReason,
    now: DateTime<Utc>,
}

async fn close_charge(
    transaction: &Transaction<'_>,
    close: &ChargeClosing<'_>,
) -> Result<(), StoreError> {
    let Charge {
        charge_id,
        team_id,
        campaign_id,
        amount_cents,
        payment,
        ..
    } = close.charge;
    let closed = match close.payment {
        PaymentOutcome::Paid { reference } => {
            let closed = transaction
                .settle_charge(*team_id, *charge_id, reference.as_deref(), close.now)
                .await?;
            if *payment == PaymentKind::Stripe {
                transaction
                    .record_card_sale(*team_id, *charge_id, *amount_cents, close.now)
                    .await?;
            }
            let steps = plan_later_steps(close);
            transaction
                .plan_step_jobs(*team_id, campaign_id, *charge_id, &steps, close.now)
                .await?;
            closed
        }
        PaymentOutcome::Declined { detail } => {
            tracing::info!(%charge_id, detail, "a charge was declined");
            let closed = transaction.decline_charge(close.charge, close.now).await?;
            let declined = transaction
                .decline_recipients(*team_id, *charge_id, close.declined_to)
                .await?;
            revert_figures(transaction, close, declined).await?;
            closed
        }
    };
    if closed {
        Ok(())
    } else {
        Err(StoreError::LeaseLost)
    }
}

/// Takes what a declined charge was to pay for off the figures of the day on which it was made.
async fn revert_figures(
    transaction: &Transaction<'_>,
    close: &ChargeClosing<'_>,
    (mailed, copies): (i64, i64),
) -> Result<(), StoreError> {
    let Charge {
        team_id,
        charge_id,
        campaign_id,
        created_at,
        ..
    } = close.charge;
    let cards = transaction
        .count_charge_mailpieces(*team_id, *charge_id)
        .await?;
    let zone = close
        .campaign
        .map_or(Tz::UTC, |campaign| campaign.time_zone);
    let day = created_at.with_timezone(&zone).date_naive();
    let copied = CampaignFigure::NotMailed(NotMailedReason::DuplicateRecent);
    let mut figures = vec![
        (CampaignFigure::Cards, -cards),
        (CampaignFigure::Mailed, -mailed),
        (copied, -copies),
    ];
    // Those of a re-check were counted as waiting when they were sent.
    if close.declined_to != NotMailedReason::FilteredConditions {
        figures.push((
            CampaignFigure::NotMailed(close.declined_to),
            mailed + copies,
        ));
    }
    transaction
        .update_campaign_day(*team_id, campaign_id, day, &figures)
        .await
}

/// Counts a closed charge and its cards, and notes it on the current piece of work.
fn count_closed(charge: &Charge, payment: &PaymentOutcome) {
    let result = match payment {
        PaymentOutcome::Paid { .. } => "settled",
        PaymentOutcome::Declined { .. } => "declined",
    };
    let span = Span::current();
    span.record("charge", result);
    span.record("amount_cents", charge.amount_cents);
    count_charge(charge, result);
    if payment.is_paid() {
        let cards = u64::try_from(charge.mailpieces).unwrap_or(0);
        metrics::counter!("pillarbox_cards_total", "kind" => charge.kind.as_str()).increment(cards);
    }
}

/// The later steps of the campaign, counted from the day of step 1: when it was sent, or the later day that its sender wanted.
fn plan_later_steps(close: &ChargeClosing<'_>) -> Vec<StepJobPlan> {
    if close.charge.step != 1 {
        return Vec::new();
    }
    let begins_at = close
        .charge
        .scheduled_for
        .map_or(close.charge.created_at, |start| {
            start.max(close.charge.created_at)
        });
    let steps = close.campaign.map_or(&[][..], |campaign| &campaign.steps);
    steps
        .iter()
        .filter(|step| step.step > 1)
        .map(|step| StepJobPlan {
            step: step.step,
            due_at: begins_at + TimeDelta::days(step.delay_days.into()),
        })
        .collect()
}

/// What a sender is told when a charge could not be closed now: it will be, but nobody knows yet with what result.
pub(crate) fn to_send_error(error: &SettleError) -> SendError {
    tracing::error!(
        error = error as &dyn Error,
        "a charge stays open and is tried again"
    );
    SendError::DeadlinePassed
}
