//! Who asks, and may they? Each route is guarded by what the list of routes says of it, and only here.

use axum::extract::{FromRequestParts, Request, State};
use axum::http::header::COOKIE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::MethodRouter;
use chrono::{DateTime, TimeDelta, Utc};
use cookie::{Cookie, SameSite};
use secret::Token;
use service::config;
use store::{Role, SessionAge, SignedIn};

use crate::Console;
use crate::failure::Failure;
use crate::route::{Access, Route};

/// The cookie that holds a session's token.
const SESSION_COOKIE: &str = "pillarbox_session";

/// Whoever is signed in, for handlers behind a guard.
#[derive(Debug, Clone)]
pub(crate) struct Person(pub(crate) SignedIn);

impl Person {
    /// Whether the person manages keys, endpoints, integrations and campaigns.
    pub(crate) fn is_manager(&self) -> bool {
        allows(Access::Manager, self.0.role)
    }
}

impl<S: Sync> FromRequestParts<S> for Person {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        // Only a route that anyone may use lacks one; asking for a person there is our mistake, and refused.
        parts.extensions.get::<Self>().cloned().ok_or(Failure::NotAllowed)
    }
}

/// Puts a route behind its guard.
pub(crate) fn guarded(route: Route, console: &Console) -> MethodRouter<Console> {
    let guard = Guard { console: console.clone(), access: route.access };
    route.handler.layer(from_fn_with_state(guard, check))
}

#[derive(Clone)]
struct Guard {
    console: Console,
    access: Access,
}

async fn check(State(guard): State<Guard>, mut request: Request, next: Next) -> Response {
    if guard.access == Access::Anyone {
        return next.run(request).await;
    }
    let person = match signed_in(&guard.console, request.headers()).await {
        Ok(Some(person)) => person,
        Ok(None) => return sign_in_first(&request),
        Err(failure) => return failure.into_response(),
    };
    if !allows(guard.access, person.0.role) {
        return Failure::NotAllowed.into_response();
    }
    request.extensions_mut().insert(person);
    next.run(request).await
}

/// Whether a role may use what asks for this access.
pub(crate) fn allows(access: Access, role: Role) -> bool {
    match access {
        Access::Anyone | Access::Member => true,
        Access::Manager => matches!(role, Role::Owner | Role::Admin),
        Access::Owner => role == Role::Owner,
    }
}

/// Who holds the request's session; `None` when it has none that lasts.
pub(crate) async fn signed_in(console: &Console, headers: &HeaderMap) -> Result<Option<Person>, Failure> {
    let Some(token) = token(headers) else { return Ok(None) };
    let now = console.process.clock.now();
    let age = session_age(&console.process.config.console, now);
    let person = console.process.store.session_use(&token.hash(), age, now).await?;
    Ok(person.map(Person))
}

fn session_age(settings: &config::Console, now: DateTime<Utc>) -> SessionAge {
    SessionAge {
        seen_since: now - TimeDelta::minutes(settings.session_idle_minutes),
        created_since: now - TimeDelta::hours(settings.session_longest_hours),
    }
}

/// A page leads to the sign-in and back; an action is not repeated by itself.
fn sign_in_first(request: &Request) -> Response {
    if request.method() != Method::GET {
        return Redirect::to("/sign-in").into_response();
    }
    let back = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("back", back).finish();
    Redirect::to(&format!("/sign-in?{query}")).into_response()
}

/// The session's token, if there is one.
pub(crate) fn token(headers: &HeaderMap) -> Option<Token> {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut sessions = cookies
        .flat_map(Cookie::split_parse)
        .filter_map(Result::ok)
        .filter(|cookie| cookie.name() == SESSION_COOKIE);
    sessions.find_map(|cookie| Token::presented(cookie.value()))
}

/// The header that makes a browser keep the token; `None` makes it forget.
pub(crate) fn session_cookie(settings: &config::Console, token: Option<&Token>) -> String {
    let value = token.map_or("", Token::reveal).to_owned();
    let mut cookie = Cookie::build((SESSION_COOKIE, value))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_look_managers_manage_and_owners_own() {
        let allowed = |access| [Role::Member, Role::Admin, Role::Owner].map(|role| allows(access, role));
        assert_eq!(allowed(Access::Member), [true, true, true]);
        assert_eq!(allowed(Access::Manager), [false, true, true]);
        assert_eq!(allowed(Access::Owner), [false, false, true]);
    }

    #[test]
    fn the_token_is_found_among_other_cookies() {
        let token = Token::random();
        let mut headers = HeaderMap::new();
        let value = format!("a=b; {SESSION_COOKIE}={}; c", token.reveal());
        headers.insert(COOKIE, value.parse().unwrap());
        assert_eq!(super::token(&headers), Some(token));
        headers.insert(COOKIE, format!("{SESSION_COOKIE}=short").parse().unwrap());
        assert_eq!(super::token(&headers), None);
    }
}
