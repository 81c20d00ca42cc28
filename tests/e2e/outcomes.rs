//! Reasons a recipient was not mailed, and the order in which they are decided.

use chrono::TimeDelta;
use pillarbox_tests::{ADDRESS, TestStack, build_recipient, build_recipients};
use serde_json::{Value, json};
use store::Actor;

/// A square around the centre of Austin.
fn austin() -> Value {
    json!({"type": "Polygon", "coordinates": [[[-98.2, 30.0], [-97.4, 30.0], [-97.4, 30.7], [-98.2, 30.7], [-98.2, 30.0]]]})
}

fn somewhere_else(number: usize) -> Value {
    let mut person = build_recipient(number);
    person["city"] = "Beverly Hills".into();
    person["state"] = "CA".into();
    person["zip"] = "90210".into();
    person
}

fn with(mut person: Value, name: &str, value: &str) -> Value {
    person[name] = value.into();
    person
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_address_also_when_a_required_part_is_missing_and_the_rest_still_runs() {
    let stack = TestStack::start().await;
    let mut recipients = vec![build_recipient(1)];
    for name in ["address_1", "city", "state", "zip"] {
        recipients.push(with(build_recipient(2), name, " "));
    }
    recipients.push(with(build_recipient(3), "zip", "00000"));
    recipients.push(with(build_recipient(4), "state", "CA"));
    recipients.push(build_recipient(5));
    let answer = stack.send_recipients(&recipients).await;
    let invalid = "invalid_address";
    assert_eq!(
        answer.reasons(),
        [
            "mailed", invalid, invalid, invalid, invalid, invalid, invalid, "mailed"
        ]
    );
    assert_eq!(
        answer.json()["summary"],
        json!({"received": 8, "mailed": 2, "notMailed": 6})
    );
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn do_not_mail() {
    let stack = TestStack::start().await;
    stack.save_campaign(json!({"do_not_mail": [ADDRESS]})).await;
    // The list compares the verified form: another spelling is the same address.
    let shouted = with(build_recipient(1), "address_1", "1 MAIN STREET");
    assert_eq!(
        stack
            .send_recipients(&[shouted, build_recipient(2)])
            .await
            .reasons(),
        ["do_not_mail", "mailed"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn duplicate_recent_across_requests_and_within_one() {
    let stack = TestStack::start().await;
    let copy = with(
        with(build_recipient(1), "address_1", "1 main street."),
        "first_name",
        "Kim",
    );
    assert_eq!(
        stack
            .send_recipients(&[build_recipient(1), copy.clone()])
            .await
            .reasons(),
        ["mailed", "duplicate_recent"]
    );
    assert_eq!(
        stack
            .send_recipients(&[copy, build_recipient(2)])
            .await
            .reasons(),
        ["duplicate_recent", "mailed"]
    );
    // Two units are two addresses.
    let unit = |number: &str| with(build_recipient(3), "address_2", number);
    assert_eq!(
        stack
            .send_recipients(&[unit("Apt 1"), unit("Apt 2")])
            .await
            .reasons(),
        ["mailed", "mailed"]
    );
    assert_eq!(
        stack.query_count("SELECT count(*) FROM mailpieces").await,
        4
    );
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn filtered_location() {
    let stack = TestStack::start().await;
    stack.save_campaign(json!({"area": austin()})).await;
    assert_eq!(
        stack
            .send_recipients(&[build_recipient(1), somewhere_else(2)])
            .await
            .reasons(),
        ["mailed", "filtered_location"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn filtered_conditions_over_custom_and_built_in_columns() {
    let stack = TestStack::start().await;
    let conditions = json!({"all": [
        {"column": "score", "operator": "greater", "value": 10},
        {"column": "state", "operator": "is", "value": "tx"},
    ]});
    stack
        .apply_team(
            json!({"teams": [{"name": "Test", "columns": [{"name": "Score", "type": "number"}]}]}),
        )
        .await;
    stack.save_campaign(json!({"conditions": conditions})).await;
    let high = with(build_recipient(1), "score", "1,100");
    let low = with(build_recipient(2), "SCORE", "9");
    assert_eq!(
        stack
            .send_recipients(&[high, low, build_recipient(3), somewhere_else(4)])
            .await
            .reasons(),
        [
            "mailed",
            "filtered_conditions",
            "filtered_conditions",
            "filtered_conditions"
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn conditions_also_see_values_that_were_stored_before() {
    let stack = TestStack::start().await;
    stack
        .apply_team(
            json!({"teams": [{"name": "Test", "columns": [{"name": "Score", "type": "number"}]}]}),
        )
        .await;
    stack
        .save_campaign(
            json!({"conditions": {"column": "score", "operator": "greater", "value": 10}}),
        )
        .await;
    stack
        .save_campaign(json!({"id": "PA-FIRST1", "name": "First"}))
        .await;
    let first = stack
        .send_recipients_to("PA-FIRST1", &[with(build_recipient(1), "score", "50")])
        .await;
    assert_eq!(first.reasons(), ["mailed"]);
    assert_eq!(
        stack.send_recipients(&[build_recipient(1)]).await.reasons(),
        ["mailed"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn removed_by_sender() {
    let stack = TestStack::start().await;
    assert_eq!(
        stack
            .send_recipients(&build_recipients(1..3))
            .await
            .reasons(),
        ["mailed", "mailed"]
    );
    let team = stack.store.find_team_by_name("Test").await.unwrap().team_id;
    let id: uuid::Uuid = stack
        .sql
        .query_one(
            "SELECT address_id FROM recipients WHERE reference = 'r1'",
            &[],
        )
        .await
        .unwrap()
        .get(0);
    let campaign = pillarbox_tests::CAMPAIGN.parse().unwrap();
    let removed = (&campaign, id);
    campaigns::remove_recipients_at(&stack.store, Actor::Operator, team, removed, stack.now())
        .await
        .unwrap();
    assert_eq!(
        stack
            .send_recipients(&build_recipients([1, 3]))
            .await
            .reasons(),
        ["removed_by_sender", "mailed"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn budget_exceeded_from_the_first_that_does_not_fit() {
    let stack = TestStack::start().await;
    stack.save_campaign(json!({"budget": "$2.00"})).await;
    let reasons = stack
        .send_recipients(&build_recipients(1..5))
        .await
        .reasons();
    assert_eq!(
        reasons,
        ["mailed", "mailed", "budget_exceeded", "budget_exceeded"]
    );
    assert_eq!(
        stack
            .query_count("SELECT committed_cents FROM campaigns")
            .await,
        158
    );
    // More budget, and they go.
    stack.save_campaign(json!({"budget": "$3.16"})).await;
    let reasons = stack
        .send_recipients(&build_recipients(1..6))
        .await
        .reasons();
    assert_eq!(
        reasons,
        [
            "duplicate_recent",
            "duplicate_recent",
            "mailed",
            "mailed",
            "budget_exceeded"
        ]
    );
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn payment_failed_when_the_balance_does_not_cover_the_whole_request() {
    let stack = TestStack::start().await;
    let poor = json!({"teams": [{"name": "Poor", "keys": [
            {"kind": "full_access", "name": "k", "key": "pk_live_PoorPoorPoorPoorPoor1"}],
        "designs": [{"name": "Card", "document": {
            "product": "postcard_4x6", "front": {"elements": []}, "back": {"elements": []}}}],
        "campaigns": [{"id": "PA-POOR01", "name": "Poor", "budget": "$2.40",
            "steps": [{"design": "Card", "postage": "standard"}]}],
        "top_up": {"amount": "$1.60", "reference": "first"}}]});
    stack.apply_team(poor).await;
    let key = [("x-api-key", "pk_live_PoorPoorPoorPoorPoor1")];
    let send = async |recipients: Vec<Value>| {
        let body = json!({"campaign_id": "PA-POOR01", "recipients": recipients});
        stack.post_send_with(&key, body.to_string()).await
    };
    let copy = with(build_recipient(1), "first_name", "Kim");
    let answer = send(vec![
        build_recipient(1),
        copy,
        build_recipient(2),
        build_recipient(3),
        build_recipient(4),
        with(build_recipient(5), "zip", ""),
    ])
    .await;
    let failed = "payment_failed";
    assert_eq!(
        answer.reasons(),
        [
            failed,
            failed,
            failed,
            failed,
            "budget_exceeded",
            "invalid_address"
        ]
    );
    assert_eq!(
        answer.json()["summary"],
        json!({"received": 6, "mailed": 0, "notMailed": 6})
    );
    assert_eq!(
        stack.query_count("SELECT count(*) FROM mailpieces").await,
        0
    );
    assert_eq!(
        stack
            .query_count("SELECT committed_cents FROM campaigns WHERE campaign_id = 'PA-POOR01'")
            .await,
        0
    );
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM recipients WHERE reason = 'payment_failed'")
            .await,
        4
    );
    stack.assert_consistent().await;
    // What the balance covers is mailed, and nothing of the declined request stands in its way.
    assert_eq!(
        send(build_recipients(1..3)).await.reasons(),
        ["mailed", "mailed"]
    );
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recipient_stays_mailed_when_a_later_payment_fails() {
    let stack = TestStack::start().await;
    assert_eq!(
        stack
            .send_recipients(&build_recipients(1..3))
            .await
            .reasons(),
        ["mailed", "mailed"]
    );
    stack.clock.advance(TimeDelta::days(31));
    let drain = "UPDATE ledger_accounts SET balance_cents = 10 WHERE account = 'prepaid'";
    stack.sql.execute(drain, &[]).await.unwrap();
    assert_eq!(
        stack
            .send_recipients(&build_recipients(2..4))
            .await
            .reasons(),
        ["payment_failed", "payment_failed"]
    );
    let outcome = async |reference: &str| {
        let sql = "SELECT coalesce(recipient.reason, recipient.status), charge.state
             FROM recipients recipient LEFT JOIN charges charge USING (team_id, charge_id) WHERE reference = $1";
        let row = stack.sql.query_one(sql, &[&reference]).await.unwrap();
        (row.get::<_, String>(0), row.get::<_, Option<String>>(1))
    };
    let mailed = ("mailed".to_owned(), Some("settled".to_owned()));
    assert_eq!(outcome("r1").await, mailed);
    assert_eq!(outcome("r2").await, mailed, "its first card is on its way");
    assert_eq!(outcome("r3").await, ("payment_failed".to_owned(), None));
}

#[tokio::test(flavor = "multi_thread")]
async fn outcomes_are_decided_in_the_documented_order() {
    let stack = TestStack::start().await;
    assert_eq!(
        stack
            .send_recipients(&build_recipients(1..3))
            .await
            .reasons(),
        ["mailed", "mailed"]
    );
    let conditions = json!({"column": "last_name", "operator": "is", "value": "Nobody"});
    stack
        .save_campaign(
            json!({"area": austin(), "conditions": conditions, "budget": "$0.01", "do_not_mail": [ADDRESS]}),
        )
        .await;
    let mut elsewhere = somewhere_else(9);
    elsewhere["last_name"] = "Nobody".into();
    let answer = stack
        .send_recipients(&[
            build_recipient(1),
            build_recipient(2),
            somewhere_else(7),
            build_recipient(8),
            elsewhere,
        ])
        .await;
    assert_eq!(
        answer.reasons(),
        [
            "do_not_mail",
            "duplicate_recent",
            "filtered_location",
            "filtered_conditions",
            "filtered_location"
        ]
    );
}
