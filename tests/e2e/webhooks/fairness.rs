//! No endpoint stands in another's way, and no retry in a first attempt's.

use std::collections::HashSet;
use std::time::Duration;

use chrono::TimeDelta;
use delivering::EndpointManager;
use pillarbox_tests::{
    EndpointReaction, ReceivedEvent, StackOptions, WebhookSink, build_recipient, list_codes,
    wait_until, with_qr_codes,
};

use super::{World, failing};

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_hangs_delays_no_other_and_has_only_its_share() {
    let settings = vec![("DISPATCHER__DISABLE_AFTER", "100000".to_owned())];
    let (stack, healthy) = with_qr_codes(StackOptions {
        dispatchers: 1,
        settings,
        ..StackOptions::default()
    })
    .await;
    let hanging = WebhookSink::start().await;
    hanging.set_default(Some(EndpointReaction::Hang(Duration::from_secs(60))));
    let team = stack.store.find_team_by_name("Test").await.unwrap().team_id;
    EndpointManager::new(&stack.store, team, store::Actor::Operator, stack.now())
        .add(&stack.target_policy(), &hanging.url, None)
        .await
        .unwrap();
    stack.send_recipients(&[build_recipient(1)]).await;
    let code = list_codes(&stack).await.remove(0);
    futures_util::future::join_all((0..200).map(|_| stack.scan_code(&code))).await;
    // All of them, while every attempt at the other one still hangs.
    wait_until("the healthy endpoint gets its events", async || {
        healthy.count_received() == 200
    })
    .await;
    assert!(
        hanging.most_under_way() <= 32,
        "{}",
        hanging.most_under_way()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn endpoints_that_only_time_out_leave_most_attempts_to_the_others() {
    const SCANS: usize = 200;
    let settings = vec![
        ("DISPATCHER__CONCURRENCY", "8".to_owned()),
        ("DISPATCHER__TIMEOUT_MS", "500".to_owned()),
        ("DISPATCHER__DISABLE_AFTER", "100000".to_owned()),
    ];
    let (stack, healthy) = with_qr_codes(StackOptions {
        dispatchers: 1,
        settings,
        ..StackOptions::default()
    })
    .await;
    let hanging = WebhookSink::start().await;
    hanging.set_default(Some(EndpointReaction::Hang(Duration::from_secs(60))));
    let team = stack.store.find_team_by_name("Test").await.unwrap().team_id;
    // More of them than attempts at a time, each with as many deliveries as the healthy one.
    for number in 0..12 {
        let url = format!("{}/{number}", hanging.url);
        EndpointManager::new(&stack.store, team, store::Actor::Operator, stack.now())
            .add(&stack.target_policy(), &url, None)
            .await
            .unwrap();
    }
    stack.send_recipients(&[build_recipient(1)]).await;
    let code = list_codes(&stack).await.remove(0);
    futures_util::future::join_all((0..SCANS).map(|_| stack.scan_code(&code))).await;
    wait_until("the healthy endpoint gets its events", async || {
        healthy.count_received() == SCANS
    })
    .await;
    // In equal turns it would have been twelve of theirs for each of the healthy one.
    assert!(
        hanging.count_received() < 2 * SCANS,
        "{}",
        hanging.count_received()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn retries_never_hold_back_first_attempts() {
    let settings = vec![
        ("DISPATCHER__CONCURRENCY", "8".to_owned()),
        ("DISPATCHER__DISABLE_AFTER", "100000".to_owned()),
    ];
    let world = World::with(settings).await;
    world.sink.set_default(failing());
    for _ in 0..40 {
        world.scan().await;
    }
    world.until_attempts(40).await;
    // Forty retries fall due at an endpoint that hangs now; then it works, for new scans too.
    world
        .sink
        .script_next((0..40).map(|_| EndpointReaction::Hang(Duration::from_secs(9))));
    world.sink.set_default(None);
    world.stack.clock.advance(TimeDelta::minutes(6));
    wait_until("retries are under way", async || {
        world.sink.count_received() > 40
    })
    .await;
    let before = world.sink.count_received();
    world.sink.script_next([]);
    world.scan().await;
    wait_until("the new scan gets through", async || {
        world.sink.count_received() > before
    })
    .await;
    let newest = world.deliveries().await.remove(0);
    let ids: Vec<String> = world
        .sink
        .received()
        .iter()
        .map(ReceivedEvent::id)
        .collect();
    wait_until("it is the new one", async || {
        world
            .sink
            .received()
            .iter()
            .any(|got| got.id() == newest.event_id)
    })
    .await;
    assert!(ids.len() < 80, "most retries still wait");
}

#[tokio::test(flavor = "multi_thread")]
async fn any_number_of_replicas_share_the_work_and_make_no_attempt_twice() {
    let (stack, sink) = with_qr_codes(StackOptions {
        dispatchers: 3,
        ..StackOptions::default()
    })
    .await;
    stack.send_recipients(&[build_recipient(1)]).await;
    let code = list_codes(&stack).await.remove(0);
    futures_util::future::join_all((0..300).map(|_| stack.scan_code(&code))).await;
    wait_until("all are delivered", async || {
        stack
            .query_count("SELECT count(*) FROM deliveries WHERE state = 'delivered'")
            .await
            == 300
    })
    .await;
    assert_eq!(sink.count_received(), 300);
    let ids: HashSet<String> = sink.received().iter().map(ReceivedEvent::id).collect();
    assert_eq!(ids.len(), 300);
}
