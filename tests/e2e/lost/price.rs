//! The price before: what a dry run tells of it, and sends that are only to be done at the price that was told.

use pillarbox_tests::{ApiResponse, CAMPAIGN, KEY, TestStack, build_recipients};
use serde_json::{Value, json};

use super::{is_replayed, start};

async fn post_priced(
    stack: &TestStack,
    query: &str,
    headers: &[(&str, &str)],
    recipients: &[Value],
    expect_total: Value,
) -> ApiResponse {
    let mut body = json!({"campaign_id": CAMPAIGN, "recipients": recipients});
    if expect_total != "none" {
        body["expect_total"] = expect_total;
    }
    let url = format!("{}/api/v1/recipients{query}", stack.url);
    let headers = [headers, &[("x-api-key", KEY)]].concat();
    stack
        .request(reqwest::Method::POST, &url, &headers, body.to_string())
        .await
}

async fn send_priced(stack: &TestStack, recipients: &[Value], expect_total: Value) -> ApiResponse {
    post_priced(stack, "", &[], recipients, expect_total).await
}

async fn price_of(stack: &TestStack, recipients: &[Value]) -> Value {
    let answer = post_priced(stack, "?validate=1", &[], recipients, json!("none")).await;
    answer.json()["price"].clone()
}

async fn balance(stack: &TestStack) -> i64 {
    stack
        .query_count("SELECT balance_cents FROM ledger_accounts WHERE account = 'prepaid'")
        .await
}

fn price_changed() -> (u16, String) {
    (409, "price_changed".to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_tells_the_price_and_what_it_would_leave() {
    let stack = TestStack::start().await;
    stack.save_campaign(json!({})).await;
    let before = balance(&stack).await;
    let price = |total: i64, budget: Value| {
        json!({
            "perCardCents": 79, "totalCents": total,
            "balanceAfterCents": before - total, "budgetAfterCents": budget,
        })
    };
    let three = build_recipients(1..4);
    assert_eq!(price_of(&stack, &three).await, price(237, Value::Null));
    stack.save_campaign(json!({"budget": "$2.00"})).await;
    assert_eq!(
        price_of(&stack, &three).await,
        price(158, json!(42)),
        "two fit the budget"
    );
    let sent = send_priced(&stack, &three, json!(158)).await;
    assert_eq!(sent.headers["x-cost-cents"], "158");
    assert_eq!(balance(&stack).await, before - 158, "as it was told");
    // What nobody pays for leaves everything as it is.
    stack.save_campaign(json!({})).await;
    let empty = "UPDATE ledger_accounts SET balance_cents = 100 WHERE account = 'prepaid'";
    stack.sql.execute(empty, &[]).await.unwrap();
    assert_eq!(
        price_of(&stack, &build_recipients(4..6)).await,
        json!({"perCardCents": 79, "totalCents": 158, "balanceAfterCents": 100, "budgetAfterCents": null})
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn price_changed_when_the_cards_would_cost_another_sum_and_nothing_is_mailed_or_charged() {
    let stack = TestStack::start().await;
    stack.save_campaign(json!({})).await;
    let told = price_of(&stack, &build_recipients(1..4)).await["totalCents"].clone();
    // Somebody else mails one of them meanwhile.
    stack.send_recipients(&build_recipients(3..4)).await;
    let (before, rows) = (balance(&stack).await, "SELECT count(*) FROM recipients");
    let received = stack.query_count(rows).await;
    let three = build_recipients(1..4);
    for _ in 0..2 {
        let refused = send_priced(&stack, &three, told.clone()).await;
        assert_eq!(refused.error(), price_changed());
        assert!(
            refused.text.contains("158") && refused.text.contains("237"),
            "{}",
            refused.text
        );
    }
    let dry = post_priced(&stack, "?validate=1", &[], &three, told).await;
    assert_eq!(dry.error(), price_changed(), "as the send would be");
    for other in [0, 157, 159, 9_007_199_254_740_991_i64] {
        assert_eq!(
            send_priced(&stack, &three, json!(other)).await.error(),
            price_changed()
        );
    }
    assert_eq!(balance(&stack).await, before);
    assert_eq!(
        stack.query_count(rows).await,
        received,
        "nobody was received"
    );
    assert_eq!(
        stack.query_count("SELECT count(*) FROM mailpieces").await,
        1
    );
    assert_eq!(
        stack
            .query_count("SELECT committed_cents FROM campaigns")
            .await,
        79
    );
    let sent = send_priced(&stack, &three, json!(158)).await;
    assert_eq!(sent.reasons(), ["mailed", "mailed", "duplicate_recent"]);
    assert_eq!(balance(&stack).await, before - 158);
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_send_that_mails_nobody_costs_nothing_and_may_be_expected_to() {
    let stack = TestStack::start().await;
    stack.save_campaign(json!({})).await;
    let nowhere = [json!({"reference": "nowhere"})];
    assert_eq!(
        send_priced(&stack, &nowhere, json!(79)).await.error(),
        price_changed()
    );
    let sent = send_priced(&stack, &nowhere, json!(0)).await;
    assert_eq!(sent.reasons(), ["invalid_address"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_gets_the_stored_response_whatever_it_expects() {
    let stack = start().await;
    stack.save_campaign(json!({})).await;
    let two = build_recipients(1..3);
    let first = send_priced(&stack, &two, json!(158)).await;
    assert_eq!(first.reasons(), ["mailed"; 2]);
    for expected in [json!("none"), json!(158), json!(7)] {
        let again = send_priced(&stack, &two, expected).await;
        assert_eq!((is_replayed(&again), &again.text), (true, &first.text));
    }
    // With a key as well, and one that was refused is not used up.
    let keyed = async |expected: i64| {
        let headers = [("idempotency-key", "order 7")];
        post_priced(
            &stack,
            "",
            &headers,
            &build_recipients(5..6),
            json!(expected),
        )
        .await
    };
    assert_eq!(keyed(78).await.error(), price_changed());
    let mailed = keyed(79).await;
    assert_eq!(mailed.reasons(), ["mailed"]);
    let again = keyed(78).await;
    assert_eq!((is_replayed(&again), &again.text), (true, &mailed.text));
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_sum_is_422_and_null_is_none() {
    let stack = TestStack::start().await;
    stack.save_campaign(json!({})).await;
    let one = build_recipients(1..2);
    for wrong in [
        json!("79"),
        json!(0.79),
        json!(-1),
        json!(true),
        json!([79]),
        json!(u64::MAX),
    ] {
        let refused = send_priced(&stack, &one, wrong.clone()).await;
        assert_eq!(
            refused.error(),
            (422, "invalid_payload".to_owned()),
            "{wrong}"
        );
        assert!(refused.text.contains("expect_total"), "{}", refused.text);
    }
    assert_eq!(
        send_priced(&stack, &one, Value::Null).await.reasons(),
        ["mailed"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_sends_at_once_only_what_still_costs_what_was_told_is_mailed() {
    let stack = TestStack::start().await;
    // Room for three cards.
    stack.save_campaign(json!({"budget": "$2.40"})).await;
    let (one, other) = (build_recipients(1..3), build_recipients(11..13));
    for recipients in [&one, &other] {
        assert_eq!(price_of(&stack, recipients).await["totalCents"], 158);
    }
    let answers = tokio::join!(
        send_priced(&stack, &one, json!(158)),
        send_priced(&stack, &other, json!(158))
    );
    let mut statuses = [answers.0.status.as_u16(), answers.1.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(
        statuses,
        [200, 409],
        "one card of the second would not have fitted"
    );
    assert_eq!(
        stack.query_count("SELECT count(*) FROM mailpieces").await,
        2
    );
    stack.assert_consistent().await;
}
