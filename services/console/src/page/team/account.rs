//! A person's own account.

use askama::Template;
use axum::Form;
use axum::extract::rejection::{FormRejection, QueryRejection};
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::http::header::SET_COOKIE;
use axum::response::{AppendHeaders, IntoResponse, Response};
use secret::{Password, Token};
use serde::Deserialize;
use store::Account;

use super::PART;
use crate::Console;
use crate::access::{Person, session_cookie, token};
use crate::answer::{Frame, Notice, Noticed, done, page, refused};
use crate::failure::Failure;
use crate::page::sign_in::{Allowed, Attempt};

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage {
    frame: Frame,
    email: String,
    role: &'static str,
    /// What is wrong with the present password, and with the new one.
    present_problem: Option<String>,
    new_problem: Option<String>,
}

fn account_page(person: &Person) -> AccountPage {
    AccountPage {
        frame: Frame::new(person, PART),
        email: person.0.email.clone(),
        role: person.0.role.as_str(),
        present_problem: None,
        new_problem: None,
    }
}

/// The page.
pub(super) async fn show(
    person: Person,
    noticed: Result<Query<Noticed>, QueryRejection>,
) -> Result<Response, Failure> {
    let Query(Noticed { notice }) = noticed?;
    let mut shown = account_page(&person);
    shown.frame = shown.frame.with_notice(notice);
    Ok(page(&shown))
}

#[derive(Deserialize)]
pub(super) struct PasswordForm {
    present: String,
    new: String,
}

/// Changes one's own password. All sessions end; the browser at work gets another.
pub(super) async fn change_password(
    State(console): State<Console>,
    person: Person,
    headers: HeaderMap,
    form: Result<Form<PasswordForm>, FormRejection>,
) -> Result<Response, Failure> {
    let Form(PasswordForm { present, new }) = form?;
    let is_same = new == present;
    let new = match Password::chosen(new, &person.0.email) {
        Ok(_) if is_same => Err("this is your present password".to_owned()),
        chosen => chosen,
    };
    let new = match new {
        Ok(new) => new,
        Err(reason) => {
            let new_problem = Some(format!("Not changed: {reason}."));
            return Ok(refused(&AccountPage { new_problem, ..account_page(&person) }));
        }
    };
    // Wrong ones are counted: a session that was left open is no place to guess.
    let attempt = match Attempt::present_password(&console, person.0.user_id).await? {
        Allowed::Yes(attempt) => attempt,
        Allowed::In(seconds) => {
            let minutes = seconds.div_euclid(60) + 1;
            let problem = format!("There were too many attempts. Wait {minutes} minutes and try again.");
            return Ok(refused(&AccountPage { present_problem: Some(problem), ..account_page(&person) }));
        }
    };
    let changed = change(&console, &person, (present, new), &headers).await;
    if !matches!(changed, Ok(None)) {
        attempt.take_back(&console).await?;
    }
    let Some(session) = changed? else {
        let present_problem = Some("This is not your present password.".to_owned());
        return Ok(refused(&AccountPage { present_problem, ..account_page(&person) }));
    };
    let cookie = session_cookie(&console.process.config.console, Some(&session));
    Ok((AppendHeaders([(SET_COOKIE, cookie)]), done("/account", Notice::PasswordChanged)).into_response())
}

/// Puts the new password in the place of the present one; `None` when that is not right, or has been changed or reset while
/// it was checked.
async fn change(
    console: &Console,
    person: &Person,
    (present, new): (String, Password),
    headers: &HeaderMap,
) -> Result<Option<Token>, Failure> {
    let Some(account) = console.process.store.account_by_email(&person.0.email).await? else {
        return Ok(None);
    };
    if !console.passwords.matches(present, account.password_hash.clone()).await? {
        return Ok(None);
    }
    let hash = console.passwords.hash(new).await?;
    set_password(console, person, &account, &hash, headers).await
}

/// Sets the password, ends all sessions and begins another in the place of the one at work: whoever had its token with
/// the old password has none now.
async fn set_password(
    console: &Console,
    person: &Person,
    account: &Account,
    hash: &str,
    headers: &HeaderMap,
) -> Result<Option<Token>, Failure> {
    let (session, now) = (Token::random(), console.process.clock.now());
    let replaced = token(&console.process.config.console, headers).map(|token| token.hash());
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin().await?;
    if !transaction.account_lock(account).await? {
        return Ok(None);
    }
    transaction.password_set(person.0.user_id, hash, None).await?;
    transaction.session_begin(person.0.user_id, &session.hash(), replaced.as_ref(), now).await?;
    transaction.activity_add(&person.0, "person.password_changed", &person.0.name, now).await?;
    transaction.commit().await?;
    Ok(Some(session))
}
