//! Push records: what a batch does to contacts.

use pillarbox_tests::CrmClient;
use reqwest::Method;
use serde_json::{Value, json};

use super::record;

#[tokio::test(flavor = "multi_thread")]
async fn a_push_answers_counts_rejections_and_warnings_and_a_dry_run_the_same_without_writing() {
    let crm = CrmClient::start().await;
    crm.run_sync("full", &[record("gone", "Bob")]).await;
    let batch = [
        record("a", "Ann"),
        json!({"external_id": "gone", "op": "delete"}),
        json!({"external_id": "b", "fields": {"score": "many", "since": "1/2/2026"}}),
        json!({"external_id": "c", "fields": {"mail": "nobody"}}),
        json!("not an object"),
    ];
    let dry = crm.validate_records(&batch).await.json();
    assert_eq!(
        crm.list_external_ids().await,
        ["gone"],
        "a dry run writes nothing and needs no open sync"
    );
    assert_eq!(crm.get("/sync").await.json()["sync"]["batchesReceived"], 1);
    crm.begin_sync("delta").await;
    let pushed = crm.push_records(&batch).await.json();
    let counts = |answer: &Value| {
        (
            answer["accepted"].clone(),
            answer["deleted"].clone(),
            answer["rejected"].clone(),
        )
    };
    assert_eq!(counts(&pushed), (json!(2), json!(1), json!(2)));
    assert_eq!(counts(&dry), (json!(3), Value::Null, json!(2)));
    assert_eq!(dry["validated"], true);
    assert_eq!(
        (&dry["rejections"], &dry["warnings"]),
        (&pushed["rejections"], &pushed["warnings"])
    );
    assert_eq!(
        crm.list_contacts().await,
        [
            ("a".to_owned(), json!({"first": "Ann"})),
            ("b".to_owned(), json!({"since": "1/2/2026"}))
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn absent_fields_keep_their_values_and_null_is_stored_as_blank() {
    let crm = CrmClient::start().await;
    crm.begin_sync("delta").await;
    crm.push_records(&[json!({"external_id": "a", "fields": {"first": "Ann", "score": 7}})])
        .await;
    crm.push_records(&[
        json!({"external_id": "a", "fields": {"score": null, "since": "2026-01-31"}}),
    ])
    .await;
    let wanted = json!({"first": "Ann", "score": "", "since": "2026-01-31"});
    assert_eq!(crm.list_contacts().await, [("a".to_owned(), wanted)]);
    crm.push_records(&[json!({"external_id": "a", "op": "delete"})])
        .await;
    crm.push_records(&[json!({"external_id": "a", "fields": {"score": 8}})])
        .await;
    assert_eq!(
        crm.list_contacts().await,
        [("a".to_owned(), json!({"score": "8"}))],
        "a delete has erased the others"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delete_erases_the_values_and_keeps_the_key() {
    let crm = CrmClient::start().await;
    let ann = json!({"external_id": "a", "fields": {"first": "Ann", "mail": "ann@example.com", "score": 7}});
    let missed = json!({"external_id": "b", "fields": {"first": "Bea"}});
    crm.run_sync("full", &[ann.clone(), missed]).await;
    let number = "SELECT contact_number FROM contacts WHERE external_id = 'a'";
    let before = crm.stack.query_count(number).await;
    // A full sync misses the other one, which its owner can take back; that it is deleted after all cannot be.
    crm.run_sync("full", std::slice::from_ref(&ann)).await;
    assert_eq!(
        crm.get("/contacts?externalId=b").await.json()["fields"],
        json!({"first": "Bea"})
    );
    let gone = ["a", "b"].map(|id| json!({"external_id": id, "op": "delete"}));
    let deleted = crm.run_sync("delta", &gone).await;
    assert_eq!(deleted["recordsDeleted"], 2);
    for id in ["a", "b"] {
        let contact = crm.get(&format!("/contacts?externalId={id}")).await.json();
        assert_eq!(
            (&contact["fields"], &contact["removed"]),
            (&json!({}), &json!(true)),
            "{contact}"
        );
    }
    let held = "SELECT count(*) FROM contacts WHERE fields <> '{}' OR fingerprint IS NOT NULL";
    assert_eq!(crm.stack.query_count(held).await, 0);
    // What was sent before, sent again, is not taken for unchanged.
    crm.run_sync("delta", &[ann]).await;
    let wanted = json!({"first": "Ann", "mail": "ann@example.com", "score": "7"});
    assert_eq!(crm.list_contacts().await, [("a".to_owned(), wanted)]);
    assert_eq!(crm.stack.query_count(number).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_contact_that_did_not_change_is_not_rewritten_and_still_counts_as_received() {
    let crm = CrmClient::start().await;
    let batch: Vec<_> = (0..50)
        .map(|number| record(&format!("c{number}"), "Ann"))
        .collect();
    crm.run_sync("full", &batch).await;
    let versions = "SELECT count(DISTINCT xmin::text) FROM contacts WHERE changed_in = (SELECT min(sync_id::text)::uuid FROM syncs)";
    assert_eq!(crm.stack.query_count(versions).await, 1);
    let again = crm.run_sync("full", &batch).await;
    assert_eq!(
        (&again["recordsUpserted"], &again["markedRemoved"]),
        (&json!(50), &json!(0))
    );
    assert_eq!(
        crm.stack.query_count(versions).await,
        1,
        "each row is the one that the first sync wrote"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_are_no_batch_are_refused() {
    let crm = CrmClient::start().await;
    crm.begin_sync("delta").await;
    let headers = [
        ("authorization", "Bearer pk_int_TestTestTestTestTestTe"),
        ("idempotency-key", "the-same"),
    ];
    let push = async |body: String| crm.request(Method::POST, "/records", &headers, body).await;
    assert_eq!(
        push("{".to_owned()).await.push_error(),
        (400, "invalid_json".to_owned())
    );
    assert_eq!(
        push("[]".to_owned()).await.push_error(),
        (400, "invalid_request".to_owned())
    );
    assert_eq!(
        push("{}".to_owned()).await.push_error(),
        (400, "invalid_request".to_owned())
    );
    let many = push(json!({"records": vec![0; 1001]}).to_string()).await;
    assert_eq!(many.push_error(), (413, "too_many_records".to_owned()));
    assert_eq!(
        many.json()["error"]["details"],
        json!({"limit": 1000, "received": 1001})
    );
    let large = push(" ".repeat(4_456_449)).await;
    assert_eq!(large.push_error(), (413, "payload_too_large".to_owned()));
    assert_eq!(
        large.json()["error"]["details"],
        json!({"limit": 4_456_448})
    );
    let empty = push(json!({"records": []}).to_string()).await;
    assert_eq!(
        empty.status, 200,
        "an empty batch is fine, and a refused one does not consume its key"
    );
    let largest = format!("{{\"records\":[]{}}}", " ".repeat(4_456_448 - 14));
    assert_eq!(
        crm.request(Method::POST, "/records?validate=1", &headers, largest)
            .await
            .status,
        200
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn one_bad_record_never_stops_the_rest() {
    let crm = CrmClient::start().await;
    crm.begin_sync("delta").await;
    let body = format!(
        r#"{{"records":[{{"external_id":"a"}},{{"external_id":"\ud800"}},{{"external_id":"b","fields":{{"score":1e999,"first":"x\ud800"}}}},
           {}1{},{{"external_id":"c","external_id":"d","fields":{{"score":"\u0000"}}}}]}}"#,
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    let headers = [
        ("authorization", "Bearer pk_int_TestTestTestTestTestTe"),
        ("idempotency-key", "k"),
    ];
    let answer = crm.request(Method::POST, "/records", &headers, body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let json = answer.json();
    let codes: Vec<_> = json["rejections"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["code"])
        .collect();
    assert_eq!(
        codes,
        ["invalid_external_id", "invalid_type", "missing_external_id"]
    );
    assert_eq!(crm.list_external_ids().await, ["a", "d"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_of_tens_of_thousands_of_warnings_has_a_row_for_each() {
    const FIELDS: usize = 25;
    let crm = CrmClient::start().await;
    let keys: Vec<String> = (0..FIELDS).map(|number| format!("n{number}")).collect();
    let fields: Vec<Value> = keys
        .iter()
        .map(|key| json!({"key": key, "type": "number"}))
        .collect();
    assert_eq!(crm.declare_fields(json!(fields)).await.status, 200);
    crm.begin_sync("delta").await;
    let values: serde_json::Map<String, Value> =
        keys.iter().map(|key| (key.clone(), json!([]))).collect();
    let batch: Vec<Value> = (0..1000)
        .map(|number| json!({"external_id": number.to_string(), "fields": values}))
        .collect();
    let answer = crm.push_records(&batch).await.json();
    assert_eq!(answer["accepted"], 1000, "{answer}");
    assert_eq!(answer["warnings"].as_array().unwrap().len(), FIELDS);
    let issues = "SELECT count(DISTINCT (issue, external_id, field)) FROM sync_issues WHERE kind = 'warning' AND issue <= 25000";
    assert_eq!(crm.stack.query_count(issues).await, 25_000);
}
