//! Signing in and out.

use std::net::{IpAddr, SocketAddr};

use askama::Template;
use axum::Form;
use axum::extract::rejection::FormRejection;
use axum::extract::{ConnectInfo, Query, State};
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use chrono::{DateTime, DurationRound, TimeDelta, Utc};
use contract::id::UserId;
use secret::Token;
use serde::Deserialize;
use service::source::{source_address, subject};

use crate::Console;
use crate::access::{session_cookie, signed_in, token};
use crate::answer::page;
use crate::failure::Failure;
use crate::route::{self, Access, Route};

/// What there is.
pub(crate) fn routes() -> Vec<Route> {
    vec![
        route::page("/sign-in", Access::Anyone, show),
        route::action("/sign-in", Access::Anyone, submit),
        route::action("/sign-out", Access::Member, end),
    ]
}

/// Characters of an e-mail address that are looked at.
const EMAIL_CHARS: usize = 254;

/// Where to go after signing in.
#[derive(Deserialize)]
struct Back {
    back: Option<String>,
}

#[derive(Deserialize)]
struct Credentials {
    email: String,
    password: String,
    back: Option<String>,
}

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage<'a> {
    email: &'a str,
    back: &'a str,
    problem: Option<&'static str>,
}

/// The form.
async fn show(
    State(console): State<Console>,
    Query(Back { back }): Query<Back>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let back = own_path(back.as_deref());
    if signed_in(&console, &headers).await?.is_some() {
        return Ok(Redirect::to(back).into_response());
    }
    Ok(page(&SignInPage { email: "", back, problem: None }))
}

/// Signs in. Whether the address or the password is wrong is not told apart.
async fn submit(
    State(console): State<Console>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    form: Result<Form<Credentials>, FormRejection>,
) -> Result<Response, Failure> {
    let Form(credentials) = form?;
    let email: String = credentials.email.trim().chars().take(EMAIL_CHARS).collect();
    let back = own_path(credentials.back.as_deref());
    let now = console.process.clock.now();
    let refuse = |status: StatusCode, problem| {
        let form = SignInPage { email: &email, back, problem: Some(problem) };
        (status, page(&form)).into_response()
    };
    let source = source_address(peer.ip(), &headers, &console.process.config.console.trusted_proxies);
    if !may_try(&console, &email, source, now).await? {
        let problem = "There were too many attempts. Wait a quarter of an hour and try again.";
        return Ok(refuse(StatusCode::TOO_MANY_REQUESTS, problem));
    }
    let account = console.process.store.account_by_email(&email).await?;
    let (user_id, hash) = account.map(|account| (account.user_id, account.password_hash)).unzip();
    let matches = console.passwords.matches(credentials.password, hash.flatten()).await;
    let Some(user_id) = user_id.filter(|_| matches) else {
        return Ok(refuse(StatusCode::FORBIDDEN, "The e-mail address or the password is not right."));
    };
    let token = begin_session(&console, user_id, &headers, now).await?;
    let cookie = session_cookie(&console.process.config.console, Some(&token));
    Ok((AppendHeaders([(SET_COOKIE, cookie)]), Redirect::to(back)).into_response())
}

/// Signs out.
async fn end(State(console): State<Console>, headers: HeaderMap) -> Result<Response, Failure> {
    if let Some(token) = token(&headers) {
        console.process.store.session_end(&token.hash()).await?;
    }
    let cookie = session_cookie(&console.process.config.console, None);
    Ok((AppendHeaders([(SET_COOKIE, cookie)]), Redirect::to("/sign-in")).into_response())
}

/// Counts an attempt for its account and its source address; false past one of their limits.
async fn may_try(
    console: &Console,
    email: &str,
    source: IpAddr,
    now: DateTime<Utc>,
) -> Result<bool, Failure> {
    let settings = &console.process.config.console;
    let window = TimeDelta::minutes(settings.sign_in_window_minutes);
    let start = now.duration_trunc(window).unwrap_or(now);
    let account = [b"sign-in:", email.to_lowercase().as_bytes()].concat();
    let store = &console.process.store;
    let by_source = store.window_count(&subject("sign-in", source), start).await?;
    if by_source > settings.sign_ins_per_source {
        return Ok(false);
    }
    Ok(store.window_count(&account, start).await? <= settings.sign_ins_per_account)
}

/// A new session in the place of the one that the browser had.
async fn begin_session(
    console: &Console,
    user_id: UserId,
    headers: &HeaderMap,
    now: DateTime<Utc>,
) -> Result<Token, Failure> {
    let (fresh, replaced) = (Token::random(), token(headers).map(|token| token.hash()));
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin().await?;
    transaction.session_begin(user_id, &fresh.hash(), replaced.as_ref(), now).await?;
    transaction.commit().await?;
    Ok(fresh)
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
        assert_eq!(own_path(Some("/api?notice=key-revoked")), "/api?notice=key-revoked");
        for foreign in ["//evil.example", "https://evil.example", "/\\evil.example", "evil", "/a\nb", ""] {
            assert_eq!(own_path(Some(foreign)), "/");
        }
        assert_eq!(own_path(None), "/");
    }
}
