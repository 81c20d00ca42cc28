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
use contract::push::{PUSH_API, PushError};
use model::id::{IntegrationId, TeamId};
use store::{AdmittedKey, IntegrationAvailability};

use crate::admission::{AdmissionError, bearer_key};
use crate::body::{declared_too_large, drain_body};
use crate::mcp::{self, McpServer};
use crate::push::answer::{ReplayableAnswer, build_response};
use crate::push::query::PushQuery;
use crate::{GatewayState, PeerAddress};
use runtime::source::source_address;
use runtime::trace::RequestIdentity;

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
enum PushEndpoint {
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
pub(crate) fn build_router() -> Router<GatewayState> {
    Router::new()
        .route(
            "/",
            route_endpoint(MethodFilter::GET, PushEndpoint::Integration),
        )
        .route(
            "/schema",
            route_endpoint(MethodFilter::GET, PushEndpoint::Schema),
        )
        .route(
            "/schema",
            route_endpoint(MethodFilter::POST, PushEndpoint::Declare),
        )
        .route(
            "/sync",
            route_endpoint(MethodFilter::GET, PushEndpoint::Sync),
        )
        .route(
            "/sync",
            route_endpoint(MethodFilter::POST, PushEndpoint::Begin),
        )
        .route(
            "/sync",
            route_endpoint(MethodFilter::PATCH, PushEndpoint::Complete),
        )
        .route(
            "/sync/rejections",
            route_endpoint(MethodFilter::GET, PushEndpoint::Rejections),
        )
        .route(
            "/records",
            route_endpoint(MethodFilter::POST, PushEndpoint::Push),
        )
        .route(
            "/syncs",
            route_endpoint(MethodFilter::GET, PushEndpoint::Syncs),
        )
        .route(
            "/contacts",
            route_endpoint(MethodFilter::GET, PushEndpoint::Contact),
        )
        .route("/mcp", mcp::server_route(McpServer::Integrations))
        .fallback(answer::not_found)
        .method_not_allowed_fallback(answer::method_not_allowed)
}

fn route_endpoint(method: MethodFilter, endpoint: PushEndpoint) -> MethodRouter<GatewayState> {
    routing::on(
        method,
        move |State(gateway): State<GatewayState>,
              PeerAddress { 0: peer }: PeerAddress,
              request: Request| { serve_endpoint(gateway, endpoint, peer.ip(), request) },
    )
}

async fn serve_endpoint(
    gateway: GatewayState,
    endpoint: PushEndpoint,
    peer: IpAddr,
    request: Request,
) -> Response {
    let (parts, mut body) = request.into_parts();
    let identity = RequestIdentity::from_extensions(&parts.extensions);
    let source = source_address(
        peer,
        &parts.headers,
        &gateway.process.config.gateway.trusted_proxies,
    );
    let result = match admit_request(
        &gateway,
        &identity,
        source,
        &parts,
        declared_too_large(&body),
    )
    .await
    {
        Ok(access) => {
            answer_endpoint(
                &gateway, endpoint, access, source, &parts, &mut body, &identity,
            )
            .await
        }
        Err(error) => Err(error),
    };
    if result.is_err() {
        drain_body(body);
    }
    let code = result.as_ref().map_or_else(PushError::code, |_| "ok");
    let mut response = build_response(result);
    identity.mark_response(code, &mut response);
    response
}

/// Finds out whose request it is: source 429, body 413, key 401, integration 403.
async fn admit_request(
    gateway: &GatewayState,
    identity: &RequestIdentity,
    source: IpAddr,
    parts: &Parts,
    too_large: Option<AdmissionError>,
) -> Result<IntegrationAccess, PushError> {
    gateway.push_gate.check_refused_source(identity, source)?;
    let key = bearer_key(&parts.headers);
    IntegrationAccess::try_from_key(
        gateway
            .push_gate
            .admit(identity, source, key.as_ref(), too_large)
            .await?,
    )
}

impl IntegrationAccess {
    /// What a key opens. Errors: `invalid_key`, `integration_unavailable`.
    pub(crate) fn try_from_key(key: AdmittedKey) -> Result<Self, PushError> {
        match key.integration {
            Some((integration_id, IntegrationAvailability::Active)) => Ok(Self {
                team_id: key.team_id,
                integration_id,
            }),
            Some((_, IntegrationAvailability::Paused | IntegrationAvailability::Disconnected)) => {
                Err(PushError::IntegrationUnavailable)
            }
            // The key of an integration that was removed.
            None => Err(PushError::InvalidKey),
        }
    }
}

impl From<AdmissionError> for PushError {
    fn from(refusal: AdmissionError) -> Self {
        match refusal {
            AdmissionError::RateLimited => Self::RateLimited,
            AdmissionError::BodyTooLarge => Self::PayloadTooLarge,
            AdmissionError::BodyUnreadable(message) => Self::InvalidJson(message.to_owned()),
            AdmissionError::UnsupportedEncoding => Self::UnsupportedEncoding,
            AdmissionError::InvalidKey => Self::InvalidKey,
            AdmissionError::Failed => Self::InternalError,
        }
    }
}

async fn answer_endpoint(
    gateway: &GatewayState,
    endpoint: PushEndpoint,
    access: IntegrationAccess,
    source: IpAddr,
    parts: &Parts,
    body: &mut Body,
    identity: &RequestIdentity,
) -> Result<ReplayableAnswer, PushError> {
    let (id, query) = (access.integration_id, parts.uri.query().unwrap_or_default());
    match endpoint {
        PushEndpoint::Integration => {
            let answer = read::read_integration(gateway, id, &PUSH_API).await?;
            Ok(ReplayableAnswer::new(&answer))
        }
        PushEndpoint::Schema => read::read_schema(gateway, id).await,
        PushEndpoint::Sync => read::read_sync(gateway, id).await,
        PushEndpoint::Rejections => {
            let query = PushQuery::parse(query);
            read::read_rejections(gateway, id, &query, query.issue_filter()).await
        }
        PushEndpoint::Syncs => read::read_syncs(gateway, id, query).await,
        PushEndpoint::Contact => read::read_contact(gateway, id, query).await,
        PushEndpoint::Declare
        | PushEndpoint::Begin
        | PushEndpoint::Complete
        | PushEndpoint::Push => {
            let patience = Duration::from_millis(gateway.process.config.gateway.call_deadline_ms);
            let question =
                ask::SyncerRequest::parse(endpoint, access, &parts.headers, query, patience)?;
            let body = gateway
                .bodies
                .read(access.team_id, source, &parts.headers, body)
                .await?;
            ask::ask_syncer(gateway, question, body, identity).await
        }
    }
}
