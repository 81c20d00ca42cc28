//! Top-ups: the team says what it will send and gets a reference; the operator books what has arrived.

use accounts::{request_top_up, withdraw_top_up};
use axum::Form;
use model::id::TopUpRequestId;
use model::money::Money;
use serde::Deserialize;
use store::{StoreError, TopUpRequestState};

use super::{BillingPageState, LedgerQuery, PART, REQUESTS, billing_page};
use crate::extract::{FormResult, MemberContext, PagePath};
use crate::notice::{ActionNotice, redirect_with_notice};
use crate::page_error::{PageError, PageResult};
use crate::render::render_refusal;

#[derive(Deserialize)]
pub(crate) struct TopUpForm {
    amount: String,
}

/// Asks for a top-up.
pub(crate) async fn ask_for_top_up(
    context: MemberContext,
    form: FormResult<TopUpForm>,
) -> PageResult {
    let Form(TopUpForm { amount: typed }) = form?;
    let added = match typed.parse::<Money>() {
        Ok(amount) => {
            let (store, now) = (context.store(), context.now());
            let actor = context.actor();
            request_top_up(store, actor, context.team_id(), amount, now).await
        }
        Err(reason) => Err(StoreError::Limit(format!("the amount {reason}"))),
    };
    match added {
        Ok(()) => Ok(redirect_with_notice(PART, ActionNotice::TopUpAsked)),
        Err(StoreError::Limit(reason)) => {
            let problem = Some(format!("Not asked for: {reason}."));
            let typed = BillingPageState {
                amount: typed,
                problem,
            };
            let query = LedgerQuery {
                kind: None,
                before: None,
            };
            Ok(render_refusal(&billing_page(&context, query, typed).await?))
        }
        Err(error) => Err(error.into()),
    }
}

/// Withdraws a top-up that is not booked yet.
pub(crate) async fn withdraw_request(
    context: MemberContext,
    PagePath(request_id): PagePath<TopUpRequestId>,
) -> PageResult {
    let (store, now) = (context.store(), context.now());
    let actor = context.actor();
    match withdraw_top_up(store, actor, context.team_id(), request_id, now).await {
        Ok(()) => Ok(redirect_with_notice(PART, ActionNotice::TopUpWithdrawn)),
        Err(StoreError::NotFound(_)) => withdrawn_before(&context, request_id).await,
        Err(error) => Err(error.into()),
    }
}

/// Says what became of a top-up that is not open any more; one that is too old to be shown, or another team's, is not found.
async fn withdrawn_before(context: &MemberContext, request_id: TopUpRequestId) -> PageResult {
    let requests = context
        .store()
        .list_top_ups(context.team_id(), REQUESTS)
        .await?;
    let request = requests
        .iter()
        .find(|request| request.request_id == request_id);
    match request.map(|request| &request.state) {
        Some(TopUpRequestState::Booked) => {
            Ok(redirect_with_notice(PART, ActionNotice::TopUpBookedBefore))
        }
        Some(TopUpRequestState::Withdrawn) => Ok(redirect_with_notice(
            PART,
            ActionNotice::TopUpWithdrawnBefore,
        )),
        Some(TopUpRequestState::Open) | None => Err(PageError::NotFound),
    }
}
