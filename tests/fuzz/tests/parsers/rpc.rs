//! Messages of the MCP servers.

use std::collections::BTreeMap;

use contract::mcp::{RequestIdFinder, RpcMessage, ToolCall, write_rpc_failure, write_rpc_response};
use fuzz::Target;
use proptest::{prop_assert, prop_assert_eq};
use serde_json::value::RawValue;

const MESSAGES: [&str; 4] = [
    r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "push_records", "arguments": {"records": []}}}"#,
    r#"{"jsonrpc": "2.0", "id": "a\"b", "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}}}"#,
    r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#,
    r#"{"params": {"id": 3, "x": [{"id": 4}]}, "id": 5, "method": "ping", "jsonrpc": "2.0"}"#,
];

const WORDS: [&str; 9] = [
    "\"id\":",
    "\"method\":",
    "\"params\":",
    "\"jsonrpc\": \"2.0\",",
    "\"result\": null,",
    "\"error\": {},",
    "\"name\":",
    "\\u0069d",
    "1.5e3",
];

#[test]
fn fuzz_rpc_message() {
    Target::new(MESSAGES).words(WORDS).cases(3_000).run(|body| {
        let answered: Vec<u8> = match RpcMessage::parse(body) {
            Ok(RpcMessage::Notification) => return Ok(()),
            Ok(RpcMessage::Request { id, params, .. }) => {
                if let Ok(call) = ToolCall::parse(params) {
                    let is_object = call
                        .arguments
                        .is_none_or(|arguments| arguments.get().starts_with('{'));
                    prop_assert!(is_object);
                }
                // The id of the same message, had it been too large to be read. It is found in whatever portions the bytes come.
                for portion in [1, 7, body.len()] {
                    let mut scan = RequestIdFinder::default();
                    body.chunks(portion.max(1))
                        .for_each(|bytes| scan.scan_bytes(bytes));
                    prop_assert!(
                        scan.id().is_none_or(|found| found.get() == id.get()),
                        "{:?} for {}",
                        scan.id(),
                        id
                    );
                }
                write_rpc_response(id, &"done")
            }
            Err((id, error)) => write_rpc_failure(id, &error),
        };
        // Raw: an id is echoed as it was sent, also a number that no machine can hold.
        let answered: BTreeMap<&str, &RawValue> = serde_json::from_slice(&answered).unwrap();
        prop_assert_eq!(answered["jsonrpc"].get(), "\"2.0\"");
        Ok(())
    });
}

#[test]
fn fuzz_rpc_id_scan() {
    Target::new(MESSAGES).words(WORDS).run(|body| {
        let mut scan = RequestIdFinder::default();
        scan.scan_bytes(body);
        let id = scan.id().map(|id| id.get().to_owned());
        prop_assert!(
            id.is_none_or(|id| id.len() <= 256 && serde_json::from_str::<&RawValue>(&id).is_ok())
        );
        Ok(())
    });
}
