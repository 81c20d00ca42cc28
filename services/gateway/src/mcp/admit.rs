//! Which requests are let in: from which web pages, in which revision of the protocol, with whose key. What is refused is
//! refused by HTTP, with the push API's body.

use std::net::IpAddr;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use contract::mcp::{RpcError, VERSIONS};
use contract::push::PushError;
use messages::FormulaContext;
use model::id::{ApiKeyId, TeamId};
use model::key::KeyKind;
use runtime::trace::RequestIdentity;
use store::AdmittedKey;
use url::{Host, Url};

use crate::GatewayState;
use crate::admission::{AdmissionError, RETRY_AFTER, bearer_key};
use crate::expand::ACCEPTED_ENCODINGS;
use crate::mcp::McpServer;
use crate::push::IntegrationAccess;
use crate::push::answer::{CHALLENGE, other_error};

/// The protocol's revision, as a client names it after the handshake.
const VERSION_HEADER: &str = "mcp-protocol-version";

/// Which web pages may call: a browser tells where the page that makes it ask came from, and a page cannot lie there; programs
/// send no origin. Lets a request in that comes from no page, from one on the reader's own machine, or from an allowed origin. The host
/// that was asked for does not count: a page can have its own name resolve to us.
pub(super) fn check_origin(headers: &HeaderMap, allowed: &[String]) -> Result<(), McpAccessError> {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let is_allowed = origins.all(|origin| {
        origin
            .to_str()
            .is_ok_and(|origin| allowed.iter().any(|allowed| allowed == origin) || is_local(origin))
    });
    if is_allowed {
        Ok(())
    } else {
        Err(McpAccessError::ForeignOrigin)
    }
}

fn is_local(origin: &str) -> bool {
    match Url::parse(origin).as_ref().map(Url::host) {
        Ok(Some(Host::Domain(name))) => name == "localhost",
        Ok(Some(Host::Ipv4(address))) => address.is_loopback(),
        Ok(Some(Host::Ipv6(address))) => address.is_loopback(),
        _ => false,
    }
}

/// Refuses a revision that the servers do not speak. Without the header the client speaks an old one.
pub(super) fn check_version(headers: &HeaderMap) -> Result<(), McpAccessError> {
    let is_known = |value: &HeaderValue| VERSIONS.iter().any(|version| value == version);
    if headers.get_all(VERSION_HEADER).iter().all(is_known) {
        Ok(())
    } else {
        Err(McpAccessError::UnsupportedVersion)
    }
}

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
    let admitted = match gate.check_refused_source(identity, source) {
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
            | AdmissionError::UnsupportedEncoding
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

/// Why a request gets no JSON-RPC answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum McpAccessError {
    /// Another method than POST.
    UsePost,
    /// A web page of another site made its reader's browser ask. An added code.
    ForeignOrigin,
    /// `MCP-Protocol-Version` names a revision that the servers do not speak. An added code.
    UnsupportedVersion,
    /// `Content-Encoding` names what is not taken, or several. An added code.
    UnsupportedEncoding,
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
            Self::UnsupportedEncoding => PushError::UnsupportedEncoding.code(),
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
            Self::UnsupportedEncoding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
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
            Self::UnsupportedEncoding => PushError::UnsupportedEncoding.to_string(),
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
            Self::UnsupportedEncoding,
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
            Self::UnsupportedEncoding => Some((header::ACCEPT_ENCODING, ACCEPTED_ENCODINGS)),
            Self::ForeignOrigin | Self::UnsupportedVersion | Self::IntegrationUnavailable => None,
        };
        response.headers_mut().extend(header);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_all(origins: &[&'static str]) -> Result<(), McpAccessError> {
        let mut headers = HeaderMap::new();
        for origin in origins {
            headers.append(header::ORIGIN, origin.parse().unwrap());
        }
        check_origin(&headers, &["https://agent.example.com".to_owned()])
    }

    #[test]
    fn a_foreign_origin_is_refused_and_none_or_a_local_or_allowed_one_is_not() {
        assert_eq!(check_all(&[]), Ok(()));
        for local in [
            "http://localhost:6274",
            "https://localhost",
            "http://127.0.0.1:8080",
            "http://[::1]:3000",
        ] {
            assert_eq!(check_all(&[local]), Ok(()), "{local}");
        }
        assert_eq!(check_all(&["https://agent.example.com"]), Ok(()));
        for foreign in [
            "null",
            "",
            "http://evil.example.com",
            "https://agent.example.com.evil.example.com",
            "http://agent.example.com",
            "http://localhost.evil.example.com",
            "http://127.0.0.1.evil.example.com",
            "localhost",
        ] {
            assert_eq!(
                check_all(&[foreign]),
                Err(McpAccessError::ForeignOrigin),
                "{foreign}"
            );
        }
        assert_eq!(
            check_all(&["http://localhost", "http://evil.example.com"]),
            Err(McpAccessError::ForeignOrigin)
        );
    }

    #[test]
    fn a_revision_that_is_not_spoken_is_refused_and_none_is_not() {
        let with = |version: &str| {
            HeaderMap::from_iter([(VERSION_HEADER.parse().unwrap(), version.parse().unwrap())])
        };
        assert_eq!(check_version(&HeaderMap::new()), Ok(()));
        for version in VERSIONS {
            assert_eq!(check_version(&with(version)), Ok(()));
        }
        for version in ["2026-07-28", "", "2025-11-25, 2025-06-18"] {
            assert_eq!(
                check_version(&with(version)),
                Err(McpAccessError::UnsupportedVersion),
                "{version}"
            );
        }
    }
}
