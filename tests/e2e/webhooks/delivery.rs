//! What is sent, and what counts as delivered: the contract's Events and Delivery rules 1 and 2.

use std::time::Duration;

use chrono::{DateTime, TimeDelta};
use pillarbox_tests::{CAMPAIGN, EndpointReaction, WebhookSink, build_recipients, wait_until};
use serde_json::{Value, json};

use super::{World, failing};

#[tokio::test(flavor = "multi_thread")]
async fn the_body_and_the_headers_are_those_of_the_contract() {
    let world = World::start().await;
    world
        .stack
        .sql
        .execute("UPDATE address_entries SET email = 'pat@example.com'", &[])
        .await
        .unwrap();
    let before = world.stack.now();
    world.scan().await;
    let got = world.until_received(1).await.remove(0);
    let mut body = got.json();
    let text = String::from_utf8(got.body.to_vec()).unwrap();
    let (id, scanned_at) = (got.id(), body["scanned_at"].take());
    assert!(
        id.starts_with("evt_") && !id.starts_with("evt_test_"),
        "{id}"
    );
    let scanned_at: DateTime<chrono::Utc> = scanned_at.as_str().unwrap().parse().unwrap();
    assert!((scanned_at - before).num_seconds().abs() < 60);
    assert_eq!(
        body,
        json!({
            "event": "qr.scanned",
            "id": id,
            "scanned_at": null,
            "campaign": {"id": CAMPAIGN, "name": "Test"},
            "recipient": {"first_name": "Pat", "last_name": "Reader1", "email": "pat@example.com", "phone": null,
                "address_1": "1 Main St", "address_2": null, "city": "Austin", "state": "TX", "zip": "78701"},
            "location": {"city": null, "region": null, "latitude": null, "longitude": null},
            "destination": "https://example.com/?name=Pat",
        })
    );
    assert!(
        text.starts_with(r#"{"event":"qr.scanned","id":"evt_"#),
        "{text}"
    );
    let header = |name: &str| got.headers[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "application/json");
    let timestamp: i64 = header("webhook-timestamp").parse().unwrap();
    assert!((timestamp - before.timestamp()).abs() < 60);
    assert!(
        !got.headers.contains_key("webhook-signature"),
        "off by default"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn any_2xx_counts_as_delivered_and_anything_else_as_failed() {
    let world = World::start().await;
    let other = WebhookSink::start().await;
    let answer = |status| EndpointReaction::Answer(status, String::new());
    let redirect = EndpointReaction::Redirect(other.url.clone());
    world
        .sink
        .script_next([answer(200), answer(204), answer(299)]);
    for _ in 0..3 {
        world.scan().await;
    }
    world
        .until_states(&["delivered", "delivered", "delivered"])
        .await;
    world.sink.script_next([redirect, answer(404), answer(500)]);
    for _ in 0..3 {
        world.scan().await;
    }
    world.until_attempts(6).await;
    world
        .until_states(&[
            "delivered",
            "delivered",
            "delivered",
            "waiting",
            "waiting",
            "waiting",
        ])
        .await;
    assert_eq!(world.state().await.failures_in_row, 3);
    assert_eq!(other.count_received(), 0, "redirects are not followed");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_answer_within_the_time_limit_is_a_failed_delivery() {
    let world = World::with(vec![("DISPATCHER__TIMEOUT_MS", "200".to_owned())]).await;
    world
        .sink
        .set_default(Some(EndpointReaction::Hang(Duration::from_secs(60))));
    world.scan().await;
    world.until_attempts(1).await;
    let delivery = world.deliveries().await.remove(0);
    assert_eq!(
        delivery.attempts[0]["error"],
        "no answer within 0.2 seconds"
    );
    assert_eq!(
        (delivery.state.as_str(), &delivery.attempts[0]["status"]),
        ("waiting", &Value::Null)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_delivery_retries_at_5_minutes_15_minutes_1_hour_and_6_hours_with_the_same_webhook_id()
 {
    let world = World::start().await;
    world.sink.set_default(failing());
    world.scan().await;
    world.until_attempts(1).await;
    for (attempts, minutes) in [(2, 5), (3, 15), (4, 60), (5, 360)] {
        // A tenth of jitter at the most: just before the pause nothing is due, after it all is.
        world
            .stack
            .clock
            .advance(TimeDelta::minutes(minutes) - TimeDelta::seconds(20));
        let due = world
            .stack
            .store
            .list_waiting_lanes(None, world.stack.now(), 10)
            .await
            .unwrap();
        assert!(!due[0].is_due, "before {minutes} minutes");
        world
            .stack
            .clock
            .advance(TimeDelta::minutes(minutes) / 10 + TimeDelta::seconds(21));
        world.until_attempts(attempts).await;
    }
    world.until_states(&["failed"]).await;
    let received = world.until_received(5).await;
    assert!(
        received
            .iter()
            .all(|got| got.id() == received[0].id() && got.body == received[0].body)
    );
    let times: Vec<&str> = received
        .iter()
        .map(|got| got.headers["webhook-timestamp"].to_str().unwrap())
        .collect();
    assert!(
        times.is_sorted() && times[0] != times[4],
        "each attempt has its own time: {times:?}"
    );
    assert_eq!(
        world.deliveries().await[0]
            .attempts
            .as_array()
            .unwrap()
            .len(),
        5
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_that_succeeds_ends_the_delivery_and_the_failures_in_a_row() {
    let world = World::start().await;
    world.sink.script_next(failing());
    world.scan().await;
    world.until_attempts(1).await;
    assert_eq!(world.state().await.failures_in_row, 1);
    world.stack.clock.advance(TimeDelta::minutes(6));
    world.until_states(&["delivered"]).await;
    assert_eq!(world.state().await.failures_in_row, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_25_deliveries_keep_request_status_duration_error_and_the_first_2_kb_of_the_answer()
 {
    let world = World::start().await;
    world.sink.script_next([EndpointReaction::Answer(
        503,
        format!("<script>\0{}", "x".repeat(5_000)),
    )]);
    for number in 1..=30 {
        world.scan().await;
        world.until_attempts(number).await;
        if number == 1 {
            let first = world.deliveries().await.remove(0);
            let attempt = &first.attempts[0];
            let answer = attempt["answer"].as_str().unwrap();
            assert!(
                answer.starts_with("<script>\u{fffd}xxx") && answer.len() < 2_048 + 3,
                "{}",
                answer.len()
            );
            assert_eq!(
                (&attempt["status"], &attempt["error"]),
                (&503.into(), &"answered with 503".into())
            );
            assert_eq!(attempt["url"], world.sink.url.as_str());
            assert!(attempt["duration_ms"].is_u64() && first.body.contains("qr.scanned"));
        }
    }
    assert_eq!(world.deliveries().await.len(), 25);
    wait_until("older ones are forgotten", async || {
        world
            .stack
            .query_count("SELECT count(*) FROM attempts")
            .await
            == 25
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_events_are_emitted_by_the_dynamic_audience_api() {
    let world = World::start().await;
    world.stack.send_recipients(&build_recipients(2..5)).await;
    assert_eq!(
        world.stack.query_count("SELECT count(*) FROM events").await,
        0
    );
}
