//! Idempotency-Key on begin, push and complete.

use pillarbox_tests::CrmClient;
use reqwest::Method;
use serde_json::json;

use super::records;

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_gets_the_same_answer_byte_for_byte_marked_as_replayed() {
    let crm = CrmClient::start().await;
    let batch = json!({"records": [{"external_id": "a"}, 7]});
    let calls = [
        (Method::POST, "/sync", json!({})),
        (Method::POST, "/records", batch),
        (Method::PATCH, "/sync", json!({})),
    ];
    let mut answers = Vec::new();
    for (number, (method, path, body)) in calls.iter().enumerate() {
        let first = crm
            .request_with_key(method.clone(), path, &format!("k{number}"), body)
            .await;
        assert_eq!(
            (
                first.status.as_u16(),
                first.headers.get("idempotency-replayed")
            ),
            (200, None)
        );
        answers.push(first.text);
    }
    // Also after the sync is completed.
    for (number, (method, path, body)) in calls.iter().enumerate() {
        let again = crm
            .request_with_key(method.clone(), path, &format!("k{number}"), body)
            .await;
        assert_eq!(again.headers["idempotency-replayed"], "true");
        assert_eq!(again.text, answers[number]);
    }
    let sync = crm.get("/sync").await.json()["sync"].clone();
    assert_eq!(
        (&sync["batchesReceived"], &sync["recordsUpserted"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(
        crm.get("/syncs").await.json()["syncs"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_key_for_another_request_is_409_idempotency_key_reused() {
    let crm = CrmClient::start().await;
    crm.request_with_key(Method::POST, "/sync", "k", &json!({}))
        .await;
    for (method, path, body) in [
        (Method::POST, "/sync", json!({"mode": "delta"})),
        (Method::POST, "/records", json!({"records": []})),
        (Method::PATCH, "/sync", json!({})),
    ] {
        let reused = crm.request_with_key(method, path, "k", &body).await;
        assert_eq!(
            reused.push_error(),
            (409, "idempotency_key_reused".to_owned()),
            "{path}"
        );
    }
    let push = async |ids: &[&str]| {
        crm.request_with_key(
            Method::POST,
            "/records",
            "p",
            &json!({"records": records(ids)}),
        )
        .await
    };
    assert_eq!(push(&["a"]).await.status, 200);
    assert_eq!(
        push(&["b"]).await.push_error(),
        (409, "idempotency_key_reused".to_owned())
    );
    assert_eq!(crm.list_external_ids().await, ["a"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_without_a_key_is_400_missing_idempotency_key() {
    let crm = CrmClient::start().await;
    let authorization = [("authorization", "Bearer pk_int_TestTestTestTestTestTe")];
    for (method, path) in [
        (Method::POST, "/sync"),
        (Method::POST, "/records"),
        (Method::PATCH, "/sync"),
    ] {
        let absent = crm
            .request(method.clone(), path, &authorization, "{}".to_owned())
            .await;
        assert_eq!(
            absent.push_error(),
            (400, "missing_idempotency_key".to_owned()),
            "{path}"
        );
        let empty = crm
            .request_with_key(method.clone(), path, "", &json!({}))
            .await;
        assert_eq!(
            empty.push_error(),
            (400, "missing_idempotency_key".to_owned()),
            "{path}"
        );
        let long = crm
            .request_with_key(method, path, &"k".repeat(201), &json!({}))
            .await;
        assert_eq!(
            long.push_error(),
            (400, "invalid_idempotency_key".to_owned()),
            "{path}"
        );
    }
    assert_eq!(
        crm.request_with_key(Method::POST, "/sync", &"k".repeat(200), &json!({}))
            .await
            .status,
        200
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_request_does_not_consume_its_key() {
    let crm = CrmClient::start().await;
    let push = async || {
        crm.request_with_key(
            Method::POST,
            "/records",
            "k",
            &json!({"records": records(&["a"])}),
        )
        .await
    };
    assert_eq!(push().await.push_error(), (409, "no_open_sync".to_owned()));
    crm.begin_sync("full").await;
    assert_eq!(push().await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_whose_first_attempt_is_running_is_409_in_progress() {
    let crm = CrmClient::start().await;
    crm.begin_sync("full").await;
    // Somebody holds the contact's row, so that the first attempt has to wait.
    crm.push_records(&records(&["a"])).await;
    crm.stack
        .sql
        .batch_execute("BEGIN; SELECT 1 FROM contacts FOR UPDATE")
        .await
        .unwrap();
    let body = json!({"records": [{"external_id": "a", "fields": {"first": "Bea"}}]});
    let push = async || {
        crm.request_with_key(Method::POST, "/records", "k", &body)
            .await
    };
    // Whichever of the two comes second is told so, and lets the other go on.
    let attempt = async || {
        let answer = push().await;
        if answer.status == 409 {
            crm.stack.sql.batch_execute("COMMIT").await.unwrap();
        }
        answer
    };
    let (one, other) = tokio::join!(attempt(), attempt());
    let (first, second) = if one.status == 200 {
        (one, other)
    } else {
        (other, one)
    };
    assert_eq!(first.status, 200);
    assert_eq!(second.push_error(), (409, "in_progress".to_owned()));
    assert_eq!(push().await.headers["idempotency-replayed"], "true");
}
