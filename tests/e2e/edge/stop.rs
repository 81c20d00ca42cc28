//! A stop while calls are pending, or bodies on their way.

use std::sync::Arc;

use pillarbox_tests::{CAMPAIGN, Gate, KEY, Options, Spawned, Stack, eventually, free_port, people};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;

use super::{PATIENCE, said};

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_told_to_stop_answers_what_nobody_has_answered_by_then() {
    let gate = Arc::new(Gate::default());
    let settings = vec![("SHUTDOWN__GRACE_MS", "3000".to_owned())];
    let options = Options { settings, verifier: Some(gate.clone()), ..Options::default() };
    let mut stack = Stack::with(options).await;
    stack.campaign(json!({})).await;
    let (port, admin) = (free_port(), free_port());
    stack.settings.insert("PILLARBOX__GATEWAY__LISTEN".to_owned(), format!("127.0.0.1:{port}"));
    stack.settings.insert("PILLARBOX__ADMIN__LISTEN".to_owned(), format!("127.0.0.1:{admin}"));
    let mut gateway = Spawned::start("gateway", &stack.settings, None);
    let url = format!("http://127.0.0.1:{port}");
    let send = async |body: Value| {
        let request =
            reqwest::Client::new().post(format!("{url}/api/v1/recipients")).header("x-api-key", KEY);
        request.body(body.to_string()).send().await
    };
    eventually("the gateway finds a mailer", async || {
        let nobody = send(json!({"campaign_id": "PA-NOBODY", "recipients": [{}]})).await;
        nobody.is_ok_and(|answer| answer.status() == 404)
    })
    .await;
    let head = format!(
        "POST /api/v1/recipients HTTP/1.1\r\nhost: x\r\nx-api-key: {KEY}\r\ncontent-length: 1000\r\n\r\n{{"
    );
    let mut half = said(&url, head.as_bytes()).await;
    let asked = gate.asked();
    let (pending, ended_well) =
        tokio::join!(send(json!({"campaign_id": CAMPAIGN, "recipients": people(1..3)})), async {
            eventually("a mailer works on the send", async || gate.asked() > asked).await;
            tokio::task::block_in_place(|| gateway.terminate())
        });
    let pending = pending.expect("an answer, and no connection that is cut");
    let request_id = pending.headers()["x-request-id"].to_str().unwrap().to_owned();
    let status = pending.status().as_u16();
    let body: Value = pending.json().await.unwrap();
    assert_eq!((status, body["code"].as_str()), (504, Some("timeout")), "{body}");
    assert!(ended_well);
    let mut answer = String::new();
    tokio::time::timeout(PATIENCE, half.read_to_string(&mut answer)).await.expect("its end").unwrap();
    assert!(answer.starts_with("HTTP/1.1 500") && answer.contains("internal_error"), "{answer}");
    // What became of it can be asked for by that id.
    gate.open();
    let path = format!("{}/api/v1/requests/{request_id}", stack.url);
    eventually("the request is done", async || {
        let status = stack.request(reqwest::Method::GET, &path, &[("x-api-key", KEY)], "").await;
        status.json()["status"] == "done"
    })
    .await;
}
