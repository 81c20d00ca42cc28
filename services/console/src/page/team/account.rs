//! A person's own account.

use accounts::NewPassword;
use askama::Template;
use axum::Form;
use axum::http::HeaderMap;
use secret::{Password, SecretToken};
use serde::Deserialize;

use super::PART;
use crate::extract::{FormResult, MemberContext};
use crate::frame::PageFrame;
use crate::notice::{ActionNotice, redirect_with_notice};
use crate::page::sign_in::password_attempt::{
    PasswordAttempt, PasswordAttemptDecision, too_many_attempts,
};
use crate::page_error::{PageError, PageResult};
use crate::render::{render_page, render_refusal};
use crate::session::{session_hash, with_session};

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage {
    frame: PageFrame,
    email: String,
    role: &'static str,
    /// What is wrong with the present password, and with the new one.
    present_problem: Option<String>,
    new_problem: Option<String>,
}

fn account_page(context: &MemberContext) -> AccountPage {
    AccountPage {
        frame: context.frame(PART),
        email: context.member.email.clone(),
        role: context.member.role.as_str(),
        present_problem: None,
        new_problem: None,
    }
}

/// The page.
pub(crate) async fn show_account(context: MemberContext) -> PageResult {
    Ok(render_page(&account_page(&context)))
}

#[derive(Deserialize)]
pub(crate) struct ChangePasswordForm {
    present: String,
    new: String,
}

/// Changes one's own password. All sessions end; the browser at work gets another.
pub(crate) async fn change_password(
    context: MemberContext,
    headers: HeaderMap,
    form: FormResult<ChangePasswordForm>,
) -> PageResult {
    let Form(ChangePasswordForm { present, new }) = form?;
    let is_same = new == present;
    let new = match Password::choose(new, &context.member.email) {
        Ok(_) if is_same => Err("this is your present password".to_owned()),
        chosen => chosen,
    };
    let new = match new {
        Ok(new) => new,
        Err(reason) => {
            let new_problem = Some(format!("Not changed: {reason}."));
            return Ok(render_refusal(&AccountPage {
                new_problem,
                ..account_page(&context)
            }));
        }
    };
    // Wrong ones are counted: a session that was left open is no place to guess.
    let attempt =
        match PasswordAttempt::present_password(&context.console, context.member.user_id).await? {
            PasswordAttemptDecision::Yes(attempt) => attempt,
            PasswordAttemptDecision::In(seconds) => {
                return Ok(render_refusal(&AccountPage {
                    present_problem: Some(too_many_attempts(seconds)),
                    ..account_page(&context)
                }));
            }
        };
    let changed = replace_password(&context, (present, new), &headers).await;
    if !matches!(changed, Ok(None)) {
        attempt.take_back(&context.console).await?;
    }
    let Some(session) = changed? else {
        let present_problem = Some("This is not your present password.".to_owned());
        return Ok(render_refusal(&AccountPage {
            present_problem,
            ..account_page(&context)
        }));
    };
    let answer = redirect_with_notice("/account", ActionNotice::PasswordChanged);
    Ok(with_session(&context.console, Some(&session), answer))
}

/// Puts the new password in the place of the present one; `None` when that is not right, or has been changed or reset while
/// it was checked.
async fn replace_password(
    context: &MemberContext,
    (present, new): (String, Password),
    headers: &HeaderMap,
) -> Result<Option<SecretToken>, PageError> {
    let Some(account) = context
        .store()
        .find_credentials_by_email(&context.member.email)
        .await?
    else {
        return Ok(None);
    };
    if !context
        .console
        .passwords
        .password_matches(present, account.password_hash.clone())
        .await?
    {
        return Ok(None);
    }
    let hash = context.console.passwords.hash_password(new).await?;
    let replaced = session_hash(&context.console, headers);
    let new = NewPassword {
        hash: &hash,
        replaced_session: replaced.as_ref(),
    };
    let (store, now) = (context.store(), context.now());
    Ok(accounts::change_password(store, &context.member, &account, &new, now).await?)
}
