//! From a method to its result.

use std::error::Error;
use std::sync::LazyLock;

use bytes::Bytes;
use contract::mcp::{
    self, CallToolResult, FORMULAS_INSTRUCTIONS, FORMULAS_SERVER, FormulaTool,
    INTEGRATIONS_INSTRUCTIONS, INTEGRATIONS_SERVER, InitializeResult, IntegrationTool, McpTool,
    RpcError, RpcMethod, ToolCall, ToolFailure, ToolList,
};
use runtime::trace::RequestIdentity;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::GatewayState;
use crate::mcp::admit::McpAccess;
use crate::mcp::{McpOutcome, formulas, integrations};

static INTEGRATION_TOOLS: LazyLock<Vec<McpTool>> = LazyLock::new(|| {
    IntegrationTool::ALL
        .into_iter()
        .map(IntegrationTool::describe)
        .collect()
});

static FORMULA_TOOLS: LazyLock<Vec<McpTool>> = LazyLock::new(|| {
    FormulaTool::ALL
        .into_iter()
        .map(FormulaTool::describe)
        .collect()
});

/// A request that was let in.
#[derive(Clone, Copy)]
pub(super) struct McpRequest<'a> {
    pub(super) gateway: &'a GatewayState,
    pub(super) access: McpAccess,
    pub(super) identity: &'a RequestIdentity,
}

/// What a request asks for.
pub(super) enum McpMethod {
    /// With its parameters.
    Initialize(Option<Box<RawValue>>),
    Ping,
    ListTools,
    /// A tool by its name, and its arguments: their own bytes, which hold the body's memory.
    CallTool(String, Bytes),
}

impl McpMethod {
    /// Reads the method and parameters of a request that came in this body.
    pub(super) fn parse(
        body: &Bytes,
        method: &str,
        params: Option<&RawValue>,
    ) -> Result<Self, RpcError> {
        let known = RpcMethod::from_name(method)
            .ok_or_else(|| RpcError::UnknownMethod(printable_name(method)))?;
        Ok(match known {
            RpcMethod::Initialize => Self::Initialize(params.map(ToOwned::to_owned)),
            RpcMethod::Ping => Self::Ping,
            RpcMethod::ListTools => Self::ListTools,
            RpcMethod::CallTool => {
                let call = ToolCall::parse(params)?;
                let arguments = match call.arguments {
                    Some(arguments) => body.slice_ref(arguments.get().as_bytes()),
                    None => Bytes::from_static(b"{}"),
                };
                Self::CallTool(call.name.to_string(), arguments)
            }
        })
    }
}

/// Why a tool has no answer.
pub(super) enum ToolError {
    /// A result for the model to read.
    Failure(ToolFailure),
    /// The call could not be completed.
    Error(RpcError),
}

impl McpRequest<'_> {
    /// Answers the request with this id.
    pub(super) async fn dispatch(
        self,
        id: &RawValue,
        wanted: McpMethod,
    ) -> Result<McpOutcome, RpcError> {
        Ok(match wanted {
            McpMethod::Initialize(params) => {
                result_outcome(id, &self.initialize(params.as_deref()))
            }
            McpMethod::Ping => result_outcome(id, &serde_json::json!({})),
            McpMethod::ListTools => result_outcome(
                id,
                &ToolList {
                    tools: self.available_tools(),
                },
            ),
            McpMethod::CallTool(name, arguments) => self.call_tool(id, &name, arguments).await?,
        })
    }

    fn initialize(self, params: Option<&RawValue>) -> InitializeResult {
        let (info, instructions) = match self.access {
            McpAccess::Integration(_) => (INTEGRATIONS_SERVER, INTEGRATIONS_INSTRUCTIONS),
            McpAccess::Team(_) => (FORMULAS_SERVER, FORMULAS_INSTRUCTIONS),
        };
        InitializeResult::new(params, info, instructions)
    }

    fn available_tools(self) -> &'static [McpTool] {
        match self.access {
            McpAccess::Integration(_) => &INTEGRATION_TOOLS,
            McpAccess::Team(_) => &FORMULA_TOOLS,
        }
    }

    async fn call_tool(
        self,
        id: &RawValue,
        name: &str,
        arguments: Bytes,
    ) -> Result<McpOutcome, RpcError> {
        let unknown = || RpcError::UnknownTool(printable_name(name));
        let result = match self.access {
            McpAccess::Integration(access) => {
                let tool = IntegrationTool::from_name(name).ok_or_else(unknown)?;
                (
                    tool.name(),
                    integrations::call_integration_tool(self, access, tool, arguments).await,
                )
            }
            McpAccess::Team(access) => {
                let tool = FormulaTool::from_name(name).ok_or_else(unknown)?;
                (
                    tool.name(),
                    formulas::call_formula_tool(self, access, tool, arguments).await,
                )
            }
        };
        tool_outcome(id, result)
    }
}

fn tool_outcome(
    id: &RawValue,
    (tool, result): (&'static str, Result<Bytes, ToolError>),
) -> Result<McpOutcome, RpcError> {
    let (json, failure) = match result {
        Ok(answer) => (raw_json(&answer)?, None),
        Err(ToolError::Failure(failure)) => (
            to_raw_value(&failure).map_err(|_| RpcError::NotCompleted)?,
            Some(failure.error),
        ),
        Err(ToolError::Error(error)) => return Err(error),
    };
    let code = failure.unwrap_or("ok");
    metrics::counter!("pillarbox_mcp_tool_calls_total", "tool" => tool, "code" => code)
        .increment(1);
    let result = if failure.is_some() {
        CallToolResult::failure(&json)
    } else {
        CallToolResult::success(&json)
    };
    Ok(McpOutcome::Answered(
        mcp::write_rpc_response(id, &result),
        code,
    ))
}

fn raw_json(answer: &[u8]) -> Result<Box<RawValue>, RpcError> {
    serde_json::from_slice(answer).map_err(|error| {
        tracing::error!(
            error = &error as &dyn Error,
            "a worker's answer is not JSON"
        );
        RpcError::NotCompleted
    })
}

fn result_outcome(id: &RawValue, result: &impl Serialize) -> McpOutcome {
    McpOutcome::Answered(mcp::write_rpc_response(id, result), "ok")
}

/// Characters of a name that an error repeats.
const SHOWN_CHARS: usize = 100;

fn printable_name(name: &str) -> String {
    name.chars().take(SHOWN_CHARS).collect()
}
