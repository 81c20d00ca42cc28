//! Sessions: the cookie that holds one, and whose it is.

use axum::http::HeaderMap;
use axum::http::header::{COOKIE, SET_COOKIE};
use axum::response::{AppendHeaders, IntoResponse, Response};
use chrono::{DateTime, TimeDelta, Utc};
use cookie::{Cookie, SameSite};
use runtime::config;
use secret::SecretToken;
use store::{SessionAgeLimits, SignedInMember};

use crate::page_error::PageError;
use crate::state::ConsoleState;

/// The cookie that holds a session's token.
const SESSION_COOKIE: &str = "pillarbox_session";

/// The same over TLS. Browsers take a cookie of such a name only from this very host, over TLS, and for all its paths: neither a
/// neighbour of the same domain nor somebody on the way can plant a session.
const SECURE_SESSION_COOKIE: &str = "__Host-pillarbox_session";

/// Who holds the request's session; `None` when it has none that lasts.
pub(crate) async fn signed_in_member(
    console: &ConsoleState,
    headers: &HeaderMap,
) -> Result<Option<SignedInMember>, PageError> {
    let settings = &console.config().console;
    let Some(token) = session_token(settings, headers) else {
        return Ok(None);
    };
    let now = console.now();
    let age = age_limits(settings, now);
    Ok(console.store().use_session(&token.hash(), age, now).await?)
}

fn age_limits(settings: &config::ConsoleSettings, now: DateTime<Utc>) -> SessionAgeLimits {
    SessionAgeLimits {
        seen_since: now - TimeDelta::minutes(settings.session_idle_minutes),
        created_since: now - TimeDelta::hours(settings.session_longest_hours),
    }
}

const fn session_cookie_name(settings: &config::ConsoleSettings) -> &'static str {
    if settings.secure_cookies {
        SECURE_SESSION_COOKIE
    } else {
        SESSION_COOKIE
    }
}

/// The session's token, if there is one.
fn session_token(settings: &config::ConsoleSettings, headers: &HeaderMap) -> Option<SecretToken> {
    token_in(headers, session_cookie_name(settings))
}

/// The token in the cookie of this name, if there is one.
fn token_in(headers: &HeaderMap, name: &str) -> Option<SecretToken> {
    let cookies = headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok());
    let mut sessions = cookies
        .flat_map(Cookie::split_parse)
        .filter_map(Result::ok)
        .filter(|cookie| cookie.name() == name);
    sessions.find_map(|cookie| SecretToken::from_presented(cookie.value()))
}

/// The header that makes a browser keep the token; `None` makes it forget.
fn session_cookie(settings: &config::ConsoleSettings, token: Option<&SecretToken>) -> String {
    let value = token.map_or("", SecretToken::reveal).to_owned();
    let mut cookie = Cookie::build((session_cookie_name(settings), value))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(settings.secure_cookies)
        .build();
    if token.is_none() {
        cookie.make_removal();
    }
    cookie.to_string()
}

/// The hash of the session that a browser has, if it has one.
pub(crate) fn session_hash(console: &ConsoleState, headers: &HeaderMap) -> Option<[u8; 32]> {
    session_token(&console.config().console, headers).map(|token| token.hash())
}

/// An answer that makes the browser keep the token of a session; `None` makes it forget.
pub(crate) fn with_session(
    console: &ConsoleState,
    token: Option<&SecretToken>,
    answer: impl IntoResponse,
) -> Response {
    let cookie = session_cookie(&console.config().console, token);
    (AppendHeaders([(SET_COOKIE, cookie)]), answer).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_found_among_other_cookies() {
        let token = SecretToken::random();
        let mut headers = HeaderMap::new();
        let value = format!("a=b; {SESSION_COOKIE}={}; c", token.reveal());
        headers.insert(COOKIE, value.parse().unwrap());
        assert_eq!(token_in(&headers, SESSION_COOKIE), Some(token));
        assert_eq!(
            token_in(&headers, SECURE_SESSION_COOKIE),
            None,
            "it may have been planted"
        );
        headers.insert(COOKIE, format!("{SESSION_COOKIE}=short").parse().unwrap());
        assert_eq!(token_in(&headers, SESSION_COOKIE), None);
    }
}
