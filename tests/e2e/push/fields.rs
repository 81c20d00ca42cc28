//! Declaring and reading the schema.

use pillarbox_tests::{CrmClient, SpawnedProcess, wait_until};
use serde_json::{Value, json};
use tokio::sync::Mutex;

#[tokio::test(flavor = "multi_thread")]
async fn declare_adds_changes_and_lists_what_is_no_longer_sent() {
    let crm = CrmClient::with_settings(Vec::new()).await;
    assert_eq!(crm.get("/schema").await.json(), json!({"fields": []}));
    let first = crm
        .declare_fields(
            json!([{"key": "tier", "type": "choice", "options": ["gold"]}, {"key": "zip"}]),
        )
        .await;
    assert_eq!(
        first.json(),
        json!({"ok": true, "added": 2, "noLongerSent": []})
    );
    let second = crm
        .declare_fields(json!([{"key": "zip", "label": "ZIP", "semantic": "zip"}, {"key": "new"}]))
        .await;
    assert_eq!(
        second.json(),
        json!({"ok": true, "added": 1, "noLongerSent": ["tier"]})
    );
    let text = |key: &str, label: &str, semantic: Value| json!({"key": key, "label": label, "type": "text", "semantic": semantic});
    assert_eq!(
        crm.get("/schema").await.json(),
        json!({"fields": [
            {"key": "tier", "label": "tier", "type": "choice", "options": ["gold"], "semantic": null},
            text("zip", "ZIP", json!("zip")),
            text("new", "new", Value::Null),
        ]})
    );
    crm.begin_sync("delta").await;
    let pushed = crm
        .push_records(&[json!({"external_id": "a", "fields": {"tier": "gold"}})])
        .await
        .json();
    assert_eq!(
        pushed["accepted"], 1,
        "a field that is no longer mentioned stays declared"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_choice_without_options_takes_any_text_and_one_with_options_names_them_when_it_refuses() {
    let crm = CrmClient::with_settings(Vec::new()).await;
    let fields = json!([
        {"key": "open", "type": "choice"},
        {"key": "none", "type": "choice", "options": []},
        {"key": "plan", "type": "choice", "options": ["free", "paid"]},
    ]);
    assert_eq!(crm.declare_fields(fields).await.json()["added"], 3);
    crm.begin_sync("delta").await;
    let record =
        json!({"external_id": "a", "fields": {"open": "gold", "none": 7, "plan": "trial"}});
    let pushed = crm.push_records(&[record]).await.json();
    assert_eq!(pushed["accepted"], 1);
    assert_eq!(pushed["warnings"].as_array().unwrap().len(), 1, "{pushed}");
    assert_eq!(
        pushed["warnings"][0]["message"],
        "plan must be one of its options: free, paid."
    );
    assert_eq!(
        crm.list_contacts().await,
        [("a".to_owned(), json!({"open": "gold", "none": "7"}))]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slash_behind_a_path_changes_nothing() {
    let crm = CrmClient::start().await;
    for path in ["/", "/schema/", "/sync/", "/syncs/?limit=1"] {
        assert_eq!(crm.get(path).await.status, 200, "{path}");
    }
    assert_eq!(
        crm.get("/sync/rejections/").await.push_error(),
        (404, "sync_not_found".to_owned())
    );
    let key = crm.new_idempotency_key();
    let begun = crm
        .request_with_key(reqwest::Method::POST, "/sync/", &key, &json!({}))
        .await;
    assert_eq!(begun.status, 200, "{}", begun.text);
    let send = format!("{}/api/v1/recipients/", crm.stack.url);
    let refused = crm
        .stack
        .request(reqwest::Method::POST, &send, &[], "{}")
        .await;
    assert_eq!(refused.error(), (401, "invalid_api_key".to_owned()));
    assert_eq!(
        crm.get("/schema/nothing/").await.push_error(),
        (404, "not_found".to_owned())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declaration_that_is_malformed_is_refused_whole() {
    let crm = CrmClient::with_settings(Vec::new()).await;
    let cases = [
        (json!({}), "invalid_request"),
        (json!([{"label": "x"}]), "invalid_request"),
        (json!([{"key": ""}]), "invalid_request"),
        (json!([{"key": "a", "type": "integer"}]), "invalid_request"),
        (
            json!([{"key": "a", "semantic": "zip"}, {"key": "b", "semantic": "zip"}]),
            "invalid_request",
        ),
    ];
    for (fields, code) in cases {
        assert_eq!(
            crm.declare_fields(fields).await.push_error(),
            (400, code.to_owned())
        );
    }
    assert_eq!(crm.get("/schema").await.json(), json!({"fields": []}));
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_fields_counts_those_already_declared() {
    let crm = CrmClient::with_settings(Vec::new()).await;
    let fields = |name: &str, count: usize| {
        (0..count)
            .map(|number| json!({"key": format!("{name}{number}")}))
            .collect::<Value>()
    };
    assert_eq!(
        crm.declare_fields(fields("a", 1000)).await.json()["added"],
        1000
    );
    let more = crm.declare_fields(fields("b", 1)).await;
    assert_eq!(more.push_error(), (400, "too_many_fields".to_owned()));
    assert_eq!(
        more.json()["error"]["details"],
        json!({"limit": 1000, "received": 1001})
    );
    assert_eq!(
        crm.declare_fields(fields("a", 1000)).await.status,
        200,
        "those that stand can be declared again"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_type_that_the_owner_set_is_409_field_locked() {
    let crm = CrmClient::with_settings(Vec::new()).await;
    crm.stack
        .apply_team(
            json!({"teams": [{"name": "Test", "columns": [{"name": "Score", "type": "number"}]}]}),
        )
        .await;
    let locked = crm
        .declare_fields(json!([{"key": "score", "type": "date"}, {"key": "other"}]))
        .await;
    assert_eq!(locked.push_error(), (409, "field_locked".to_owned()));
    assert_eq!(
        locked.json()["error"]["details"],
        json!({"fields": ["score"]})
    );
    assert_eq!(crm.get("/schema").await.json(), json!({"fields": []}));
    assert_eq!(
        crm.declare_fields(json!([{"key": "score", "type": "number"}]))
            .await
            .status,
        200
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declared_field_becomes_a_column_of_the_address_book() {
    let crm = CrmClient::start().await;
    let columns =
        "SELECT count(*) FROM address_columns WHERE source = 'integration' AND name_key IN ('score', 'since')
         AND type = CASE name_key WHEN 'score' THEN 'number' ELSE 'date' END";
    assert_eq!(crm.stack.query_count(columns).await, 2);
    assert_eq!(
        crm.stack
            .query_count("SELECT count(*) FROM address_columns")
            .await,
        2,
        "semantic fields fill built-in ones"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declaration_whose_worker_dies_before_its_reply_gets_the_answer_that_it_would_have_got() {
    let crm = CrmClient::with_syncers(Vec::new(), 0).await;
    let doomed = Mutex::new(SpawnedProcess::start(
        "syncer",
        &crm.stack.settings,
        Some("push.declared"),
    ));
    crm.wait_until_ready().await;
    let revive = async {
        wait_until("the syncer dies", async || doomed.lock().await.has_ended()).await;
        SpawnedProcess::start("syncer", &crm.stack.settings, None)
    };
    let fields = json!([{"key": "tier"}, {"key": "since", "type": "date"}]);
    let (declared, _second) = tokio::join!(crm.declare_fields(fields.clone()), revive);
    assert_eq!(
        declared.json(),
        json!({"ok": true, "added": 2, "noLongerSent": []})
    );
    let another_request = crm.declare_fields(fields).await.json();
    assert_eq!(
        another_request["added"], 0,
        "declared for the first time by the request before: {another_request}"
    );
}
