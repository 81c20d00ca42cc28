//! Who asks, and may they? Each route is guarded by what the list of routes says of it, and only here.

use axum::extract::{FromRequestParts, Request, State};
use axum::http::header::{COOKIE, REFERER};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::MethodRouter;
use chrono::{DateTime, TimeDelta, Utc};
use cookie::{Cookie, SameSite};
use runtime::config;
use runtime::measure::note_asker;
use secret::SecretToken;
use store::{Actor, MemberRole, SessionAgeLimits, SignedInMember};

use crate::ConsoleState;
use crate::failure::PageError;
use crate::origin::is_from_elsewhere;
use crate::route::{ConsoleRoute, RouteAccess};

/// The cookie that holds a session's token.
const SESSION_COOKIE: &str = "pillarbox_session";

/// The same over TLS. Browsers take a cookie of such a name only from this very host, over TLS, and for all its paths: neither a
/// neighbour of the same domain nor somebody on the way can plant a session.
const SECURE_SESSION_COOKIE: &str = "__Host-pillarbox_session";

/// Whoever is signed in, for handlers behind a guard.
#[derive(Debug, Clone)]
pub(crate) struct CurrentMember(pub(crate) SignedInMember);

impl CurrentMember {
    /// Who makes a change, when the person makes it.
    pub(crate) const fn actor(&self) -> Actor<'_> {
        Actor::Member(&self.0)
    }

    /// Whether the person manages keys, endpoints, integrations and campaigns.
    pub(crate) fn is_manager(&self) -> bool {
        allows(RouteAccess::Manager, self.0.role)
    }
}

impl<S: Sync> FromRequestParts<S> for CurrentMember {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, PageError> {
        // Only a route that anyone may use lacks one; asking for a person there is our mistake, and refused.
        parts
            .extensions
            .get::<Self>()
            .cloned()
            .ok_or(PageError::NotAllowed)
    }
}

/// Puts a route behind its guard.
pub(crate) fn guarded(route: ConsoleRoute, console: &ConsoleState) -> MethodRouter<ConsoleState> {
    let guard = AccessCheck {
        console: console.clone(),
        access: route.access,
    };
    route.handler.layer(from_fn_with_state(guard, check))
}

#[derive(Clone)]
struct AccessCheck {
    console: ConsoleState,
    access: RouteAccess,
}

async fn check(State(guard): State<AccessCheck>, mut request: Request, next: Next) -> Response {
    if guard.access == RouteAccess::Anyone {
        return next.run(request).await;
    }
    let person = match signed_in(&guard.console, request.headers()).await {
        Ok(Some(person)) => person,
        Ok(None) => return sign_in_first(&request),
        Err(failure) => return failure.into_response(),
    };
    note_asker(person.0.team_id, "session");
    if !allows(guard.access, person.0.role) {
        return PageError::NotAllowed.into_response();
    }
    if let Some(address) = without_notice(&request) {
        return Redirect::to(&address).into_response();
    }
    request.extensions_mut().insert(person);
    next.run(request).await
}

/// Whether a role may use what asks for this access.
pub(crate) fn allows(access: RouteAccess, role: MemberRole) -> bool {
    match access {
        RouteAccess::Anyone | RouteAccess::Member => true,
        RouteAccess::Manager => matches!(role, MemberRole::Owner | MemberRole::Admin),
        RouteAccess::Owner => role == MemberRole::Owner,
    }
}

/// Who holds the request's session; `None` when it has none that lasts.
pub(crate) async fn signed_in(
    console: &ConsoleState,
    headers: &HeaderMap,
) -> Result<Option<CurrentMember>, PageError> {
    let settings = &console.process.config.console;
    let Some(token) = token(settings, headers) else {
        return Ok(None);
    };
    let now = console.process.clock.now();
    let age = session_age(settings, now);
    let person = console
        .process
        .store
        .use_session(&token.hash(), age, now)
        .await?;
    Ok(person.map(CurrentMember))
}

fn session_age(settings: &config::ConsoleSettings, now: DateTime<Utc>) -> SessionAgeLimits {
    SessionAgeLimits {
        seen_since: now - TimeDelta::minutes(settings.session_idle_minutes),
        created_since: now - TimeDelta::hours(settings.session_longest_hours),
    }
}

/// A page leads to the sign-in and back. An action is not repeated by itself: it leads back to the page with its form,
/// and the sign-in says that nothing was done.
fn sign_in_first(request: &Request) -> Response {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    if request.method() == Method::GET {
        let back = request
            .uri()
            .path_and_query()
            .map_or("/", |path| path.as_str());
        query.append_pair("back", back);
    } else {
        query
            .append_pair("back", &page_of_form(request.headers()))
            .append_pair("lost", "yes");
    }
    Redirect::to(&format!("/sign-in?{}", query.finish())).into_response()
}

/// The path of the page whose form was sent, as the browser says it.
fn page_of_form(headers: &HeaderMap) -> String {
    let referrer = headers
        .get(REFERER)
        .and_then(|referrer| referrer.to_str().ok());
    let Some(url) = referrer.and_then(|referrer| url::Url::parse(referrer).ok()) else {
        return "/".to_owned();
    };
    match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    }
}

/// The address without its notice, when it has one and no page of ours led there: a link of somebody else's could
/// tell people that something was done.
fn without_notice(request: &Request) -> Option<String> {
    let query = request
        .uri()
        .query()
        .filter(|_| request.method() == Method::GET)?;
    let pairs = || url::form_urlencoded::parse(query.as_bytes());
    let is_said = pairs().any(|(name, _)| name == "notice") && is_from_elsewhere(request.headers());
    is_said.then(|| {
        let others = pairs().filter(|(name, _)| name != "notice");
        let query = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(others)
            .finish();
        let path = request.uri().path();
        if query.is_empty() {
            path.to_owned()
        } else {
            format!("{path}?{query}")
        }
    })
}

const fn session_cookie_name(settings: &config::ConsoleSettings) -> &'static str {
    if settings.secure_cookies {
        SECURE_SESSION_COOKIE
    } else {
        SESSION_COOKIE
    }
}

/// The session's token, if there is one.
pub(crate) fn token(
    settings: &config::ConsoleSettings,
    headers: &HeaderMap,
) -> Option<SecretToken> {
    token_in(headers, session_cookie_name(settings))
}

/// The token in the cookie of this name, if there is one.
pub(crate) fn token_in(headers: &HeaderMap, name: &str) -> Option<SecretToken> {
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
pub(crate) fn session_cookie(
    settings: &config::ConsoleSettings,
    token: Option<&SecretToken>,
) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_look_managers_manage_and_owners_own() {
        let allowed = |access| {
            [MemberRole::Member, MemberRole::Admin, MemberRole::Owner]
                .map(|role| allows(access, role))
        };
        assert_eq!(allowed(RouteAccess::Member), [true, true, true]);
        assert_eq!(allowed(RouteAccess::Manager), [false, true, true]);
        assert_eq!(allowed(RouteAccess::Owner), [false, false, true]);
    }

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
