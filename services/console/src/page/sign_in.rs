//! Signing in and out.

pub(crate) mod password_attempt;

use std::borrow::Cow;
use std::error::Error;
use std::net::{IpAddr, SocketAddr};

use accounts::{SignInSource, record_failed_sign_in};
use askama::Template;
use axum::Form;
use axum::extract::{ConnectInfo, State};
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use runtime::Process;
use runtime::source::source_address;
use secret::SecretToken;
use serde::Deserialize;
use store::MemberCredentials;

use self::password_attempt::{
    PasswordAttempt, PasswordAttemptDecision, remembered_source, too_many_attempts,
};
use crate::extract::{FormResult, PageQuery};
use crate::page_error::{PageError, PageResult};
use crate::render::render_page;
use crate::session::{session_hash, signed_in_member, with_session};
use crate::state::ConsoleState;

/// Characters of an e-mail address that are looked at.
const EMAIL_CHARS: usize = 254;

/// Where to go after signing in, and whether a form was sent that nothing was done with.
#[derive(Deserialize)]
pub(crate) struct SignInQuery {
    back: Option<String>,
    lost: Option<String>,
}

/// What whoever sent a form is told whose session had ended.
const LOST: &str = "Your session has ended, so nothing was done. Sign in, and what you typed has to be typed again.";

#[derive(Deserialize)]
pub(crate) struct SignInForm {
    email: String,
    password: String,
    back: Option<String>,
}

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage<'a> {
    email: &'a str,
    back: &'a str,
    problem: Option<Cow<'static, str>>,
}

/// The form.
pub(crate) async fn show_sign_in(
    State(console): State<ConsoleState>,
    PageQuery(SignInQuery { back, lost }): PageQuery<SignInQuery>,
    headers: HeaderMap,
) -> PageResult {
    let back = own_path(back.as_deref());
    if signed_in_member(&console, &headers).await?.is_some() {
        return Ok(Redirect::to(back).into_response());
    }
    Ok(render_page(&SignInPage {
        email: "",
        back,
        problem: lost.map(|_| LOST.into()),
    }))
}

/// Signs in. Whether the address or the password is wrong is not told apart.
pub(crate) async fn sign_in(
    State(console): State<ConsoleState>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    form: FormResult<SignInForm>,
) -> PageResult {
    let Form(credentials) = form?;
    let email: String = credentials.email.trim().chars().take(EMAIL_CHARS).collect();
    let back = own_path(credentials.back.as_deref());
    let source = source_address(
        peer.ip(),
        &headers,
        &console.config().console.trusted_proxies,
    );
    let account = console.store().find_credentials_by_email(&email).await?;
    let user_id = account.as_ref().map(|account| account.user_id);
    let attempt = match PasswordAttempt::sign_in(&console, user_id, &email, source).await? {
        PasswordAttemptDecision::Yes(attempt) => attempt,
        PasswordAttemptDecision::In(seconds) => return Ok(too_many(&email, back, seconds)),
    };
    let begun = check_password(
        &console,
        account.as_ref(),
        credentials.password,
        source,
        &headers,
    )
    .await;
    if !matches!(begun, Ok(None)) {
        attempt.take_back(&console).await?;
    }
    let Some(token) = begun? else {
        note_failure(&console, account, source);
        let problem = Some("The e-mail address or the password is not right.".into());
        return Ok((
            StatusCode::FORBIDDEN,
            render_page(&SignInPage {
                email: &email,
                back,
                problem,
            }),
        )
            .into_response());
    };
    Ok(with_session(&console, Some(&token), Redirect::to(back)))
}

fn too_many(email: &str, back: &str, seconds: i64) -> Response {
    let problem = Some(too_many_attempts(seconds).into());
    let answer = render_page(&SignInPage {
        email,
        back,
        problem,
    });
    (
        StatusCode::TOO_MANY_REQUESTS,
        [(RETRY_AFTER, seconds.to_string())],
        answer,
    )
        .into_response()
}

/// Begins a session for who has given the right password; `None` for anybody else.
async fn check_password(
    console: &ConsoleState,
    account: Option<&MemberCredentials>,
    password: String,
    source: IpAddr,
    headers: &HeaderMap,
) -> Result<Option<SecretToken>, PageError> {
    let hash = account.and_then(|account| account.password_hash.clone());
    let is_right = console.passwords.password_matches(password, hash).await?;
    match account.filter(|_| is_right) {
        Some(account) => begin_session(console, account, source, headers).await,
        None => Ok(None),
    }
}

/// Notes in the log of the account's team that somebody could not sign in. Of addresses that are nobody's there is nothing to
/// note, so nobody waits for it: how long the answer takes would tell which addresses are somebody's.
fn note_failure(console: &ConsoleState, account: Option<MemberCredentials>, source: IpAddr) {
    let Some(account) = account else { return };
    let Process { store, clock, .. } = console.process.clone();
    console.notes.spawn(async move {
        let recorded = record_failed_sign_in(&store, &account, source, clock.now());
        if let Err(error) = recorded.await {
            tracing::warn!(
                error = &error as &dyn Error,
                "a failed sign-in is not in the log of its team"
            );
        }
    });
}

/// Signs out.
pub(crate) async fn sign_out(
    State(console): State<ConsoleState>,
    headers: HeaderMap,
) -> PageResult {
    if let Some(hash) = session_hash(&console, &headers) {
        console.store().end_session(&hash).await?;
    }
    Ok(with_session(&console, None, Redirect::to("/sign-in")))
}

/// A new session in the place of the one that the browser had; `None` when the password that was right has been changed or
/// reset while it was checked.
async fn begin_session(
    console: &ConsoleState,
    account: &MemberCredentials,
    source: IpAddr,
    headers: &HeaderMap,
) -> Result<Option<SecretToken>, PageError> {
    let replaced = session_hash(console, headers);
    let source = SignInSource {
        address: source,
        remembered: remembered_source(source),
    };
    let (store, now) = (console.store(), console.now());
    Ok(accounts::begin_session(store, account, &source, replaced.as_ref(), now).await?)
}

/// A path of this console: nobody is led to another site from here.
fn own_path(path: Option<&str>) -> &str {
    let is_own = |path: &&str| {
        path.starts_with('/') && !path.starts_with("//") && !path.contains(['\\', '\r', '\n', '\t'])
    };
    path.filter(is_own).unwrap_or("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_back_leads_to_pages_of_ours_only() {
        assert_eq!(
            own_path(Some("/api?notice=key-revoked")),
            "/api?notice=key-revoked"
        );
        for foreign in [
            "//evil.example",
            "https://evil.example",
            "/\\evil.example",
            "evil",
            "/a\nb",
            "",
        ] {
            assert_eq!(own_path(Some(foreign)), "/");
        }
        assert_eq!(own_path(None), "/");
    }
}
