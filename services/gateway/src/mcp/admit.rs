//! Whose request it is.

use std::net::IpAddr;

use axum::http::HeaderMap;
use contract::mcp::RpcError;
use contract::push::PushError;
use messages::FormulaContext;
use model::id::{ApiKeyId, TeamId};
use model::key::KeyKind;
use runtime::trace::RequestIdentity;
use store::AdmittedKey;

use crate::GatewayState;
use crate::mcp::McpServer;
use crate::mcp::denied::McpAccessError;
use crate::push::IntegrationAccess;
use crate::refusal::AdmissionError;
use crate::request::bearer_key;

/// Proof that the request carried a key that opens the server.
#[derive(Debug, Clone, Copy)]
pub(super) enum McpAccess {
    /// The Integrations server's.
    Integration(IntegrationAccess),
    /// The Formula server's.
    Team(TeamAccess),
}

impl McpAccess {
    /// Whose key it is.
    pub(super) const fn team_id(self) -> TeamId {
        match self {
            Self::Integration(access) => access.team_id,
            Self::Team(access) => access.team_id,
        }
    }
}

/// Proof that the request carried a Full access or a Formulas only key of this team.
#[derive(Debug, Clone, Copy)]
pub(super) struct TeamAccess {
    pub(super) team_id: TeamId,
    key_id: ApiKeyId,
    kind: KeyKind,
}

impl TeamAccess {
    /// What a mailer is told of it.
    pub(super) fn formula_context(self) -> FormulaContext {
        FormulaContext {
            key_id: self.key_id,
            is_full_access: self.kind == KeyKind::FullAccess,
        }
    }
}

/// Counts the request and finds its key: source 429, key 401, key 429, integration 403. What fails on our side is for
/// JSON-RPC to answer, and so is the body's size, which the key comes before.
pub(super) async fn admit_request(
    gateway: &GatewayState,
    server: McpServer,
    identity: &RequestIdentity,
    source: IpAddr,
    headers: &HeaderMap,
) -> Result<Result<McpAccess, RpcError>, McpAccessError> {
    let gate = match server {
        McpServer::Integrations => &gateway.push_gate,
        McpServer::Formulas => &gateway.formula_gate,
    };
    let key = bearer_key(headers);
    let admitted = match gate.check_refused_source(source) {
        Ok(()) => gate.admit(identity, source, key.as_ref(), None).await,
        Err(refusal) => Err(refusal),
    };
    match admitted {
        Ok(key) => access_from_key(server, key).map(Ok),
        Err(AdmissionError::RateLimited) => Err(McpAccessError::RateLimited),
        Err(AdmissionError::InvalidKey) => Err(McpAccessError::InvalidKey(server)),
        Err(
            AdmissionError::BodyTooLarge
            | AdmissionError::BodyUnreadable(_)
            | AdmissionError::Failed,
        ) => Ok(Err(RpcError::NotCompleted)),
    }
}

fn access_from_key(server: McpServer, key: AdmittedKey) -> Result<McpAccess, McpAccessError> {
    match server {
        McpServer::Formulas => Ok(McpAccess::Team(TeamAccess {
            team_id: key.team_id,
            key_id: key.key_id,
            kind: key.kind,
        })),
        McpServer::Integrations => match IntegrationAccess::try_from_key(key) {
            Ok(access) => Ok(McpAccess::Integration(access)),
            Err(PushError::IntegrationUnavailable) => Err(McpAccessError::IntegrationUnavailable),
            Err(_) => Err(McpAccessError::InvalidKey(server)),
        },
    }
}
