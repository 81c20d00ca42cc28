//! Lost answers: what a sender who got none can find out, and how to send again without asking.

mod crash;
mod dry_run;
mod keys;
mod price;
mod requests;

use pillarbox_tests::{ApiResponse, CAMPAIGN, KEY, TestStack};
use serde_json::{Value, json};

/// The key of another team.
const OTHERS_KEY: &str = "pk_live_OtherOtherOtherOtherOt";

/// The other team's campaign.
const OTHERS_CAMPAIGN: &str = "PA-OTHER1";

/// Makes another team that can mail.
async fn another_team(stack: &TestStack) {
    let card =
        json!({"product": "postcard_4x6", "front": {"elements": []}, "back": {"elements": []}});
    let team = json!({
        "name": "Other",
        "idempotency_keys": true,
        "keys": [{"kind": "full_access", "name": "Other", "key": OTHERS_KEY}],
        "designs": [{"name": "Card", "document": card}],
        "campaigns": [{"id": OTHERS_CAMPAIGN, "name": "Other", "steps": [{"design": "Card", "postage": "standard"}]}],
        "top_up": {"amount": "$10.00", "reference": "first"},
    });
    stack.apply_team(json!({"teams": [team]})).await;
}

/// A stack whose team has `Idempotency-Key` honoured.
async fn start() -> TestStack {
    let stack = TestStack::start().await;
    honour_keys(&stack).await;
    stack
}

/// Switches keys on for the stack's team.
async fn honour_keys(stack: &TestStack) {
    stack
        .apply_team(json!({"teams": [{"name": "Test", "idempotency_keys": true}]}))
        .await;
}

/// Posts recipients with an `Idempotency-Key`.
async fn send_with_key(stack: &TestStack, key: &str, recipients: &[Value]) -> ApiResponse {
    let body = json!({"campaign_id": CAMPAIGN, "recipients": recipients}).to_string();
    stack
        .post_send_with(&[("x-api-key", KEY), ("idempotency-key", key)], body)
        .await
}

/// Whether an answer says that it was stored by an earlier request.
fn is_replayed(answer: &ApiResponse) -> bool {
    answer
        .headers
        .get("idempotency-replayed")
        .is_some_and(|value| value == "true")
}

/// Asks what became of a request.
async fn status_of(stack: &TestStack, url: &str, id: &str) -> ApiResponse {
    stack
        .request(
            reqwest::Method::GET,
            &format!("{url}/api/v1/requests/{id}"),
            &[("x-api-key", KEY)],
            "",
        )
        .await
}

/// The id of the one request that the database knows.
async fn only_request(stack: &TestStack) -> String {
    stack
        .sql
        .query_one("SELECT send_id::text FROM sends", &[])
        .await
        .unwrap()
        .get(0)
}
