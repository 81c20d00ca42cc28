//! Webhook deliveries: the contract's Events, Delivery rules and Webhook endpoint, and what we add to them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, TimeDelta};
use contract::id::{EndpointId, TeamId};
use dispatcher::manage;
use pillarbox_tests::{
    CAMPAIGN, Options, Reaction, Received, Sink, Stack, cards, eventually, people, person, with_qr_codes,
};
use serde_json::{Value, json};
use std::time::Duration;

/// A stack with one card and one endpoint.
struct World {
    stack: Stack,
    sink: Sink,
    code: String,
    team: TeamId,
    endpoint: EndpointId,
}

fn failing() -> Option<Reaction> {
    Some(Reaction::Answer(500, "no <b>luck</b>".to_owned()))
}

impl World {
    async fn start() -> Self {
        Self::with(Vec::new()).await
    }

    async fn with(settings: Vec<(&'static str, String)>) -> Self {
        let (stack, sink) = with_qr_codes(Options { dispatchers: 1, settings, ..Options::default() }).await;
        assert_eq!(stack.send(&[person(1)]).await.reasons(), ["mailed"]);
        let code = cards(&stack).await.remove(0);
        let team = stack.store.team_by_name("Test").await.unwrap().team_id;
        let endpoint = stack.store.endpoint_list(team).await.unwrap()[0].endpoint_id;
        Self { stack, sink, code, team, endpoint }
    }

    async fn scan(&self) {
        assert_eq!(self.stack.scan(&self.code).await.status, 302);
    }

    async fn until_received(&self, count: usize) -> Vec<Received> {
        eventually("the endpoint gets it", async || self.sink.count() >= count).await;
        assert_eq!(self.sink.count(), count);
        self.sink.received()
    }

    /// Until the deliveries are in these states, in their order.
    async fn until_states(&self, states: &[&str]) {
        let list = || async {
            let rows = self
                .stack
                .sql
                .query("SELECT state FROM deliveries ORDER BY created_at, delivery_id", &[])
                .await;
            rows.unwrap().iter().map(|row| row.get::<_, String>(0)).collect::<Vec<_>>()
        };
        eventually(&format!("the deliveries are {states:?}"), async || list().await == states).await;
    }

    /// Until no claimed delivery is on its way, after so many attempts.
    async fn until_attempts(&self, attempts: i64) {
        let sql = "SELECT coalesce(sum(attempts), 0)::bigint FROM deliveries WHERE lease_id IS NULL";
        eventually("the attempts are recorded", async || self.stack.count(sql).await == attempts).await;
    }

    async fn state(&self) -> store::Endpoint {
        self.stack.store.endpoint_get(self.team, self.endpoint).await.unwrap()
    }

    async fn deliveries(&self) -> Vec<store::DeliverySummary> {
        self.stack.store.delivery_list(self.team, self.endpoint).await.unwrap()
    }

    async fn pause(&self) {
        manage::pause(&self.stack.store, self.team, self.endpoint, self.stack.now()).await.unwrap();
    }

    async fn resume(&self) {
        manage::resume(&self.stack.store, self.team, self.endpoint, self.stack.now()).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_body_and_the_headers_are_those_of_the_contract() {
    let world = World::start().await;
    world.stack.sql.execute("UPDATE address_entries SET email = 'pat@example.com'", &[]).await.unwrap();
    let before = world.stack.now();
    world.scan().await;
    let got = world.until_received(1).await.remove(0);
    let mut body = got.json();
    let text = String::from_utf8(got.body.to_vec()).unwrap();
    let (id, scanned_at) = (got.id(), body["scanned_at"].take());
    assert!(id.starts_with("evt_") && !id.starts_with("evt_test_"), "{id}");
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
    assert!(text.starts_with(r#"{"event":"qr.scanned","id":"evt_"#), "{text}");
    let header = |name: &str| got.headers[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "application/json");
    let timestamp: i64 = header("webhook-timestamp").parse().unwrap();
    assert!((timestamp - before.timestamp()).abs() < 60);
    assert!(!got.headers.contains_key("webhook-signature"), "off by default");
}

#[tokio::test(flavor = "multi_thread")]
async fn any_2xx_counts_as_delivered_and_anything_else_as_failed() {
    let world = World::start().await;
    let other = Sink::start().await;
    let answer = |status| Reaction::Answer(status, String::new());
    let redirect = Reaction::Redirect(other.url.clone());
    world.sink.next([answer(200), answer(204), answer(299)]);
    for _ in 0..3 {
        world.scan().await;
    }
    world.until_states(&["delivered", "delivered", "delivered"]).await;
    world.sink.next([redirect, answer(404), answer(500)]);
    for _ in 0..3 {
        world.scan().await;
    }
    world.until_attempts(6).await;
    world.until_states(&["delivered", "delivered", "delivered", "waiting", "waiting", "waiting"]).await;
    assert_eq!(world.state().await.failures_in_row, 3);
    assert_eq!(other.count(), 0, "redirects are not followed");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_answer_within_the_time_limit_is_a_failed_delivery() {
    let world = World::with(vec![("DISPATCHER__TIMEOUT_MS", "200".to_owned())]).await;
    world.sink.always(Some(Reaction::Hang(Duration::from_secs(60))));
    world.scan().await;
    world.until_attempts(1).await;
    let delivery = world.deliveries().await.remove(0);
    assert_eq!(delivery.attempts[0]["error"], "no answer within 0.2 seconds");
    assert_eq!((delivery.state.as_str(), &delivery.attempts[0]["status"]), ("waiting", &Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_delivery_retries_at_5_minutes_15_minutes_1_hour_and_6_hours_with_the_same_webhook_id() {
    let world = World::start().await;
    world.sink.always(failing());
    world.scan().await;
    world.until_attempts(1).await;
    for (attempts, minutes) in [(2, 5), (3, 15), (4, 60), (5, 360)] {
        // A tenth of jitter at the most: just before the pause nothing is due, after it all is.
        world.stack.clock.advance(TimeDelta::minutes(minutes) - TimeDelta::seconds(20));
        let due = world.stack.store.delivery_waiting_lanes(None, world.stack.now(), 10).await.unwrap();
        assert!(!due[0].is_due, "before {minutes} minutes");
        world.stack.clock.advance(TimeDelta::minutes(minutes) / 10 + TimeDelta::seconds(21));
        world.until_attempts(attempts).await;
    }
    world.until_states(&["failed"]).await;
    let received = world.until_received(5).await;
    assert!(received.iter().all(|got| got.id() == received[0].id() && got.body == received[0].body));
    let times: Vec<&str> =
        received.iter().map(|got| got.headers["webhook-timestamp"].to_str().unwrap()).collect();
    assert!(times.is_sorted() && times[0] != times[4], "each attempt has its own time: {times:?}");
    assert_eq!(world.deliveries().await[0].attempts.as_array().unwrap().len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_that_succeeds_ends_the_delivery_and_the_failures_in_a_row() {
    let world = World::start().await;
    world.sink.next(failing());
    world.scan().await;
    world.until_attempts(1).await;
    assert_eq!(world.state().await.failures_in_row, 1);
    world.stack.clock.advance(TimeDelta::minutes(6));
    world.until_states(&["delivered"]).await;
    assert_eq!(world.state().await.failures_in_row, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_10_failed_attempts_in_a_row_a_warning_and_after_20_the_end_each_with_an_email() {
    let outbox = std::env::temp_dir().join(format!("pillarbox-outbox-{}", uuid::Uuid::now_v7()));
    let world = World::with(vec![("EMAIL__OUTBOX_FOLDER", outbox.display().to_string())]).await;
    world.sink.always(failing());
    for number in 1..=20 {
        world.scan().await;
        world.until_attempts(number).await;
    }
    let state = world.state().await;
    assert_eq!((state.state, state.failures_in_row), (store::EndpointState::Disabled, 20));
    assert_eq!(state.last_error.as_deref(), Some("answered with 500"));
    world.until_states(&["cancelled"; 20]).await;
    eventually("both e-mails are sent", async || {
        world.stack.count("SELECT count(*) FROM emails WHERE sent_at IS NOT NULL").await == 2
    })
    .await;
    let mut emails: Vec<String> = std::fs::read_dir(&outbox)
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    emails.sort_by_key(|email| email.contains("disabled:") || email.contains("was disabled"));
    for (email, subject) in
        emails.iter().zip(["A webhook endpoint is failing", "A webhook endpoint was disabled"])
    {
        assert!(email.contains(&format!("Subject: {subject}")), "{email}");
        assert!(email.contains("To: owner@example.com") && !email.contains("member@"), "{email}");
        assert!(email.replace("=\r\n", "").contains(&world.sink.url), "{email}");
        assert!(email.contains("answered with 500"), "{email}");
    }
    std::fs::remove_dir_all(&outbox).unwrap();
    // Disabled: scans are not queued, and not sent later.
    world.sink.always(None);
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
        world.sink.always(failing());
        for number in 1..=12 {
            world.scan().await;
            world.until_attempts(round * 13 + number).await;
        }
        world.sink.always(None);
        world.scan().await;
        world.until_attempts(round * 13 + 13).await;
    }
    let state = world.state().await;
    assert_eq!((state.state, state.failures_in_row), (store::EndpointState::Active, 0));
    assert_eq!(world.stack.count("SELECT count(*) FROM emails").await, 3, "a warning each time");
}

#[tokio::test(flavor = "multi_thread")]
async fn while_paused_nothing_is_queued_and_waiting_retries_are_cancelled() {
    let world = World::start().await;
    world.sink.next(failing());
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
    assert_eq!(world.stack.count("SELECT count(*) FROM scans").await, 3, "scans are recorded all the same");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_made_while_the_endpoint_was_being_paused_is_cancelled() {
    let world = World::start().await;
    // As a scan does that began before the pause and ended after it.
    world.stack.sql.execute("UPDATE endpoints SET state = 'paused'", &[]).await.unwrap();
    let sql = "INSERT INTO deliveries (team_id, endpoint_id, delivery_id, event_id, kind, state, is_retry, due_at, created_at)
        SELECT team_id, endpoint_id, gen_random_uuid(), gen_random_uuid(), 'event', 'waiting', false, now(), now() FROM endpoints";
    world.stack.sql.execute(sql, &[]).await.unwrap();
    world.until_states(&["cancelled"]).await;
    assert_eq!(world.sink.count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_endpoint_gets_nothing_and_can_be_made_anew() {
    let world = World::start().await;
    manage::delete(&world.stack.store, world.team, world.endpoint, world.stack.now()).await.unwrap();
    world.scan().await;
    assert_eq!(world.stack.count("SELECT count(*) FROM deliveries").await, 0);
    let policy = world.stack.policy();
    let added =
        manage::add(&world.stack.store, &policy, world.team, &world.sink.url, None, world.stack.now());
    assert!(added.await.unwrap().is_new);
    world.scan().await;
    world.until_received(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn scope_is_all_campaigns_later_ones_too_or_chosen_ones() {
    let world = World::start().await;
    let chosen = Sink::start().await;
    let policy = world.stack.policy();
    let (store, now) = (&world.stack.store, world.stack.now());
    let scope = [CAMPAIGN.parse().unwrap()];
    manage::add(store, &policy, world.team, &chosen.url, Some(&scope), now).await.unwrap();
    let later =
        json!({"id": "PA-LATER1", "name": "Later", "steps": [{"design": "Codes", "postage": "standard"}]});
    world.stack.campaign(later).await;
    world.stack.send_to("PA-LATER1", &people(2..3)).await;
    let codes = cards(&world.stack).await;
    for code in &codes {
        world.stack.scan(code).await;
    }
    world.until_received(2).await;
    eventually("the chosen campaign's scan arrives", async || chosen.count() == 1).await;
    assert_eq!(chosen.received()[0].json()["campaign"]["id"], CAMPAIGN);
    let stranger = ["PA-NOBODY".parse().unwrap()];
    assert!(manage::add(store, &policy, world.team, &chosen.url, Some(&stranger), now).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_event_is_never_retried_and_never_counts() {
    let world = World::start().await;
    world.sink.always(failing());
    let test = || manage::send_test(&world.stack.store, world.team, world.endpoint, world.stack.now());
    for _ in 0..25 {
        test().await.unwrap();
    }
    world.until_states(&["failed"; 25]).await;
    let state = world.state().await;
    assert_eq!((state.state, state.failures_in_row), (store::EndpointState::Active, 0));
    world.stack.clock.advance(TimeDelta::hours(7));
    world.sink.always(None);
    // It can be sent to a paused endpoint, to see whether it works.
    world.pause().await;
    test().await.unwrap();
    let received = world.until_received(26).await;
    let got = &received[25];
    assert!(got.id().starts_with("evt_test_") && got.json()["id"] == got.id().as_str());
    assert_eq!((&got.json()["test"], &got.json()["event"]), (&true.into(), &"qr.scanned".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn redeliver_sends_again_with_the_same_webhook_id_once_and_counts() {
    let world = World::start().await;
    world.scan().await;
    world.until_states(&["delivered"]).await;
    world.sink.always(failing());
    let delivery = world.deliveries().await.remove(0);
    let (store, now) = (&world.stack.store, world.stack.now());
    manage::redeliver(store, world.team, world.endpoint, delivery.delivery_id, now).await.unwrap();
    world.until_states(&["delivered", "failed"]).await;
    let received = world.until_received(2).await;
    assert_eq!((received[0].id(), &received[0].body), (received[1].id(), &received[1].body));
    assert_eq!(world.state().await.failures_in_row, 1);
    world.pause().await;
    assert!(manage::redeliver(store, world.team, world.endpoint, delivery.delivery_id, now).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn all_failed_since_a_time_are_replayed() {
    let world = World::with(vec![("DISPATCHER__RETRY_DELAYS_SECONDS", String::new())]).await;
    world.sink.always(failing());
    world.scan().await;
    world.until_states(&["failed"]).await;
    world.stack.clock.advance(TimeDelta::hours(1));
    let since = world.stack.now();
    for _ in 0..2 {
        world.scan().await;
    }
    world.until_states(&["failed"; 3]).await;
    world.sink.always(None);
    let replayed =
        manage::replay_failed(&world.stack.store, world.team, world.endpoint, since, world.stack.now()).await;
    assert_eq!(replayed.unwrap(), 2);
    world.until_states(&["failed", "delivered", "delivered"]).await;
    let ids: std::collections::HashSet<String> =
        world.until_received(5).await.iter().map(Received::id).collect();
    assert_eq!(ids.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_25_deliveries_keep_request_status_duration_error_and_the_first_2_kb_of_the_answer() {
    let world = World::start().await;
    world.sink.next([Reaction::Answer(503, format!("<script>\0{}", "x".repeat(5_000)))]);
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
            assert_eq!((&attempt["status"], &attempt["error"]), (&503.into(), &"answered with 503".into()));
            assert_eq!(attempt["url"], world.sink.url.as_str());
            assert!(attempt["duration_ms"].is_u64() && first.body.contains("qr.scanned"));
        }
    }
    assert_eq!(world.deliveries().await.len(), 25);
    eventually("older ones are forgotten", async || {
        world.stack.count("SELECT count(*) FROM attempts").await == 25
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn signatures_are_opt_in_and_both_keys_sign_for_a_while_after_a_rotation() {
    let world = World::start().await;
    let (store, hour) = (&world.stack.store, TimeDelta::hours(1));
    let sign = || manage::sign(store, world.team, world.endpoint, hour, world.stack.now());
    let signatures = |got: &Received| -> Vec<String> {
        got.headers["webhook-signature"].to_str().unwrap().split(' ').map(str::to_owned).collect()
    };
    let first = sign().await.unwrap().reveal();
    world.scan().await;
    assert_eq!(signatures(&world.until_received(1).await[0]).len(), 1);
    let second = sign().await.unwrap().reveal();
    world.scan().await;
    let got = world.until_received(2).await.remove(1);
    let key = |text: &str| STANDARD.decode(text.strip_prefix("whsec_").unwrap()).unwrap();
    assert!(key(&first).len() >= 24 && key(&first) != key(&second));
    assert_eq!(signatures(&got).len(), 2);
    assert!(signatures(&got).iter().all(|signature| signature.starts_with("v1,")));
    world.stack.clock.advance(hour * 2);
    world.scan().await;
    assert_eq!(signatures(&world.until_received(3).await[2]).len(), 1);
    manage::stop_signing(store, world.team, world.endpoint, world.stack.now()).await.unwrap();
    world.scan().await;
    assert!(!world.until_received(4).await[3].headers.contains_key("webhook-signature"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_hangs_delays_no_other_and_has_only_its_share() {
    let settings = vec![("DISPATCHER__DISABLE_AFTER", "100000".to_owned())];
    let (stack, healthy) = with_qr_codes(Options { dispatchers: 1, settings, ..Options::default() }).await;
    let hanging = Sink::start().await;
    hanging.always(Some(Reaction::Hang(Duration::from_secs(60))));
    let team = stack.store.team_by_name("Test").await.unwrap().team_id;
    manage::add(&stack.store, &stack.policy(), team, &hanging.url, None, stack.now()).await.unwrap();
    stack.send(&[person(1)]).await;
    let code = cards(&stack).await.remove(0);
    futures_util::future::join_all((0..200).map(|_| stack.scan(&code))).await;
    // All of them, while every attempt at the other one still hangs.
    eventually("the healthy endpoint gets its events", async || healthy.count() == 200).await;
    assert!(hanging.most_under_way() <= 32, "{}", hanging.most_under_way());
}

#[tokio::test(flavor = "multi_thread")]
async fn retries_never_hold_back_first_attempts() {
    let settings =
        vec![("DISPATCHER__CONCURRENCY", "8".to_owned()), ("DISPATCHER__DISABLE_AFTER", "100000".to_owned())];
    let world = World::with(settings).await;
    world.sink.always(failing());
    for _ in 0..40 {
        world.scan().await;
    }
    world.until_attempts(40).await;
    // Forty retries fall due at an endpoint that hangs now; then it works, for new scans too.
    world.sink.next((0..40).map(|_| Reaction::Hang(Duration::from_secs(9))));
    world.sink.always(None);
    world.stack.clock.advance(TimeDelta::minutes(6));
    eventually("retries are under way", async || world.sink.count() > 40).await;
    let before = world.sink.count();
    world.sink.next([]);
    world.scan().await;
    eventually("the new scan gets through", async || world.sink.count() > before).await;
    let newest = world.deliveries().await.remove(0);
    let ids: Vec<String> = world.sink.received().iter().map(Received::id).collect();
    eventually("it is the new one", async || {
        world.sink.received().iter().any(|got| got.id() == newest.event_id)
    })
    .await;
    assert!(ids.len() < 80, "most retries still wait");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_public_addresses_are_saved_and_asked() {
    let settings = vec![("OUTBOUND__ALLOWED_NETWORKS", "127.0.0.1/32".to_owned())];
    let world = World::with(settings).await;
    let add = async |url: &str| {
        let (store, policy) = (&world.stack.store, world.stack.policy());
        manage::add(store, &policy, world.team, url, None, world.stack.now()).await.map(drop)
    };
    for url in [
        "http://8.8.8.8/",
        "https://127.0.0.2/",
        "https://10.0.0.1/",
        "https://0x7f.2/",
        "https://2130706434/",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://169.254.169.254/latest/meta-data",
        "https://user@8.8.8.8/",
        "https://no-such-host.invalid/",
        "ftp://8.8.8.8/",
    ] {
        assert!(add(url).await.is_err(), "{url}");
    }
    // What slips in all the same is refused at each attempt.
    world.stack.sql.execute("UPDATE endpoints SET url = 'http://127.0.0.2:9/'", &[]).await.unwrap();
    world.scan().await;
    world.until_attempts(1).await;
    let error = world.deliveries().await[0].attempts[0]["error"].clone();
    assert_eq!(error, "the host is not on the public internet");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_events_are_emitted_by_the_dynamic_audience_api() {
    let world = World::start().await;
    world.stack.send(&people(2..5)).await;
    assert_eq!(world.stack.count("SELECT count(*) FROM events").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn endpoints_are_provisioned_repeatably() {
    let world = World::start().await;
    let apply =
        |endpoint: Value| world.stack.apply(json!({"teams": [{"name": "Test", "endpoints": [endpoint]}]}));
    let url = world.sink.url.clone();
    let made = apply(json!({"url": url, "campaigns": [CAMPAIGN], "signed": true})).await;
    let endpoint = &made["teams"][0]["endpoints"][0];
    assert!(endpoint["secret"].as_str().unwrap().starts_with("whsec_"));
    assert_eq!(endpoint["endpoint_id"], world.endpoint.to_string());
    let again = apply(json!({"url": url, "campaigns": [CAMPAIGN], "signed": true})).await;
    assert_eq!(again["teams"][0]["endpoints"][0]["secret"], Value::Null);
    let state = world.state().await;
    assert_eq!((state.campaigns, state.is_signed), (Some(vec![CAMPAIGN.to_owned()]), true));
    apply(json!({"url": url, "status": "paused"})).await;
    let state = world.state().await;
    assert_eq!((state.state, state.campaigns, state.is_signed), (store::EndpointState::Paused, None, false));
}
