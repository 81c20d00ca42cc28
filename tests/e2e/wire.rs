//! Bytes that no well-behaved client sends.

use std::time::Duration;

use pillarbox_tests::{
    CAMPAIGN, KEY, StackOptions, TestStack, build_recipient, build_recipients, wait_until,
};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn open(stack: &TestStack) -> TcpStream {
    TcpStream::connect(stack.url.trim_start_matches("http://"))
        .await
        .unwrap()
}

/// What the server says until it closes.
async fn rest(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut bytes))
        .await
        .expect("it closes");
    String::from_utf8_lossy(&bytes).into_owned()
}

fn head(length: &str) -> String {
    format!(
        "POST /api/v1/recipients HTTP/1.1\r\nhost: x\r\nx-api-key: {KEY}\r\n{length}connection: close\r\n\r\n"
    )
}

fn body(number: usize) -> String {
    json!({"campaign_id": CAMPAIGN, "recipients": [build_recipient(number)]}).to_string()
}

async fn impatient() -> TestStack {
    let settings = vec![
        ("GATEWAY__BODY_TIMEOUT_MS", "300".to_owned()),
        ("GATEWAY__HEADER_TIMEOUT_MS", "300".to_owned()),
        ("GATEWAY__MAX_CONNECTIONS", "8".to_owned()),
    ];
    let stack = TestStack::with_options(StackOptions {
        settings,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    stack
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_body_is_invalid_payload() {
    let stack = impatient().await;
    let mut stream = open(&stack).await;
    stream
        .write_all(format!("{}{{", head("content-length: 500\r\n")).as_bytes())
        .await
        .unwrap();
    let answer = rest(stream).await;
    assert!(
        answer.starts_with("HTTP/1.1 422") && answer.contains("did not arrive in time"),
        "{answer}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_never_comes_and_shows_no_key_holds_up_nobody_who_shows_one() {
    // Room for one body of the largest size, and more patience than the test has.
    let memory = model::limits::BODY_BYTES.to_string();
    let settings = vec![
        ("GATEWAY__BODY_MEMORY_BYTES", memory),
        ("GATEWAY__BODY_TIMEOUT_MS", "600000".to_owned()),
        ("GATEWAY__TRUSTED_PROXIES", "127.0.0.0/8".to_owned()),
    ];
    let stack = TestStack::with_options(StackOptions {
        settings,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    let mut silent = Vec::new();
    for source in 1..5 {
        let mut stream = open(&stack).await;
        let length = model::limits::BODY_BYTES;
        let head = format!(
            "POST /api/v1/recipients HTTP/1.1\r\nhost: x\r\nx-forwarded-for: 192.0.2.{source}\r\ncontent-length: {length}\r\n\r\n{{"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        silent.push(stream);
    }
    let answer = tokio::time::timeout(
        Duration::from_secs(60),
        stack.send_recipients(&build_recipients(0..1)),
    )
    .await;
    assert_eq!(answer.expect("an answer").status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_cut_off_changes_nothing() {
    let stack = impatient().await;
    let mut stream = open(&stack).await;
    stream
        .write_all(format!("{}{}", head("content-length: 5000\r\n"), body(1)).as_bytes())
        .await
        .unwrap();
    stream.shutdown().await.unwrap();
    rest(stream).await;
    let mut stream = open(&stack).await;
    stream
        .write_all(format!("{}ff\r\n{{", head("transfer-encoding: chunked\r\n")).as_bytes())
        .await
        .unwrap();
    stream.shutdown().await.unwrap();
    rest(stream).await;
    assert_eq!(stack.query_count("SELECT count(*) FROM sends").await, 0);
    assert_eq!(
        stack.send_recipients(&[build_recipient(1)]).await.reasons(),
        ["mailed"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_content_length_that_is_too_short_is_invalid_payload() {
    let stack = impatient().await;
    let mut stream = open(&stack).await;
    stream
        .write_all(format!("{}{}", head("content-length: 20\r\n"), body(1)).as_bytes())
        .await
        .unwrap();
    let answer = rest(stream).await;
    assert!(answer.starts_with("HTTP/1.1 422"), "{answer}");
    assert_eq!(stack.query_count("SELECT count(*) FROM sends").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chunked_body_over_the_limit_is_payload_too_large() {
    let stack = TestStack::start().await;
    let mut stream = open(&stack).await;
    stream
        .write_all(head("transfer-encoding: chunked\r\n").as_bytes())
        .await
        .unwrap();
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(65536));
    for _ in 0..70 {
        if stream.write_all(chunk.as_bytes()).await.is_err() {
            break;
        }
    }
    let _ = stream.write_all(b"0\r\n\r\n").await;
    let answer = rest(stream).await;
    assert!(
        answer.starts_with("HTTP/1.1 413") && answer.contains("payload_too_large"),
        "{answer}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_say_nothing_are_closed_and_make_place() {
    let stack = impatient().await;
    let mut silent = Vec::new();
    for text in [
        "",
        "P",
        "POST /api/v1/recipients HTTP/1.1\r\nhost: x\r\n",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
    ] {
        let mut stream = open(&stack).await;
        stream.write_all(text.as_bytes()).await.unwrap();
        silent.push(stream);
    }
    for stream in silent {
        rest(stream).await;
    }
    assert_eq!(
        stack.send_recipients(&[build_recipient(1)]).await.reasons(),
        ["mailed"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_hangs_up_does_not_stop_the_request() {
    let stack = TestStack::start().await;
    let body = json!({"campaign_id": CAMPAIGN, "recipients": build_recipients(1..200)}).to_string();
    let length = format!("content-length: {}\r\n", body.len());
    let mut stream = open(&stack).await;
    stream
        .write_all(format!("{}{body}", head(&length)).as_bytes())
        .await
        .unwrap();
    stream.flush().await.unwrap();
    drop(stream);
    wait_until("the cards are queued", async || {
        stack.query_count("SELECT count(*) FROM mailpieces").await == 199
    })
    .await;
    wait_until("the send is finished", async || {
        stack
            .query_count("SELECT count(*) FROM sends WHERE state = 'finished'")
            .await
            == 1
    })
    .await;
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_http_or_not_ours_is_refused() {
    let stack = impatient().await;
    let mut stream = open(&stack).await;
    stream
        .write_all(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
        .await
        .unwrap();
    stream.shutdown().await.unwrap();
    assert!(!rest(stream).await.contains("200 OK"));
    let client = reqwest::Client::new();
    let get = client
        .get(format!("{}/api/v1/recipients", stack.url))
        .send()
        .await
        .unwrap();
    assert_eq!(
        (get.status().as_u16(), get.headers()["allow"].as_bytes()),
        (405, &b"POST"[..])
    );
    assert_eq!(
        client
            .get(format!("{}/elsewhere", stack.url))
            .send()
            .await
            .unwrap()
            .status(),
        404
    );
    let huge = format!(
        "GET / HTTP/1.1\r\nhost: x\r\nx: {}\r\n\r\n",
        "y".repeat(100_000)
    );
    let mut stream = open(&stack).await;
    let _ = stream.write_all(huge.as_bytes()).await;
    assert!(!rest(stream).await.contains("200 OK"));
}

#[tokio::test(flavor = "multi_thread")]
async fn deep_nesting_huge_numbers_and_nul_are_handled() {
    let stack = TestStack::start().await;
    let bearer = format!("Bearer {KEY}");
    let post = async |body: String| {
        stack
            .post_send_with(&[("authorization", &bearer)], body)
            .await
    };
    let recipient = |extra: &str| {
        let mut text = build_recipient(1).to_string();
        text.pop();
        format!(r#"{{"campaign_id":"{CAMPAIGN}","recipients":[{text},{extra}}}]}}"#)
    };
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    assert_eq!(
        post(recipient(&format!(r#""a":{deep}"#))).await.error(),
        (422, "invalid_payload".to_owned())
    );
    assert_eq!(
        post(recipient(r#""a":"\u0000""#)).await.error(),
        (422, "invalid_payload".to_owned())
    );
    assert_eq!(
        post(recipient(r#""a":1,"A":2"#)).await.error(),
        (422, "invalid_payload".to_owned())
    );
    assert_eq!(
        post(deep).await.error(),
        (422, "invalid_payload".to_owned())
    );
    assert_eq!(stack.query_count("SELECT count(*) FROM sends").await, 0);
    let number = format!(r#""huge":1e999,"long":{}"#, "9".repeat(500));
    assert_eq!(post(recipient(&number)).await.reasons(), ["mailed"]);
}
