//! Every page and action, and who may use it.

use axum::extract::DefaultBodyLimit;
use axum::handler::Handler;
use axum::http::Method;
use axum::middleware::map_response;
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};

use crate::page;
use crate::{ConsoleState, FORM_BYTES, failure};

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouteAccess {
    /// Also who is not signed in.
    Anyone,
    /// Everybody in a team.
    Member,
    /// Owners and Admins: those who manage keys, endpoints, integrations and campaigns.
    Manager,
    /// Owners only: people and money.
    Owner,
}

/// A page or an action.
#[derive(Clone)]
pub struct ConsoleRoute {
    /// The path, with the names of its parameters in braces.
    pub path: &'static str,
    /// GET for pages, POST for actions.
    pub method: Method,
    /// Who may use it.
    pub access: RouteAccess,
    pub(crate) handler: MethodRouter<ConsoleState>,
}

/// All of them. The router is made of this list, and tests walk it.
pub fn all() -> Vec<ConsoleRoute> {
    [
        page::sign_in::routes(),
        page::home::routes(),
        page::campaign::routes(),
        page::recipient::routes(),
        page::design::routes(),
        page::address_book::routes(),
        page::integration::routes(),
        page::key::routes(),
        page::endpoint::routes(),
        page::billing::routes(),
        page::team::routes(),
        page::activity::routes(),
    ]
    .concat()
}

/// A page.
pub(crate) fn page<H, T>(path: &'static str, access: RouteAccess, handler: H) -> ConsoleRoute
where
    H: Handler<T, ConsoleState>,
    T: 'static,
{
    ConsoleRoute {
        path,
        method: Method::GET,
        access,
        handler: get(handler),
    }
}

/// An action: what a form does.
pub(crate) fn action<H, T>(path: &'static str, access: RouteAccess, handler: H) -> ConsoleRoute
where
    H: Handler<T, ConsoleState>,
    T: 'static,
{
    upload(path, access, FORM_BYTES, handler)
}

/// An action whose form may bring a file; all of it has so many bytes at the most.
pub(crate) fn upload<H, T>(
    path: &'static str,
    access: RouteAccess,
    bytes: usize,
    handler: H,
) -> ConsoleRoute
where
    H: Handler<T, ConsoleState>,
    T: 'static,
{
    let refused = map_response(move |response: Response| {
        std::future::ready(failure::bounded(response, bytes))
    });
    let handler = post(handler)
        .layer(DefaultBodyLimit::max(bytes))
        .layer(refused);
    ConsoleRoute {
        path,
        method: Method::POST,
        access,
        handler,
    }
}
