//! What people do with endpoints: scope, test events, redelivery, replay, signatures, provisioning.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::TimeDelta;
use pillarbox_tests::{
    CAMPAIGN, ReceivedEvent, WebhookSink, build_recipients, list_codes, wait_until,
};
use secret::SigningSecret;
use serde_json::{Value, json};
use standardwebhooks::Webhook;

use super::{World, failing};

#[tokio::test(flavor = "multi_thread")]
async fn scope_is_all_campaigns_later_ones_too_or_chosen_ones() {
    let world = World::start().await;
    let chosen = WebhookSink::start().await;
    let policy = world.stack.target_policy();
    let scope = [CAMPAIGN.parse().unwrap()];
    world
        .manager()
        .add(&policy, &chosen.url, Some(&scope))
        .await
        .unwrap();
    let later = json!({"id": "PA-LATER1", "name": "Later", "steps": [{"design": "Codes", "postage": "standard"}]});
    world.stack.save_campaign(later).await;
    world
        .stack
        .send_recipients_to("PA-LATER1", &build_recipients(2..3))
        .await;
    let codes = list_codes(&world.stack).await;
    for code in &codes {
        world.stack.scan_code(code).await;
    }
    world.until_received(2).await;
    wait_until("the chosen campaign's scan arrives", async || {
        chosen.count_received() == 1
    })
    .await;
    assert_eq!(chosen.received()[0].json()["campaign"]["id"], CAMPAIGN);
    let stranger = ["PA-NOBODY".parse().unwrap()];
    assert!(
        world
            .manager()
            .add(&policy, &chosen.url, Some(&stranger))
            .await
            .is_err()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_event_is_never_retried_and_never_counts() {
    let world = World::start().await;
    world.sink.set_default(failing());
    let test = async || world.manager().send_test(world.endpoint).await;
    for _ in 0..25 {
        test().await.unwrap();
    }
    world.until_states(&["failed"; 25]).await;
    let state = world.state().await;
    assert_eq!(
        (state.state, state.failures_in_row),
        (store::EndpointState::Active, 0)
    );
    world.stack.clock.advance(TimeDelta::hours(7));
    world.sink.set_default(None);
    // It can be sent to a paused endpoint, to see whether it works.
    world.pause().await;
    test().await.unwrap();
    let received = world.until_received(26).await;
    let got = &received[25];
    assert!(got.id().starts_with("evt_test_") && got.json()["id"] == got.id().as_str());
    assert_eq!(
        (&got.json()["test"], &got.json()["event"]),
        (&true.into(), &"qr.scanned".into())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn redeliver_sends_again_with_the_same_webhook_id_once_and_counts() {
    let world = World::start().await;
    world.scan().await;
    world.until_states(&["delivered"]).await;
    world.sink.set_default(failing());
    let delivery = world.deliveries().await.remove(0);
    world
        .manager()
        .redeliver(world.endpoint, delivery.delivery_id)
        .await
        .unwrap();
    world.until_states(&["delivered", "failed"]).await;
    let received = world.until_received(2).await;
    assert_eq!(
        (received[0].id(), &received[0].body),
        (received[1].id(), &received[1].body)
    );
    assert_eq!(world.state().await.failures_in_row, 1);
    world.pause().await;
    assert!(
        world
            .manager()
            .redeliver(world.endpoint, delivery.delivery_id)
            .await
            .is_err()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn all_failed_since_a_time_are_replayed() {
    let world = World::with(vec![("DISPATCHER__RETRY_DELAYS_SECONDS", String::new())]).await;
    world.sink.set_default(failing());
    world.scan().await;
    world.until_states(&["failed"]).await;
    world.stack.clock.advance(TimeDelta::hours(1));
    let since = world.stack.now();
    for _ in 0..2 {
        world.scan().await;
    }
    world.until_states(&["failed"; 3]).await;
    world.sink.set_default(None);
    let replayed = world.manager().replay_failed(world.endpoint, since).await;
    assert_eq!(replayed.unwrap(), 2);
    world
        .until_states(&["failed", "delivered", "delivered"])
        .await;
    let ids: std::collections::HashSet<String> = world
        .until_received(5)
        .await
        .iter()
        .map(ReceivedEvent::id)
        .collect();
    assert_eq!(ids.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn signatures_are_opt_in_and_both_keys_sign_for_a_while_after_a_rotation() {
    let world = World::start().await;
    let hour = TimeDelta::hours(1);
    let sign = async || {
        let secret = SigningSecret::random();
        world
            .manager()
            .sign(world.endpoint, &secret, hour, |_| true)
            .await
            .map(|()| secret)
    };
    let signatures = |got: &ReceivedEvent| -> Vec<String> {
        got.headers["webhook-signature"]
            .to_str()
            .unwrap()
            .split(' ')
            .map(str::to_owned)
            .collect()
    };
    let first = sign().await.unwrap().reveal();
    world.scan().await;
    assert_eq!(signatures(&world.until_received(1).await[0]).len(), 1);
    let second = sign().await.unwrap().reveal();
    world.scan().await;
    let got = world.until_received(2).await.remove(1);
    let key = |text: &str| {
        STANDARD
            .decode(text.strip_prefix("whsec_").unwrap())
            .unwrap()
    };
    assert!(key(&first).len() >= 24 && key(&first) != key(&second));
    assert_eq!(signatures(&got).len(), 2);
    let third = sign().await.unwrap_err().to_string();
    assert!(
        third.contains("the key before the present one still signs until"),
        "{third}"
    );
    for secret in [&first, &second] {
        // As an integrator checks it, with the library of the specification.
        Webhook::new(secret)
            .unwrap()
            .verify(&got.body, &got.headers)
            .unwrap();
    }
    assert!(
        Webhook::new(&first)
            .unwrap()
            .verify(b"{}", &got.headers)
            .is_err()
    );
    // A delivery whose answer is not recorded yet is made again once its lease is over.
    world.until_states(&["delivered", "delivered"]).await;
    world.stack.clock.advance(hour * 2);
    world.scan().await;
    assert_eq!(signatures(&world.until_received(3).await[2]).len(), 1);
    world.manager().stop_signing(world.endpoint).await.unwrap();
    world.scan().await;
    assert!(
        !world.until_received(4).await[3]
            .headers
            .contains_key("webhook-signature")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn endpoints_are_provisioned_repeatably() {
    let world = World::start().await;
    let apply = |endpoint: Value| {
        world
            .stack
            .apply_team(json!({"teams": [{"name": "Test", "endpoints": [endpoint]}]}))
    };
    let url = world.sink.url.clone();
    let made = apply(json!({"url": url, "campaigns": [CAMPAIGN], "signed": true})).await;
    let endpoint = &made["teams"][0]["endpoints"][0];
    assert!(endpoint["secret"].as_str().unwrap().starts_with("whsec_"));
    assert_eq!(endpoint["endpoint_id"], world.endpoint.to_string());
    let again = apply(json!({"url": url, "campaigns": [CAMPAIGN], "signed": true})).await;
    assert_eq!(again["teams"][0]["endpoints"][0]["secret"], Value::Null);
    let state = world.state().await;
    assert_eq!(
        (state.campaigns, state.is_signed),
        (Some(vec![CAMPAIGN.to_owned()]), true)
    );
    apply(json!({"url": url, "status": "paused"})).await;
    let state = world.state().await;
    assert_eq!(
        (state.state, state.campaigns, state.is_signed),
        (store::EndpointState::Paused, None, false)
    );
}
