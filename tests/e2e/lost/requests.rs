//! GET /api/v1/requests/{id}.

use std::sync::Arc;

use chrono::TimeDelta;
use pillarbox_tests::{
    GatedVerifier, INTEGRATION_KEY, KEY, StackOptions, TestStack, build_recipients, wait_until,
};
use reqwest::Method;
use serde_json::json;

use super::{OTHERS_KEY, another_team, only_request, status_of};

#[tokio::test(flavor = "multi_thread")]
async fn done_is_told_with_the_stored_response_byte_for_byte_by_any_gateway() {
    let mut stack = TestStack::start().await;
    let answer = stack.send_recipients(&build_recipients(1..4)).await;
    let id = answer.headers["x-request-id"].to_str().unwrap();
    let told = status_of(&stack, &stack.url, id).await;
    assert_eq!(told.status, 200);
    assert_eq!(
        told.text,
        format!(
            r#"{{"request_id":"{id}","status":"done","response":{}}}"#,
            answer.text
        )
    );
    let second = stack.start_second_gateway().await;
    assert_eq!(status_of(&stack, &second, id).await.text, told.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn running_is_told_while_a_worker_has_it() {
    let gate = Arc::new(GatedVerifier::default());
    let verifier: Arc<dyn verification::AddressVerifier> = gate.clone();
    let stack = TestStack::with_options(StackOptions {
        verifier: Some(verifier),
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    let recipients = build_recipients(1..3);
    let (answer, id) = tokio::join!(stack.send_recipients(&recipients), async {
        wait_until("the send has begun", async || {
            stack.query_count("SELECT count(*) FROM sends").await == 1
        })
        .await;
        let id = only_request(&stack).await;
        let told = status_of(&stack, &stack.url, &id).await;
        assert_eq!(told.json(), json!({"request_id": id, "status": "running"}));
        gate.open();
        id
    });
    assert_eq!(answer.headers["x-request-id"], *id);
    assert_eq!(
        status_of(&stack, &stack.url, &id).await.json()["status"],
        "done"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_is_another_teams_request_one_that_failed_and_one_that_is_gone() {
    let stack = TestStack::start().await;
    another_team(&stack).await;
    let answer = stack.send_recipients(&build_recipients(1..3)).await;
    let id = answer.headers["x-request-id"].to_str().unwrap();
    let url = format!("{}/api/v1/requests/{id}", stack.url);
    let others = stack
        .request(Method::GET, &url, &[("x-api-key", OTHERS_KEY)], "")
        .await;
    assert_eq!(
        others.json(),
        json!({"request_id": id, "status": "unknown"})
    );

    let failed = stack
        .send_recipients_to("PA-NOBODY", &build_recipients(1..3))
        .await;
    let failed = failed.headers["x-request-id"].to_str().unwrap();
    assert_eq!(
        status_of(&stack, &stack.url, failed).await.json()["status"],
        "unknown"
    );

    stack.sql.execute("DELETE FROM sends", &[]).await.unwrap();
    assert_eq!(
        status_of(&stack, &stack.url, id).await.json()["status"],
        "unknown"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_was_begun_and_left_is_unknown_once_nobody_begins_it_any_more() {
    let stack = TestStack::start().await;
    stack.send_recipients(&build_recipients(1..3)).await;
    let id = only_request(&stack).await;
    let left = "UPDATE sends SET state = 'claimed', response = NULL, finished_at = NULL";
    stack.sql.execute(left, &[]).await.unwrap();
    assert_eq!(
        status_of(&stack, &stack.url, &id).await.json()["status"],
        "running"
    );
    stack.clock.advance(TimeDelta::minutes(3));
    assert_eq!(
        status_of(&stack, &stack.url, &id).await.json()["status"],
        "unknown"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_of_other_kinds_and_ids_that_are_none_are_refused() {
    let stack = TestStack::start().await;
    let id = uuid::Uuid::now_v7();
    let url = format!("{}/api/v1/requests/{id}", stack.url);
    for headers in [
        &[("x-api-key", INTEGRATION_KEY)][..],
        &[("x-api-key", "pk_fx_none")],
        &[],
    ] {
        let refused = stack.request(Method::GET, &url, headers, "").await;
        assert_eq!(refused.error(), (401, "invalid_api_key".to_owned()));
    }
    assert_eq!(
        status_of(&stack, &stack.url, "7").await.error(),
        (422, "invalid_payload".to_owned())
    );
    let posted = stack
        .request(Method::POST, &url, &[("x-api-key", KEY)], "")
        .await;
    assert_eq!(posted.error(), (405, "method_not_allowed".to_owned()));
    assert_eq!(posted.headers["allow"], "GET");
}

#[tokio::test(flavor = "multi_thread")]
async fn asking_is_limited_in_windows_of_its_own() {
    let settings = vec![("GATEWAY__REQUESTS_PER_MINUTE_PER_KEY", "60".to_owned())];
    let stack = TestStack::with_options(StackOptions {
        settings,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    stack.clock.advance(TimeDelta::hours(24));
    let id = uuid::Uuid::now_v7().to_string();
    let mut statuses = Vec::new();
    for _ in 0..61 {
        statuses.push(status_of(&stack, &stack.url, &id).await.status.as_u16());
    }
    // A minute may have turned meanwhile.
    assert!(
        statuses[60] == 429 || statuses.iter().all(|status| *status == 200),
        "{statuses:?}"
    );
    assert_eq!(
        stack.send_recipients(&build_recipients(1..2)).await.status,
        200,
        "a send has a window of its own"
    );
}
