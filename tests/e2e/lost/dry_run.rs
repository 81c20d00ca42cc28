//! POST /api/v1/recipients?validate=1.

use std::collections::BTreeMap;

use pillarbox_tests::{
    ApiResponse, CAMPAIGN, KEY, StackOptions, TestStack, build_recipients, wait_until,
};
use serde_json::{Value, json};

async fn validate(stack: &TestStack, query: &str, recipients: &[Value]) -> ApiResponse {
    let body = json!({"campaign_id": CAMPAIGN, "recipients": recipients}).to_string();
    let url = format!("{}/api/v1/recipients{query}", stack.url);
    let headers = [("x-api-key", KEY), ("idempotency-key", "dry")];
    stack
        .request(reqwest::Method::POST, &url, &headers, body)
        .await
}

/// How many rows each table has, but for what is only remembered of addresses, and of who asked how often.
async fn rows(stack: &TestStack) -> BTreeMap<String, i64> {
    let tables = "SELECT table_name::text FROM information_schema.tables
        WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'
            AND table_name NOT IN ('rate_windows', 'address_answers', 'duties')";
    let mut counts = BTreeMap::new();
    for row in stack.sql.query(tables, &[]).await.unwrap() {
        let table: String = row.get(0);
        let count = stack
            .query_count(&format!("SELECT count(*) FROM {table}"))
            .await;
        counts.insert(table, count);
    }
    counts
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_verifies_filters_and_prices_and_leaves_nothing() {
    let stack = TestStack::start().await;
    stack
        .save_campaign(json!({"do_not_mail": ["2 Main St, Austin, TX 78701"]}))
        .await;
    stack.send_recipients(&build_recipients(4..5)).await;
    let mut recipients = build_recipients(1..5);
    recipients[0]["pet"] = "cat".into();
    recipients.push(json!({"reference": "nowhere"}));
    recipients.push(recipients[0].clone());
    // What the send before leaves to be done later is done.
    wait_until("the send can be searched", async || {
        stack
            .query_count("SELECT count(*) FROM recipients_unsearched")
            .await
            == 0
    })
    .await;
    let before = rows(&stack).await;
    let answer = validate(&stack, "?validate=1", &recipients).await;
    let body = answer.json();
    assert_eq!(body["validated"], true);
    assert_eq!(
        body["summary"],
        json!({"received": 6, "wouldMail": 2, "notMailed": 4, "costCents": 158})
    );
    let mut expected = [
        "would_mail",
        "do_not_mail",
        "would_mail",
        "duplicate_recent",
        "invalid_address",
    ]
    .to_vec();
    expected.push("duplicate_recent");
    assert_eq!(answer.reasons(), expected);
    assert_eq!(rows(&stack).await, before, "no table has changed");
    assert!(!answer.text.contains("\"mailed\""), "{}", answer.text);

    let sent = stack.send_recipients(&recipients).await;
    let actual: Vec<_> = answer
        .reasons()
        .into_iter()
        .map(|reason| reason.replace("would_mail", "mailed"))
        .collect();
    assert_eq!(sent.reasons(), actual, "the send ends as it was foreseen");
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_foresees_the_budget_and_the_payment() {
    let stack = TestStack::start().await;
    stack.save_campaign(json!({"budget": "$1.00"})).await;
    let answer = validate(&stack, "?validate=1", &build_recipients(1..3)).await;
    assert_eq!(answer.reasons(), ["would_mail", "budget_exceeded"]);
    stack.save_campaign(json!({})).await;
    let empty = "UPDATE ledger_accounts SET balance_cents = 100 WHERE account = 'prepaid'";
    stack.sql.execute(empty, &[]).await.unwrap();
    let answer = validate(&stack, "?validate=1", &build_recipients(1..3)).await;
    assert_eq!(answer.reasons(), ["payment_failed"; 2]);
    assert_eq!(
        answer.json()["summary"],
        json!({"received": 2, "wouldMail": 0, "notMailed": 2, "costCents": 158})
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_is_refused_as_a_send_is() {
    let stack = TestStack::start().await;
    assert_eq!(
        validate(&stack, "?validate=1", &[]).await.error(),
        (422, "invalid_payload".to_owned())
    );
    stack.save_campaign(json!({"status": "paused"})).await;
    let refused = validate(&stack, "?validate=1", &build_recipients(1..2)).await;
    assert_eq!(refused.error(), (409, "campaign_not_active".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn any_other_value_of_validate_is_ignored() {
    let stack = TestStack::with_options(StackOptions::default()).await;
    stack.save_campaign(json!({})).await;
    for (at, query) in ["?validate=true", "?validate=", "?validate=01", "?other=1"]
        .into_iter()
        .enumerate()
    {
        let headers = [("x-api-key", KEY)];
        let body = json!({"campaign_id": CAMPAIGN, "recipients": build_recipients(at + 1..at + 2)})
            .to_string();
        let url = format!("{}/api/v1/recipients{query}", stack.url);
        let answer = stack
            .request(reqwest::Method::POST, &url, &headers, body)
            .await;
        assert_eq!(answer.reasons(), ["mailed"], "{query}");
    }
}
