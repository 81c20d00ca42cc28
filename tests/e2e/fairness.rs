//! One team's requests that wait for somebody slow keep no other team waiting: not for pictures, not for the answer of an
//! equal request, not for the payment provider. Asserted is the order of answers, never a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use chrono::TimeDelta;
use futures_util::future::select_all;
use pillarbox_tests::{
    ApiResponse, PictureHost, StackOptions, TestStack, build_recipient, build_recipients,
    postcard_design, variable_picture, wait_until,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Of the team beside the one of [`pillarbox_tests::KEY`].
const OTHER_KEY: &str = "pk_live_OtherOtherOtherOtherOt";
const OTHER_CAMPAIGN: &str = "PA-OTHER1";

/// More requests than a mailer works on at a time, and more than a team may have begun.
const REQUESTS: usize = 100;

/// A provider that takes connections and never answers.
struct Silent {
    url: String,
    connections: Arc<AtomicUsize>,
}

impl Silent {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let connections = Arc::<AtomicUsize>::default();
        let count = connections.clone();
        tokio::spawn(async move {
            let mut held = Vec::new();
            while let Ok((stream, _)) = listener.accept().await {
                held.push(stream);
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        Self { url, connections }
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

fn with_photo(number: usize, link: &str) -> Value {
    let mut person = build_recipient(number);
    person["photo"] = link.into();
    person
}

/// One mailer and two teams; no picture of either comes to an end by itself.
async fn two_teams(settings: &[(&'static str, String)]) -> TestStack {
    let patient = [
        ("PICTURES__TIMEOUT_MS", "60000"),
        ("PICTURES__REQUEST_TIMEOUT_MS", "60000"),
    ];
    let patient = patient.map(|(name, value)| (name, value.to_owned()));
    let settings = patient
        .into_iter()
        .chain(settings.iter().cloned())
        .collect();
    let stack = TestStack::with_options(StackOptions {
        settings,
        ..StackOptions::default()
    })
    .await;
    stack
        .apply_design(postcard_design(&[variable_picture(Value::Null)]), json!({}))
        .await;
    stack.apply_team(other_team(&json!({}))).await;
    stack
}

/// The file of the other team, whose campaign has these settings over the usual ones.
fn other_team(campaign: &Value) -> Value {
    let plain =
        json!({"product": "postcard_4x6", "front": {"elements": []}, "back": {"elements": []}});
    let step = json!({"design": "Card", "postage": "standard"});
    let steps = campaign
        .get("steps")
        .cloned()
        .unwrap_or_else(|| json!([step]));
    json!({"teams": [{
        "name": "Other",
        "time_zone": "America/New_York",
        "keys": [{"kind": "full_access", "name": "Tests", "key": OTHER_KEY}],
        "designs": [{"name": "Card", "document": plain}],
        "campaigns": [{"id": OTHER_CAMPAIGN, "name": "Other", "steps": steps}],
        "top_up": {"amount": "$1000.00", "reference": "first"},
    }]})
}

/// A send of the other team.
async fn other_send(stack: &TestStack, recipients: &[Value]) -> ApiResponse {
    let body = json!({"campaign_id": OTHER_CAMPAIGN, "recipients": recipients});
    stack
        .post_send_with(
            &[("authorization", &format!("Bearer {OTHER_KEY}"))],
            body.to_string(),
        )
        .await
}

/// The other team is answered, again and again, while every one of these requests waits.
async fn answered_beside(
    stack: &TestStack,
    waiting: Vec<impl Future<Output = ApiResponse>>,
    are_begun: impl AsyncFn() -> bool,
) {
    let others = async {
        wait_until("the first of them are begun", are_begun).await;
        for number in 1..=5 {
            assert_eq!(
                other_send(stack, &build_recipients(number..=number))
                    .await
                    .reasons(),
                ["mailed"]
            );
        }
    };
    let waiting = waiting.into_iter().map(Box::pin);
    tokio::select! {
        (answer, at, _) = select_all(waiting) => panic!("request {at} cannot have an answer: {}", answer.text),
        () = others => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_that_hang_keep_no_other_team_waiting() {
    let (stack, host) = (two_teams(&[]).await, PictureHost::start().await);
    let sends = (1..=REQUESTS).map(|number| {
        let recipients = [with_photo(number, &host.link(&format!("/hang/{number}")))];
        let stack = &stack;
        async move { stack.send_recipients(&recipients).await }
    });
    answered_beside(&stack, sends.collect(), async || {
        host.count_all_requests() >= 4
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn repeats_of_a_request_that_hangs_keep_no_other_team_waiting() {
    let (stack, host) = (two_teams(&[]).await, PictureHost::start().await);
    let recipients = [with_photo(1, &host.link("/hang"))];
    let sends = (0..=REQUESTS).map(|_| stack.send_recipients(&recipients));
    let arrived = async || {
        let asked = "SELECT coalesce(sum(requests), 0)::bigint FROM rate_windows";
        host.count_requests("/hang") == 1 && stack.query_count(asked).await > REQUESTS as i64
    };
    answered_beside(&stack, sends.collect(), arrived).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_provider_that_hangs_keeps_no_other_team_waiting() {
    let provider = Silent::start().await;
    let settings = [
        ("STRIPE__URL", provider.url.clone()),
        ("STRIPE__SECRET_KEY", "sk_test_1".to_owned()),
    ];
    let stack = two_teams(&settings).await;
    let by_card =
        "UPDATE teams SET payment = 'stripe', stripe_customer = 'cus_1', stripe_payment_method = 'pm_1'
         WHERE name = 'Test'";
    stack.sql.execute(by_card, &[]).await.unwrap();
    let sends = (1..=REQUESTS).map(|number| {
        let stack = &stack;
        async move {
            stack
                .send_recipients(&build_recipients(number..=number))
                .await
        }
    });
    answered_beside(&stack, sends.collect(), async || {
        provider.connections() >= 4
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_provider_that_hangs_keeps_no_other_teams_due_work_waiting() {
    let provider = Silent::start().await;
    let settings = [
        ("STRIPE__URL", provider.url.clone()),
        ("STRIPE__SECRET_KEY", "sk_test_1".to_owned()),
    ];
    let stack = two_teams(&settings).await;
    let two_steps = json!([
        {"design": "Card", "postage": "standard"},
        {"design": "Card", "postage": "standard", "delay_days": 1},
    ]);
    stack.save_campaign(json!({"steps": two_steps})).await;
    stack
        .apply_team(other_team(&json!({"steps": two_steps})))
        .await;
    for number in 1..=20 {
        stack
            .send_recipients(&build_recipients(number..=number))
            .await;
    }
    other_send(&stack, &build_recipients(1..3)).await;
    // The first team pays by card from now on: its jobs wait, and so do two sends that a killed worker has left open.
    let by_card =
        "UPDATE teams SET payment = 'stripe', stripe_customer = 'cus_1', stripe_payment_method = 'pm_1'
             WHERE name = 'Test';
         UPDATE charges SET payment = 'stripe', state = 'reserved', settled_at = NULL WHERE charge_id IN (
             SELECT send_id FROM sends JOIN teams USING (team_id) WHERE name = 'Test' LIMIT 2);
         UPDATE sends SET state = 'reserved', finished_at = NULL, leased_until = '2020-01-01' WHERE send_id IN (
             SELECT charge_id FROM charges WHERE state = 'reserved')";
    stack.sql.batch_execute(by_card).await.unwrap();
    stack.clock.advance(TimeDelta::days(2));
    wait_until("jobs and open sends wait for the provider", async || {
        provider.connections() >= 4
    })
    .await;
    let others = format!("SELECT count(*) FROM mailpieces WHERE campaign_id = '{OTHER_CAMPAIGN}'");
    wait_until("the other team's step is mailed", async || {
        stack.query_count(&others).await == 4
    })
    .await;
    other_send(&stack, &build_recipients(3..4)).await;
    let unsearched = "SELECT count(*) FROM recipients_unsearched";
    wait_until("everybody can be found", async || {
        stack.query_count(unsearched).await == 0
    })
    .await;
    let open = "SELECT count(*) FROM charges WHERE state = 'reserved'";
    assert!(
        stack.query_count(open).await >= 4,
        "the provider has not answered"
    );
}
