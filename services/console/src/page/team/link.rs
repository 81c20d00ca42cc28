//! The page that a one-time link leads to: its holder chooses a password and is signed in.

use accounts::{NewPassword, choose_password};
use askama::Template;
use axum::Form;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Redirect;
use secret::{Password, SecretToken};
use serde::Deserialize;
use store::TeamMember;

use crate::extract::{FormResult, PagePath};
use crate::page_error::{PageError, PageResult};
use crate::render::{render_page, render_refusal};
use crate::session::{session_hash, with_session};
use crate::state::ConsoleState;

/// What is said of a link whose address is another account's.
const UNUSABLE: &str = "This link cannot be used. If you have an account, sign in with it; else ask whoever gave you the link.";

/// A path with the token of a link.
pub(crate) type PasswordLinkPath = PagePath<String>;

#[derive(Template)]
#[template(path = "password.html")]
struct PasswordLinkPage {
    person: TeamMember,
    problem: Option<String>,
}

/// The form; for a link that was used, replaced or has expired there is none.
pub(crate) async fn show_password_link(
    State(console): State<ConsoleState>,
    path: PasswordLinkPath,
) -> PageResult {
    let (person, _) = find_link(&console, path).await?;
    Ok(render_page(&PasswordLinkPage {
        person,
        problem: None,
    }))
}

async fn find_link(
    console: &ConsoleState,
    PagePath(text): PasswordLinkPath,
) -> Result<(TeamMember, SecretToken), PageError> {
    let link = SecretToken::from_presented(&text).ok_or(PageError::NotFound)?;
    let now = console.now();
    let person = console
        .store()
        .find_password_link(&link.hash(), now)
        .await?;
    Ok((person, link))
}

#[derive(Deserialize)]
pub(crate) struct ChoosePasswordForm {
    password: String,
}

/// Sets the password, uses the link up and signs in.
pub(crate) async fn set_first_password(
    State(console): State<ConsoleState>,
    headers: HeaderMap,
    path: PasswordLinkPath,
    form: FormResult<ChoosePasswordForm>,
) -> PageResult {
    // Nothing is hashed for who has no link.
    let (person, link) = find_link(&console, path).await?;
    let Form(ChoosePasswordForm { password }) = form?;
    let password = match Password::choose(password, &person.email) {
        Ok(password) => password,
        Err(reason) => {
            let problem = Some(format!("Not set: {reason}."));
            return Ok(render_refusal(&PasswordLinkPage { person, problem }));
        }
    };
    let hash = console.passwords.hash_password(password).await?;
    let session = match use_link(&console, (&link, &person.name), &hash, &headers).await {
        Ok(session) => session,
        // Whose account it is is its holder's to know: the sentence is true of every link that does not work.
        Err(PageError::Invalid(_)) => {
            let problem = Some(UNUSABLE.to_owned());
            return Ok(render_refusal(&PasswordLinkPage { person, problem }));
        }
        Err(failure) => return Err(failure),
    };
    Ok(with_session(&console, Some(&session), Redirect::to("/")))
}

/// Uses the link up, once however often it is sent, and begins a session.
async fn use_link(
    console: &ConsoleState,
    (link, name): (&SecretToken, &str),
    hash: &str,
    headers: &HeaderMap,
) -> Result<SecretToken, PageError> {
    let replaced = session_hash(console, headers);
    let new = NewPassword {
        hash,
        replaced_session: replaced.as_ref(),
    };
    let (store, now) = (console.store(), console.now());
    Ok(choose_password(store, (link, name), &new, now).await?)
}
