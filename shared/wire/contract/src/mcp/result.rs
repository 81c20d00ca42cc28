//! What a tool gives back: the same JSON as text, which every client shows to its model, and as structured content.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Result of `tools/call`.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallToolResult<'a> {
    content: [TextContent<'a>; 1],
    structured_content: &'a RawValue,
    #[serde(skip_serializing_if = "is_false")]
    is_error: bool,
}

#[derive(Debug, Clone, Serialize)]
struct TextContent<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}

/// Why a tool could not do what it was asked: a result too, so that the model sees it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolFailure {
    /// The code, of the contract's tables where it has one.
    pub error: &'static str,
    /// A sentence.
    pub message: String,
    /// What a program needs to go on, for the codes that have some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

impl<'a> CallToolResult<'a> {
    /// A success with this JSON object.
    pub fn success(answer: &'a RawValue) -> Self {
        Self::new(answer, false)
    }

    /// A failure with the JSON of a [`ToolFailure`].
    pub fn failure(failure: &'a RawValue) -> Self {
        Self::new(failure, true)
    }

    fn new(json: &'a RawValue, is_error: bool) -> Self {
        Self {
            content: [TextContent {
                kind: "text",
                text: json.get(),
            }],
            structured_content: json,
            is_error,
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_false(value: &bool) -> bool {
    !value
}
