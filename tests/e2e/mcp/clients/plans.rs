//! What each client does with each server, and what it must get.

use serde_json::{Value, json};

/// One action of a client.
pub(super) struct Step {
    /// As the clients' programs read it.
    pub(super) action: Value,
    /// What the program must print; it may print more.
    pub(super) expected: Value,
}

fn step(action: Value, expected: Value) -> Step {
    Step { action, expected }
}

/// A call that succeeds, with this in its content.
fn call(tool: &str, arguments: Value, content: Value) -> Step {
    let action = json!({"do": "call", "name": tool, "arguments": arguments});
    step(action, json!({"isError": false, "content": content}))
}

/// A call that fails with this code.
fn failing(tool: &str, arguments: Value, code: &str) -> Step {
    let action = json!({"do": "call", "name": tool, "arguments": arguments});
    step(action, json!({"isError": true, "content": {"error": code}}))
}

/// The handshake, the list of these tools, and a tool that is not there.
fn beginning(server: &str, tools: &[&str]) -> Vec<Step> {
    let unknown = json!({"do": "call", "name": "format_disk", "arguments": {}});
    vec![
        step(
            json!({"do": "initialize"}),
            json!({"version": "2025-11-25", "server": server}),
        ),
        step(json!({"do": "ping"}), json!({"pong": true})),
        step(json!({"do": "list"}), json!({"tools": tools})),
        step(unknown, json!({"error": {"code": -32601}})),
    ]
}

/// Every tool and every failure of the Integrations server, on an integration that has declared the usual fields.
pub(super) fn integration_plan() -> Vec<Step> {
    let tools = [
        "get_status",
        "declare_schema",
        "validate_records",
        "begin_sync",
        "push_records",
        "complete_sync",
        "get_rejections",
    ];
    let ann = json!({"external_id": "a", "fields": {"first": "Ann"}});
    let faulty = json!({"external_id": "f", "fields": {"fax": "1"}});
    let records = json!({"records": [ann, faulty]});
    let many: Vec<_> = (0..1001)
        .map(|number| json!({"external_id": number.to_string()}))
        .collect();
    let unknown_sync = json!({"syncId": "0197f3a0-0000-7000-8000-000000000000"});
    let huge = json!({"records": [{"external_id": "x".repeat(4_456_448)}]});
    let too_large = json!({"do": "call", "name": "push_records", "arguments": huge});
    let mut plan = beginning("pillarbox-integrations", &tools);
    plan.push(step(too_large, json!({"error": {"code": -32600}})));
    plan.extend([
        call(
            "get_status",
            json!({}),
            json!({"openSync": null, "integration": {"name": "CRM"}}),
        ),
        call(
            "declare_schema",
            json!({"fields": [{"key": "note"}]}),
            json!({"ok": true, "added": 1}),
        ),
        failing("declare_schema", json!({"fields": [{}]}), "invalid_request"),
        failing("push_records", records.clone(), "no_open_sync"),
        failing("complete_sync", json!({}), "no_open_sync"),
        failing("get_rejections", json!({}), "sync_not_found"),
        call(
            "validate_records",
            records.clone(),
            json!({"validated": true, "accepted": 1, "rejected": 1}),
        ),
        call(
            "begin_sync",
            json!({"mode": "full", "idempotencyKey": "b"}),
            json!({"mode": "full"}),
        ),
        failing("begin_sync", json!({"mode": "delta"}), "sync_in_progress"),
        failing("push_records", json!({"records": many}), "too_many_records"),
        call(
            "push_records",
            records,
            json!({"accepted": 1, "deleted": 0, "rejected": 1}),
        ),
        call(
            "get_rejections",
            json!({"limit": 10}),
            json!({"type": "rejection", "nextAfter": null}),
        ),
        call(
            "get_rejections",
            json!({"type": "warning"}),
            json!({"items": []}),
        ),
        failing("get_rejections", unknown_sync, "sync_not_found"),
        failing("get_rejections", json!({"syncId": "x"}), "invalid_sync_id"),
        failing("get_rejections", json!({"type": "x"}), "invalid_type"),
        failing("get_rejections", json!({"after": "x"}), "invalid_cursor"),
        failing("get_rejections", json!({"limit": 0}), "invalid_limit"),
        call(
            "complete_sync",
            json!({}),
            json!({"ok": true, "recordsUpserted": 1, "markedRemoved": 0}),
        ),
    ]);
    plan
}

/// Every tool and every failure of the Formula server, on a team with an empty address book.
pub(super) fn formula_plan() -> Vec<Step> {
    let tools = [
        "list_columns",
        "list_functions",
        "check_formula",
        "preview_formula",
        "save_formula",
        "explain_formula",
    ];
    let length = json!({"name": "Length", "formula": "LEN(first_name)"});
    let named = |name: &str| json!({"name": name});
    let preview = json!({"formula": "LEN(first_name)", "rows": [{"first_name": "Ann"}]});
    let mistaken = json!({"formula": "LENN(first_name)"});
    let mut plan = beginning("pillarbox-formulas", &tools);
    plan.extend([
        call(
            "list_columns",
            json!({"search": "birth"}),
            json!({"nextAfter": null}),
        ),
        failing("list_columns", json!({"limit": 0}), "invalid_request"),
        call(
            "list_functions",
            json!({"search": "no such function"}),
            json!({"functions": []}),
        ),
        call(
            "check_formula",
            json!({"formula": "LEN(first_name)"}),
            json!({"valid": true, "type": "number"}),
        ),
        call(
            "check_formula",
            mistaken.clone(),
            json!({"valid": false, "columns": []}),
        ),
        call(
            "preview_formula",
            preview,
            json!({"source": "rows", "type": "number"}),
        ),
        call(
            "preview_formula",
            json!({"formula": "1 / 0"}),
            json!({"source": "address_book", "rows": []}),
        ),
        failing("preview_formula", mistaken, "invalid_formula"),
        failing("preview_formula", named("nothing"), "column_not_found"),
        call(
            "save_formula",
            length.clone(),
            json!({"outcome": "created", "type": "number"}),
        ),
        call("save_formula", length, json!({"outcome": "unchanged"})),
        failing(
            "save_formula",
            json!({"name": "city", "formula": "1"}),
            "not_a_formula_column",
        ),
        failing(
            "save_formula",
            json!({"name": "x", "formula": "LENN(1)"}),
            "invalid_formula",
        ),
        failing("save_formula", json!({"formula": "1"}), "invalid_request"),
        call(
            "explain_formula",
            named("Length"),
            json!({"columns": ["first_name"], "usedBy": {"isComplete": true}}),
        ),
        failing("explain_formula", named("nothing"), "column_not_found"),
        failing("explain_formula", named("city"), "not_a_formula_column"),
    ]);
    plan
}
