//! Webhook endpoints: added, tried, paused and deleted at the console, as a real receiver sees it.

use model::id::EndpointId;
use pillarbox_tests::{
    CAMPAIGN, ConsoleClient, EndpointReaction, StackOptions, TestStack, WebhookSink,
    build_recipient, list_codes, wait_until, with_qr_codes,
};
use store::MemberRole;

use super::{member, secret_in};

/// A card that was mailed, an endpoint that hears of all scans, and an Admin at the console.
struct World {
    stack: TestStack,
    /// The endpoint that stands before anybody does anything.
    other: WebhookSink,
    code: String,
    admin: ConsoleClient,
}

impl World {
    async fn start(settings: Vec<(&'static str, String)>) -> Self {
        let options = StackOptions {
            dispatchers: 1,
            settings,
            ..StackOptions::default()
        };
        let (mut stack, other) = with_qr_codes(options).await;
        assert_eq!(
            stack.send_recipients(&[build_recipient(1)]).await.reasons(),
            ["mailed"]
        );
        let code = list_codes(&stack).await.remove(0);
        let url = stack.start_console().await;
        let admin = member(&stack, &url, MemberRole::Admin).await;
        Self {
            stack,
            other,
            code,
            admin,
        }
    }

    /// The endpoint of this URL.
    async fn endpoint(&self, url: &str) -> store::Endpoint {
        let team_id = self
            .stack
            .store
            .find_team_by_name("Test")
            .await
            .unwrap()
            .team_id;
        let endpoints = self.stack.store.list_endpoints(team_id).await.unwrap();
        endpoints
            .into_iter()
            .find(|endpoint| endpoint.url == url)
            .expect("the endpoint")
    }

    /// The states of an endpoint's deliveries, the oldest first.
    async fn states(&self, endpoint_id: EndpointId) -> Vec<String> {
        let sql = "SELECT state FROM deliveries WHERE endpoint_id = $1 ORDER BY delivery_id";
        let rows = self.stack.sql.query(sql, &[&endpoint_id.0]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// Scans the card and waits until the other endpoint has heard of it.
    async fn scan(&self) {
        let before = self.other.count_received();
        assert_eq!(self.stack.scan_code(&self.code).await.status, 302);
        wait_until("the other endpoint hears of it", async || {
            self.other.count_received() > before
        })
        .await;
    }
}

async fn until(sink: &WebhookSink, count: usize) {
    wait_until("the endpoint hears of it", async || {
        sink.count_received() >= count
    })
    .await;
    assert_eq!(sink.count_received(), count);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_added_here_gets_events_until_it_is_paused_and_none_when_it_is_deleted() {
    let world = World::start(Vec::new()).await;
    let (admin, sink) = (&world.admin, WebhookSink::start().await);
    let made = admin
        .post_and_follow(
            "/endpoints",
            &[("url", &sink.url), ("scope", "all"), ("signed", "on")],
        )
        .await;
    let secret = secret_in(&made, "whsec_");
    let endpoint_id = world.endpoint(&sink.url).await.endpoint_id;
    let path = format!("/endpoints/{endpoint_id}");
    assert!(
        !admin.get(&path).await.html.contains(&secret),
        "it is shown once"
    );

    let tested = admin.post(&format!("{path}/test"), &[]).await;
    until(&sink, 1).await;
    let got = sink.received().remove(0);
    assert!(got.id().starts_with("evt_test_") && got.headers.contains_key("webhook-signature"));
    wait_until("the attempt is recorded", async || {
        world.states(endpoint_id).await == ["delivered"]
    })
    .await;
    let shown = admin.get(tested.location()).await.html;
    assert!(
        shown.contains("Answered 200") && shown.contains("thank you"),
        "{shown}"
    );
    assert!(
        shown.contains(&got.id()) && shown.contains("&#34;qr.scanned&#34;"),
        "{shown}"
    );

    world.scan().await;
    until(&sink, 2).await;
    assert_eq!(
        admin.post(&format!("{path}/pause"), &[]).await.location(),
        format!("{path}?notice=endpoint-paused")
    );
    world.scan().await;
    assert_eq!(
        world.states(endpoint_id).await.len(),
        2,
        "nothing is queued for a paused endpoint"
    );
    let sql = "SELECT delivery_id::text FROM deliveries WHERE endpoint_id = $1 AND kind = 'event'";
    let delivery = world
        .stack
        .sql
        .query_one(sql, &[&endpoint_id.0])
        .await
        .unwrap();
    let redeliver = format!(
        "{path}/deliveries/{}/redeliver",
        delivery.get::<_, String>(0)
    );
    let refused = admin.post(&redeliver, &[]).await;
    assert_eq!(refused.status, 422);
    assert!(
        refused
            .html
            .contains("the endpoint is paused; resume it first")
    );
    admin.post(&format!("{path}/resume"), &[]).await;
    world.scan().await;
    until(&sink, 3).await;
    assert_eq!(admin.post(&redeliver, &[]).await.status, 303);
    until(&sink, 4).await;
    assert_eq!(sink.received()[3].id(), sink.received()[1].id());

    assert_eq!(
        admin
            .post(&format!("{path}/stop-signing"), &[])
            .await
            .status,
        303
    );
    world.scan().await;
    until(&sink, 5).await;
    assert!(!sink.received()[4].headers.contains_key("webhook-signature"));
    assert_eq!(
        admin.post(&format!("{path}/delete"), &[]).await.location(),
        "/endpoints?notice=endpoint-deleted"
    );
    world.scan().await;
    assert_eq!(
        (
            sink.count_received(),
            admin.get(&path).await.status.as_u16()
        ),
        (5, 404)
    );
    let log = admin.get("/activity?kind=endpoint").await.html;
    for action in [
        "created",
        "tested",
        "paused",
        "resumed",
        "redelivered",
        "unsigned",
        "deleted",
    ] {
        assert!(log.contains(&format!("endpoint.{action}")), "{action}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_that_may_not_be_asked_or_stands_already_is_told_beside_the_field() {
    let world = World::start(vec![(
        "OUTBOUND__ALLOWED_NETWORKS",
        "127.0.0.1/32".to_owned(),
    )])
    .await;
    for (url, reason) in [
        ("not a url", "Not added"),
        (
            "https://10.0.0.1/hook",
            "the host is not on the public internet",
        ),
        ("http://8.8.8.8/hook", "the URL must begin with https://"),
        (
            world.other.url.as_str(),
            "has an endpoint with this URL already",
        ),
    ] {
        let page = world
            .admin
            .post("/endpoints", &[("url", url), ("scope", "all")])
            .await;
        assert_eq!(page.status, 422, "{url}");
        assert!(
            page.html.contains(reason) && page.html.contains(&format!("value=\"{url}\"")),
            "{}",
            page.html
        );
    }
    assert_eq!(
        world
            .stack
            .query_count("SELECT count(*) FROM endpoints")
            .await,
        1
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_hears_of_the_campaigns_that_are_chosen() {
    let world = World::start(Vec::new()).await;
    let sink = WebhookSink::start().await;
    let form = [("url", sink.url.as_str()), ("scope", "chosen")];
    let none = world.admin.post("/endpoints", &form).await;
    assert!(
        none.status == 422 && none.html.contains("Choose at least one campaign"),
        "{}",
        none.html
    );
    let foreign = [form[0], form[1], ("campaign", "PA-NOBODY")];
    assert_eq!(world.admin.post("/endpoints", &foreign).await.status, 404);
    let made = world
        .admin
        .post("/endpoints", &[form[0], form[1], ("campaign", CAMPAIGN)])
        .await;
    assert_eq!(made.status, 303, "{}", made.html);
    let endpoint = world.endpoint(&sink.url).await;
    assert_eq!(endpoint.campaigns, Some(vec![CAMPAIGN.to_owned()]));
    let scope = format!("/endpoints/{}/scope", endpoint.endpoint_id);
    assert_eq!(
        world
            .admin
            .post(&scope, &[("scope", "chosen")])
            .await
            .status,
        422
    );
    let page = scope.trim_end_matches("/scope");
    assert_eq!(
        world
            .admin
            .save_form(page, &scope, &[("scope", "all")])
            .await
            .status,
        303
    );
    assert_eq!(world.endpoint(&sink.url).await.campaigns, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_failed_is_shown_with_its_answer_as_text_and_sent_again_from_a_time_on() {
    let world = World::start(vec![("DISPATCHER__RETRY_DELAYS_SECONDS", String::new())]).await;
    world.other.set_default(Some(EndpointReaction::Answer(
        500,
        "no <b>luck</b>".to_owned(),
    )));
    world.scan().await;
    let endpoint = world.endpoint(&world.other.url).await;
    let path = format!("/endpoints/{}", endpoint.endpoint_id);
    wait_until("it has failed", async || {
        world.states(endpoint.endpoint_id).await == ["failed"]
    })
    .await;
    let list = world.admin.get(&path).await.html;
    let start = list.find(&format!("{path}/deliveries/")).expect("a link");
    let delivery = list[start..].split('"').next().unwrap();
    let shown = world.admin.get(delivery).await.html;
    assert!(
        shown.contains("no &#60;b&#62;luck") && !shown.contains("<b>luck"),
        "{shown}"
    );
    assert!(
        shown.contains("Answered 500") && shown.contains("webhook-timestamp"),
        "{shown}"
    );

    let replay = format!("{path}/replay");
    let wrong = world.admin.post(&replay, &[("since", "yesterday")]).await;
    assert!(
        wrong.status == 422 && wrong.html.contains("value=\"yesterday\""),
        "{}",
        wrong.html
    );
    world.other.set_default(None);
    let future = world
        .admin
        .post(&replay, &[("since", "2100-01-01T00:00")])
        .await;
    assert!(
        future.status == 422 && future.html.contains("Give a time that has passed."),
        "{}",
        future.html
    );
    assert_eq!(world.states(endpoint.endpoint_id).await, ["failed"]);
    for far in [
        "-99999-01-01T00:00",
        "+262000-01-01T00:00",
        "0000-01-01T00:00",
    ] {
        assert_eq!(
            world.admin.post(&replay, &[("since", far)]).await.status,
            422,
            "{far}"
        );
    }
    let done = world
        .admin
        .post(&replay, &[("since", "2020-01-01T00:00")])
        .await;
    assert_eq!(
        done.location(),
        format!("{path}?notice=failed-replayed&replayed=1")
    );
    assert!(
        world
            .admin
            .get(done.location())
            .await
            .html
            .contains("1 delivery is on its way again.")
    );
    wait_until("it has arrived", async || {
        world.states(endpoint.endpoint_id).await == ["delivered"]
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_takes_what_was_cancelled_after_a_failed_attempt_and_not_what_was_never_tried() {
    let world = World::start(Vec::new()).await;
    world
        .other
        .set_default(Some(EndpointReaction::Answer(500, "no luck".to_owned())));
    world.scan().await;
    let endpoint_id = world.endpoint(&world.other.url).await.endpoint_id;
    let path = format!("/endpoints/{endpoint_id}");
    let tried = "SELECT count(*) FROM deliveries WHERE state = 'waiting' AND attempts = 1 AND lease_id IS NULL";
    wait_until("it has failed once and waits", async || {
        world.stack.query_count(tried).await == 1
    })
    .await;
    world.admin.post(&format!("{path}/pause"), &[]).await;
    assert_eq!(world.states(endpoint_id).await, ["cancelled"]);
    let sql = "INSERT INTO deliveries (team_id, endpoint_id, delivery_id, event_id, kind, state, is_retry, due_at, created_at)
        SELECT team_id, endpoint_id, gen_random_uuid(), event_id, kind, 'cancelled', false, due_at, created_at FROM deliveries";
    world.stack.sql.execute(sql, &[]).await.unwrap();
    world.admin.post(&format!("{path}/resume"), &[]).await;
    world.other.set_default(None);
    let replay = world
        .admin
        .post(&format!("{path}/replay"), &[("since", "2020-01-01T00:00")])
        .await;
    assert_eq!(
        replay.location(),
        format!("{path}?notice=failed-replayed&replayed=1")
    );
    let states = "SELECT count(*) FROM deliveries WHERE state = 'delivered'";
    wait_until("it has arrived", async || {
        world.stack.query_count(states).await == 1
    })
    .await;
    let none = world
        .admin
        .post(&format!("{path}/replay"), &[("since", "2020-01-01T00:00")])
        .await;
    assert!(
        world
            .admin
            .get(none.location())
            .await
            .html
            .contains("Nothing has failed since that time")
    );
}
