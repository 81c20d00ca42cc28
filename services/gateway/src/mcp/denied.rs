//! What the servers refuse by HTTP, with the push API's body.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use contract::mcp::VERSIONS;
use contract::push::PushError;

use crate::mcp::McpServer;
use crate::push::answer::{CHALLENGE, other_error};
use crate::request::RETRY_AFTER;

/// Why a request gets no JSON-RPC answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum McpAccessError {
    /// Another method than POST.
    UsePost,
    /// A web page of another site made its reader's browser ask. An added code.
    ForeignOrigin,
    /// `MCP-Protocol-Version` names a revision that the servers do not speak. An added code.
    UnsupportedVersion,
    /// The key is missing, wrong, revoked, or does not open this server.
    InvalidKey(McpServer),
    /// The owner paused or disconnected the integration.
    IntegrationUnavailable,
    /// Over the requests per minute.
    RateLimited,
}

impl McpAccessError {
    /// The code in the body, in metrics and in logs.
    pub(super) const fn code(self) -> &'static str {
        match self {
            Self::UsePost => "use_post",
            Self::ForeignOrigin => "origin_not_allowed",
            Self::UnsupportedVersion => "unsupported_protocol_version",
            Self::InvalidKey(_) => PushError::InvalidKey.code(),
            Self::IntegrationUnavailable => PushError::IntegrationUnavailable.code(),
            Self::RateLimited => PushError::RateLimited.code(),
        }
    }

    const fn status(self) -> StatusCode {
        match self {
            Self::UsePost => StatusCode::METHOD_NOT_ALLOWED,
            Self::ForeignOrigin | Self::IntegrationUnavailable => StatusCode::FORBIDDEN,
            Self::UnsupportedVersion => StatusCode::BAD_REQUEST,
            Self::InvalidKey(_) => StatusCode::UNAUTHORIZED,
            Self::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        }
    }

    fn message(self) -> String {
        match self {
            Self::UsePost => "This is an MCP server: send JSON-RPC 2.0 with POST.".to_owned(),
            Self::ForeignOrigin => "Web pages of this origin may not call this server.".to_owned(),
            Self::UnsupportedVersion => {
                format!("MCP-Protocol-Version must be one of {}.", VERSIONS.join(", "))
            }
            Self::InvalidKey(McpServer::Integrations) => PushError::InvalidKey.to_string(),
            Self::InvalidKey(McpServer::Formulas) => {
                "The API key is missing, wrong or revoked, or is neither a Full access nor a Formulas only key.".to_owned()
            }
            Self::IntegrationUnavailable => PushError::IntegrationUnavailable.to_string(),
            Self::RateLimited => PushError::RateLimited.to_string(),
        }
    }

    /// Every reason why a request to this server is refused.
    pub(super) fn all_for_server(server: McpServer) -> Vec<Self> {
        let mut every = vec![
            Self::ForeignOrigin,
            Self::UnsupportedVersion,
            Self::InvalidKey(server),
            Self::RateLimited,
            Self::UsePost,
        ];
        if server == McpServer::Integrations {
            every.push(Self::IntegrationUnavailable);
        }
        every
    }

    /// Status, code and message.
    pub(super) fn describe(self) -> (StatusCode, &'static str, String) {
        (self.status(), self.code(), self.message())
    }

    /// The answer.
    pub(super) fn to_response(self) -> Response {
        let mut response = other_error(self.status(), self.code(), &self.message());
        let header = match self {
            Self::UsePost => Some((header::ALLOW, HeaderValue::from_static("POST"))),
            Self::InvalidKey(_) => Some((header::WWW_AUTHENTICATE, CHALLENGE)),
            Self::RateLimited => Some((header::RETRY_AFTER, RETRY_AFTER)),
            Self::ForeignOrigin | Self::UnsupportedVersion | Self::IntegrationUnavailable => None,
        };
        response.headers_mut().extend(header);
        response
    }
}
