//! The tools of the Formula server: calls to a mailer, which computes formula columns when it makes cards.

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use contract::mcp::{FormulaError, FormulaTool, RpcError, ToolFailure};
use messages::REPLY_OK;
use queue::{CallError, QueueCall};

use crate::mcp::admit::TeamAccess;
use crate::mcp::dispatch::{McpRequest, ToolError};
use crate::mcp::turns::ARGUMENTS_BYTES;

/// Does what a tool is for.
pub(super) async fn call_formula_tool(
    request: McpRequest<'_>,
    access: TeamAccess,
    tool: FormulaTool,
    arguments: Bytes,
) -> Result<Bytes, ToolError> {
    let process = &request.gateway.process;
    let patience = Duration::from_millis(process.config.gateway.mcp_call_deadline_ms);
    let deadline = process.clock.now() + patience;
    let begun = tokio::time::Instant::now();
    if arguments.len() > ARGUMENTS_BYTES {
        let why = format!("The arguments of a tool have at most {ARGUMENTS_BYTES} bytes.");
        return Err(tool_error(FormulaError::InvalidRequest(why)));
    }
    let turn = tokio::select! {
        turn = request.gateway.formula_call_limiter.acquire(access.team_id, arguments, patience) => turn,
        () = process.last_moment() => None,
    };
    let Some((_turn, body)) = turn else {
        return Err(tool_error(FormulaError::DeadlinePassed));
    };
    let patience = patience.saturating_sub(begun.elapsed());
    let call = QueueCall {
        id: request.identity.request_id.0,
        kind: tool.message_kind().to_owned(),
        team: access.team_id.0,
        // An id and a flag can always be written.
        context: serde_json::to_string(&access.formula_context()).unwrap_or_default(),
        trace: request.identity.trace.to_header(),
        deadline_ms: deadline.timestamp_millis(),
        delivery_count: 0,
        body,
    };
    match request
        .gateway
        .call_worker(&request.gateway.formulas, call, patience)
        .await
    {
        Ok(reply) if reply.kind == REPLY_OK => Ok(reply.body),
        Ok(reply) => Err(tool_error(
            serde_json::from_slice(&reply.body).unwrap_or_else(|error| {
                tracing::error!(error = &error as &dyn Error, "a reply cannot be read");
                FormulaError::InternalError
            }),
        )),
        Err(CallError::Unavailable) => Err(tool_error(FormulaError::InternalError)),
        Err(CallError::DeadlinePassed | CallError::GivenUp | CallError::Lost) => {
            Err(tool_error(FormulaError::DeadlinePassed))
        }
    }
}

fn tool_error(error: FormulaError) -> ToolError {
    match error {
        FormulaError::InternalError => ToolError::Error(RpcError::NotCompleted),
        error => ToolError::Failure(ToolFailure {
            error: error.code(),
            message: error.to_string(),
            details: error.details(),
        }),
    }
}
