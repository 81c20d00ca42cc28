//! A person's own account.

use accounts::NewPassword;
use askama::Template;
use axum::Form;
use axum::extract::rejection::{FormRejection, QueryRejection};
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::http::header::SET_COOKIE;
use axum::response::{AppendHeaders, IntoResponse, Response};
use secret::{Password, SecretToken};
use serde::Deserialize;

use super::PART;
use crate::ConsoleState;
use crate::access::{CurrentMember, session_cookie, token};
use crate::answer::{ActionNotice, NoticeQuery, PageFrame, done, page, refused};
use crate::failure::PageError;
use crate::page::sign_in::{PasswordAttempt, PasswordAttemptDecision};

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

fn account_page(person: &CurrentMember) -> AccountPage {
    AccountPage {
        frame: PageFrame::new(person, PART),
        email: person.0.email.clone(),
        role: person.0.role.as_str(),
        present_problem: None,
        new_problem: None,
    }
}

/// The page.
pub(super) async fn show(
    person: CurrentMember,
    noticed: Result<Query<NoticeQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let Query(NoticeQuery { notice }) = noticed?;
    let mut shown = account_page(&person);
    shown.frame = shown.frame.with_notice(notice);
    Ok(page(&shown))
}

#[derive(Deserialize)]
pub(super) struct ChangePasswordForm {
    present: String,
    new: String,
}

/// Changes one's own password. All sessions end; the browser at work gets another.
pub(super) async fn change_password(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    headers: HeaderMap,
    form: Result<Form<ChangePasswordForm>, FormRejection>,
) -> Result<Response, PageError> {
    let Form(ChangePasswordForm { present, new }) = form?;
    let is_same = new == present;
    let new = match Password::choose(new, &person.0.email) {
        Ok(_) if is_same => Err("this is your present password".to_owned()),
        chosen => chosen,
    };
    let new = match new {
        Ok(new) => new,
        Err(reason) => {
            let new_problem = Some(format!("Not changed: {reason}."));
            return Ok(refused(&AccountPage {
                new_problem,
                ..account_page(&person)
            }));
        }
    };
    // Wrong ones are counted: a session that was left open is no place to guess.
    let attempt = match PasswordAttempt::present_password(&console, person.0.user_id).await? {
        PasswordAttemptDecision::Yes(attempt) => attempt,
        PasswordAttemptDecision::In(seconds) => {
            let minutes = seconds.div_euclid(60) + 1;
            let problem =
                format!("There were too many attempts. Wait {minutes} minutes and try again.");
            return Ok(refused(&AccountPage {
                present_problem: Some(problem),
                ..account_page(&person)
            }));
        }
    };
    let changed = change(&console, &person, (present, new), &headers).await;
    if !matches!(changed, Ok(None)) {
        attempt.take_back(&console).await?;
    }
    let Some(session) = changed? else {
        let present_problem = Some("This is not your present password.".to_owned());
        return Ok(refused(&AccountPage {
            present_problem,
            ..account_page(&person)
        }));
    };
    let cookie = session_cookie(&console.process.config.console, Some(&session));
    Ok((
        AppendHeaders([(SET_COOKIE, cookie)]),
        done("/account", ActionNotice::PasswordChanged),
    )
        .into_response())
}

/// Puts the new password in the place of the present one; `None` when that is not right, or has been changed or reset while
/// it was checked.
async fn change(
    console: &ConsoleState,
    person: &CurrentMember,
    (present, new): (String, Password),
    headers: &HeaderMap,
) -> Result<Option<SecretToken>, PageError> {
    let Some(account) = console
        .process
        .store
        .find_credentials_by_email(&person.0.email)
        .await?
    else {
        return Ok(None);
    };
    if !console
        .passwords
        .matches(present, account.password_hash.clone())
        .await?
    {
        return Ok(None);
    }
    let hash = console.passwords.hash(new).await?;
    let replaced = token(&console.process.config.console, headers).map(|token| token.hash());
    let new = NewPassword {
        hash: &hash,
        replaced_session: replaced.as_ref(),
    };
    let (store, now) = (&console.process.store, console.process.clock.now());
    Ok(accounts::change_password(store, &person.0, &account, &new, now).await?)
}
