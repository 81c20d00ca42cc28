//! The Integrations push API.
//!
//! What changes something is a call to a syncer. What only reads is answered from the database here: it needs no
//! key and no order among workers, and a way over the broker would only add what can fail.

pub(crate) mod answer;
pub(crate) mod ask;
pub(crate) mod query;
pub(crate) mod read;

use std::net::IpAddr;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::response::Response;
use axum::routing::{self, MethodFilter, MethodRouter};
use contract::id::{IntegrationId, TeamId};
use contract::push::{PUSH_API, PushError};
use store::{AdmittedKey, Availability};

use crate::body::{declared_too_large, drain};
use crate::mcp::{self, Server};
use crate::push::answer::{Answered, respond};
use crate::push::query::Query;
use crate::refusal::Refusal;
use crate::request::bearer_key;
use crate::{Gateway, Peer};
use service::source::source_address;
use service::trace::RequestIdentity;

/// Where the API begins (contract: Versioning).
pub(crate) const BASE_PATH: &str = "/api/integrations/push/v1";

/// Proof that the request carried a key of this integration, whose owner lets it take requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IntegrationAccess {
    pub(crate) team_id: TeamId,
    pub(crate) integration_id: IntegrationId,
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Endpoint {
    Integration,
    Schema,
    Declare,
    Sync,
    Begin,
    Complete,
    Push,
    Rejections,
    Syncs,
    Contact,
}

/// The routes below [`BASE_PATH`].
pub(crate) fn router() -> Router<Gateway> {
    Router::new()
        .route("/", on(MethodFilter::GET, Endpoint::Integration))
        .route("/schema", on(MethodFilter::GET, Endpoint::Schema))
        .route("/schema", on(MethodFilter::POST, Endpoint::Declare))
        .route("/sync", on(MethodFilter::GET, Endpoint::Sync))
        .route("/sync", on(MethodFilter::POST, Endpoint::Begin))
        .route("/sync", on(MethodFilter::PATCH, Endpoint::Complete))
        .route("/sync/rejections", on(MethodFilter::GET, Endpoint::Rejections))
        .route("/records", on(MethodFilter::POST, Endpoint::Push))
        .route("/syncs", on(MethodFilter::GET, Endpoint::Syncs))
        .route("/contacts", on(MethodFilter::GET, Endpoint::Contact))
        .route("/mcp", mcp::route(Server::Integrations))
        .fallback(answer::not_found)
        .method_not_allowed_fallback(answer::method_not_allowed)
}

fn on(method: MethodFilter, endpoint: Endpoint) -> MethodRouter<Gateway> {
    routing::on(method, move |State(gateway): State<Gateway>, Peer { 0: peer }: Peer, request: Request| {
        serve(gateway, endpoint, peer.ip(), request)
    })
}

async fn serve(gateway: Gateway, endpoint: Endpoint, peer: IpAddr, request: Request) -> Response {
    let (parts, mut body) = request.into_parts();
    let identity = RequestIdentity::of(&parts.extensions);
    let source = source_address(peer, &parts.headers, &gateway.process.config.gateway.trusted_proxies);
    let result = match admit(&gateway, &identity, source, &parts, declared_too_large(&body)).await {
        Ok(access) => answer(&gateway, endpoint, access, source, &parts, &mut body, &identity).await,
        Err(error) => Err(error),
    };
    if result.is_err() {
        drain(body);
    }
    let code = result.as_ref().map_or_else(PushError::code, |_| "ok");
    let mut response = respond(result);
    identity.finish(code, &mut response);
    response
}

/// Finds out whose request it is: source 429, body 413, key 401, integration 403.
async fn admit(
    gateway: &Gateway,
    identity: &RequestIdentity,
    source: IpAddr,
    parts: &Parts,
    too_large: Option<Refusal>,
) -> Result<IntegrationAccess, PushError> {
    gateway.push_gate.check_shield(source)?;
    let key = bearer_key(&parts.headers);
    IntegrationAccess::of(gateway.push_gate.admit(identity, source, key.as_ref(), too_large).await?)
}

impl IntegrationAccess {
    /// What a key opens. Errors: `invalid_key`, `integration_unavailable`.
    pub(crate) fn of(key: AdmittedKey) -> Result<Self, PushError> {
        match key.integration {
            Some((integration_id, Availability::Active)) => Ok(Self { team_id: key.team_id, integration_id }),
            Some((_, Availability::Paused | Availability::Disconnected)) => {
                Err(PushError::IntegrationUnavailable)
            }
            // The key of an integration that was removed.
            None => Err(PushError::InvalidKey),
        }
    }
}

impl From<Refusal> for PushError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::RateLimited => Self::RateLimited,
            Refusal::BodyTooLarge => Self::PayloadTooLarge,
            Refusal::BodyUnreadable(message) => Self::InvalidJson(message.to_owned()),
            Refusal::InvalidKey => Self::InvalidKey,
            Refusal::Failed => Self::InternalError,
        }
    }
}

async fn answer(
    gateway: &Gateway,
    endpoint: Endpoint,
    access: IntegrationAccess,
    source: IpAddr,
    parts: &Parts,
    body: &mut Body,
    identity: &RequestIdentity,
) -> Result<Answered, PushError> {
    let (id, query) = (access.integration_id, parts.uri.query().unwrap_or_default());
    match endpoint {
        Endpoint::Integration => {
            let answer = read::integration(gateway, id, &PUSH_API).await?;
            Ok(Answered::new(&answer))
        }
        Endpoint::Schema => read::schema(gateway, id).await,
        Endpoint::Sync => read::sync(gateway, id).await,
        Endpoint::Rejections => {
            let query = Query::read(query);
            read::rejections(gateway, id, &query, query.issue_filter()).await
        }
        Endpoint::Syncs => read::syncs(gateway, id, query).await,
        Endpoint::Contact => read::contact(gateway, id, query).await,
        Endpoint::Declare | Endpoint::Begin | Endpoint::Complete | Endpoint::Push => {
            let patience = Duration::from_millis(gateway.process.config.gateway.call_deadline_ms);
            let question = ask::Question::read(endpoint, access, &parts.headers, query, patience)?;
            let body = gateway.bodies.read(access.team_id, source, body).await?;
            ask::ask(gateway, question, body, identity).await
        }
    }
}
