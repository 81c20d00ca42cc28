//! The two MCP servers. Their tools describe themselves (`tools/list`); here is what HTTP sees of them.

use contract::mcp::VERSIONS;
use serde_json::{Value, json};

use super::operation::{Envelope, Failure, Operation, accepted, answered, failed, parameter};
use crate::mcp::denials;
use crate::mcp::{FORMULAS_PATH, Server};
use crate::push::BASE_PATH;

/// The tag of these operations.
pub(super) const TAG: &str = "MCP servers";

/// Both.
pub(super) fn operations() -> Vec<Operation> {
    let integrations = "For agents of an integration: begin a sync, push records, complete it, look at rejections.";
    let formulas = "For agents that write formula columns: list columns and functions, check, preview and save a formula.";
    vec![
        Operation {
            path: format!("{BASE_PATH}/mcp"),
            id: "callIntegrationsMcp",
            summary: "The Integrations MCP server",
            description: integrations,
            opened_by: &["integrationKey"],
            ..server(Server::Integrations)
        },
        Operation {
            path: FORMULAS_PATH.to_owned(),
            id: "callFormulasMcp",
            summary: "The Formula MCP server",
            description: formulas,
            opened_by: &["fullAccessKey", "formulasKey"],
            ..server(Server::Formulas)
        },
    ]
}

fn server(server: Server) -> Operation {
    let failures = denials(server).into_iter().map(|(status, code, message)| Failure { status, code, message });
    let mut responses = failed(Envelope::Nested, failures.collect());
    responses.insert(200, answered("The answer to a request, also when it is an error of JSON-RPC.", message()));
    responses.insert(202, accepted("A notification was taken."));
    let versions = VERSIONS.join(", ");
    let version = parameter("header", "MCP-Protocol-Version", json!({"type": "string", "enum": VERSIONS}), &versions);
    Operation {
        method: "post",
        path: String::new(),
        id: "",
        tag: TAG,
        summary: "",
        description: "",
        parameters: vec![version],
        body: Some(json!({
            "description": "A JSON-RPC 2.0 request or notification. What is none is answered with an error of JSON-RPC.",
            "examples": [{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}],
        })),
        needs_body: false,
        opened_by: &[],
        responses,
    }
}

/// A JSON-RPC response.
fn message() -> Value {
    let codes = [
        (-32700, "The body is not JSON-RPC."),
        (-32600, "The method is missing, or the request is too large."),
        (-32601, "There is no such tool or method."),
        (-32602, "The parameters cannot be used."),
        (-32603, "The call could not be completed; nothing changed."),
    ];
    let codes: Vec<Value> =
        codes.iter().map(|(code, description)| json!({"const": code, "description": description})).collect();
    json!({
        "type": "object",
        "required": ["jsonrpc", "id"],
        "properties": {
            "jsonrpc": {"type": "string", "const": "2.0"},
            "id": {"type": ["string", "number", "null"], "description": "The request's."},
            "result": {"type": "object", "description": "What the method gives."},
            "error": {
                "type": "object",
                "required": ["code", "message"],
                "properties": {
                    "code": {"type": "integer", "oneOf": codes},
                    "message": {"type": "string"},
                },
            },
        },
    })
}
