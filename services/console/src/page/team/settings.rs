//! Settings of the team as a whole.

use accounts::TeamSetting;
use axum::Form;
use axum::response::Response;
use serde::Deserialize;

use super::PART;
use crate::extract::{FormResult, MemberContext};
use crate::notice::{ActionNotice, redirect_with_notice};
use crate::page_error::PageResult;

/// Whether `Idempotency-Key` is honoured on sends.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum IdempotencyKeys {
    Honoured,
    Ignored,
}

#[derive(Deserialize)]
pub(crate) struct IdempotencyKeysForm {
    idempotency_keys: IdempotencyKeys,
}

/// How Formulas only keys see people of the address book.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum People {
    Shown,
    Masked,
}

#[derive(Deserialize)]
pub(crate) struct FormulaKeysForm {
    people: People,
}

/// Has `Idempotency-Key` honoured on the team's sends, or not.
pub(crate) async fn set_idempotency_keys(
    context: MemberContext,
    form: FormResult<IdempotencyKeysForm>,
) -> PageResult {
    let Form(IdempotencyKeysForm { idempotency_keys }) = form?;
    let (is_honoured, notice) = match idempotency_keys {
        IdempotencyKeys::Honoured => (true, ActionNotice::KeysHonoured),
        IdempotencyKeys::Ignored => (false, ActionNotice::KeysIgnored),
    };
    let (store, now) = (context.store(), context.now());
    let actor = context.actor();
    let is_changed = accounts::change_team_setting(
        store,
        actor,
        context.team_id(),
        TeamSetting::IdempotencyKeys(is_honoured),
        now,
    )
    .await?;
    Ok(back_to_team(is_changed, notice))
}

/// Back to the page, which says what was done.
fn back_to_team(is_changed: bool, notice: ActionNotice) -> Response {
    let notice = if is_changed {
        notice
    } else {
        ActionNotice::NothingChanged
    };
    redirect_with_notice(PART, notice)
}

/// Lets Formulas only keys see people of the address book as they are, or masked.
pub(crate) async fn set_formula_keys(
    context: MemberContext,
    form: FormResult<FormulaKeysForm>,
) -> PageResult {
    let Form(FormulaKeysForm { people }) = form?;
    let (see_people, notice) = match people {
        People::Shown => (true, ActionNotice::PeopleShown),
        People::Masked => (false, ActionNotice::PeopleMasked),
    };
    let (store, now) = (context.store(), context.now());
    let actor = context.actor();
    let is_changed = accounts::change_team_setting(
        store,
        actor,
        context.team_id(),
        TeamSetting::FormulaKeysSeePeople(see_people),
        now,
    )
    .await?;
    Ok(back_to_team(is_changed, notice))
}
