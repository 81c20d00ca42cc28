//! `Idempotency-Key` on POST /api/v1/recipients.

use std::sync::Arc;

use chrono::TimeDelta;
use pillarbox_tests::{
    CAMPAIGN, GatedVerifier, KEY, StackOptions, TestStack, build_recipients, wait_until,
};
use serde_json::{Value, json};

use super::{
    OTHERS_CAMPAIGN, OTHERS_KEY, another_team, honour_keys, is_replayed, send_with_key, start,
};

#[tokio::test(flavor = "multi_thread")]
async fn the_same_key_and_body_is_answered_once_however_late_and_whatever_became_of_the_campaign() {
    let stack = start().await;
    let first = send_with_key(&stack, "order 7", &build_recipients(1..4)).await;
    assert_eq!(first.reasons(), ["mailed"; 3]);
    assert!(!is_replayed(&first));
    stack.clock.advance(TimeDelta::days(6));
    stack.save_campaign(json!({"status": "paused"})).await;
    let again = send_with_key(&stack, "order 7", &build_recipients(1..4)).await;
    assert_eq!((again.status.as_u16(), &again.text), (200, &first.text));
    assert!(is_replayed(&again));
    stack.save_campaign(json!({})).await;
    let unkeyed = stack.send_recipients(&build_recipients(1..4)).await;
    assert_eq!(
        unkeyed.reasons(),
        ["duplicate_recent"; 3],
        "without the key it is a new request"
    );
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_key_is_read_for_a_team_that_has_not_switched_keys_on() {
    let stack = TestStack::start().await;
    let key = "k".repeat(201);
    for key in ["k", &key] {
        let number = key.len();
        assert_eq!(
            send_with_key(&stack, key, &build_recipients(number..number + 1))
                .await
                .reasons(),
            ["mailed"]
        );
        let other = send_with_key(&stack, key, &build_recipients(number + 5..number + 6)).await;
        assert_eq!(
            other.reasons(),
            ["mailed"],
            "another body with the key is another request"
        );
        assert!(!is_replayed(&other));
    }
    assert_eq!(stack.query_count("SELECT count(*) FROM send_keys").await, 0);
    stack.clock.advance(TimeDelta::hours(1));
    assert_eq!(
        send_with_key(&stack, "k", &build_recipients(1..2))
            .await
            .reasons(),
        ["duplicate_recent"]
    );
    honour_keys(&stack).await;
    let first = send_with_key(&stack, "k", &build_recipients(300..301)).await;
    stack.clock.advance(TimeDelta::hours(1));
    // A file that does not speak of keys leaves the switch as it stands.
    stack.apply_team(json!({"teams": [{"name": "Test"}]})).await;
    assert_eq!(
        send_with_key(&stack, "k", &build_recipients(300..301))
            .await
            .text,
        first.text
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_key_with_another_body_is_idempotency_key_reused() {
    let stack = start().await;
    send_with_key(&stack, "k", &build_recipients(1..3)).await;
    let mut changed = build_recipients(1..3);
    changed[0]["first_name"] = "Other".into();
    for recipients in [build_recipients(5..7), changed] {
        let refused = send_with_key(&stack, "k", &recipients).await;
        assert_eq!(refused.error(), (409, "idempotency_key_reused".to_owned()));
    }
    assert_eq!(
        stack.query_count("SELECT count(*) FROM mailpieces").await,
        2
    );
    // Spaces between the parts and another API key are no other body.
    let recipients = Value::from(build_recipients(1..3)).to_string();
    let body =
        format!(r#"{{ "api_key": "x", "recipients":{recipients} , "campaign_id": "{CAMPAIGN}" }}"#);
    let again = stack
        .post_send_with(&[("x-api-key", KEY), ("idempotency-key", "k")], body)
        .await;
    assert!(again.status == 200 && is_replayed(&again), "{}", again.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn in_progress_while_the_first_attempt_runs_and_another_key_waits_for_its_answer() {
    let gate = Arc::new(GatedVerifier::default());
    let verifier: Arc<dyn verification::AddressVerifier> = gate.clone();
    let stack = TestStack::with_options(StackOptions {
        verifier: Some(verifier),
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    honour_keys(&stack).await;
    let recipients = build_recipients(1..4);
    let (first, other, ()) = tokio::join!(
        send_with_key(&stack, "first", &recipients),
        async {
            wait_until("the send has begun", async || {
                stack.query_count("SELECT count(*) FROM sends").await == 1
            })
            .await;
            send_with_key(&stack, "other", &recipients).await
        },
        async {
            wait_until("the send has begun", async || {
                stack.query_count("SELECT count(*) FROM sends").await == 1
            })
            .await;
            let refused = send_with_key(&stack, "first", &recipients).await;
            assert_eq!(refused.error(), (409, "in_progress".to_owned()));
            gate.open();
        },
    );
    assert_eq!(first.reasons(), ["mailed"; 3]);
    assert_eq!(other.text, first.text);
    assert!(is_replayed(&other) && !is_replayed(&first));
    stack.clock.advance(TimeDelta::hours(1));
    for key in ["first", "other"] {
        assert_eq!(
            send_with_key(&stack, key, &recipients).await.text,
            first.text,
            "{key}"
        );
    }
    assert_eq!(gate.count_requests(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_key_within_15_minutes_stands_for_the_stored_response_from_then_on() {
    let stack = start().await;
    let first = stack.send_recipients(&build_recipients(1..4)).await;
    let keyed = send_with_key(&stack, "k", &build_recipients(1..4)).await;
    assert_eq!(keyed.text, first.text);
    assert!(is_replayed(&keyed));
    stack.clock.advance(TimeDelta::hours(1));
    assert_eq!(
        send_with_key(&stack, "k", &build_recipients(1..4))
            .await
            .text,
        first.text
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_mailed_nobody_is_kept_under_its_key_too() {
    let stack = start().await;
    stack.save_campaign(json!({"budget": "$0.10"})).await;
    let first = send_with_key(&stack, "k", &build_recipients(1..3)).await;
    assert_eq!(first.reasons(), ["budget_exceeded"; 2]);
    stack.save_campaign(json!({"budget": "$10.00"})).await;
    let again = send_with_key(&stack, "k", &build_recipients(1..3)).await;
    assert_eq!(again.text, first.text);
    assert_eq!(
        send_with_key(&stack, "new", &build_recipients(1..3))
            .await
            .reasons(),
        ["mailed"; 2]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_request_does_not_consume_its_key() {
    let stack = start().await;
    stack.save_campaign(json!({"status": "paused"})).await;
    let refused = send_with_key(&stack, "k", &build_recipients(1..3)).await;
    assert_eq!(refused.error(), (409, "campaign_not_active".to_owned()));
    stack.save_campaign(json!({})).await;
    assert_eq!(
        send_with_key(&stack, "k", &build_recipients(5..7))
            .await
            .reasons(),
        ["mailed"; 2]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_whose_send_is_gone_is_free() {
    let stack = start().await;
    send_with_key(&stack, "k", &build_recipients(1..3)).await;
    stack.sql.execute("DELETE FROM sends", &[]).await.unwrap();
    assert_eq!(
        send_with_key(&stack, "k", &build_recipients(5..7))
            .await
            .reasons(),
        ["mailed"; 2]
    );
    assert!(is_replayed(
        &send_with_key(&stack, "k", &build_recipients(5..7)).await
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_belongs_to_its_team() {
    let stack = start().await;
    another_team(&stack).await;
    send_with_key(&stack, "k", &build_recipients(1..3)).await;
    let body =
        json!({"campaign_id": OTHERS_CAMPAIGN, "recipients": build_recipients(1..3)}).to_string();
    let others = stack
        .post_send_with(&[("x-api-key", OTHERS_KEY), ("idempotency-key", "k")], body)
        .await;
    assert_eq!(others.reasons(), ["mailed"; 2]);
    assert!(!is_replayed(&others));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_key_is_none_and_one_over_200_characters_is_invalid() {
    let stack = start().await;
    assert_eq!(
        send_with_key(&stack, "", &build_recipients(1..2))
            .await
            .reasons(),
        ["mailed"]
    );
    assert_eq!(
        send_with_key(&stack, "", &build_recipients(2..3))
            .await
            .reasons(),
        ["mailed"]
    );
    assert_eq!(
        send_with_key(&stack, &"k".repeat(200), &build_recipients(3..4))
            .await
            .reasons(),
        ["mailed"]
    );
    let refused = send_with_key(&stack, &"k".repeat(201), &build_recipients(4..5)).await;
    assert_eq!(refused.error(), (422, "invalid_idempotency_key".to_owned()));
    assert_eq!(stack.query_count("SELECT count(*) FROM send_keys").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_requests_with_one_key_at_a_time_one_is_done() {
    let stack = TestStack::with_options(StackOptions {
        mailers: 2,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    honour_keys(&stack).await;
    for round in 0..10_usize {
        let key = format!("round {round}");
        let sends = (0..6_usize).map(|number| {
            // Three of one body and three of another.
            let first = 1 + round * 10 + number % 2 * 5;
            let (stack, key) = (&stack, &key);
            async move { send_with_key(stack, key, &build_recipients(first..first + 2)).await }
        });
        let answers = futures_util::future::join_all(sends).await;
        let done = answers.iter().filter(|answer| answer.status == 200);
        let mut texts: Vec<_> = done.map(|answer| answer.text.clone()).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), 1, "one answer, however often it is given");
        for answer in answers.iter().filter(|answer| answer.status != 200) {
            let (status, code) = answer.error();
            assert_eq!(status, 409);
            assert!(
                ["in_progress", "idempotency_key_reused"].contains(&code.as_str()),
                "{code}"
            );
        }
        let mailed = i64::try_from(2 * (round + 1)).unwrap();
        assert_eq!(
            stack.query_count("SELECT count(*) FROM mailpieces").await,
            mailed
        );
    }
    stack.assert_consistent().await;
}
