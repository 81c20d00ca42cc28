//! Settings of the team as a whole.

use accounts::TeamSetting;
use axum::Form;
use axum::extract::State;
use axum::extract::rejection::FormRejection;
use axum::response::Response;
use serde::Deserialize;
use store::Actor;

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
    let (is_honoured, notice) = match idempotency_keys {
        IdempotencyKeys::Honoured => (true, ActionNotice::KeysHonoured),
        IdempotencyKeys::Ignored => (false, ActionNotice::KeysIgnored),
    };
    let (store, now) = (&console.process.store, console.process.clock.now());
    let actor = Actor::Member(&person.0);
    let setting = TeamSetting::IdempotencyKeys(is_honoured);
    let is_changed =
        accounts::change_team_setting(store, actor, person.0.team_id, setting, now).await?;
    Ok(back(is_changed, notice))
}

/// Back to the page, which says what was done.
fn back(is_changed: bool, notice: ActionNotice) -> Response {
    let notice = if is_changed {
        notice
    } else {
        ActionNotice::NothingChanged
    };
    done(PART, notice)
}

/// Lets Formulas only keys see people of the address book as they are, or masked.
pub(super) async fn set_formula_keys(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    form: Result<Form<FormulaKeysForm>, FormRejection>,
) -> Result<Response, PageError> {
    let Form(FormulaKeysForm { people }) = form?;
    let (see_people, notice) = match people {
        People::Shown => (true, ActionNotice::PeopleShown),
        People::Masked => (false, ActionNotice::PeopleMasked),
    };
    let (store, now) = (&console.process.store, console.process.clock.now());
    let actor = Actor::Member(&person.0);
    let setting = TeamSetting::FormulaKeysSeePeople(see_people);
    let is_changed =
        accounts::change_team_setting(store, actor, person.0.team_id, setting, now).await?;
    Ok(back(is_changed, notice))
}
