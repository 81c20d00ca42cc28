//! Active, paused, disabled, deleted: the contract's Webhook endpoint and Delivery rule 3.

use chrono::TimeDelta;
use pillarbox_tests::wait_until;

use super::{World, failing};

#[tokio::test(flavor = "multi_thread")]
async fn after_10_failed_attempts_in_a_row_a_warning_and_after_20_the_end_each_with_an_email() {
    let outbox = std::env::temp_dir().join(format!("pillarbox-outbox-{}", uuid::Uuid::now_v7()));
    let world = World::with(vec![("EMAIL__OUTBOX_FOLDER", outbox.display().to_string())]).await;
    world.sink.set_default(failing());
    for number in 1..=20 {
        world.scan().await;
        world.until_attempts(number).await;
    }
    let state = world.state().await;
    assert_eq!(
        (state.state, state.failures_in_row),
        (store::EndpointState::Disabled, 20)
    );
    assert_eq!(state.last_error.as_deref(), Some("answered with 500"));
    world.until_states(&["cancelled"; 20]).await;
    wait_until("both e-mails are sent", async || {
        world
            .stack
            .query_count("SELECT count(*) FROM emails WHERE sent_at IS NOT NULL")
            .await
            == 2
    })
    .await;
    let mut emails: Vec<String> = std::fs::read_dir(&outbox)
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    emails.sort_by_key(|email| email.contains("disabled:") || email.contains("was disabled"));
    for (email, subject) in emails.iter().zip([
        "A webhook endpoint is failing",
        "A webhook endpoint was disabled",
    ]) {
        assert!(email.contains(&format!("Subject: {subject}")), "{email}");
        assert!(
            email.contains("To: owner@example.com") && !email.contains("member@"),
            "{email}"
        );
        assert!(
            email.replace("=\r\n", "").contains(&world.sink.url),
            "{email}"
        );
        assert!(email.contains("answered with 500"), "{email}");
    }
    std::fs::remove_dir_all(&outbox).unwrap();
    // Disabled: scans are not queued, and not sent later.
    world.sink.set_default(None);
    world.scan().await;
    world.resume().await;
    world.scan().await;
    assert_eq!(world.until_received(21).await.len(), 21);
    assert_eq!(world.state().await.failures_in_row, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_success_starts_the_count_again() {
    let world = World::start().await;
    for round in 0..3_i64 {
        world.sink.set_default(failing());
        for number in 1..=12 {
            world.scan().await;
            world.until_attempts(round * 13 + number).await;
        }
        world.sink.set_default(None);
        world.scan().await;
        world.until_attempts(round * 13 + 13).await;
    }
    let state = world.state().await;
    assert_eq!(
        (state.state, state.failures_in_row),
        (store::EndpointState::Active, 0)
    );
    assert_eq!(
        world.stack.query_count("SELECT count(*) FROM emails").await,
        3,
        "a warning each time"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn while_paused_nothing_is_queued_and_waiting_retries_are_cancelled() {
    let world = World::start().await;
    world.sink.script_next(failing());
    world.scan().await;
    world.until_attempts(1).await;
    world.pause().await;
    world.until_states(&["cancelled"]).await;
    world.scan().await;
    world.resume().await;
    world.stack.clock.advance(TimeDelta::hours(7));
    world.scan().await;
    // The first one, and the one after the pause.
    world.until_states(&["cancelled", "delivered"]).await;
    assert_eq!(world.until_received(2).await.len(), 2);
    assert_eq!(
        world.stack.query_count("SELECT count(*) FROM scans").await,
        3,
        "scans are recorded all the same"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_made_while_the_endpoint_was_being_paused_is_cancelled() {
    let world = World::start().await;
    // As a scan does that began before the pause and ended after it.
    world
        .stack
        .sql
        .execute("UPDATE endpoints SET state = 'paused'", &[])
        .await
        .unwrap();
    let sql = "INSERT INTO deliveries (team_id, endpoint_id, delivery_id, event_id, kind, state, is_retry, due_at, created_at)
        SELECT team_id, endpoint_id, gen_random_uuid(), gen_random_uuid(), 'event', 'waiting', false, now(), now() FROM endpoints";
    world.stack.sql.execute(sql, &[]).await.unwrap();
    world.until_states(&["cancelled"]).await;
    assert_eq!(world.sink.count_received(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_endpoint_gets_nothing_and_can_be_made_anew() {
    let world = World::start().await;
    world.manager().delete(world.endpoint).await.unwrap();
    world.scan().await;
    assert_eq!(
        world
            .stack
            .query_count("SELECT count(*) FROM deliveries")
            .await,
        0
    );
    let policy = world.stack.target_policy();
    let added = world.manager().add(&policy, &world.sink.url, None).await;
    assert!(added.unwrap().is_new);
    world.scan().await;
    world.until_received(1).await;
}
