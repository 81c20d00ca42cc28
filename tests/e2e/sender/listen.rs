//! `pillarbox listen`, and the feed of scans that it reads.

use std::process::Stdio;

use pillarbox_tests::{
    KEY, StackOptions, WebhookSink, build_recipients, list_codes, wait_until, with_qr_codes,
};
use reqwest::Method;
use serde_json::{Value, json};

use super::Desk;

#[tokio::test(flavor = "multi_thread")]
async fn scans_are_shown_and_forwarded_as_webhooks_bring_them() {
    let (stack, endpoint) = with_qr_codes(StackOptions {
        dispatchers: 1,
        ..StackOptions::default()
    })
    .await;
    stack.send_recipients(&build_recipients(1..3)).await;
    let codes = list_codes(&stack).await;
    // Before anybody listens: not shown.
    stack.scan_code(&codes[0]).await;
    let local = WebhookSink::start().await;
    let desk = Desk::with("");
    let arguments = ["listen", "--forward", &local.url, "--count", "2", "--json"];
    let mut command = desk.command(&stack.url, KEY, &arguments);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = std::io::BufReader::new(child.stderr.take().unwrap());
    let line = tokio::task::spawn_blocking(move || {
        let mut line = String::new();
        std::io::BufRead::read_line(&mut ready, &mut line).map(|_| line)
    });
    assert!(line.await.unwrap().unwrap().contains("listening for scans"));
    for code in &codes {
        stack.scan_code(code).await;
    }
    let output = tokio::task::spawn_blocking(|| child.wait_with_output())
        .await
        .unwrap()
        .unwrap();
    assert!(output.status.success());
    let shown: Vec<Value> = output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    wait_until("the webhook endpoint has them too", async || {
        endpoint.count_received() == 3
    })
    .await;
    let mut delivered: Vec<Value> = endpoint
        .received()
        .iter()
        .map(pillarbox_tests::ReceivedEvent::json)
        .collect();
    delivered.sort_by_key(|event| event["id"].to_string());
    assert_eq!(
        shown,
        delivered[1..],
        "what is shown is what a webhook says"
    );
    let forwarded = local.received();
    assert_eq!(
        forwarded
            .iter()
            .map(pillarbox_tests::ReceivedEvent::json)
            .collect::<Vec<_>>(),
        shown
    );
    assert_eq!(forwarded[0].id(), shown[0]["id"].as_str().unwrap());
    assert_eq!(forwarded[0].headers["content-type"], "application/json");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_feed_begins_now_and_goes_on_from_any_place_for_its_team_alone() {
    let (stack, _endpoint) = with_qr_codes(StackOptions::default()).await;
    stack.send_recipients(&build_recipients(1..2)).await;
    let code = list_codes(&stack).await.remove(0);
    let url = format!("{}/api/v1/scans", stack.url);
    let ask = async |query: &str, key: &str| {
        stack
            .request(
                Method::GET,
                &format!("{url}{query}"),
                &[("x-api-key", key)],
                "",
            )
            .await
    };
    let begin = ask("", KEY).await.json();
    assert_eq!(begin["events"], json!([]));
    let place = begin["nextAfter"].as_str().unwrap().to_owned();
    // Held open until the scan comes.
    let waiting = format!("?wait=20&after={place}");
    let (answer, _) = tokio::join!(ask(&waiting, KEY), async {
        tokio::task::yield_now().await;
        stack.scan_code(&code).await
    });
    let page = answer.json();
    assert_eq!(page["events"][0]["recipient"]["first_name"], "Pat");
    let after = page["nextAfter"].as_str().unwrap();
    assert_eq!(
        ask(&format!("?after={after}"), KEY).await.json()["events"],
        json!([])
    );
    assert_eq!(
        ask(&format!("?after={place}"), KEY).await.json()["events"],
        page["events"]
    );
    assert_eq!(
        ask("", "pk_live_WrongWrongWrongWrongWrong").await.error(),
        (401, "invalid_api_key".to_owned())
    );
    assert_eq!(
        ask("?wait=60", KEY).await.error(),
        (422, "invalid_payload".to_owned())
    );
    // Another team's key opens another team's feed.
    let key = "pk_live_OtherOtherOtherOtherOther";
    stack
        .apply_team(
            json!({"teams": [{"name": "Other", "keys": [{"kind": "full_access", "name": "k", "key": key}]}]}),
        )
        .await;
    assert_eq!(
        ask(&format!("?after={place}"), key).await.json()["events"],
        json!([])
    );
}
