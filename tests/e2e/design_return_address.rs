//! Return addresses with fields in them: verified once per distinct value, within limits, with a fallback.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use address::{AddressInput, AddressVerdict, VerificationStrictness};
use chrono::TimeDelta;
use futures_util::future::BoxFuture;
use pillarbox_tests::{StackOptions, TestStack, build_center, build_recipient, build_recipients};
use serde_json::{Value, json};
use verification::{AddressVerifier, VerificationError};

const FALLBACK: [&str; 3] = ["Main Office", "500 Congress Ave", "Austin, TX 78701"];

/// A postcard that is sent back to the recipient's agent, or to the main office.
fn agents_card() -> Value {
    let agent = json!({"name": "{{agent|Your agent}}", "address_1": "{{agent_street}}", "city": "Austin",
        "state": "TX", "zip": "{{agent_zip|78701}}"});
    let office = json!({"name": FALLBACK[0], "address_1": FALLBACK[1], "city": "Austin", "state": "TX",
        "zip": "78701"});
    json!({"product": "postcard_4x6", "return_address": {"address": agent, "fallback": office},
        "front": {"elements": []}, "back": {"elements": []}})
}

fn client_of(number: usize, street: &str) -> Value {
    let mut person = build_recipient(number);
    person["agent"] = "Kim Agent".into();
    person["agent_street"] = street.into();
    person
}

async fn with_agents(settings: &[(&'static str, &str)]) -> TestStack {
    let settings = settings
        .iter()
        .map(|(name, value)| (*name, (*value).to_owned()))
        .collect();
    let stack = TestStack::with_options(StackOptions {
        settings,
        ..StackOptions::default()
    })
    .await;
    stack.apply_design(agents_card(), json!({})).await;
    stack
}

/// For each result why its fallback prints; empty when it does not.
fn fallbacks(answer: &Value) -> Vec<String> {
    let results = answer["results"].as_array().unwrap().iter();
    let reasons = results.map(|result| {
        let reason = result.get("return_address_reason");
        assert_eq!(
            result.get("return_address_fallback"),
            reason.map(|_| &Value::Bool(true))
        );
        reason.map_or_else(String::new, |reason| reason.as_str().unwrap().to_owned())
    });
    reasons.collect()
}

async fn asked_today(stack: &TestStack) -> i64 {
    stack
        .query_count("SELECT coalesce(max(asked), 0)::bigint FROM return_address_days")
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_return_address_prints_in_its_verified_form_and_is_verified_once() {
    let stack = with_agents(&[]).await;
    let send = [
        client_of(1, "12 n main street"),
        client_of(2, "12 N Main Street"),
    ];
    let answer = stack.send_recipients(&send).await;
    assert_eq!(answer.reasons(), ["mailed"; 2]);
    assert_eq!(fallbacks(&answer.json()), ["", ""]);
    stack
        .send_recipients(&[client_of(3, "12 N MAIN STREET ")])
        .await;
    assert_eq!(asked_today(&stack).await, 1);
    for content in stack.list_contents().await {
        assert_eq!(
            content["return_address"],
            json!(["Kim Agent", "12 N Main St", "Austin, TX 78701"])
        );
    }
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_token_value_and_unverified_address_print_the_fallback() {
    let stack = with_agents(&[]).await;
    let mut elsewhere = client_of(2, "12 N Main St");
    elsewhere["agent_zip"] = "00000".into();
    let answer = stack
        .send_recipients(&[build_recipient(1), elsewhere, client_of(3, "12 N Main St")])
        .await;
    assert_eq!(answer.reasons(), ["mailed"; 3]);
    assert_eq!(
        fallbacks(&answer.json()),
        ["missing_token_value", "unverified_address", ""]
    );
    let contents = stack.list_contents().await;
    assert_eq!(
        [
            &contents[0]["return_address"],
            &contents[1]["return_address"]
        ],
        [&json!(FALLBACK); 2]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn verification_limit_reached_in_a_request_and_those_that_are_known_do_not_count() {
    let stack = with_agents(&[("RETURN_ADDRESSES__PER_REQUEST", "2")]).await;
    let clients = |first: usize| -> Vec<Value> {
        (0..4)
            .map(|number| client_of(first + number, &format!("{} Elm St", 10 + number)))
            .collect()
    };
    let limit = "verification_limit_reached";
    assert_eq!(
        fallbacks(&stack.send_recipients(&clients(1)).await.json()),
        ["", "", limit, limit]
    );
    assert_eq!(
        fallbacks(&stack.send_recipients(&clients(11)).await.json()),
        [""; 4]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn verification_limit_reached_for_the_teams_day() {
    let stack = with_agents(&[("RETURN_ADDRESSES__PER_DAY", "3")]).await;
    let client = |number: usize| client_of(number, &format!("{number} Oak St"));
    let limit = "verification_limit_reached";
    assert_eq!(
        fallbacks(&stack.send_recipients(&[client(1), client(2)]).await.json()),
        ["", ""]
    );
    assert_eq!(
        fallbacks(&stack.send_recipients(&[client(3), client(4)]).await.json()),
        ["", limit]
    );
    assert_eq!(
        fallbacks(&stack.send_recipients(&[client(5)]).await.json()),
        [limit]
    );
    stack.clock.advance(TimeDelta::days(1));
    assert_eq!(
        fallbacks(&stack.send_recipients(&[client(6)]).await.json()),
        [""]
    );
}

/// Verifies by the ZIP data and counts; once told so, its provider is down for return addresses.
struct Counting {
    asked: AtomicUsize,
}

impl AddressVerifier for Counting {
    fn verify<'a>(
        &'a self,
        inputs: &'a [AddressInput<'a>],
        _: Option<VerificationStrictness>,
    ) -> BoxFuture<'a, Result<Vec<AddressVerdict>, VerificationError>> {
        Box::pin(async move {
            if inputs.iter().any(|input| input.address_1 == "13 Outage St") {
                return Err(VerificationError::Unavailable(
                    "the provider is down".to_owned(),
                ));
            }
            self.asked.fetch_add(inputs.len(), Ordering::Relaxed);
            Ok(inputs
                .iter()
                .map(|input| address::verify_address(*input))
                .collect())
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_recipients_of_one_agent_ask_the_verifier_once_and_an_outage_mails_nobody() {
    let verifier = Arc::new(Counting {
        asked: AtomicUsize::new(0),
    });
    let options = StackOptions {
        verifier: Some(verifier.clone()),
        ..StackOptions::default()
    };
    let stack = TestStack::with_options(options).await;
    stack.apply_design(agents_card(), json!({})).await;
    let clients: Vec<Value> = (1..=1000)
        .map(|number| client_of(number, "12 N Main St"))
        .collect();
    stack.send_recipients(&clients).await;
    assert_eq!(verifier.asked.load(Ordering::Relaxed), 1001);
    let answer = stack
        .send_recipients(&[client_of(2001, "13 Outage St")])
        .await;
    assert_eq!(answer.error(), (503, "validation_unavailable".to_owned()));
    assert_eq!(
        stack.query_count("SELECT count(*) FROM mailpieces").await,
        1000
    );
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_return_address_without_fields_prints_as_it_was_written() {
    let stack = TestStack::start().await;
    let address = json!({"name": "The Shop", "address_1": "1 Nowhere Lane", "address_2": "Back door",
        "city": "Atlantis", "state": "XX", "zip": "00000"});
    let card = json!({"product": "postcard_4x6", "return_address": {"address": address},
        "front": {"elements": []}, "back": {"elements": []}});
    stack.apply_design(card, json!({})).await;
    assert_eq!(
        fallbacks(&stack.send_recipients(&build_recipients(1..3)).await.json()),
        ["", ""]
    );
    let lines = json!([
        "The Shop",
        "1 Nowhere Lane",
        "Back door",
        "Atlantis, XX 00000"
    ]);
    assert_eq!(stack.list_contents().await[1]["return_address"], lines);
    assert_eq!(asked_today(&stack).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn later_steps_and_the_recheck_choose_return_addresses_as_a_send_does() {
    let stack = TestStack::start().await;
    stack
        .apply_team(
            json!({"teams": [{"name": "Test", "columns": [{"name": "Score", "type": "number"}]}]}),
        )
        .await;
    let campaign = |score: i64| {
        json!({"conditions": {"column": "score", "operator": "greater", "value": score},
        "steps": [{"design": "Designed", "postage": "standard"},
            {"design": "Designed", "postage": "standard", "delay_days": 3}]})
    };
    stack.apply_design(agents_card(), campaign(10)).await;
    let scored = |mut person: Value, score: i64| {
        person["score"] = score.into();
        person
    };
    let send = [
        scored(client_of(1, "12 N Main St"), 50),
        scored(client_of(2, "14 N Main St"), 5),
        scored(build_recipient(3), 5),
    ];
    let reasons = stack.send_recipients(&send).await.reasons();
    assert_eq!(
        reasons,
        ["mailed", "filtered_conditions", "filtered_conditions"]
    );
    stack.save_campaign(campaign(1)).await;
    stack.clock.advance(TimeDelta::days(1));
    stack.wait_until_paid(3).await;
    stack.clock.advance(TimeDelta::days(3));
    stack.wait_until_paid(6).await;
    let sql = "SELECT content->'return_address' FROM mailpieces ORDER BY last_name, step";
    let printed: Vec<Value> = stack
        .sql
        .query(sql, &[])
        .await
        .unwrap()
        .iter()
        .map(|row| row.get(0))
        .collect();
    let agent = |street: &str| json!(["Kim Agent", street, "Austin, TX 78701"]);
    let (first, second) = (agent("12 N Main St"), agent("14 N Main St"));
    assert_eq!(
        printed,
        [
            first.clone(),
            first,
            second.clone(),
            second,
            json!(FALLBACK),
            json!(FALLBACK)
        ]
    );
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn neighborhood_mail_prints_the_fallback_and_its_results_do_not_say_so() {
    let stack = TestStack::with_options(StackOptions::default()).await;
    stack.import_main_street(1..11).await;
    let settings = json!({"kind": "neighborhood", "radius_metres": 60});
    stack.apply_design(agents_card(), settings).await;
    let mut center = build_center(5);
    center["agent_street"] = "12 N Main St".into();
    let answer = stack.send_recipients(&[center]).await;
    assert_eq!(answer.reasons(), ["mailed"]);
    let result = &answer.json()["results"][0];
    for field in [
        "warnings",
        "return_address_fallback",
        "return_address_reason",
    ] {
        assert_eq!(result.get(field), None);
    }
    let contents = stack.list_contents().await;
    assert!(
        contents.len() > 5
            && contents
                .iter()
                .all(|content| content["return_address"] == json!(FALLBACK))
    );
}
