//! Mailpieces that somebody does not want any more: each is printed and paid for, or cancelled and refunded.

use std::collections::HashSet;

use chrono::{NaiveDate, TimeDelta};
use futures_util::{StreamExt, stream};
use pillarbox_tests::{
    ApiResponse, CAMPAIGN, KEY, SpawnedProcess, StackOptions, TestStack, build_recipient,
    build_recipients, wait_until,
};
use reqwest::Method;
use serde_json::{Value, json};
use store::{PrintPaper, PrintRunRequest};
use uuid::Uuid;
use wiremock::matchers::{body_string_contains, header, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

/// Posts to a path of the API with the tests' key.
async fn post(stack: &TestStack, path: &str, body: Value) -> ApiResponse {
    let url = format!("{}{path}", stack.url);
    let headers = [("x-api-key", KEY)];
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    stack.request(Method::POST, &url, &headers, body).await
}

async fn cancel_mailpiece(stack: &TestStack, mailpiece_id: Uuid) -> ApiResponse {
    let path = format!("/api/v1/mailpieces/{mailpiece_id}/cancel");
    post(stack, &path, Value::Null).await
}

async fn list_mailpieces(stack: &TestStack) -> Vec<Uuid> {
    let sql = "SELECT mailpiece_id FROM mailpieces ORDER BY mailpiece_id";
    let rows = stack.sql.query(sql, &[]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

/// Claims as many queued mailpieces as this for the press; returns how many there were.
async fn claim_some(stack: &TestStack, limit: i64) -> i32 {
    let settings = json!({});
    let papers = [PrintPaper {
        settings: &settings,
        mailer_id: None,
    }];
    let request = PrintRunRequest {
        product: "postcard_4x6",
        limit,
        mail_by: None,
        lead_days: 60,
        papers: &papers,
    };
    let (now, later) = (stack.now(), stack.now() + TimeDelta::hours(1));
    let run = stack.store.claim_print_run(&request, now, later).await;
    run.unwrap().map_or(0, |run| run.mailpieces)
}

async fn balance(stack: &TestStack) -> i64 {
    let sql = "SELECT balance_cents FROM ledger_accounts JOIN teams USING (team_id) WHERE account = 'prepaid' AND name = 'Test'";
    stack.query_count(sql).await
}

/// A stack that has mailed these recipients, and the id of the request.
async fn with_mailed(count: usize) -> (TestStack, String) {
    let stack = TestStack::start().await;
    let request_id = mail(&stack, 1..count + 1).await;
    (stack, request_id)
}

async fn mail(stack: &TestStack, numbers: std::ops::Range<usize>) -> String {
    let count = numbers.len();
    let sent = stack.send_recipients(&build_recipients(numbers)).await;
    assert_eq!(sent.reasons(), vec!["mailed"; count]);
    sent.headers["x-request-id"].to_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_mailpiece_is_refunded_once_and_never_prints() {
    let (stack, _) = with_mailed(3).await;
    let mailpieces = list_mailpieces(&stack).await;
    let paid = balance(&stack).await;
    for _ in 0..2 {
        let answer = cancel_mailpiece(&stack, mailpieces[0]).await;
        assert_eq!(
            (answer.status.as_u16(), answer.json()),
            (
                200,
                json!({"id": mailpieces[0], "state": "cancelled", "refunded_cents": 79})
            )
        );
    }
    assert_eq!(balance(&stack).await, paid + 79);
    let committed = "SELECT committed_cents FROM campaigns";
    assert_eq!(stack.query_count(committed).await, 2 * 79);
    assert_eq!(claim_some(&stack, 10).await, 2);
    let printed = cancel_mailpiece(&stack, mailpieces[1]).await;
    assert_eq!(printed.error(), (409, "already_printed".to_owned()));
    let events = "SELECT count(*) FROM mailpiece_events WHERE state = 'cancelled' AND source = 'api' AND basis = 'reported'";
    assert_eq!(stack.query_count(events).await, 1);
    let figure = "SELECT sum(amount)::bigint FROM campaign_days WHERE figure = 'cancelled'";
    assert_eq!(stack.query_count(figure).await, 1);
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_cancelled_but_for_what_is_printed() {
    let (stack, request_id) = with_mailed(5).await;
    mail(&stack, 50..52).await;
    assert_eq!(claim_some(&stack, 2).await, 2);
    let printed = "SELECT count(*) FROM mailpieces WHERE print_run_id IS NOT NULL AND charge_id = $1::text::uuid";
    let row = stack.sql.query_one(printed, &[&request_id]).await.unwrap();
    let printed: i64 = row.get(0);
    let expected = json!({
        "cancelled": 5 - printed,
        "already_printed": printed,
        "refunded_cents": (5 - printed) * 79,
    });
    let path = format!("/api/v1/requests/{request_id}/cancel");
    for _ in 0..2 {
        let answer = post(&stack, &path, Value::Null).await;
        assert_eq!(
            (answer.status.as_u16(), answer.json()),
            (200, expected.clone())
        );
    }
    assert_eq!(stack.query_count("SELECT count(*) FROM refunds").await, 1);
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reference_is_cancelled_wherever_it_was_sent() {
    let (stack, _) = with_mailed(3).await;
    let mut moved = build_recipient(70);
    moved["reference"] = json!("r2");
    let again = stack.send_recipients(&[moved]).await;
    assert_eq!(again.reasons(), ["mailed"]);
    let body = json!({"campaign_id": CAMPAIGN, "reference": "r2"});
    let answer = post(&stack, "/api/v1/mailpieces/cancel", body).await;
    let expected = json!({"cancelled": 2, "already_printed": 0, "refunded_cents": 158});
    assert_eq!(answer.json(), expected);
    let nobody = json!({"campaign_id": CAMPAIGN, "reference": "r99"});
    let answer = post(&stack, "/api/v1/mailpieces/cancel", nobody).await;
    let nothing = json!({"cancelled": 0, "already_printed": 0, "refunded_cents": 0});
    assert_eq!(answer.json(), nothing);
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_cancelled_is_refused_with_a_code() {
    let (stack, request_id) = with_mailed(1).await;
    stack
        .apply_team(json!({"teams": [{"name": "Other", "time_zone": "UTC", "keys": [
            {"kind": "full_access", "name": "Other", "key": "pk_live_22222222222222222222222222222222"}]}]}))
        .await;
    let ours = list_mailpieces(&stack).await[0];
    let cases = [
        (
            format!("/api/v1/mailpieces/{}/cancel", Uuid::now_v7()),
            Value::Null,
            404,
            "mailpiece_not_found",
        ),
        (
            "/api/v1/mailpieces/seven/cancel".to_owned(),
            Value::Null,
            422,
            "invalid_payload",
        ),
        (
            format!("/api/v1/requests/{}/cancel", Uuid::now_v7()),
            Value::Null,
            404,
            "request_not_found",
        ),
        (
            "/api/v1/requests/seven/cancel".to_owned(),
            Value::Null,
            422,
            "invalid_payload",
        ),
        (
            "/api/v1/mailpieces/cancel".to_owned(),
            json!({"reference": "r1"}),
            422,
            "invalid_payload",
        ),
        (
            "/api/v1/mailpieces/cancel".to_owned(),
            json!({"campaign_id": CAMPAIGN, "reference": ""}),
            422,
            "invalid_payload",
        ),
        (
            "/api/v1/mailpieces/cancel".to_owned(),
            json!({"campaign_id": "PA-NOBODY", "reference": "r1"}),
            404,
            "campaign_not_found",
        ),
        (
            "/api/v1/campaigns/PA-NOBODY/hold".to_owned(),
            Value::Null,
            404,
            "campaign_not_found",
        ),
        (
            "/api/v1/campaigns/seven/release".to_owned(),
            Value::Null,
            404,
            "campaign_not_found",
        ),
    ];
    for (path, body, status, code) in cases {
        let answer = post(&stack, &path, body).await;
        assert_eq!(answer.error(), (status, code.to_owned()), "{path}");
    }
    // Of another team, nothing is there.
    let headers = [("x-api-key", "pk_live_22222222222222222222222222222222")];
    for (path, code) in [
        (
            format!("/api/v1/mailpieces/{ours}/cancel"),
            "mailpiece_not_found",
        ),
        (
            format!("/api/v1/requests/{request_id}/cancel"),
            "request_not_found",
        ),
        (
            format!("/api/v1/campaigns/{CAMPAIGN}/hold"),
            "campaign_not_found",
        ),
    ] {
        let url = format!("{}{path}", stack.url);
        let answer = stack.request(Method::POST, &url, &headers, "").await;
        assert_eq!(answer.error(), (404, code.to_owned()), "{path}");
        let wrong = stack
            .request(Method::POST, &url, &[("x-api-key", "pk_live_no")], "")
            .await;
        assert_eq!(wrong.error(), (401, "invalid_api_key".to_owned()), "{path}");
    }
    let unpaid = "UPDATE charges SET state = 'reserved', settled_at = NULL";
    stack.sql.execute(unpaid, &[]).await.unwrap();
    for path in [
        format!("/api/v1/mailpieces/{ours}/cancel"),
        format!("/api/v1/requests/{request_id}/cancel"),
    ] {
        let answer = post(&stack, &path, Value::Null).await;
        assert_eq!(answer.error(), (409, "in_progress".to_owned()), "{path}");
    }
    let cancelled = "SELECT count(*) FROM mailpieces WHERE withheld IS NOT NULL";
    assert_eq!(stack.query_count(cancelled).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_mailpiece_is_no_duplicate_and_gets_no_later_step() {
    let stack = TestStack::start().await;
    let steps = json!([
        {"design": "Card", "postage": "standard"},
        {"design": "Card", "postage": "standard", "delay_days": 2},
    ]);
    stack.save_campaign(json!({"steps": steps})).await;
    let request_id = mail(&stack, 1..3).await;
    let first = list_mailpieces(&stack).await[0];
    assert_eq!(cancel_mailpiece(&stack, first).await.status, 200);
    stack.clock.advance(TimeDelta::days(3));
    wait_until("the step is mailed", async || {
        stack.query_count("SELECT count(*) FROM jobs").await == 0
    })
    .await;
    let second = "SELECT count(*) FROM mailpieces WHERE step = 2";
    assert_eq!(stack.query_count(second).await, 1);
    // Outside the window in which the first answer stands, inside that of duplicates.
    let again = stack.send_recipients(&build_recipients(1..3)).await;
    assert_ne!(again.headers["x-request-id"].to_str().unwrap(), request_id);
    let mut reasons = again.reasons();
    reasons.sort();
    assert_eq!(reasons, ["duplicate_recent", "mailed"]);
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_prints_before_it_can_no_longer_be_cancelled() {
    let stack = TestStack::with_options(StackOptions {
        settings: vec![("PRINT__CANCEL_MINUTES", "5".to_owned())],
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    mail(&stack, 1..3).await;
    assert_eq!(claim_some(&stack, 10).await, 0);
    stack.clock.advance(TimeDelta::minutes(6));
    assert_eq!(claim_some(&stack, 10).await, 2);
    // A campaign's own window is the one that counts.
    let none = "UPDATE campaigns SET cancel_minutes = 0";
    stack.sql.execute(none, &[]).await.unwrap();
    mail(&stack, 3..4).await;
    assert_eq!(claim_some(&stack, 10).await, 1);
    stack.assert_consistent().await;
}

/// Mailpieces of the race: enough that claims and cancels meet many times.
const RACING: usize = 2_000;

#[tokio::test(flavor = "multi_thread")]
async fn each_mailpiece_is_printed_and_charged_or_cancelled_and_refunded_whoever_comes_first() {
    let (mut stack, _) = with_mailed(RACING).await;
    stack.add_mailer(None);
    let paid = balance(&stack).await;
    let mailpieces = list_mailpieces(&stack).await;
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let cancelling = async {
        // Some are asked for twice at the same time.
        let wanted = mailpieces.iter().chain(mailpieces.iter().step_by(10));
        let answers: Vec<(Uuid, u16)> = stream::iter(wanted)
            .map(|id| async { (*id, cancel_mailpiece(&stack, *id).await.status.as_u16()) })
            .buffer_unordered(16)
            .collect()
            .await;
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        answers
    };
    let claiming = async {
        let mut claimed = 0;
        while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
            claimed += claim_some(&stack, 3).await;
        }
        claimed
    };
    let (answers, claimed) = tokio::join!(cancelling, claiming);
    let of_status = |wanted: u16| -> HashSet<Uuid> {
        let with = answers.iter().filter(|(_, status)| *status == wanted);
        with.map(|(id, _)| *id).collect()
    };
    let (cancelled, printed) = (of_status(200), of_status(409));
    assert!(
        cancelled.is_disjoint(&printed),
        "one answer for each, however often"
    );
    assert_eq!(cancelled.len() + printed.len(), RACING, "never neither");
    assert_eq!(printed.len(), usize::try_from(claimed).unwrap());
    assert!(!printed.is_empty() && !cancelled.is_empty(), "they met");
    let both = "SELECT count(*) FROM mailpieces WHERE (withheld = 'cancelled') = (print_run_id IS NOT NULL)";
    assert_eq!(stack.query_count(both).await, 0);
    let refunded = i64::try_from(cancelled.len()).unwrap() * 79;
    assert_eq!(balance(&stack).await, paid + refunded);
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mailer_that_dies_before_its_answer_has_cancelled_once() {
    let stack = TestStack::with_options(StackOptions {
        settings: vec![("GATEWAY__CALL_DEADLINE_MS", "20000".to_owned())],
        mailers: 0,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    let mut doomed = SpawnedProcess::start("mailer", &stack.settings, Some("cancel.committed"));
    wait_until("the send is answered", async || {
        let answer = stack.send_recipients(&build_recipients(1..31)).await;
        answer.status == 200
    })
    .await;
    // A repeat within the window is answered with the first one's response: the charge has the id of the first.
    let row = stack
        .sql
        .query_one("SELECT charge_id::text FROM charges", &[])
        .await
        .unwrap();
    let path = format!("/api/v1/requests/{}/cancel", row.get::<_, String>(0));
    let expected = json!({"cancelled": 30, "already_printed": 0, "refunded_cents": 30 * 79});
    let (first, _second) = tokio::join!(post(&stack, &path, Value::Null), async {
        let doomed = tokio::sync::Mutex::new(&mut doomed);
        wait_until("the mailer dies at its fail point", async || {
            doomed.lock().await.has_ended()
        })
        .await;
        // The broker gives it the same order.
        SpawnedProcess::start("mailer", &stack.settings, None)
    });
    assert_eq!(first.json(), expected);
    assert_eq!(post(&stack, &path, Value::Null).await.json(), expected);
    assert_eq!(stack.query_count("SELECT count(*) FROM refunds").await, 1);
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_held_campaign_prints_nothing_until_it_is_released() {
    let (stack, _) = with_mailed(3).await;
    let hold = async |action: &str| {
        let path = format!("/api/v1/campaigns/{CAMPAIGN}/{action}");
        let answer = post(&stack, &path, Value::Null).await;
        assert_eq!(answer.status, 200);
        answer.json()
    };
    let held = hold("hold").await;
    assert_eq!(held["campaign_id"], CAMPAIGN);
    assert!(held["held_at"].is_string(), "{held}");
    assert_eq!(claim_some(&stack, 10).await, 0);
    assert_eq!(hold("hold").await, held, "it is held since then");
    // What is made meanwhile is held, too, and can be cancelled.
    mail(&stack, 4..6).await;
    let of_state = async |withheld: &str| {
        let sql = format!("SELECT count(*) FROM mailpieces WHERE withheld = '{withheld}'");
        stack.query_count(&sql).await
    };
    wait_until("they are out of the queue", async || {
        of_state("held").await == 5
    })
    .await;
    assert_eq!(claim_some(&stack, 10).await, 0);
    let first = list_mailpieces(&stack).await[0];
    assert_eq!(cancel_mailpiece(&stack, first).await.status, 200);
    assert_eq!(hold("release").await["held_at"], Value::Null);
    hold("release").await;
    wait_until("they are back in the queue", async || {
        of_state("held").await == 0
    })
    .await;
    assert_eq!(of_state("cancelled").await, 1);
    assert_eq!(claim_some(&stack, 10).await, 4);
    let logged = "SELECT count(*) FROM activities WHERE action IN ('campaign.held', 'campaign.released') AND subject = 'Test'";
    assert_eq!(stack.query_count(logged).await, 2);
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_whose_worker_dies_is_in_force_and_finished_by_another() {
    let stack = TestStack::with_options(StackOptions {
        mailers: 0,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    let mut doomed = SpawnedProcess::start("mailer", &stack.settings, Some("hold.portion"));
    wait_until("the send is answered", async || {
        stack.send_recipients(&build_recipients(1..4)).await.status == 200
    })
    .await;
    let path = format!("/api/v1/campaigns/{CAMPAIGN}/hold");
    assert_eq!(post(&stack, &path, Value::Null).await.status, 200);
    assert!(tokio::task::block_in_place(|| !doomed.wait()));
    // Whatever the portion has come to, the campaign is held.
    assert_eq!(claim_some(&stack, 10).await, 0);
    // As if it had died in the portion before.
    let undone =
        "UPDATE mailpieces SET withheld = NULL; UPDATE campaigns SET hold_changed_at = held_at";
    stack.sql.batch_execute(undone).await.unwrap();
    assert_eq!(claim_some(&stack, 10).await, 0);
    let _second = SpawnedProcess::start("mailer", &stack.settings, None);
    wait_until("another one goes on", async || {
        let left = "SELECT count(*) FROM campaigns WHERE hold_changed_at IS NOT NULL";
        let held = "SELECT count(*) FROM mailpieces WHERE withheld = 'held'";
        stack.query_count(left).await == 0 && stack.query_count(held).await == 3
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_for_a_later_day_prints_on_that_day() {
    let stack = TestStack::start().await;
    let today = stack
        .now()
        .with_timezone(&chrono_tz::America::New_York)
        .date_naive();
    let send = async |day: Value, numbers: std::ops::Range<usize>| {
        let body = json!({"campaign_id": CAMPAIGN, "recipients": build_recipients(numbers), "send_on": day});
        stack.post_send(&body).await
    };
    let after = |days: i64| (today + TimeDelta::days(days)).to_string();
    for wrong in [
        json!(after(-1)),
        json!(after(181)),
        json!("tomorrow"),
        json!("2026-1-2"),
        json!(20_261_224),
    ] {
        let answer = send(wrong.clone(), 1..2).await;
        assert_eq!(
            answer.error(),
            (422, "invalid_payload".to_owned()),
            "{wrong}"
        );
        let message = answer.json()["message"].as_str().unwrap().to_owned();
        assert!(message.contains("send_on"), "{message}");
    }
    for (day, number) in [(json!(after(0)), 1), (Value::Null, 2)] {
        let answer = send(day, number..number + 1).await;
        assert_eq!(answer.reasons(), ["mailed"]);
    }
    assert_eq!(claim_some(&stack, 10).await, 2, "today is at once");
    let answer = send(json!(after(180)), 3..4).await;
    assert_eq!(answer.reasons(), ["mailed"]);
    let mail_by = answer.json()["results"][0]["mail_by_date"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(mail_by.parse::<NaiveDate>().unwrap() > today + TimeDelta::days(180));
    assert_eq!(claim_some(&stack, 10).await, 0);
    stack.clock.advance(TimeDelta::days(179));
    assert_eq!(claim_some(&stack, 10).await, 0);
    stack.clock.advance(TimeDelta::days(1));
    assert_eq!(claim_some(&stack, 10).await, 1);
    stack.assert_consistent().await;
}

/// A provider that takes every payment, and the stack of a team that pays there.
async fn paid_by_card() -> (TestStack, MockServer) {
    let stripe = MockServer::start().await;
    let paid = json!({"id": "pi_1", "status": "succeeded"});
    Mock::given(method("POST"))
        .and(path("/v1/payment_intents"))
        .respond_with(ResponseTemplate::new(200).set_body_json(paid))
        .mount(&stripe)
        .await;
    let stack = TestStack::with_options(StackOptions {
        settings: vec![
            ("STRIPE__URL", stripe.uri()),
            ("STRIPE__SECRET_KEY", "sk_test_secret".to_owned()),
        ],
        mailers: 0,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    let by_card = "UPDATE teams SET payment = 'stripe', stripe_customer = 'cus_1', stripe_payment_method = 'pm_1'";
    stack.sql.execute(by_card, &[]).await.unwrap();
    (stack, stripe)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_has_its_money_back_once_whoever_dies_meanwhile() {
    let (stack, stripe) = paid_by_card().await;
    let mut doomed = SpawnedProcess::start("mailer", &stack.settings, Some("refund.given"));
    wait_until("the send is answered", async || {
        stack.send_recipients(&build_recipients(1..3)).await.status == 200
    })
    .await;
    let first = list_mailpieces(&stack).await[0];
    let given = json!({"id": "re_1", "status": "succeeded"});
    let owed = "SELECT count(*) FROM refunds WHERE state = 'owed'";
    Mock::given(method("POST"))
        .and(path("/v1/refunds"))
        .and(body_string_contains("payment_intent=pi_1"))
        .and(body_string_contains("amount=79"))
        .respond_with(ResponseTemplate::new(200).set_body_json(given))
        .mount(&stripe)
        .await;
    let answer = cancel_mailpiece(&stack, first).await;
    assert_eq!(answer.json()["refunded_cents"], 79);
    assert!(tokio::task::block_in_place(|| !doomed.wait()));
    assert_eq!(stack.query_count(owed).await, 1);
    stack.assert_consistent().await;
    // Its lease is over.
    let due = "UPDATE refunds SET due_at = created_at";
    stack.sql.execute(due, &[]).await.unwrap();
    let _second = SpawnedProcess::start("mailer", &stack.settings, None);
    wait_until("the refund is booked", async || {
        stack.query_count(owed).await == 0
    })
    .await;
    let row = stack
        .sql
        .query_one(
            "SELECT refund_id::text, payment_reference FROM refunds",
            &[],
        )
        .await
        .unwrap();
    let (refund_id, reference): (String, String) = (row.get(0), row.get(1));
    assert_eq!(reference, "re_1");
    let asked = stripe.received_requests().await.unwrap();
    let keys: Vec<_> = asked
        .iter()
        .filter(|request| request.url.path() == "/v1/refunds")
        .map(|request| request.headers["idempotency-key"].to_str().unwrap())
        .collect();
    assert_eq!(
        keys,
        [&refund_id, &refund_id],
        "both asked with the same key"
    );
    let cash = "SELECT balance_cents FROM ledger_accounts JOIN teams USING (team_id) WHERE account = 'cash' AND payment = 'stripe'";
    assert_eq!(stack.query_count(cash).await, -10_000_000 - 79);
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_that_the_provider_refuses_stays_owed_and_is_tried_again() {
    let (mut stack, stripe) = paid_by_card().await;
    stack.add_mailer(None);
    wait_until("the send is answered", async || {
        stack.send_recipients(&build_recipients(1..2)).await.status == 200
    })
    .await;
    let refused = json!({"error": {"type": "invalid_request_error", "code": "resource_missing"}});
    let refusing = Mock::given(method("POST"))
        .and(path("/v1/refunds"))
        .and(header("authorization", "Bearer sk_test_secret"))
        .respond_with(ResponseTemplate::new(400).set_body_json(refused))
        .mount_as_scoped(&stripe)
        .await;
    let first = list_mailpieces(&stack).await[0];
    assert_eq!(cancel_mailpiece(&stack, first).await.status, 200);
    let now = stack.now();
    wait_until("it is put off", async || {
        let put_off =
            "SELECT count(*) FROM refunds WHERE state = 'owed' AND attempts = 1 AND due_at < $1";
        let soon = now + TimeDelta::minutes(3);
        let row = stack.sql.query_one(put_off, &[&soon]).await.unwrap();
        row.get::<_, i64>(0) == 1
    })
    .await;
    drop(refusing);
    // A day later the provider has forgotten the key, and is asked what it has given back.
    let page = json!({"data": [{"id": "re_7", "status": "succeeded", "metadata":
        {"refund_id": refund_id(&stack).await}}], "has_more": false});
    Mock::given(method("GET"))
        .and(path("/v1/refunds"))
        .respond_with(ResponseTemplate::new(200).set_body_json(page))
        .mount(&stripe)
        .await;
    stack.clock.advance(TimeDelta::days(1));
    wait_until("it is found", async || {
        let found =
            "SELECT count(*) FROM refunds WHERE state = 'settled' AND payment_reference = 're_7'";
        stack.query_count(found).await == 1
    })
    .await;
    stack.assert_consistent().await;
}

async fn refund_id(stack: &TestStack) -> String {
    let row = stack
        .sql
        .query_one("SELECT refund_id::text FROM refunds", &[])
        .await;
    row.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_queued_for_an_address_that_nobody_wants_is_cancelled_if_the_campaign_says_so() {
    let stack = TestStack::start().await;
    for (cancels, numbers, expected) in [(true, 1..4, 2), (false, 11..14, 2)] {
        stack
            .save_campaign(json!({"cancels_unwanted": cancels}))
            .await;
        mail(&stack, numbers.clone()).await;
        let listed = find_address(&stack, numbers.start).await;
        let removed = find_address(&stack, numbers.start + 1).await;
        let campaign_id = CAMPAIGN.parse().unwrap();
        let mut connection = stack.store.connection().await.unwrap();
        let transaction = connection.begin_transaction().await.unwrap();
        let lines = [(listed, "listed")];
        let added = transaction
            .add_do_not_mail(&campaign_id, &lines, stack.now())
            .await;
        assert_eq!(added.unwrap(), 1);
        let team_id = stack.store.find_team_by_name("Test").await.unwrap().team_id;
        let removal = transaction.remove_recipients_at(team_id, &campaign_id, removed, stack.now());
        assert_eq!(removal.await.unwrap().newly_removed, 1);
        transaction.commit().await.unwrap();
        wait_until("all is cancelled that is to be", async || {
            let waiting = "SELECT count(*) FROM mailpieces WHERE withheld = 'unwanted'";
            stack.query_count(waiting).await == 0
        })
        .await;
        let cancelled = "SELECT count(*) FROM mailpiece_events WHERE state = 'cancelled' AND source = 'unwanted'";
        assert_eq!(stack.query_count(cancelled).await, expected);
    }
    let refunded = "SELECT sum(amount_cents)::bigint FROM refunds";
    assert_eq!(stack.query_count(refunded).await, 2 * 79);
    assert_eq!(claim_some(&stack, 10).await, 1 + 3);
    stack.assert_consistent().await;
}

/// The address that a recipient was mailed at.
async fn find_address(stack: &TestStack, number: usize) -> Uuid {
    let reference = format!("r{number}");
    let sql = "SELECT address_id FROM recipients WHERE reference = $1";
    stack
        .sql
        .query_one(sql, &[&reference])
        .await
        .unwrap()
        .get(0)
}
