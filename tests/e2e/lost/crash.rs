//! Workers die at named points while a sender insists with its key: one card and one answer for each key.

use std::time::Duration;

use pillarbox_tests::{
    ApiResponse, CAMPAIGN, KEY, SpawnedProcess, StackOptions, TestStack, build_recipients,
    wait_until,
};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::{honour_keys, is_replayed, only_request, send_with_key, status_of};

async fn without_mailer() -> TestStack {
    let settings = vec![
        ("MAILER__LEASE_MS", "1500".to_owned()),
        ("MAILER__JOB_INTERVAL_MS", "200".to_owned()),
    ];
    let stack = TestStack::with_options(StackOptions {
        settings,
        mailers: 0,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    honour_keys(&stack).await;
    stack
}

/// Sends with the key until there is an answer, as a client does that loses patience quickly.
async fn insist(stack: &TestStack, key: &str, recipients: &[Value]) -> ApiResponse {
    let answer = Mutex::new(None);
    wait_until("the send is answered", async || {
        let sent = tokio::time::timeout(
            Duration::from_millis(700),
            send_with_key(stack, key, recipients),
        )
        .await;
        let Ok(sent) = sent else { return false };
        let known = [200, 409, 500, 504].contains(&sent.status.as_u16());
        assert!(
            known && (sent.status != 409 || sent.error().1 == "in_progress"),
            "{}",
            sent.text
        );
        let is_answered = sent.status == 200;
        *answer.lock().await = Some(sent);
        is_answered
    })
    .await;
    answer.into_inner().unwrap()
}

async fn dies_at(point: &'static str) {
    let stack = without_mailer().await;
    let doomed = Mutex::new(SpawnedProcess::start(
        "mailer",
        &stack.settings,
        Some(point),
    ));
    let recipients = build_recipients(1..31);
    let (answer, _second) = tokio::join!(insist(&stack, "order", &recipients), async {
        wait_until("the mailer dies at its fail point", async || {
            doomed.lock().await.has_ended()
        })
        .await;
        SpawnedProcess::start("mailer", &stack.settings, None)
    });
    assert_eq!(answer.reasons(), vec!["mailed"; 30]);
    assert_eq!(
        stack.query_count("SELECT count(*) FROM mailpieces").await,
        30
    );
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM charges WHERE state = 'settled'")
            .await,
        1
    );
    assert_eq!(stack.query_count("SELECT count(*) FROM send_keys").await, 1);
    // The gateway may not have heard of the second worker yet.
    let again = insist(&stack, "order", &recipients).await;
    assert_eq!(again.text, answer.text);
    assert!(is_replayed(&again));
    let reused = send_with_key(&stack, "order", &build_recipients(40..41)).await;
    assert_eq!(reused.error(), (409, "idempotency_key_reused".to_owned()));
    // Whoever knows the id of the attempt that was done is told the same.
    let id = only_request(&stack).await;
    let told = status_of(&stack, &stack.url, &id).await;
    assert!(
        told.text
            .ends_with(&format!("\"response\":{}}}", answer.text)),
        "{}",
        told.text
    );
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_the_claim() {
    dies_at("send.claimed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_reserve() {
    dies_at("send.reserved").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_charge() {
    dies_at("send.charged").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_settle_before_the_reply() {
    dies_at("send.settled").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_whose_message_is_lost_gives_its_key_to_the_next_attempt() {
    let mut stack = without_mailer().await;
    let doomed = Mutex::new(SpawnedProcess::start(
        "mailer",
        &stack.settings,
        Some("send.claimed"),
    ));
    let recipients = build_recipients(1..6);
    wait_until("the mailer dies", async || {
        let _ = tokio::time::timeout(
            Duration::from_millis(300),
            send_with_key(&stack, "k", &recipients),
        )
        .await;
        doomed.lock().await.has_ended()
    })
    .await;
    let before = only_request(&stack).await;
    // Another namespace: what is in the queue is out of everybody's reach, as if the broker had been wiped.
    stack.settings.insert(
        "PILLARBOX__BROKER__NAMESPACE".to_owned(),
        format!("elsewhere-{before}"),
    );
    let _mailer = SpawnedProcess::start("mailer", &stack.settings, None);
    let url = stack.start_second_gateway().await;
    let body = json!({"campaign_id": CAMPAIGN, "recipients": recipients}).to_string();
    let headers = [("x-api-key", KEY), ("idempotency-key", "k")];
    wait_until("the key's send is done", async || {
        stack
            .post_send_to(&url, &headers, body.clone())
            .await
            .status
            == 200
    })
    .await;
    assert_ne!(
        only_request(&stack).await,
        before,
        "the abandoned claim made place"
    );
    assert_eq!(
        stack.query_count("SELECT count(*) FROM mailpieces").await,
        5
    );
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_whose_worker_dies_is_an_error_that_leaves_nothing() {
    let settings = vec![("GATEWAY__CALL_DEADLINE_MS", "1500".to_owned())];
    let stack = TestStack::with_options(StackOptions {
        settings,
        mailers: 0,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    let body = json!({"campaign_id": CAMPAIGN, "recipients": build_recipients(1..3)}).to_string();
    let url = format!("{}/api/v1/recipients?validate=1", stack.url);
    let refused = stack
        .request(reqwest::Method::POST, &url, &[("x-api-key", KEY)], body)
        .await;
    assert_eq!(
        refused.error(),
        (500, "internal_error".to_owned()),
        "nobody is there to ask"
    );
    assert_eq!(stack.query_count("SELECT count(*) FROM sends").await, 0);
}
