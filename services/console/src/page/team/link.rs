//! The page that a one-time link leads to: its holder chooses a password and is signed in.

use accounts::{NewPassword, choose_password};
use askama::Template;
use axum::Form;
use axum::extract::rejection::{FormRejection, PathRejection};
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::http::header::SET_COOKIE;
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use secret::{Password, SecretToken};
use serde::Deserialize;
use store::TeamMember;

use crate::ConsoleState;
use crate::access::{session_cookie, token};
use crate::answer::{page, refused};
use crate::failure::PageError;

/// What is said of a link whose address is another account's.
const UNUSABLE: &str = "This link cannot be used. If you have an account, sign in with it; else ask whoever gave you the link.";

/// A path with the token of a link.
type PasswordLinkPath = Result<Path<String>, PathRejection>;

#[derive(Template)]
#[template(path = "password.html")]
struct PasswordLinkPage {
    person: TeamMember,
    problem: Option<String>,
}

/// The form; for a link that was used, replaced or has expired there is none.
pub(super) async fn show(
    State(console): State<ConsoleState>,
    path: PasswordLinkPath,
) -> Result<Response, PageError> {
    let (person, _) = find(&console, path).await?;
    Ok(page(&PasswordLinkPage {
        person,
        problem: None,
    }))
}

async fn find(
    console: &ConsoleState,
    path: PasswordLinkPath,
) -> Result<(TeamMember, SecretToken), PageError> {
    let Path(text) = path?;
    let link = SecretToken::from_presented(&text).ok_or(PageError::NotFound)?;
    let now = console.process.clock.now();
    let person = console
        .process
        .store
        .find_password_link(&link.hash(), now)
        .await?;
    Ok((person, link))
}

#[derive(Deserialize)]
pub(super) struct ChoosePasswordForm {
    password: String,
}

/// Sets the password, uses the link up and signs in.
pub(super) async fn submit(
    State(console): State<ConsoleState>,
    headers: HeaderMap,
    path: PasswordLinkPath,
    form: Result<Form<ChoosePasswordForm>, FormRejection>,
) -> Result<Response, PageError> {
    // Nothing is hashed for who has no link.
    let (person, link) = find(&console, path).await?;
    let Form(ChoosePasswordForm { password }) = form?;
    let password = match Password::choose(password, &person.email) {
        Ok(password) => password,
        Err(reason) => {
            let problem = Some(format!("Not set: {reason}."));
            return Ok(refused(&PasswordLinkPage { person, problem }));
        }
    };
    let hash = console.passwords.hash(password).await?;
    let session = match use_link(&console, (&link, &person.name), &hash, &headers).await {
        Ok(session) => session,
        // Whose account it is is its holder's to know: the sentence is true of every link that does not work.
        Err(PageError::Invalid(_)) => {
            let problem = Some(UNUSABLE.to_owned());
            return Ok(refused(&PasswordLinkPage { person, problem }));
        }
        Err(failure) => return Err(failure),
    };
    let cookie = session_cookie(&console.process.config.console, Some(&session));
    Ok((AppendHeaders([(SET_COOKIE, cookie)]), Redirect::to("/")).into_response())
}

/// Uses the link up, once however often it is sent, and begins a session.
async fn use_link(
    console: &ConsoleState,
    (link, name): (&SecretToken, &str),
    hash: &str,
    headers: &HeaderMap,
) -> Result<SecretToken, PageError> {
    let replaced = token(&console.process.config.console, headers).map(|token| token.hash());
    let new = NewPassword {
        hash,
        replaced_session: replaced.as_ref(),
    };
    let (store, now) = (&console.process.store, console.process.clock.now());
    Ok(choose_password(store, (link, name), &new, now).await?)
}
