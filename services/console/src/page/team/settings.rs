//! Settings of the team as a whole.

use accounts::TeamSetting;
use axum::Form;
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
    change_setting(&context, TeamSetting::IdempotencyKeys(is_honoured), notice).await
}

/// Changes a setting and leads back to the page, which says what was done.
async fn change_setting(
    context: &MemberContext,
    setting: TeamSetting,
    notice: ActionNotice,
) -> PageResult {
    let (store, actor, now) = (context.store(), context.actor(), context.now());
    let is_changed =
        accounts::change_team_setting(store, actor, context.team_id(), setting, now).await?;
    let notice = if is_changed {
        notice
    } else {
        ActionNotice::NothingChanged
    };
    Ok(redirect_with_notice(PART, notice))
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
    change_setting(
        &context,
        TeamSetting::FormulaKeysSeePeople(see_people),
        notice,
    )
    .await
}
