//! Rate limits: per key, per source, across gateways, and the local shield.

use chrono::TimeDelta;
use pillarbox_tests::{ApiResponse, CAMPAIGN, KEY, StackOptions, TestStack, build_recipient};
use serde_json::json;

async fn limited(per_key: i32, per_source: i32) -> TestStack {
    let settings = vec![
        ("GATEWAY__REQUESTS_PER_MINUTE_PER_KEY", per_key.to_string()),
        (
            "GATEWAY__REQUESTS_PER_MINUTE_PER_SOURCE",
            per_source.to_string(),
        ),
        ("GATEWAY__TRUSTED_PROXIES", "127.0.0.0/8".to_owned()),
    ];
    let stack = TestStack::with_options(StackOptions {
        settings,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    // What starting the stack took is of the past, and the tests do not run across a minute's end.
    let second = stack.now().timestamp() % 60;
    stack.clock.advance(TimeDelta::seconds(60 - second));
    stack
}

async fn from(stack: &TestStack, source: &str, key: &str) -> (u16, String) {
    let body = json!({"campaign_id": CAMPAIGN, "recipients": [build_recipient(1)]}).to_string();
    let answer = stack
        .post_send_with(&[("x-forwarded-for", source), ("x-api-key", key)], body)
        .await;
    if answer.status == 429 {
        assert_eq!(answer.headers["retry-after"], "60");
        return answer.error();
    }
    (answer.status.as_u16(), String::new())
}

/// Limit and remaining requests as an answer tells them; the reset is within the minute.
fn told(answer: &ApiResponse) -> (i64, i64) {
    let number = |name: &str| -> i64 { answer.headers[name].to_str().unwrap().parse().unwrap() };
    let reset = number("ratelimit-reset");
    assert!((1..=60).contains(&reset), "{reset}");
    (number("ratelimit-limit"), number("ratelimit-remaining"))
}

fn ok() -> (u16, String) {
    (200, String::new())
}

fn rate_limited() -> (u16, String) {
    (429, "rate_limited".to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn rate_limited_past_the_requests_per_minute_of_a_key_whatever_its_sources() {
    let stack = limited(3, 100).await;
    for number in 1..=3 {
        assert_eq!(
            from(&stack, &format!("198.51.100.{number}"), KEY).await,
            ok()
        );
    }
    assert_eq!(from(&stack, "198.51.100.4", KEY).await, rate_limited());
    // A wrong key is a wrong key, and the next minute is another one.
    assert_eq!(from(&stack, "198.51.100.4", "pk_live_wrong").await.0, 401);
    stack.clock.advance(TimeDelta::minutes(1));
    assert_eq!(from(&stack, "198.51.100.4", KEY).await, ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_revoked_is_no_key_also_when_its_minute_is_used_up() {
    let stack = limited(2, 100).await;
    let sources: Vec<String> = (1..=5)
        .map(|number| format!("198.51.100.{number}"))
        .collect();
    for (source, expected) in sources
        .iter()
        .zip([ok(), ok(), rate_limited(), rate_limited()])
    {
        assert_eq!(from(&stack, source, KEY).await, expected);
    }
    stack
        .sql
        .execute("UPDATE api_keys SET revoked_at = now()", &[])
        .await
        .unwrap();
    assert_eq!(from(&stack, &sources[4], KEY).await.0, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn rate_limited_past_the_requests_per_minute_of_a_source_before_its_key_is_looked_at() {
    let stack = limited(100, 3).await;
    for _ in 0..3 {
        assert_eq!(from(&stack, "198.51.100.1", "pk_live_wrong").await.0, 401);
    }
    assert_eq!(
        from(&stack, "198.51.100.1", "pk_live_wrong").await,
        rate_limited()
    );
    assert_eq!(from(&stack, "198.51.100.1", KEY).await, rate_limited());
    assert_eq!(from(&stack, "198.51.100.2", KEY).await, ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_refused_requests_does_not_reach_the_database() {
    let stack = limited(100, 2).await;
    for _ in 0..50 {
        from(&stack, "198.51.100.1", KEY).await;
    }
    // Two were let in, the third was refused by the database, the others by the gateway alone.
    assert_eq!(stack.query_count("SELECT max(requests)::bigint FROM rate_windows WHERE window_start > now() - interval '5 minutes' AND octet_length(subject) < 20").await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_hold_across_gateways_that_share_a_database() {
    let mut stack = limited(4, 100).await;
    let second = stack.start_second_gateway().await;
    // Finding the second gateway ready was of the minute before.
    stack.clock.advance(TimeDelta::minutes(1));
    let mut statuses = Vec::new();
    for number in 0..6 {
        let url = if number % 2 == 0 { &stack.url } else { &second };
        let body = json!({"campaign_id": CAMPAIGN, "recipients": [build_recipient(1)]}).to_string();
        statuses.push(
            stack
                .post_send_to(url, &[("x-api-key", KEY)], body)
                .await
                .status
                .as_u16(),
        );
    }
    assert_eq!(statuses, [200, 200, 200, 200, 429, 429]);
}

#[tokio::test(flavor = "multi_thread")]
async fn forwarded_for_is_believed_only_from_a_trusted_proxy() {
    let settings = vec![("GATEWAY__REQUESTS_PER_MINUTE_PER_SOURCE", "3".to_owned())];
    let stack = TestStack::with_options(StackOptions {
        settings,
        mailers: 0,
        ..StackOptions::default()
    })
    .await;
    let mut statuses = Vec::new();
    for number in 0..8 {
        statuses.push(
            from(&stack, &format!("198.51.100.{number}"), "pk_live_wrong")
                .await
                .0,
        );
    }
    // All of them came from one source, whatever they say; a minute may have begun in between.
    assert!(statuses.contains(&429), "{statuses:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_tells_what_is_left_of_the_window_that_ends_first() {
    let stack = limited(4, 6).await;
    let sent = async |source: &str, key: &str, recipients: serde_json::Value| {
        let body = json!({"campaign_id": CAMPAIGN, "recipients": recipients}).to_string();
        let headers = [("x-forwarded-for", source), ("x-api-key", key)];
        let answer = stack.post_send_with(&headers, body).await;
        (answer.status.as_u16(), told(&answer))
    };
    let (one, other) = ("198.51.100.1", "198.51.100.2");
    let recipient = || json!([build_recipient(1)]);
    assert_eq!(sent(one, KEY, recipient()).await, (200, (4, 3)));
    // What is refused counts, and is told so.
    assert_eq!(sent(one, KEY, json!([])).await, (422, (4, 2)));
    // A wrong key has no window: its source has.
    for left in (2..4).rev() {
        assert_eq!(
            sent(one, "pk_live_wrong", recipient()).await,
            (401, (6, left))
        );
    }
    assert_eq!(
        sent(one, KEY, recipient()).await,
        (200, (6, 1)),
        "of equal ones the source's"
    );
    assert_eq!(sent(other, KEY, recipient()).await, (200, (4, 0)));
    for _ in 0..2 {
        assert_eq!(sent(other, KEY, recipient()).await, (429, (4, 0)));
    }
    // The last that its source lets in, one that it refuses, and one that the gateway refuses alone.
    for _ in 0..3 {
        assert_eq!(sent(one, KEY, recipient()).await, (429, (6, 0)));
    }
    stack.clock.advance(TimeDelta::minutes(1));
    assert_eq!(sent(one, KEY, recipient()).await, (200, (4, 3)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_another_kind_is_told_no_more_than_a_wrong_one() {
    let stack = limited(2, 100).await;
    let formulas = "pk_fx_TestTestTestTestTestTest";
    let keys = json!([{"kind": "formulas", "name": "Formulas", "key": formulas}]);
    stack
        .apply_team(json!({"teams": [{"name": "Test", "keys": keys}]}))
        .await;
    for (number, key) in [formulas, "pk_live_wrong"].into_iter().enumerate() {
        for left in [99, 98, 97] {
            let source = format!("198.51.100.{number}");
            let body = json!({"campaign_id": CAMPAIGN, "recipients": []}).to_string();
            let headers = [("x-forwarded-for", &source[..]), ("x-api-key", key)];
            let answer = stack.post_send_with(&headers, body).await;
            assert_eq!(
                (answer.status.as_u16(), told(&answer)),
                (401, (100, left)),
                "{key}"
            );
        }
    }
}
