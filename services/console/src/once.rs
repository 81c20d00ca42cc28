//! Secrets that are shown once: keys that have just been made, and links that set a password. The action that makes one
//! leads to a page, as every action does, so that nothing is made twice when that page is loaded again. On the way the
//! secret is in the database, encrypted with a token that only the browser's cookie holds, for some minutes at the most.

use anyhow::Context;
use axum::http::HeaderMap;
use axum::http::header::SET_COOKIE;
use axum::response::{AppendHeaders, IntoResponse, Response};
use chrono::{DateTime, TimeDelta, Utc};
use cookie::{Cookie, SameSite};
use runtime::config;
use secret::{SecretToken, seal_text, unseal_text};
use serde::{Deserialize, Serialize};
use store::{StoreError, Transaction};

use crate::ConsoleState;
use crate::access::{CurrentMember, token_in};
use crate::failure::PageError;

/// The cookie that holds the token of a secret. It goes to the page that shows it, and only there.
const COOKIE: &str = "pillarbox_shown_once";

/// The same over TLS, and only from there. It is not for all paths, so it cannot be bound to the host as a session's is.
const SECURE_COOKIE: &str = "__Secure-pillarbox_shown_once";

/// Minutes in which the page that shows a secret must be asked for.
const MINUTES: i64 = 5;

/// What is shown once.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OneTimeSecret {
    /// An API key.
    Key(String),
    /// A key that signs deliveries.
    SigningKey(String),
    /// A link that lets somebody choose a password: for whom, and its address.
    Link(String, String),
}

/// A secret on its way to its page.
pub(crate) struct SecretCookie(SecretToken);

impl OneTimeSecret {
    /// Keeps it for the person's next page, from when the transaction is committed.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub(crate) async fn keep(
        &self,
        transaction: &Transaction<'_>,
        person: &CurrentMember,
        now: DateTime<Utc>,
    ) -> store::Result<SecretCookie> {
        let token = SecretToken::random();
        let sealed = seal_text(&token, &serde_json::to_string(self)?)
            .map_err(|_| StoreError::Corrupt("a secret cannot be encrypted".to_owned()))?;
        let expires_at = now + TimeDelta::minutes(MINUTES);
        transaction
            .insert_shown_once(person.0.user_id, &token.hash(), &sealed, expires_at)
            .await?;
        Ok(SecretCookie(token))
    }

    /// The secret that the page which a browser asks for is to show; from now on nobody gets it again.
    ///
    /// # Errors
    /// [`PageError`] when the database cannot be asked.
    pub(crate) async fn take(
        console: &ConsoleState,
        person: &CurrentMember,
        headers: &HeaderMap,
    ) -> Result<Option<Self>, PageError> {
        let name = cookie_name(&console.process.config.console);
        let Some(token) = token_in(headers, name) else {
            return Ok(None);
        };
        let (store, now) = (&console.process.store, console.process.clock.now());
        let sealed = store
            .take_shown_once(person.0.user_id, &token.hash(), now)
            .await?;
        let Some(text) = sealed.and_then(|sealed| unseal_text(&token, sealed)) else {
            return Ok(None);
        };
        let secret = serde_json::from_str(&text).context("a secret that was kept cannot be read");
        secret.map(Some).map_err(PageError::Internal)
    }
}

const fn cookie_name(settings: &config::ConsoleSettings) -> &'static str {
    if settings.secure_cookies {
        SECURE_COOKIE
    } else {
        COOKIE
    }
}

impl SecretCookie {
    /// Lets an answer that leads to the page at this path bring the browser what opens the secret.
    pub(crate) fn with(
        self,
        answer: Response,
        path: &str,
        settings: &config::ConsoleSettings,
    ) -> Response {
        let cookie = Cookie::build((cookie_name(settings), self.0.reveal().to_owned()))
            .path(path.to_owned())
            .max_age(cookie::time::Duration::minutes(MINUTES))
            .http_only(true)
            .same_site(SameSite::Lax)
            .secure(settings.secure_cookies)
            .build();
        (AppendHeaders([(SET_COOKIE, cookie.to_string())]), answer).into_response()
    }
}
