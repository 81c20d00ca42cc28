//! JSON-RPC 2.0 as the MCP servers speak it: one message in a body, no batches.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::push::body::{describe_json_end, parse_json_string};
use model::limits::BODY_BYTES;

const VERSION: &str = "2.0";

/// A message of a client.
#[derive(Debug)]
pub enum RpcMessage<'a> {
    /// It wants an answer.
    Request {
        /// A string or a number, to be echoed as it was sent.
        id: &'a RawValue,
        /// What is asked.
        method: Cow<'a, str>,
        /// With which parameters.
        params: Option<&'a RawValue>,
    },
    /// It wants no answer: a notification, which has no id, or an answer of the client's own.
    Notification,
}

/// Why a message got no result. The contract's "MCP server errors", and -32602 as an addition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RpcError {
    /// The body is not JSON, or JSON that is no message; the text says why.
    #[error("{0}")]
    NotJsonRpc(String),
    /// The message lacks its method or has an id that is none; the text says which.
    #[error("{0}")]
    InvalidRequest(&'static str),
    /// The body is over the limit.
    #[error("The request is over the limit of {BODY_BYTES} bytes.")]
    TooLarge,
    /// There is no such method.
    #[error("There is no method {0}.")]
    UnknownMethod(String),
    /// The server has no such tool.
    #[error("There is no tool {0}. Use tools/list to see the tools.")]
    UnknownTool(String),
    /// The parameters have another shape; the text says what is wanted.
    #[error("{0}")]
    InvalidParams(&'static str),
    /// Something on our side failed.
    #[error("The call could not be completed. Nothing was changed; try again.")]
    NotCompleted,
}

/// The parts of a message, still raw. A part that is `null` is there.
#[derive(Deserialize)]
struct RpcEnvelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

#[derive(Serialize)]
struct RpcResponse<'a, T> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    result: &'a T,
}

#[derive(Serialize)]
struct RpcErrorResponse<'a> {
    jsonrpc: &'static str,
    id: Option<&'a RawValue>,
    error: &'a RpcError,
}

impl<'a> RpcMessage<'a> {
    /// Reads a body. The error comes with the id that it answers, where one can be read.
    ///
    /// # Errors
    /// [`RpcError::NotJsonRpc`], [`RpcError::InvalidRequest`].
    pub fn parse(body: &'a [u8]) -> Result<Self, (Option<&'a RawValue>, RpcError)> {
        let envelope = RpcEnvelope::parse(body).map_err(|error| (None, error))?;
        let id = envelope.id.filter(|id| is_id(id));
        let invalid = |why| (id, RpcError::InvalidRequest(why));
        if envelope.method.is_none() && id.is_some() && envelope.is_response() {
            return Ok(Self::Notification);
        }
        let method = envelope
            .method
            .and_then(parse_json_string)
            .ok_or_else(|| invalid("The request has no method."))?;
        if envelope.jsonrpc.and_then(parse_json_string).as_deref() != Some(VERSION) {
            let why = "The message is not of JSON-RPC 2.0: jsonrpc must be \"2.0\".".to_owned();
            return Err((id, RpcError::NotJsonRpc(why)));
        }
        match (envelope.id, id) {
            (None, _) => Ok(Self::Notification),
            (Some(_), Some(id)) => Ok(Self::Request {
                id,
                method,
                params: envelope.params,
            }),
            (Some(_), None) => Err(invalid("The request's id must be a string or a number.")),
        }
    }
}

impl<'a> RpcEnvelope<'a> {
    /// Whether it is a client's answer. The servers ask nothing, so there is nobody to read it.
    fn is_response(&self) -> bool {
        let is_of_version = self.jsonrpc.and_then(parse_json_string).as_deref() == Some(VERSION);
        is_of_version && (self.result.is_some() || self.error.is_some())
    }

    fn parse(body: &'a [u8]) -> Result<Self, RpcError> {
        let not_json = |why: &str| RpcError::NotJsonRpc(format!("The body is not JSON: {why}."));
        let body = std::str::from_utf8(body).map_err(|_| not_json("it is not UTF-8"))?;
        // Walks the whole body without recursion and keeps nothing: after this it is JSON.
        let raw: &RawValue =
            serde_json::from_str(body).map_err(|error| not_json(&describe_json_end(&error)))?;
        if !raw.get().starts_with('{') {
            return Err(RpcError::NotJsonRpc(
                "The body must be one JSON-RPC message.".to_owned(),
            ));
        }
        serde_json::from_str(raw.get()).map_err(|_| {
            RpcError::NotJsonRpc("The message must hold each of its names once.".to_owned())
        })
    }
}

/// Whether a value can be an id.
pub(super) fn is_id(raw: &RawValue) -> bool {
    raw.get()
        .starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit())
}

impl RpcError {
    /// The number of the contract's table.
    pub const fn code(&self) -> i32 {
        match self {
            Self::NotJsonRpc(_) => -32700,
            Self::InvalidRequest(_) | Self::TooLarge => -32600,
            Self::UnknownMethod(_) | Self::UnknownTool(_) => -32601,
            Self::InvalidParams(_) => -32602,
            Self::NotCompleted => -32603,
        }
    }

    /// The name in metrics and logs.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NotJsonRpc(_) => "not_json_rpc",
            Self::InvalidRequest(_) => "invalid_request",
            Self::TooLarge => "too_large",
            Self::UnknownMethod(_) => "unknown_method",
            Self::UnknownTool(_) => "unknown_tool",
            Self::InvalidParams(_) => "invalid_params",
            Self::NotCompleted => "not_completed",
        }
    }
}

/// The JSON of an error's object: nothing but code and message, since strict clients refuse more.
impl Serialize for RpcError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut object = serializer.serialize_struct("RpcError", 2)?;
        object.serialize_field("code", &self.code())?;
        object.serialize_field("message", &self.to_string())?;
        object.end()
    }
}

/// The answer to the request with this id.
pub fn write_rpc_response(id: &RawValue, result: &impl Serialize) -> Vec<u8> {
    // Results hold texts, numbers and JSON that was read: they can always be written.
    serde_json::to_vec(&RpcResponse {
        jsonrpc: VERSION,
        id,
        result,
    })
    .unwrap_or_default()
}

/// The answer to a request that got no result; without an id when none could be read.
pub fn write_rpc_failure(id: Option<&RawValue>, error: &RpcError) -> Vec<u8> {
    serde_json::to_vec(&RpcErrorResponse {
        jsonrpc: VERSION,
        id,
        error,
    })
    .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn parse_error_code(body: &str) -> i32 {
        RpcMessage::parse(body.as_bytes()).expect_err(body).1.code()
    }

    #[test]
    fn what_is_no_message_is_32700_and_a_missing_method_32600() {
        for body in [
            "",
            "{",
            "nul",
            "7",
            "\"text\"",
            "[]",
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
        ] {
            assert_eq!(parse_error_code(body), -32700, "{body}");
        }
        for body in [
            r#"{"id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        ] {
            assert_eq!(parse_error_code(body), -32700, "{body}");
        }
        assert_eq!(
            parse_error_code(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#),
            -32700,
            "an id given twice"
        );
        for body in [
            "{}",
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        ] {
            assert_eq!(parse_error_code(body), -32600, "{body}");
        }
        for id in ["null", "[]", "{}", "true"] {
            assert_eq!(
                parse_error_code(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)),
                -32600,
                "{id}"
            );
        }
        assert!(RpcMessage::parse(b"\xff").is_err());
    }

    #[test]
    fn an_id_is_echoed_as_it_was_sent() {
        for id in [
            "0",
            "-1",
            "12345678901234567890",
            "1.50",
            "\"server-discover-probe-1\"",
            r#""\u00e9""#,
        ] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            let Ok(RpcMessage::Request { id: read, .. }) = RpcMessage::parse(body.as_bytes())
            else {
                panic!("{id}")
            };
            let answer = String::from_utf8(write_rpc_response(read, &json!({}))).unwrap();
            assert_eq!(
                answer,
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
            );
        }
    }

    #[test]
    fn an_error_has_a_code_and_a_message_and_no_more() {
        let answer =
            String::from_utf8(write_rpc_failure(None, &RpcError::InvalidParams("No."))).unwrap();
        assert_eq!(
            answer,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"No."}}"#
        );
    }

    #[test]
    fn a_message_without_an_id_is_a_notification_whatever_its_method() {
        for method in ["notifications/initialized", "tools/call", "nothing"] {
            let body = json!({"jsonrpc": "2.0", "method": method}).to_string();
            assert!(matches!(
                RpcMessage::parse(body.as_bytes()),
                Ok(RpcMessage::Notification)
            ));
        }
    }

    #[test]
    fn an_answer_of_the_client_wants_none() {
        for answer in [
            r#""result":{}"#,
            r#""result":null"#,
            r#""error":{"code":1,"message":"no"}"#,
        ] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":1,{answer}}}"#);
            assert!(
                matches!(
                    RpcMessage::parse(body.as_bytes()),
                    Ok(RpcMessage::Notification)
                ),
                "{body}"
            );
        }
        assert_eq!(parse_error_code(r#"{"id":1,"result":{}}"#), -32600);
    }

    #[test]
    fn deep_nesting_is_read_without_recursion() {
        let params = "[".repeat(100_000) + &"]".repeat(100_000);
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{params}}}"#);
        assert!(matches!(
            RpcMessage::parse(body.as_bytes()),
            Ok(RpcMessage::Request {
                params: Some(_),
                ..
            })
        ));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_an_error(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = RpcMessage::parse(&body);
        }
    }
}
