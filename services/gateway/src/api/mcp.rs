//! The two MCP servers. Their tools describe themselves (`tools/list`); here is what HTTP sees of them.

use std::borrow::Cow;

use contract::mcp::{FormulaTool, IntegrationTool, RpcError, VERSIONS};
use serde_json::{Value, json};

use super::operation::{
    ApiOperation, DocumentedError, ErrorEnvelopeKind, RequestBodySpec, build_parameter,
    empty_response, error_responses, json_response, with_optional_rate,
};
use super::types::SchemaRegistry;
use crate::mcp::list_access_errors;
use crate::mcp::{FORMULAS_PATH, McpServer};
use crate::push::BASE_PATH;

/// The tag of these operations.
pub(super) const TAG: &str = "MCP servers";

/// Both.
pub(super) fn list_operations(types: &mut SchemaRegistry) -> Vec<ApiOperation> {
    let response = response_schema(types);
    let integrations = describe_tools(
        "For agents of an integration.",
        &IntegrationTool::ALL.map(IntegrationTool::name),
    );
    let formulas = describe_tools(
        "For agents that write formula columns.",
        &FormulaTool::ALL.map(FormulaTool::name),
    );
    vec![
        ApiOperation {
            path: format!("{BASE_PATH}/mcp"),
            id: "callIntegrationsMcp",
            summary: "The Integrations MCP server",
            description: integrations,
            opened_by: &["integrationKey"],
            ..server_operation(McpServer::Integrations, response.clone())
        },
        ApiOperation {
            path: FORMULAS_PATH.to_owned(),
            id: "callFormulasMcp",
            summary: "The Formula MCP server",
            description: formulas,
            opened_by: &["fullAccessKey", "formulasKey"],
            ..server_operation(McpServer::Formulas, response)
        },
    ]
}

fn describe_tools(about: &str, tools: &[&str]) -> Cow<'static, str> {
    let tools: Vec<String> = tools.iter().map(|tool| format!("`{tool}`")).collect();
    format!(
        "{about} Tools: {}; `tools/list` describes them. Another method than POST is refused.",
        tools.join(", ")
    )
    .into()
}

fn server_operation(server: McpServer, response: Value) -> ApiOperation {
    let failure = |(status, code, message)| DocumentedError {
        status,
        code,
        message,
        details: None,
    };
    let failures = list_access_errors(server).into_iter().map(failure);
    let mut responses = error_responses(ErrorEnvelopeKind::Nested, failures.collect());
    responses.insert(
        200,
        with_optional_rate(json_response(
            "The answer to a request, also when it is an error of JSON-RPC.",
            response,
        )),
    );
    responses.insert(
        202,
        with_optional_rate(empty_response("A notification was taken.")),
    );
    let versions = VERSIONS.join(", ");
    let version = build_parameter(
        "header",
        "MCP-Protocol-Version",
        json!({"type": "string", "enum": VERSIONS}),
        &versions,
    );
    ApiOperation {
        method: "post",
        path: String::new(),
        id: "",
        tag: TAG,
        summary: "",
        description: Cow::default(),
        parameters: vec![version],
        body: Some(RequestBodySpec {
            schema: json!({
                "description": "A JSON-RPC 2.0 request or notification. What is none is answered with an error of JSON-RPC."
            }),
            example: json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
            is_required: false,
        }),
        opened_by: &[],
        responses,
    }
}

/// A JSON-RPC response.
fn response_schema(types: &mut SchemaRegistry) -> Value {
    let codes = [
        (
            RpcError::NotJsonRpc(String::new()),
            "The body is not JSON-RPC.",
        ),
        (
            RpcError::TooLarge,
            "The method is missing, or the request is too large.",
        ),
        (
            RpcError::UnknownTool(String::new()),
            "There is no such tool or method.",
        ),
        (
            RpcError::InvalidParams(""),
            "The parameters cannot be used.",
        ),
        (
            RpcError::NotCompleted,
            "The call could not be completed; nothing changed.",
        ),
    ];
    let (codes, meanings): (Vec<i32>, Vec<&str>) = codes
        .iter()
        .map(|(error, meaning)| (error.code(), meaning))
        .unzip();
    let error = json!({
        "description": "Why there is no result.",
        "type": "object",
        "required": ["code", "message"],
        "properties": {
            "code": {"type": "integer", "enum": codes, "x-enum-descriptions": meanings, "description": "What is wrong."},
            "message": {"type": "string", "description": "The same in a sentence."},
        },
    });
    let error = types.name_schema("JsonRpcError", error);
    let response = json!({
        "description": "A response of JSON-RPC, with a result or an error.",
        "type": "object",
        "required": ["jsonrpc", "id"],
        "properties": {
            "jsonrpc": {"type": "string", "const": "2.0", "description": "The protocol's version."},
            "id": {"type": ["string", "number", "null"], "description": "The request's; null when it could not be read."},
            "result": {"type": "object", "description": "What the method gives."},
            "error": error,
        },
    });
    types.name_schema("JsonRpcResponse", response)
}
