//! AI columns against a language model with faults.

use std::time::Duration;

use chrono::TimeDelta;
use pillarbox_tests::{
    SpawnedProcess, StackOptions, TestStack, build_recipient, build_recipients, wait_until,
};
use serde_json::{Value, json};
use wiremock::matchers::{body_string_contains, header, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

const PROMPT: &str = "Greet {{first_name}} {{last_name}}.";

fn answer(text: &str) -> ResponseTemplate {
    let choice =
        json!({"message": {"role": "assistant", "content": text}, "finish_reason": "stop"});
    ResponseTemplate::new(200).set_body_json(json!({"choices": [choice]}))
}

/// A model that answers so, the first ones first and the last for good.
async fn model(answers: Vec<ResponseTemplate>) -> MockServer {
    let server = MockServer::start().await;
    let last = answers.len() - 1;
    for (at, answer) in answers.into_iter().enumerate() {
        let mock = Mock::given(method("POST"))
            .and(path("/v1/chat/completions"))
            .and(header("authorization", "Bearer secret"))
            .respond_with(answer);
        let mock = if at < last {
            mock.up_to_n_times(1)
        } else {
            mock
        };
        mock.mount(&server).await;
    }
    server
}

fn settings(server: &MockServer, more: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    let usual = [
        ("LANGUAGE_MODEL__URL", format!("{}/v1", server.uri())),
        ("LANGUAGE_MODEL__API_KEY", "secret".to_owned()),
        ("LANGUAGE_MODEL__MODEL", "test".to_owned()),
        ("LANGUAGE_MODEL__TIMEOUT_MS", "500".to_owned()),
    ];
    usual
        .into_iter()
        .chain(
            more.iter()
                .map(|(name, value)| (*name, (*value).to_owned())),
        )
        .collect()
}

async fn stack_with(
    server: &MockServer,
    more: &[(&'static str, &str)],
    mailers: usize,
) -> TestStack {
    let options = StackOptions {
        settings: settings(server, more),
        mailers,
        ..StackOptions::default()
    };
    let stack = TestStack::with_options(options).await;
    stack.save_campaign(json!({})).await;
    prompt(&stack, PROMPT).await;
    stack
}

async fn prompt(stack: &TestStack, prompt: &str) {
    let columns = json!([{"name": "Greeting", "prompt": prompt}]);
    stack
        .apply_team(json!({"teams": [{"name": "Test", "columns": columns}]}))
        .await;
}

/// State and reason of the only cell, and the value in its entry.
async fn cell(stack: &TestStack) -> (String, Option<String>, Option<String>) {
    let sql = "SELECT ai_cells.state, reason, custom ->> 'greeting' FROM ai_cells JOIN address_entries USING (team_id, entry_id)";
    let row = stack.sql.query_opt(sql, &[]).await.unwrap();
    row.map_or_else(
        || (String::new(), None, None),
        |row| (row.get(0), row.get(1), row.get(2)),
    )
}

async fn until(stack: &TestStack, state: &str, reason: Option<&str>, value: Option<&str>) {
    let wanted = (
        state.to_owned(),
        reason.map(str::to_owned),
        value.map(str::to_owned),
    );
    wait_until(&format!("the cell is {wanted:?}"), async || {
        // Pauses pass.
        stack.clock.advance(TimeDelta::seconds(10));
        cell(stack).await == wanted
    })
    .await;
}

async fn asked(server: &MockServer) -> usize {
    server.received_requests().await.unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_is_written_in_the_background_and_the_same_question_is_asked_once() {
    let server = model(vec![answer(" Dear Ada! ")]).await;
    let stack = stack_with(&server, &[], 1).await;
    let mut liar = build_recipient(1);
    liar["greeting"] = "mine".into();
    let sent = stack.send_recipients(&[liar.clone()]).await;
    assert_eq!(sent.json()["summary"]["computedFieldsIgnored"], 1);
    until(&stack, "written", None, Some("Dear Ada!")).await;
    assert_eq!(asked(&server).await, 1);
    // Sent again, past the replay window: it waits again, and is answered from what is known.
    stack
        .sql
        .execute("UPDATE address_entries SET custom = '{}'", &[])
        .await
        .unwrap();
    stack.clock.advance(TimeDelta::hours(1));
    stack.send_recipients(&[build_recipient(1)]).await;
    until(&stack, "written", None, Some("Dear Ada!")).await;
    assert_eq!(asked(&server).await, 1);
    let body: Value = server.received_requests().await.unwrap()[0]
        .body_json()
        .unwrap();
    assert_eq!(
        (&body["model"], body["messages"].as_array().unwrap().len()),
        (&json!("test"), 1)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_prompt_is_asked_for_every_entry() {
    let server = MockServer::start().await;
    for (prompt, text) in [("Greet", "first"), ("Thank", "second")] {
        Mock::given(body_string_contains(prompt))
            .respond_with(answer(text))
            .mount(&server)
            .await;
    }
    let stack = stack_with(&server, &[], 1).await;
    stack.send_recipients(&build_recipients(1..8)).await;
    let written = |text: &str| {
        format!("SELECT count(*) FROM address_entries WHERE custom ->> 'greeting' = '{text}'")
    };
    wait_until("all are greeted", async || {
        stack.query_count(&written("first")).await == 7
    })
    .await;
    prompt(&stack, "Thank {{first_name}} {{last_name}}.").await;
    wait_until("all are thanked", async || {
        stack.query_count(&written("second")).await == 7
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_are_tried_again_and_rubbish_is_not_a_value() {
    let faults = vec![
        ResponseTemplate::new(503),
        ResponseTemplate::new(429).insert_header("retry-after", "300"),
        answer("late").set_delay(Duration::from_secs(5)),
        ResponseTemplate::new(200).set_body_string("no JSON"),
        answer("Dear Ada!"),
    ];
    let server = model(faults).await;
    let stack = stack_with(&server, &[], 1).await;
    stack.send_recipients(&[build_recipient(1)]).await;
    until(&stack, "written", None, Some("Dear Ada!")).await;
    assert_eq!(asked(&server).await, 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_never_answers_is_given_up_with_the_reason() {
    let server = model(vec![ResponseTemplate::new(500)]).await;
    let stack = stack_with(&server, &[("LANGUAGE_MODEL__ATTEMPTS", "3")], 1).await;
    stack.send_recipients(&[build_recipient(1)]).await;
    until(
        &stack,
        "blank",
        Some("the language model did not answer"),
        None,
    )
    .await;
    assert_eq!(asked(&server).await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_over_long_answer_is_blank_with_the_reason() {
    let server = model(vec![answer(&"long ".repeat(200))]).await;
    let stack = stack_with(&server, &[], 1).await;
    stack.send_recipients(&[build_recipient(1)]).await;
    until(
        &stack,
        "blank",
        Some("the language model answered more than 600 characters"),
        None,
    )
    .await;
    assert_eq!(asked(&server).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blank_field_leaves_nothing_to_ask() {
    let server = model(vec![answer("Dear Ada!")]).await;
    let stack = stack_with(&server, &[], 1).await;
    let columns = json!([{"name": "nickname", "type": "text"}]);
    stack
        .apply_team(json!({"teams": [{"name": "Test", "columns": columns}]}))
        .await;
    prompt(&stack, "Greet {{nickname}}.").await;
    stack.send_recipients(&[build_recipient(1)]).await;
    until(&stack, "blank", Some("nickname is blank"), None).await;
    assert_eq!(asked(&server).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_allowance_of_a_day_is_kept_and_the_next_day_goes_on() {
    let server = model(vec![answer("Dear Ada!")]).await;
    // A question takes its own characters and those of the longest answer.
    let stack = stack_with(
        &server,
        &[("LANGUAGE_MODEL__CHARACTERS_PER_TEAM_AND_DAY", "700")],
        1,
    )
    .await;
    stack.send_recipients(&build_recipients(1..4)).await;
    let used_up = "SELECT count(*) FROM ai_cells WHERE reason LIKE '%used up%'";
    wait_until("two have to wait", async || {
        stack.query_count(used_up).await == 2
    })
    .await;
    assert_eq!(asked(&server).await, 1);
    stack.clock.advance(TimeDelta::days(1));
    wait_until("one more is asked", async || asked(&server).await == 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_model_values_wait_with_the_reason() {
    let stack = TestStack::start().await;
    prompt(&stack, PROMPT).await;
    assert_eq!(
        stack.send_recipients(&[build_recipient(1)]).await.reasons(),
        ["mailed"]
    );
    let (state, reason, value) = cell(&stack).await;
    assert_eq!((state.as_str(), value), ("waiting", None));
    assert!(
        reason
            .unwrap()
            .contains("there is none unless one is configured")
    );
    // A preview says it of each person.
    let team = stack.store.find_team_by_name("Test").await.unwrap().team_id;
    let entry = stack
        .sql
        .query_one("SELECT entry_id FROM address_entries", &[])
        .await
        .unwrap()
        .get(0);
    let reasons = stack
        .store
        .list_ai_cell_reasons(team, &["greeting"], &[entry])
        .await
        .unwrap();
    assert!(reasons[&entry]["greeting"].contains("there is none unless one is configured"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_killed_with_the_answer_in_hand_leaves_it_to_another() {
    let server = model(vec![answer("Dear Ada!")]).await;
    let mut stack = stack_with(&server, &[], 0).await;
    let mut doomed = SpawnedProcess::start("mailer", &stack.settings, Some("ai.answered"));
    wait_until("the send is answered", async || {
        stack.send_recipients(&[build_recipient(1)]).await.status == 200
    })
    .await;
    wait_until("the mailer dies", async || asked(&server).await == 1).await;
    doomed.wait();
    assert_eq!(cell(&stack).await.2, None);
    stack.add_mailer(None);
    // Past the lease; the question is asked a second time.
    until(&stack, "written", None, Some("Dear Ada!")).await;
    assert_eq!(asked(&server).await, 2);
}
