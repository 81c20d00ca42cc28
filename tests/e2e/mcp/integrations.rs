//! The tools of the Integrations server: the push API's operations and codes.

use pillarbox_tests::{CrmClient, wait_until};
use serde_json::{Value, json};

use super::Mcp;

fn record(id: &str) -> Value {
    json!({"external_id": id, "fields": {"first": "Ann"}})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_sync_through_the_tools_does_what_the_push_api_does() {
    let crm = CrmClient::with_settings(Vec::new()).await;
    let server = Mcp::integrations(&crm);
    let status = server.call("get_status", json!({})).await.unwrap();
    assert_eq!(
        (&status["fields"], &status["openSync"]),
        (&json!([]), &Value::Null)
    );
    assert!(
        status["nextStep"]
            .as_str()
            .unwrap()
            .contains("declare_schema"),
        "{status}"
    );

    let fields =
        json!([{"key": "first", "semantic": "first_name"}, {"key": "score", "type": "number"}]);
    let declared = server
        .call("declare_schema", json!({ "fields": fields }))
        .await
        .unwrap();
    assert_eq!(
        declared,
        json!({"ok": true, "added": 2, "noLongerSent": []})
    );

    let begun = server.call("begin_sync", json!({})).await.unwrap();
    assert_eq!(begun["mode"], "full");
    let status = server.call("get_status", json!({})).await.unwrap();
    assert_eq!(status["openSync"]["id"], begun["syncId"]);
    assert_eq!(
        status["fields"][0],
        json!({"key": "first", "label": "first", "type": "text", "semantic": "first_name"})
    );
    assert!(
        status["nextStep"]
            .as_str()
            .unwrap()
            .contains("push_records")
    );

    let bad = json!({"external_id": "c", "fields": {"fax": 1}});
    let dropped = json!({"external_id": "b", "fields": {"first": "Bob", "score": "many"}});
    let records = json!([record("a"), dropped, bad, {"external_id": "old", "op": "delete"}]);
    let validated = server
        .call("validate_records", json!({ "records": records }))
        .await
        .unwrap();
    assert_eq!(
        (&validated["validated"], &validated["accepted"]),
        (&json!(true), &json!(3))
    );
    let pushed = server
        .call("push_records", json!({ "records": records }))
        .await
        .unwrap();
    assert_eq!(
        [&pushed["accepted"], &pushed["deleted"], &pushed["rejected"]],
        [2, 1, 1]
    );
    assert_eq!(pushed["rejections"][0]["code"], "unknown_field");
    assert_eq!(pushed["warnings"][0]["externalIds"], json!(["b"]));

    let page = server
        .call("get_rejections", json!({"limit": 1}))
        .await
        .unwrap();
    assert_eq!(
        (&page["syncId"], &page["items"][0]["externalId"]),
        (&begun["syncId"], &json!("c"))
    );
    let warnings = json!({"syncId": begun["syncId"], "type": "warning", "limit": 5, "after": "0"});
    assert_eq!(
        server.call("get_rejections", warnings).await.unwrap()["items"][0]["externalId"],
        "b"
    );

    let completed = server
        .call("complete_sync", json!({"syncId": begun["syncId"]}))
        .await
        .unwrap();
    assert_eq!(
        (&completed["ok"], &completed["recordsUpserted"]),
        (&json!(true), &json!(2))
    );
    assert_eq!(crm.list_external_ids().await, ["a", "b"]);
    assert_eq!(
        crm.get("/sync").await.json()["sync"]["status"],
        "completed",
        "the two faces show one sync"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_carry_the_push_apis_codes_and_details() {
    let crm = CrmClient::start().await;
    let server = Mcp::integrations(&crm);
    let unknown = "0197f3a0-0000-7000-8000-000000000000";
    assert_eq!(
        server.failure("push_records", json!({"records": []})).await,
        "no_open_sync"
    );
    assert_eq!(
        server.failure("complete_sync", json!({})).await,
        "no_open_sync"
    );
    assert_eq!(
        server.failure("get_rejections", json!({})).await,
        "sync_not_found"
    );
    let begun = server
        .call("begin_sync", json!({"mode": "delta"}))
        .await
        .unwrap();
    let failure = server.call("begin_sync", json!({})).await.unwrap_err();
    assert_eq!(failure["error"], "sync_in_progress");
    assert_eq!(failure["details"], begun);
    assert!(failure["message"].is_string());

    let many: Vec<_> = (0..1001)
        .map(|number| record(&number.to_string()))
        .collect();
    let failure = server
        .call("push_records", json!({ "records": many }))
        .await
        .unwrap_err();
    assert_eq!(failure["error"], "too_many_records");
    assert_eq!(failure["details"], json!({"limit": 1000, "received": 1001}));
    for (tool, arguments, code) in [
        (
            "get_rejections",
            json!({"syncId": unknown}),
            "sync_not_found",
        ),
        ("get_rejections", json!({"syncId": "x"}), "invalid_sync_id"),
        ("get_rejections", json!({"syncId": 7}), "invalid_sync_id"),
        (
            "get_rejections",
            json!({"type": "warnings"}),
            "invalid_type",
        ),
        ("get_rejections", json!({"after": "x"}), "invalid_cursor"),
        ("get_rejections", json!({"limit": 0}), "invalid_limit"),
        ("get_rejections", json!({"limit": 1.5}), "invalid_limit"),
        ("get_rejections", json!({"limit": "many"}), "invalid_limit"),
        (
            "complete_sync",
            json!({"syncId": unknown}),
            "sync_not_found",
        ),
        ("complete_sync", json!({"syncId": "x"}), "invalid_sync_id"),
        ("begin_sync", json!({"mode": "half"}), "invalid_request"),
        ("push_records", json!({}), "invalid_request"),
        ("push_records", json!({"records": 7}), "invalid_request"),
        (
            "push_records",
            json!({"records": [], "idempotencyKey": ""}),
            "invalid_idempotency_key",
        ),
        (
            "push_records",
            json!({"records": [], "idempotencyKey": "k".repeat(201)}),
            "invalid_idempotency_key",
        ),
        (
            "validate_records",
            json!({"records": many}),
            "too_many_records",
        ),
        ("declare_schema", json!({}), "invalid_request"),
        (
            "declare_schema",
            json!({"fields": [{"key": ""}]}),
            "invalid_request",
        ),
    ] {
        assert_eq!(
            server.failure(tool, arguments.clone()).await,
            code,
            "{tool} {arguments}"
        );
    }
    let fields: Vec<_> = (0..1001)
        .map(|number| json!({"key": format!("f{number}")}))
        .collect();
    assert_eq!(
        server
            .failure("declare_schema", json!({ "fields": fields }))
            .await,
        "too_many_fields"
    );
    assert_eq!(
        crm.get("/sync").await.json()["sync"]["batchesReceived"],
        0,
        "what failed has changed nothing"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_column_and_the_removal_guard_fail_with_their_details() {
    let crm = CrmClient::start().await;
    let server = Mcp::integrations(&crm);
    let columns = json!([{"name": "tier", "type": "number"}]);
    crm.stack
        .apply_team(json!({"teams": [{"name": "Test", "columns": columns}]}))
        .await;
    let failure = server
        .call("declare_schema", json!({"fields": [{"key": "tier"}]}))
        .await
        .unwrap_err();
    assert_eq!(
        (&failure["error"], &failure["details"]),
        (&json!("field_locked"), &json!({"fields": ["tier"]}))
    );

    crm.run_sync("full", &[record("a"), record("b")]).await;
    crm.apply_integration(json!({"removal_guard_percent": 10}))
        .await;
    server
        .call("begin_sync", json!({"mode": "full"}))
        .await
        .unwrap();
    let failure = server.call("complete_sync", json!({})).await.unwrap_err();
    assert_eq!(
        (&failure["error"], &failure["details"]["count"]),
        (&json!("removal_guard"), &json!(2))
    );
    let completed = server
        .call("complete_sync", json!({"confirmRemoval": true}))
        .await
        .unwrap();
    assert_eq!(completed["markedRemoved"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_with_a_key_is_done_once_and_the_key_is_the_push_apis() {
    let crm = CrmClient::start().await;
    let server = Mcp::integrations(&crm);
    let begin = json!({"mode": "delta", "idempotencyKey": "begin"});
    let begun = server.call("begin_sync", begin.clone()).await.unwrap();
    assert_eq!(server.call("begin_sync", begin).await.unwrap(), begun);
    let push = json!({"idempotencyKey": "push", "records": [record("a")]});
    let pushed = server.call("push_records", push.clone()).await.unwrap();
    assert_eq!(server.call("push_records", push).await.unwrap(), pushed);
    let replay = crm
        .request_with_key(
            reqwest::Method::POST,
            "/records",
            "push",
            &json!({"records": [record("a")]}),
        )
        .await;
    assert_eq!(
        (replay.json(), &replay.headers["idempotency-replayed"]),
        (pushed, &"true".parse().unwrap())
    );
    let other = json!({"idempotencyKey": "push", "records": [record("b")]});
    assert_eq!(
        server.failure("push_records", other).await,
        "idempotency_key_reused"
    );
    assert_eq!(crm.get("/sync").await.json()["sync"]["batchesReceived"], 1);
    for _ in 0..2 {
        server
            .call("push_records", json!({"records": [record("a")]}))
            .await
            .unwrap();
    }
    assert_eq!(
        crm.get("/sync").await.json()["sync"]["batchesReceived"],
        3,
        "without a key each call is its own"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_not_answered_in_time_fails_with_the_key_that_its_retry_needs() {
    let crm =
        CrmClient::with_settings(vec![("GATEWAY__MCP_CALL_DEADLINE_MS", "700".to_owned())]).await;
    crm.declare_usual_fields().await;
    let server = Mcp::integrations(&crm);
    server
        .call("begin_sync", json!({"mode": "delta"}))
        .await
        .unwrap();
    // Whoever holds the integration keeps the push waiting.
    crm.stack
        .sql
        .batch_execute("BEGIN; LOCK TABLE contacts IN EXCLUSIVE MODE")
        .await
        .unwrap();
    let failure = server
        .call("push_records", json!({"records": [record("a")]}))
        .await
        .unwrap_err();
    assert_eq!(failure["error"], "timeout");
    let key = failure["details"]["idempotencyKey"].clone();
    let retry = json!({"records": [record("a")], "idempotencyKey": key});
    assert_eq!(
        server.failure("push_records", retry.clone()).await,
        "in_progress"
    );
    crm.stack.sql.batch_execute("COMMIT").await.unwrap();
    wait_until("the retry gets the answer", async || {
        server.call("push_records", retry.clone()).await.is_ok()
    })
    .await;
    assert_eq!(
        crm.get("/sync").await.json()["sync"]["batchesReceived"],
        1,
        "it was done once"
    );
}
