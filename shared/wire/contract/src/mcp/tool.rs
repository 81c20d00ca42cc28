//! A tool as a server lists it, and a call of one.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::mcp::RpcError;
use crate::push::body::parse_json_string;

/// A tool, as data: all that a client and its model know of it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct McpTool {
    /// For programs.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// For the model: when to call it, what it does, what to do next.
    pub description: String,
    /// JSON Schema of the arguments, an object.
    pub input_schema: Value,
    /// JSON Schema of the structured content, of failures too.
    pub output_schema: Value,
    /// What a client may tell its user before the call.
    pub annotations: ToolAnnotations,
}

/// Hints on what a call can do. No tool reaches beyond the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolAnnotations {
    /// It changes nothing.
    pub read_only_hint: bool,
    /// What it changes can be lost.
    pub destructive_hint: bool,
    /// The same call again changes nothing more.
    pub idempotent_hint: bool,
    /// It deals with things outside of the service.
    pub open_world_hint: bool,
}

/// A call of a tool.
#[derive(Debug)]
pub struct ToolCall<'a> {
    /// The tool's name, known or not.
    pub name: Cow<'a, str>,
    /// A JSON object as it was sent; `None` when there is none.
    pub arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ToolCallParams<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

impl ToolAnnotations {
    /// It only reads.
    pub const READS: Self = Self {
        read_only_hint: true,
        destructive_hint: false,
        idempotent_hint: true,
        open_world_hint: false,
    };

    /// It adds or changes, and the same call again changes nothing more.
    pub const WRITES: Self = Self {
        read_only_hint: false,
        destructive_hint: false,
        idempotent_hint: true,
        open_world_hint: false,
    };

    /// It changes, and what it changes can be lost; the same call again changes nothing more.
    pub const REMOVES: Self = Self {
        read_only_hint: false,
        destructive_hint: true,
        idempotent_hint: true,
        open_world_hint: false,
    };
}

impl<'a> ToolCall<'a> {
    /// Reads the parameters of `tools/call`.
    ///
    /// # Errors
    /// [`RpcError::InvalidParams`].
    pub fn parse(params: Option<&'a RawValue>) -> Result<Self, RpcError> {
        let params = params
            .filter(|params| is_object(params))
            .ok_or(RpcError::InvalidParams(
                "params must be an object with the tool's name.",
            ))?;
        let params: ToolCallParams<'_> = serde_json::from_str(params.get()).map_err(|_| {
            RpcError::InvalidParams("params must hold name and arguments, once each.")
        })?;
        let name = params
            .name
            .and_then(parse_json_string)
            .ok_or(RpcError::InvalidParams(
                "params.name must be the tool's name.",
            ))?;
        if params
            .arguments
            .is_some_and(|arguments| !is_object(arguments))
        {
            return Err(RpcError::InvalidParams(
                "params.arguments must be an object.",
            ));
        }
        Ok(Self {
            name,
            arguments: params.arguments,
        })
    }
}

fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_names_a_tool_and_may_leave_its_arguments_out() {
        let read = |json: &str| {
            let raw = RawValue::from_string(json.to_owned()).unwrap();
            ToolCall::parse(Some(&raw)).map(|call| {
                (
                    call.name.to_string(),
                    call.arguments.map(RawValue::to_string),
                )
            })
        };
        let call = |name: &str, arguments: Option<&str>| {
            Ok((name.to_owned(), arguments.map(str::to_owned)))
        };
        assert_eq!(
            read(r#"{"name":"a","arguments":{"b": 1},"_meta":{}}"#),
            call("a", Some("{\"b\": 1}"))
        );
        assert_eq!(read(r#"{"name":"a"}"#), call("a", None));
        assert_eq!(read(r#"{"name":"a","arguments":null}"#), call("a", None));
        for wrong in [
            "[]",
            "{}",
            r#"{"name":7}"#,
            r#"{"name":"a","arguments":[]}"#,
            r#"{"name":"a","name":"b"}"#,
        ] {
            assert!(
                matches!(read(wrong), Err(RpcError::InvalidParams(_))),
                "{wrong}"
            );
        }
        assert!(matches!(
            ToolCall::parse(None),
            Err(RpcError::InvalidParams(_))
        ));
    }
}
