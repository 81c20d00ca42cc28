//! The tools of the Integrations server: the push API's operations over again. The arguments of those that change
//! something are the push API's bodies, passed on as they came.

use std::time::Duration;

use bytes::Bytes;
use contract::mcp::{IntegrationTool, RpcError, ToolFailure};
use contract::push::{
    IdempotencyKey, IntegrationAnswer, IntegrationField, OperationNames, PushError,
};
use messages::{BEGIN_V1, COMPLETE_V1, DECLARE_V1, PUSH_V1, PUSH_VALIDATE_V1};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::IssueFilter;
use uuid::Uuid;

use crate::mcp::dispatch::{McpRequest, ToolError};
use crate::push::IntegrationAccess;
use crate::push::answer::ReplayableAnswer;
use crate::push::ask::{SyncerRequest, ask_syncer};
use crate::push::query::PushQuery;
use crate::push::read;

/// What this server's clients call the operations.
const TOOLS: OperationNames = OperationNames {
    declare: "declare_schema",
    begin: "begin_sync",
    push: "push_records",
    complete: "complete_sync",
};

/// The push API's answer, with the fields, which it has a call of its own for.
#[derive(Serialize)]
struct IntegrationStatusAnswer {
    #[serde(flatten)]
    integration: IntegrationAnswer,
    fields: Vec<IntegrationField>,
}

/// Arguments are JSON by then: what is left to go wrong is half a surrogate pair, or the key given twice.
const UNREADABLE: &str = "idempotencyKey must be given once, as a text of whole characters.";

#[derive(Deserialize)]
struct KeyArgument {
    #[serde(rename = "idempotencyKey")]
    idempotency_key: Option<Value>,
}

/// Does what a tool is for.
pub(super) async fn call_integration_tool(
    request: McpRequest<'_>,
    access: IntegrationAccess,
    tool: IntegrationTool,
    arguments: Bytes,
) -> Result<Bytes, ToolError> {
    let kind = match tool {
        IntegrationTool::GetStatus => {
            return read_status(request, access)
                .await
                .map_err(|error| tool_error(error, None));
        }
        IntegrationTool::GetRejections => {
            return read_rejections(request, access, &arguments)
                .await
                .map_err(|error| tool_error(error, None));
        }
        IntegrationTool::DeclareSchema => (DECLARE_V1, false),
        IntegrationTool::ValidateRecords => (PUSH_VALIDATE_V1, false),
        IntegrationTool::BeginSync => (BEGIN_V1, true),
        IntegrationTool::PushRecords => (PUSH_V1, true),
        IntegrationTool::CompleteSync => (COMPLETE_V1, true),
    };
    call_change_tool(request, access, kind, arguments).await
}

async fn call_change_tool(
    request: McpRequest<'_>,
    access: IntegrationAccess,
    (kind, needs_key): (&'static str, bool),
    arguments: Bytes,
) -> Result<Bytes, ToolError> {
    let key = match needs_key {
        true => Some(parse_idempotency_key(&arguments).map_err(|error| tool_error(error, None))?),
        false => None,
    };
    let patience =
        Duration::from_millis(request.gateway.process.config.gateway.mcp_call_deadline_ms);
    let question = SyncerRequest::new(kind, access, key.clone(), patience);
    let answered = ask_syncer(request.gateway, question, arguments, request.identity).await;
    answered
        .map(|answered| answered.body)
        .map_err(|error| tool_error(error, key))
}

/// The call's own key, or a new one.
fn parse_idempotency_key(arguments: &[u8]) -> Result<IdempotencyKey, PushError> {
    let sent: KeyArgument = serde_json::from_slice(arguments)
        .map_err(|_| PushError::InvalidRequest(UNREADABLE.to_owned()))?;
    let text = match sent.idempotency_key {
        None => Uuid::new_v4().to_string(),
        Some(Value::String(text)) if !text.is_empty() => text,
        Some(_) => return Err(PushError::InvalidIdempotencyKey),
    };
    Ok(text.parse()?)
}

async fn read_status(
    request: McpRequest<'_>,
    access: IntegrationAccess,
) -> Result<Bytes, PushError> {
    let integration =
        read::read_integration(request.gateway, access.integration_id, &TOOLS).await?;
    let fields = read::read_fields(request.gateway, access.integration_id).await?;
    Ok(ReplayableAnswer::new(&IntegrationStatusAnswer {
        integration,
        fields,
    })
    .body)
}

async fn read_rejections(
    request: McpRequest<'_>,
    access: IntegrationAccess,
    arguments: &[u8],
) -> Result<Bytes, PushError> {
    let arguments: Map<String, Value> = serde_json::from_slice(arguments).map_err(|_| {
        let why =
            "The arguments must be JSON with at most 128 levels, and texts of whole characters.";
        PushError::InvalidRequest(why.to_owned())
    })?;
    let query = PushQuery::from_arguments(&arguments);
    // A model asks what is left to do.
    let filter = match query.get_value("includeResolved") {
        Some("true") => IssueFilter::All,
        _ => IssueFilter::Unresolved,
    };
    Ok(
        read::read_rejections(request.gateway, access.integration_id, &query, filter)
            .await?
            .body,
    )
}

/// A failure for the model, or an error when the failure is ours. Where a retry must carry the same key, the model is
/// given it.
fn tool_error(error: PushError, key: Option<IdempotencyKey>) -> ToolError {
    let details = match (&error, key) {
        (PushError::InternalError, _) => return ToolError::Error(RpcError::NotCompleted),
        (PushError::DeadlinePassed | PushError::InProgress, Some(key)) => {
            Some(json!({"idempotencyKey": key.as_str()}))
        }
        _ => error.details(),
    };
    ToolError::Failure(ToolFailure {
        error: error.code(),
        message: error.to_string(),
        details,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_without_an_idempotency_key_makes_its_own() {
        let key = |arguments: &str| parse_idempotency_key(arguments.as_bytes());
        assert_ne!(key("{}").unwrap(), key("{}").unwrap());
        assert!(key(r#"{"idempotencyKey":null}"#).is_ok());
        assert_eq!(
            key(r#"{"mode":"full","idempotencyKey":"k"}"#)
                .unwrap()
                .as_str(),
            "k"
        );
        for wrong in [r#"{"idempotencyKey":""}"#, r#"{"idempotencyKey":7}"#] {
            assert_eq!(key(wrong), Err(PushError::InvalidIdempotencyKey), "{wrong}");
        }
        for wrong in [
            r#"{"idempotencyKey":"\ud800"}"#,
            r#"{"idempotencyKey":"a","idempotencyKey":"b"}"#,
        ] {
            assert_eq!(
                key(wrong),
                Err(PushError::InvalidRequest(UNREADABLE.to_owned())),
                "{wrong}"
            );
        }
        assert_eq!(
            key(&format!(r#"{{"idempotencyKey":"{}"}}"#, "k".repeat(201))),
            Err(PushError::InvalidIdempotencyKey)
        );
    }

    #[test]
    fn what_is_our_failure_is_an_error_and_a_retry_is_told_its_key() {
        let key: IdempotencyKey = "k".parse().unwrap();
        assert!(matches!(
            tool_error(PushError::InternalError, None),
            ToolError::Error(RpcError::NotCompleted)
        ));
        let ToolError::Failure(failure) = tool_error(PushError::DeadlinePassed, Some(key)) else {
            panic!()
        };
        assert_eq!(
            (failure.error, failure.details),
            ("timeout", Some(json!({"idempotencyKey": "k"})))
        );
    }
}
