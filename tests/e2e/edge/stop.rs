//! A stop while calls are pending, or bodies on their way.

use std::sync::Arc;
use std::time::Duration;

use pillarbox_tests::{
    CAMPAIGN, GatedVerifier, KEY, SpawnedProcess, StackOptions, TestStack, build_recipients,
    find_free_port, wait_until,
};
use reqwest::{Response, Result};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{PATIENCE, said};

/// A process of the gateway whose mailer works until its gate is opened.
struct Stopping {
    stack: TestStack,
    gate: Arc<GatedVerifier>,
    gateway: SpawnedProcess,
    url: String,
}

impl Stopping {
    async fn start(grace_ms: &str) -> Self {
        let gate = Arc::new(GatedVerifier::default());
        let settings = vec![("SHUTDOWN__GRACE_MS", grace_ms.to_owned())];
        let options = StackOptions {
            settings,
            verifier: Some(gate.clone()),
            ..StackOptions::default()
        };
        let mut stack = TestStack::with_options(options).await;
        stack.save_campaign(json!({})).await;
        let (port, admin) = (find_free_port(), find_free_port());
        stack.settings.insert(
            "PILLARBOX__GATEWAY__LISTEN".to_owned(),
            format!("127.0.0.1:{port}"),
        );
        stack.settings.insert(
            "PILLARBOX__ADMIN__LISTEN".to_owned(),
            format!("127.0.0.1:{admin}"),
        );
        let gateway = SpawnedProcess::start("gateway", &stack.settings, None);
        let url = format!("http://127.0.0.1:{port}");
        wait_until("the gateway finds a mailer", async || {
            let nobody = send(
                &url,
                json!({"campaign_id": "PA-NOBODY", "recipients": [{}]}),
            )
            .await;
            nobody.is_ok_and(|answer| answer.status() == 404)
        })
        .await;
        Self {
            stack,
            gate,
            gateway,
            url,
        }
    }
}

/// What became of a request can be asked for by its id.
async fn until_done(stack: &TestStack, gate: &GatedVerifier, request_id: &str) {
    gate.open();
    let path = format!("{}/api/v1/requests/{request_id}", stack.url);
    wait_until("the request is done", async || {
        let status = stack
            .request(reqwest::Method::GET, &path, &[("x-api-key", KEY)], "")
            .await;
        status.json()["status"] == "done"
    })
    .await;
}

async fn send(url: &str, body: Value) -> Result<Response> {
    let request = reqwest::Client::new()
        .post(format!("{url}/api/v1/recipients"))
        .header("x-api-key", KEY);
    request.body(body.to_string()).send().await
}

/// The head of a send whose body has this length.
fn head(key: Option<&str>, length: usize) -> String {
    let key = key.map_or_else(String::new, |key| format!("x-api-key: {key}\r\n"));
    format!("POST /api/v1/recipients HTTP/1.1\r\nhost: x\r\n{key}content-length: {length}\r\n\r\n")
}

async fn answer_on(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    tokio::time::timeout(PATIENCE, stream.read_to_string(&mut answer))
        .await
        .expect("its end")
        .unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_told_to_stop_answers_what_nobody_has_answered_by_then() {
    let mut stopping = Stopping::start("3000").await;
    let with_key = said(
        &stopping.url,
        format!("{}{{", head(Some(KEY), 1000)).as_bytes(),
    )
    .await;
    let without = said(&stopping.url, format!("{}{{", head(None, 1000)).as_bytes()).await;
    let asked = stopping.gate.count_requests();
    let body = json!({"campaign_id": CAMPAIGN, "recipients": build_recipients(1..3)});
    let (pending, ended_well) = tokio::join!(send(&stopping.url, body), async {
        wait_until("a mailer works on the send", async || {
            stopping.gate.count_requests() > asked
        })
        .await;
        tokio::task::block_in_place(|| stopping.gateway.terminate())
    });
    let pending = pending.expect("an answer, and no connection that is cut");
    let request_id = pending.headers()["x-request-id"]
        .to_str()
        .unwrap()
        .to_owned();
    let status = pending.status().as_u16();
    let body: Value = pending.json().await.unwrap();
    assert_eq!(
        (status, body["code"].as_str()),
        (504, Some("timeout")),
        "{body}"
    );
    assert!(ended_well);
    for half in [with_key, without] {
        let answer = answer_on(half).await;
        assert!(
            answer.starts_with("HTTP/1.1 500") && answer.contains("internal_error"),
            "{answer}"
        );
    }
    until_done(&stopping.stack, &stopping.gate, &request_id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_begins_after_the_stop_is_answered_within_its_grace() {
    let stopping = Stopping::start("10000").await;
    let body = json!({"campaign_id": CAMPAIGN, "recipients": build_recipients(1..3)}).to_string();
    let (begin, end) = body.split_at(1);
    let mut half = said(
        &stopping.url,
        format!("{}{begin}", head(Some(KEY), body.len())).as_bytes(),
    )
    .await;
    let mut gateway = stopping.gateway;
    let ending = tokio::task::spawn_blocking(move || gateway.terminate());
    let address = stopping.url.trim_start_matches("http://");
    wait_until("the gateway takes nothing new", async || {
        TcpStream::connect(address).await.is_err()
    })
    .await;
    // Four fifths of the grace are more than what is left of it from here.
    tokio::time::sleep(Duration::from_secs(3)).await;
    half.write_all(end.as_bytes()).await.unwrap();
    let answer = answer_on(half).await;
    assert!(
        answer.starts_with("HTTP/1.1 504") && answer.contains("timeout"),
        "{answer}"
    );
    assert!(ending.await.unwrap());
    let request_id = answer
        .lines()
        .find_map(|line| line.strip_prefix("x-request-id: "))
        .expect("its id");
    until_done(&stopping.stack, &stopping.gate, request_id).await;
}
