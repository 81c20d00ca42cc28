//! The two MCP servers: one dispatcher, stateless, one JSON answer to each POST.
//!
//! A request in reading order: [`server_route`] (POST only) → [`admit`] → the body → [`dispatch`] → the tools of
//! [`integrations`] or [`formulas`]. What HTTP refuses is a [`McpAccessError`]; everything after the admission is JSON-RPC and
//! HTTP 200, since the protocol's clients lose their session over other statuses.

mod admit;
mod dispatch;
mod formulas;
mod integrations;
pub(crate) mod turns;

use std::net::IpAddr;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, post};
use bytes::Bytes;
use contract::mcp::{self, RequestIdFinder, RpcError, RpcMessage};

use crate::admission::AdmissionError;
use crate::body::{declared_too_large, drain_body, skip_body};
use crate::mcp::admit::{McpAccess, McpAccessError};
use crate::mcp::dispatch::McpMethod;
use crate::push::answer::json_response;
use crate::{GatewayState, PeerAddress};
use runtime::source::source_address;
use runtime::trace::RequestIdentity;

/// Where the Formula MCP server is; the Integrations one is a path of the push API.
pub(crate) const FORMULAS_PATH: &str = "/api/formulas/v1/mcp";

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum McpServer {
    /// Speaks for the push API.
    Integrations,
    /// Formula columns.
    Formulas,
}

/// What a server refuses by HTTP, for its description: status, code and what a client is told.
pub(crate) fn list_access_errors(server: McpServer) -> Vec<(StatusCode, &'static str, String)> {
    McpAccessError::all_for_server(server)
        .into_iter()
        .map(McpAccessError::describe)
        .collect()
}

/// What a request comes to.
enum McpOutcome {
    /// An answer without a body: the message wanted none.
    Accepted,
    /// JSON-RPC, and a code for metrics.
    Answered(Vec<u8>, &'static str),
}

impl McpOutcome {
    fn from_error(id: Option<&serde_json::value::RawValue>, error: &RpcError) -> Self {
        Self::Answered(mcp::write_rpc_failure(id, error), error.name())
    }
}

/// The route of a server. Other methods than POST are refused before anything else is looked at.
pub(crate) fn server_route(server: McpServer) -> MethodRouter<GatewayState> {
    post(
        move |State(gateway): State<GatewayState>,
              PeerAddress { 0: peer }: PeerAddress,
              request: Request| { serve_request(gateway, server, peer.ip(), request) },
    )
    .fallback(|request: Request| async move {
        let mut response = McpAccessError::UsePost.to_response();
        RequestIdentity::from_extensions(request.extensions())
            .mark_response(McpAccessError::UsePost.code(), &mut response);
        response
    })
}

async fn serve_request(
    gateway: GatewayState,
    server: McpServer,
    peer: IpAddr,
    request: Request,
) -> Response {
    let (parts, mut body) = request.into_parts();
    let identity = RequestIdentity::from_extensions(&parts.extensions);
    let result = handle_request(&gateway, server, peer, &parts, &mut body, &identity).await;
    // What was not read of a refused request.
    drain_body(body);
    let (mut response, code) = match result {
        Ok(McpOutcome::Accepted) => (StatusCode::ACCEPTED.into_response(), "accepted"),
        Ok(McpOutcome::Answered(body, code)) => {
            (json_response(StatusCode::OK, Bytes::from(body)), code)
        }
        Err(denied) => (denied.to_response(), denied.code()),
    };
    identity.mark_response(code, &mut response);
    response
}

async fn handle_request(
    gateway: &GatewayState,
    server: McpServer,
    peer: IpAddr,
    parts: &Parts,
    body: &mut Body,
    identity: &RequestIdentity,
) -> Result<McpOutcome, McpAccessError> {
    let settings = &gateway.process.config.gateway;
    admit::check_origin(&parts.headers, &settings.mcp_allowed_origins)?;
    let source = source_address(peer, &parts.headers, &settings.trusted_proxies);
    // An error is answered below: whoever asks gets to know which of its requests failed.
    let access = admit::admit_request(gateway, server, identity, source, &parts.headers).await?;
    admit::check_version(&parts.headers)?;
    if declared_too_large(body).is_some() {
        return Ok(answer_too_large(body).await);
    }
    let read = match &access {
        Ok(access) => {
            let (team_id, headers) = (access.team_id(), &parts.headers);
            gateway.bodies.read(team_id, source, headers, body).await
        }
        // Whose it is the database could not say, and for nobody nothing is expanded: its id stays unknown.
        Err(error) if parts.headers.contains_key(header::CONTENT_ENCODING) => {
            return Ok(McpOutcome::from_error(None, error));
        }
        Err(_) => gateway.bodies.read_anonymous(source, body).await,
    };
    match read {
        Err(AdmissionError::UnsupportedEncoding) => Err(McpAccessError::UnsupportedEncoding),
        Ok(body) => Ok(answer_message(gateway, access, body, identity).await),
        Err(refusal) => Ok(McpOutcome::from_error(None, &body_error(refusal))),
    }
}

/// A request whose size is known to be too large is not read, but its id is looked for: clients wait for an answer with it.
async fn answer_too_large(body: &mut Body) -> McpOutcome {
    let mut scan = RequestIdFinder::default();
    skip_body(body, |bytes| scan.scan_bytes(bytes)).await;
    McpOutcome::from_error(scan.id().as_deref(), &RpcError::TooLarge)
}

fn body_error(refusal: AdmissionError) -> RpcError {
    match refusal {
        AdmissionError::BodyTooLarge => RpcError::TooLarge,
        AdmissionError::BodyUnreadable(why) => RpcError::NotJsonRpc(why.to_owned()),
        AdmissionError::Failed
        | AdmissionError::RateLimited
        | AdmissionError::UnsupportedEncoding
        | AdmissionError::InvalidKey => RpcError::NotCompleted,
    }
}

async fn answer_message(
    gateway: &GatewayState,
    access: Result<McpAccess, RpcError>,
    body: Bytes,
    identity: &RequestIdentity,
) -> McpOutcome {
    let (id, wanted) = match RpcMessage::parse(&body) {
        Ok(RpcMessage::Request { id, method, params }) => {
            let wanted =
                access.and_then(|access| Ok((access, McpMethod::parse(&body, &method, params)?)));
            (id.to_owned(), wanted)
        }
        Ok(RpcMessage::Notification) => return McpOutcome::Accepted,
        Err((id, error)) => return McpOutcome::from_error(id, &error),
    };
    // From here on the arguments of a call alone hold the body's memory.
    drop(body);
    let result = match wanted {
        Ok((access, wanted)) => {
            dispatch::McpRequest {
                gateway,
                access,
                identity,
            }
            .dispatch(&id, wanted)
            .await
        }
        Err(error) => Err(error),
    };
    result.unwrap_or_else(|error| McpOutcome::from_error(Some(&id), &error))
}
