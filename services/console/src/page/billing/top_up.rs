//! Top-ups: the team says what it will send and gets a reference; the operator books what has arrived.

use accounts::{request_top_up, withdraw_top_up};
use axum::Form;
use axum::extract::rejection::{FormRejection, PathRejection};
use axum::extract::{Path, State};
use axum::response::Response;
use model::id::TopUpRequestId;
use model::money::Money;
use serde::Deserialize;
use store::{Actor, StoreError, TopUpRequestState};

use super::{BillingPageState, LedgerQuery, PART, REQUESTS, billing_page};
use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::answer::{ActionNotice, done, refused};
use crate::failure::PageError;

#[derive(Deserialize)]
pub(super) struct TopUpForm {
    amount: String,
}

/// Asks for a top-up.
pub(super) async fn ask(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    form: Result<Form<TopUpForm>, FormRejection>,
) -> Result<Response, PageError> {
    let Form(TopUpForm { amount: typed }) = form?;
    let added = match typed.parse::<Money>() {
        Ok(amount) => {
            let (store, now) = (&console.process.store, console.process.clock.now());
            let actor = Actor::Member(&person.0);
            request_top_up(store, actor, person.0.team_id, amount, now).await
        }
        Err(reason) => Err(StoreError::Limit(format!("the amount {reason}"))),
    };
    match added {
        Ok(()) => Ok(done(PART, ActionNotice::TopUpAsked)),
        Err(StoreError::Limit(reason)) => {
            let problem = Some(format!("Not asked for: {reason}."));
            let typed = BillingPageState {
                notice: None,
                amount: typed,
                problem,
            };
            let query = LedgerQuery {
                kind: None,
                before: None,
            };
            Ok(refused(
                &billing_page(&console, &person, query, typed).await?,
            ))
        }
        Err(error) => Err(error.into()),
    }
}

/// Withdraws a top-up that is not booked yet.
pub(super) async fn withdraw(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: Result<Path<TopUpRequestId>, PathRejection>,
) -> Result<Response, PageError> {
    let Path(request_id) = path?;
    let (store, now) = (&console.process.store, console.process.clock.now());
    let actor = Actor::Member(&person.0);
    match withdraw_top_up(store, actor, person.0.team_id, request_id, now).await {
        Ok(()) => Ok(done(PART, ActionNotice::TopUpWithdrawn)),
        Err(StoreError::NotFound(_)) => withdrawn_before(&console, &person, request_id).await,
        Err(error) => Err(error.into()),
    }
}

/// Says what became of a top-up that is not open any more; one that is too old to be shown, or another team's, is not found.
async fn withdrawn_before(
    console: &ConsoleState,
    person: &CurrentMember,
    request_id: TopUpRequestId,
) -> Result<Response, PageError> {
    let requests = console
        .process
        .store
        .list_top_ups(person.0.team_id, REQUESTS)
        .await?;
    let request = requests
        .iter()
        .find(|request| request.request_id == request_id);
    match request.map(|request| &request.state) {
        Some(TopUpRequestState::Booked) => Ok(done(PART, ActionNotice::TopUpBookedBefore)),
        Some(TopUpRequestState::Withdrawn) => Ok(done(PART, ActionNotice::TopUpWithdrawnBefore)),
        Some(TopUpRequestState::Open) | None => Err(PageError::NotFound),
    }
}
