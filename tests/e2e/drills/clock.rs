//! Clocks jump: forward and back, all together and one against the others.

use chrono::TimeDelta;
use pillarbox_tests::{
    LoadGenerator, LoadRetryPolicy, LoadTally, StackOptions, TestStack, wait_until,
};
use runtime::Clock;
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn clocks_that_jump_lose_and_double_nothing() {
    let settings = vec![
        ("GATEWAY__CALL_DEADLINE_MS", "3000".to_owned()),
        ("MAILER__LEASE_MS", "1500".to_owned()),
    ];
    let mut stack = TestStack::with_options(StackOptions {
        settings,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    let (gateways, mailers) = (stack.clock.clone(), Clock::system());
    // A second mailer whose clock is its own.
    stack.clock = mailers.clone();
    stack.add_mailer(None);
    stack.clock = gateways.clone();
    let load = LoadGenerator::start(&[stack.url.clone()], 3, LoadRetryPolicy::Repeated);
    let further = async |what: &str| {
        let before = stack.query_count("SELECT count(*) FROM mailpieces").await;
        wait_until(what, async || {
            stack.query_count("SELECT count(*) FROM mailpieces").await >= before + 30
        })
        .await;
    };
    let minutes = TimeDelta::minutes;
    for jump in [
        minutes(61),
        minutes(-122),
        minutes(24 * 60),
        minutes(-24 * 60 + 61),
    ] {
        gateways.advance(jump);
        mailers.advance(jump);
        further("the load goes on after all clocks jumped").await;
    }
    // One mailer's clock against the others': what it takes for expired is done by the other one, or sent again.
    for jump in [
        TimeDelta::seconds(2),
        TimeDelta::seconds(-4),
        minutes(10),
        minutes(-20),
    ] {
        mailers.advance(jump);
        further("the load goes on with clocks apart").await;
    }
    let sent = load.finish().await;
    wait_until("nothing stays open", async || {
        stack
            .query_count("SELECT count(*) FROM sends WHERE state = 'reserved'")
            .await
            == 0
    })
    .await;
    LoadTally::compare(&stack, &sent)
        .await
        .print_and_assert("clocks that jump", &sent);
    stack.assert_consistent().await;
}
