//! Who asks, and may they? Each route is guarded by what the table of routes says of it, and only here.

use axum::extract::{Request, State};
use axum::http::header::REFERER;
use axum::http::{HeaderMap, Method};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::MethodRouter;
use runtime::measure::note_asker;

use crate::extract::CurrentMember;
use crate::origin::is_from_elsewhere;
use crate::page_error::PageError;
use crate::role_access::{RouteAccess, role_allows};
use crate::session::signed_in_member;
use crate::state::ConsoleState;

/// Puts a route that asks for this access behind its guard.
pub(crate) fn guard_route(
    handler: MethodRouter<ConsoleState>,
    access: RouteAccess,
    console: &ConsoleState,
) -> MethodRouter<ConsoleState> {
    let guard = RouteGuard {
        console: console.clone(),
        access,
    };
    handler.layer(from_fn_with_state(guard, check_access))
}

#[derive(Clone)]
struct RouteGuard {
    console: ConsoleState,
    access: RouteAccess,
}

async fn check_access(
    State(guard): State<RouteGuard>,
    mut request: Request,
    next: Next,
) -> Response {
    if guard.access == RouteAccess::Anyone {
        return next.run(request).await;
    }
    let member = match signed_in_member(&guard.console, request.headers()).await {
        Ok(Some(member)) => member,
        Ok(None) => return sign_in_first(&request),
        Err(failure) => return failure.into_response(),
    };
    note_asker(member.team_id, "session");
    if !role_allows(guard.access, member.role) {
        return PageError::NotAllowed.into_response();
    }
    if let Some(address) = without_notice(&request) {
        return Redirect::to(&address).into_response();
    }
    request.extensions_mut().insert(CurrentMember(member));
    next.run(request).await
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
