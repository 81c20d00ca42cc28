//! The protocol's own methods, and what the servers answer to them.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::mcp::tool::McpTool;

/// The protocol's revisions that the servers speak, the newest first.
pub const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The revision that a client is offered which asks for one that the servers do not speak.
pub const LATEST_VERSION: &str = VERSIONS[0];

/// What a client can ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RpcMethod {
    /// The beginning of a connection; the servers keep nothing of it.
    Initialize,
    /// Is anybody there?
    Ping,
    /// The server's tools.
    ListTools,
    /// One tool's work.
    CallTool,
}

impl RpcMethod {
    /// The method of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "initialize" => Some(Self::Initialize),
            "ping" => Some(Self::Ping),
            "tools/list" => Some(Self::ListTools),
            "tools/call" => Some(Self::CallTool),
            _ => None,
        }
    }
}

/// How a server introduces itself.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ServerInfo {
    /// For programs.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// Of the program.
    pub version: &'static str,
}

/// Result of `initialize`.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeResult {
    /// The revision to speak.
    pub protocol_version: &'static str,
    capabilities: ServerCapabilities,
    /// Who answers.
    pub server_info: ServerInfo,
    /// What a model should know before it calls a tool.
    pub instructions: &'static str,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct ServerCapabilities {
    tools: ToolsCapability,
}

/// The list of tools does not change while the server runs: there is nothing to say.
#[derive(Debug, Clone, Copy, Serialize)]
struct ToolsCapability {}

/// Result of `tools/list`. All tools fit one page.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ToolList<'a> {
    /// Always in the same order.
    pub tools: &'a [McpTool],
}

/// The part of the parameters of `initialize` that matters here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InitializeParams {
    protocol_version: String,
}

impl InitializeResult {
    /// The answer to these parameters: the revision that was asked for if it is known, else the latest.
    pub fn new(
        params: Option<&RawValue>,
        server_info: ServerInfo,
        instructions: &'static str,
    ) -> Self {
        let asked = params.and_then(|params| serde_json::from_str(params.get()).ok());
        let known = asked.and_then(|InitializeParams { protocol_version }| {
            find_known_version(&protocol_version)
        });
        Self {
            protocol_version: known.unwrap_or(LATEST_VERSION),
            capabilities: ServerCapabilities {
                tools: ToolsCapability {},
            },
            server_info,
            instructions,
        }
    }
}

fn find_known_version(asked: &str) -> Option<&'static str> {
    VERSIONS.into_iter().find(|version| *version == asked)
}

#[cfg(test)]
mod tests {
    use serde_json::{json, value::to_raw_value};

    use super::*;

    #[test]
    fn the_revision_asked_for_is_echoed_if_known_else_the_latest_is_offered() {
        let info = ServerInfo {
            name: "n",
            title: "t",
            version: "1",
        };
        let answered = |params: serde_json::Value| {
            let params = to_raw_value(&params).unwrap();
            InitializeResult::new(Some(&params), info, "").protocol_version
        };
        for version in VERSIONS {
            assert_eq!(answered(json!({"protocolVersion": version})), version);
        }
        for unknown in [
            json!({"protocolVersion": "2026-07-28"}),
            json!({"protocolVersion": 7}),
            json!([]),
        ] {
            assert_eq!(answered(unknown), LATEST_VERSION);
        }
        assert_eq!(
            InitializeResult::new(None, info, "").protocol_version,
            LATEST_VERSION
        );
    }
}
