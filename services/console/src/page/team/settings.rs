//! Settings of the team as a whole.

use axum::Form;
use axum::extract::State;
use axum::extract::rejection::FormRejection;
use axum::response::Response;
use serde::Deserialize;

use super::PART;
use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::answer::{ActionNotice, done};
use crate::failure::PageError;

/// Whether `Idempotency-Key` is honoured on sends.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum IdempotencyKeys {
    Honoured,
    Ignored,
}

#[derive(Deserialize)]
pub(super) struct IdempotencyKeysForm {
    idempotency_keys: IdempotencyKeys,
}

/// How Formulas only keys see people of the address book.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum People {
    Shown,
    Masked,
}

#[derive(Deserialize)]
pub(super) struct FormulaKeysForm {
    people: People,
}

/// Has `Idempotency-Key` honoured on the team's sends, or not.
pub(super) async fn set_idempotency_keys(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    form: Result<Form<IdempotencyKeysForm>, FormRejection>,
) -> Result<Response, PageError> {
    let Form(IdempotencyKeysForm { idempotency_keys }) = form?;
    let (is_on, action, notice) = match idempotency_keys {
        IdempotencyKeys::Honoured => (true, "team.keys_honoured", ActionNotice::KeysHonoured),
        IdempotencyKeys::Ignored => (false, "team.keys_ignored", ActionNotice::KeysIgnored),
    };
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin().await?;
    if !transaction
        .team_honour_keys(person.0.team_id, is_on)
        .await?
    {
        return Ok(done(PART, ActionNotice::NothingChanged));
    }
    let now = console.process.clock.now();
    transaction.activity_add(&person.0, action, "", now).await?;
    transaction.commit().await?;
    Ok(done(PART, notice))
}

/// Lets Formulas only keys see people of the address book as they are, or masked.
pub(super) async fn set_formula_keys(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    form: Result<Form<FormulaKeysForm>, FormRejection>,
) -> Result<Response, PageError> {
    let Form(FormulaKeysForm { people }) = form?;
    let (is_on, action, notice) = match people {
        People::Shown => (true, "team.people_shown", ActionNotice::PeopleShown),
        People::Masked => (false, "team.people_masked", ActionNotice::PeopleMasked),
    };
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin().await?;
    if !transaction
        .formula_keys_show_people(person.0.team_id, is_on)
        .await?
    {
        return Ok(done(PART, ActionNotice::NothingChanged));
    }
    let now = console.process.clock.now();
    transaction.activity_add(&person.0, action, "", now).await?;
    transaction.commit().await?;
    Ok(done(PART, notice))
}
