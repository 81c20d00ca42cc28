//! Top-ups: the team says what it will send and gets a reference; the operator books what has arrived.

use axum::Form;
use axum::extract::rejection::{FormRejection, PathRejection};
use axum::extract::{Path, State};
use axum::response::Response;
use contract::id::TopUpRequestId;
use contract::money::Money;
use secret::random_reference;
use serde::Deserialize;
use store::StoreError;

use super::{LedgerQuery, PART, Typed, billing_page};
use crate::Console;
use crate::access::Person;
use crate::answer::{Notice, done, refused};
use crate::failure::Failure;

#[derive(Deserialize)]
pub(super) struct TopUpForm {
    amount: String,
}

/// Asks for a top-up.
pub(super) async fn ask(
    State(console): State<Console>,
    person: Person,
    form: Result<Form<TopUpForm>, FormRejection>,
) -> Result<Response, Failure> {
    let Form(TopUpForm { amount: typed }) = form?;
    let added = match typed.parse::<Money>() {
        Ok(amount) => add(&console, &person, amount).await,
        Err(reason) => Err(StoreError::Limit(format!("the amount {reason}"))),
    };
    match added {
        Ok(()) => Ok(done(PART, Notice::TopUpAsked)),
        Err(StoreError::Limit(reason)) => {
            let problem = Some(format!("Not asked for: {reason}."));
            let typed = Typed { notice: None, amount: typed, problem };
            let query = LedgerQuery { kind: None, before: None };
            Ok(refused(&billing_page(&console, &person, query, typed).await?))
        }
        Err(error) => Err(error.into()),
    }
}

async fn add(console: &Console, person: &Person, amount: Money) -> store::Result<()> {
    let (reference, now) = (random_reference(), console.process.clock.now());
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin().await?;
    transaction.top_up_request_add(person.0.team_id, amount.cents(), &reference, &person.0.name, now).await?;
    let subject = format!("{amount}, {reference}");
    transaction.activity_add(&person.0, "top_up.requested", &subject, now).await?;
    transaction.commit().await
}

/// Withdraws a top-up that is not booked yet.
pub(super) async fn withdraw(
    State(console): State<Console>,
    person: Person,
    path: Result<Path<TopUpRequestId>, PathRejection>,
) -> Result<Response, Failure> {
    let Path(request_id) = path?;
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin().await?;
    let reference = transaction.top_up_request_withdraw(person.0.team_id, request_id).await?;
    let now = console.process.clock.now();
    transaction.activity_add(&person.0, "top_up.withdrawn", &reference, now).await?;
    transaction.commit().await?;
    Ok(done(PART, Notice::TopUpWithdrawn))
}
