//! The page that a one-time link leads to: its holder chooses a password and is signed in.

use askama::Template;
use axum::Form;
use axum::extract::rejection::{FormRejection, PathRejection};
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::http::header::SET_COOKIE;
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use secret::{Password, Token};
use serde::Deserialize;
use store::TeamPerson;

use crate::Console;
use crate::access::{session_cookie, token};
use crate::answer::{page, refused};
use crate::failure::Failure;

/// What is said of a link whose address is another account's.
const UNUSABLE: &str =
    "This link cannot be used. If you have an account, sign in with it; else ask whoever gave you the link.";

/// A path with the token of a link.
type OfLink = Result<Path<String>, PathRejection>;

#[derive(Template)]
#[template(path = "password.html")]
struct PasswordPage {
    person: TeamPerson,
    problem: Option<String>,
}

/// The form; for a link that was used, replaced or has expired there is none.
pub(super) async fn show(State(console): State<Console>, path: OfLink) -> Result<Response, Failure> {
    let (person, _) = find(&console, path).await?;
    Ok(page(&PasswordPage { person, problem: None }))
}

async fn find(console: &Console, path: OfLink) -> Result<(TeamPerson, Token), Failure> {
    let Path(text) = path?;
    let link = Token::presented(&text).ok_or(Failure::NotFound)?;
    let now = console.process.clock.now();
    let person = console.process.store.password_link_get(&link.hash(), now).await?;
    Ok((person, link))
}

#[derive(Deserialize)]
pub(super) struct ChosenPassword {
    password: String,
}

/// Sets the password, uses the link up and signs in.
pub(super) async fn submit(
    State(console): State<Console>,
    headers: HeaderMap,
    path: OfLink,
    form: Result<Form<ChosenPassword>, FormRejection>,
) -> Result<Response, Failure> {
    // Nothing is hashed for who has no link.
    let (person, link) = find(&console, path).await?;
    let Form(ChosenPassword { password }) = form?;
    let password = match Password::chosen(password, &person.email) {
        Ok(password) => password,
        Err(reason) => {
            let problem = Some(format!("Not set: {reason}."));
            return Ok(refused(&PasswordPage { person, problem }));
        }
    };
    let hash = console.passwords.hash(password).await?;
    let session = match use_link(&console, (&link, &person.name), &hash, &headers).await {
        Ok(session) => session,
        // Whose account it is is its holder's to know: the sentence is true of every link that does not work.
        Err(Failure::Invalid(_)) => {
            let problem = Some(UNUSABLE.to_owned());
            return Ok(refused(&PasswordPage { person, problem }));
        }
        Err(failure) => return Err(failure),
    };
    let cookie = session_cookie(&console.process.config.console, Some(&session));
    Ok((AppendHeaders([(SET_COOKIE, cookie)]), Redirect::to("/")).into_response())
}

/// Uses the link up, once however often it is sent, and begins a session.
async fn use_link(
    console: &Console,
    (link, name): (&Token, &str),
    hash: &str,
    headers: &HeaderMap,
) -> Result<Token, Failure> {
    let (session, now) = (Token::random(), console.process.clock.now());
    let replaced = token(&console.process.config.console, headers).map(|token| token.hash());
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin().await?;
    let (team_id, user_id) = transaction.password_link_use(&link.hash(), now).await?;
    transaction.password_set(user_id, hash, None).await?;
    transaction.activity_add_of((team_id, user_id, name), "person.password_chosen", name, now).await?;
    transaction.session_begin(user_id, &session.hash(), replaced.as_ref(), now).await?;
    transaction.commit().await?;
    Ok(session)
}
