//! A person's own account.

use askama::Template;
use axum::Form;
use axum::extract::rejection::{FormRejection, QueryRejection};
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use chrono::DurationRound;
use secret::Password;
use serde::Deserialize;

use super::PART;
use crate::Console;
use crate::access::{Person, token};
use crate::answer::{Frame, Notice, Noticed, done, page, refused};
use crate::failure::Failure;

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

/// Changes one's own password. Sessions but this one end.
pub(super) async fn change_password(
    State(console): State<Console>,
    person: Person,
    headers: HeaderMap,
    form: Result<Form<PasswordForm>, FormRejection>,
) -> Result<Response, Failure> {
    let Form(PasswordForm { present, new }) = form?;
    let new = match Password::try_from(new) {
        Ok(new) => new,
        Err(reason) => {
            let new_problem = Some(format!("Not changed: {reason}."));
            return Ok(refused(&AccountPage { new_problem, ..account_page(&person) }));
        }
    };
    if let Some(problem) = wrong_present(&console, &person, present).await? {
        return Ok(refused(&AccountPage { present_problem: Some(problem), ..account_page(&person) }));
    }
    let hash = console.passwords.hash(new).await?;
    let kept = token(&headers).map(|token| token.hash());
    let now = console.process.clock.now();
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin().await?;
    transaction.password_set(person.0.user_id, &hash, kept.as_ref()).await?;
    transaction.activity_add(&person.0, "person.password_changed", &person.0.name, now).await?;
    transaction.commit().await?;
    Ok(done("/account", Notice::PasswordChanged))
}

/// What is wrong with the present password; `None` when it is right. Attempts count as sign-ins do: a session that was
/// left open is no place to guess.
async fn wrong_present(
    console: &Console,
    person: &Person,
    present: String,
) -> Result<Option<String>, Failure> {
    let (settings, now) = (&console.process.config.console, console.process.clock.now());
    let store = &console.process.store;
    let window = chrono::TimeDelta::minutes(settings.sign_in_window_minutes);
    let subject = [b"sign-in:", person.0.email.as_bytes()].concat();
    let tried = store.window_count(&subject, now.duration_trunc(window).unwrap_or(now)).await?;
    if tried > settings.sign_ins_per_account {
        let problem = "There were too many attempts. Wait a quarter of an hour and try again.";
        return Ok(Some(problem.to_owned()));
    }
    let account = store.account_by_email(&person.0.email).await?;
    let hash = account.and_then(|account| account.password_hash);
    let is_right = console.passwords.matches(present, hash).await;
    Ok((!is_right).then(|| "This is not your present password.".to_owned()))
}
