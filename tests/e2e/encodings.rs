//! Bodies that come compressed: taken as the same bodies, within the same limits.

use model::limits::BODY_BYTES;
use pillarbox_tests::{
    ApiResponse, CAMPAIGN, COMPRESSIONS, CrmClient, INTEGRATION_KEY, KEY, StackOptions, TestStack,
    build_recipients, compress_gzip,
};
use reqwest::Method;
use serde_json::{Value, json};

const PUSH_KEY: &str = "encodings";

/// A send of these recipients, padded to so many bytes.
fn padded_send(recipients: std::ops::Range<usize>, bytes: usize) -> Vec<u8> {
    let body = json!({"campaign_id": CAMPAIGN, "recipients": build_recipients(recipients)});
    let mut body = body.to_string().into_bytes();
    assert!(body.len() <= bytes);
    body.resize(bytes, b' ');
    body
}

async fn post_encoded(stack: &TestStack, encoding: &str, body: Vec<u8>) -> ApiResponse {
    let headers = [("x-api-key", KEY), ("content-encoding", encoding)];
    stack.post_send_with(&headers, body).await
}

fn refused(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

async fn ready(settings: Vec<(&'static str, String)>) -> TestStack {
    let options = StackOptions {
        settings,
        ..StackOptions::default()
    };
    let stack = TestStack::with_options(options).await;
    stack.save_campaign(json!({})).await;
    stack
}

#[tokio::test(flavor = "multi_thread")]
async fn a_compressed_send_is_the_send_that_it_holds() {
    let stack = ready(Vec::new()).await;
    let plain = padded_send(1..3, 4_000);
    let first = stack
        .post_send_with(&[("x-api-key", KEY)], plain.clone())
        .await;
    assert_eq!(first.reasons(), ["mailed", "mailed"]);
    for (encoding, compress) in COMPRESSIONS {
        let again = post_encoded(&stack, encoding, compress(&plain)).await;
        assert_eq!(
            again.text, first.text,
            "the same request: its stored response"
        );
        assert_eq!(again.headers["idempotency-replayed"], "true");
    }
    for (number, (encoding, compress)) in COMPRESSIONS.into_iter().enumerate() {
        let begin = 10 * (number + 1);
        let body = compress(&padded_send(begin..begin + 2, 4_000));
        let sent = post_encoded(&stack, encoding, body).await;
        assert_eq!(sent.reasons(), ["mailed", "mailed"], "{encoding}");
    }
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limit_of_a_body_is_that_of_what_it_becomes() {
    // Room for one body of the largest size, and all of it is free again behind each.
    let stack = ready(vec![("GATEWAY__BODY_MEMORY_BYTES", BODY_BYTES.to_string())]).await;
    let too_large = || refused(413, "payload_too_large");
    for (number, (encoding, compress)) in COMPRESSIONS.into_iter().enumerate() {
        let largest = compress(&padded_send(number..number + 1, BODY_BYTES));
        assert!(largest.len() < BODY_BYTES / 10);
        let sent = post_encoded(&stack, encoding, largest).await;
        assert_eq!(sent.reasons(), ["mailed"], "{encoding}");
        let larger = compress(&padded_send(0..1, BODY_BYTES + 1));
        assert_eq!(
            post_encoded(&stack, encoding, larger).await.error(),
            too_large()
        );
        let bomb = compress(&vec![b' '; 100 * 1024 * 1024]);
        assert_eq!(
            post_encoded(&stack, encoding, bomb).await.error(),
            too_large()
        );
        // On its way it has the same limit, whatever it would become.
        let declared = post_encoded(&stack, encoding, vec![b' '; BODY_BYTES + 1]).await;
        assert_eq!(declared.error(), too_large());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_encoded_as_it_says_is_422_and_mails_nobody() {
    let stack = ready(Vec::new()).await;
    let plain = padded_send(1..2, 4_000);
    let unreadable = || refused(422, "invalid_payload");
    for (encoding, compress) in COMPRESSIONS {
        let whole = compress(&plain);
        for body in [
            plain.clone(),
            whole[..whole.len() - 1].to_vec(),
            [&whole[..], b"x"].concat(),
        ] {
            let answer = post_encoded(&stack, encoding, body).await;
            assert_eq!(answer.error(), unreadable());
            assert!(answer.text.contains(encoding), "{}", answer.text);
        }
        // Nothing is nothing, however it is encoded.
        assert_eq!(
            post_encoded(&stack, encoding, Vec::new()).await.error(),
            unreadable()
        );
    }
    assert_eq!(
        stack.query_count("SELECT count(*) FROM mailpieces").await,
        0
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn another_encoding_is_415_and_told_which_are_taken_once_the_key_is_known() {
    let stack = ready(Vec::new()).await;
    let plain = padded_send(1..2, 4_000);
    for encoding in ["br", "deflate", "gzip, gzip", "gzip, zstd", "utf-8"] {
        let answer = post_encoded(&stack, encoding, plain.clone()).await;
        assert_eq!(
            answer.error(),
            refused(415, "unsupported_encoding"),
            "{encoding}"
        );
        assert_eq!(answer.headers["accept-encoding"], "gzip, zstd");
        assert!(answer.headers.contains_key("ratelimit-remaining"));
    }
    let wrong = [("x-api-key", "pk_live_wrong"), ("content-encoding", "br")];
    let answer = stack.post_send_with(&wrong, plain.clone()).await;
    assert_eq!(answer.error(), refused(401, "invalid_api_key"));
    let identity = post_encoded(&stack, "identity", plain).await;
    assert_eq!(identity.reasons(), ["mailed"], "none at all");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_in_a_compressed_body_is_not_looked_for() {
    let stack = ready(Vec::new()).await;
    let body =
        json!({"campaign_id": CAMPAIGN, "recipients": build_recipients(1..2), "api_key": KEY});
    let body = body.to_string();
    let headers = [("content-encoding", "gzip")];
    let answer = stack
        .post_send_with(&headers, compress_gzip(body.as_bytes()))
        .await;
    assert_eq!(answer.error(), refused(401, "invalid_api_key"));
    assert_eq!(stack.post_send_with(&[], body).await.reasons(), ["mailed"]);
}

/// A request of the push API with an encoded body.
async fn push_encoded(
    crm: &CrmClient,
    path: &str,
    key: &str,
    encoding: &str,
    body: Vec<u8>,
) -> ApiResponse {
    let authorization = format!("Bearer {INTEGRATION_KEY}");
    let headers = [
        ("authorization", &authorization[..]),
        ("idempotency-key", key),
        ("content-encoding", encoding),
    ];
    let url = format!("{}/api/integrations/push/v1{path}", crm.stack.url);
    crm.stack.request(Method::POST, &url, &headers, body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_compressed_push_is_the_push_that_it_holds() {
    let crm = CrmClient::start().await;
    for (number, (encoding, compress)) in COMPRESSIONS.into_iter().enumerate() {
        let key = |what: &str| format!("{PUSH_KEY}-{number}-{what}");
        let mode = compress(json!({"mode": "delta"}).to_string().as_bytes());
        assert_eq!(
            push_encoded(&crm, "/sync", &key("begin"), encoding, mode)
                .await
                .status,
            200
        );
        let record = json!({"external_id": encoding, "fields": {"first": "Ann"}});
        let batch = json!({"records": [record]}).to_string();
        let pushed = push_encoded(
            &crm,
            "/records",
            &key("push"),
            encoding,
            compress(batch.as_bytes()),
        )
        .await;
        assert_eq!(pushed.json()["accepted"], 1, "{}", pushed.text);
        let plain = json!({"records": [{"external_id": encoding, "fields": {"first": "Ann"}}]});
        let again = crm
            .request_with_key(Method::POST, "/records", &key("push"), &plain)
            .await;
        assert_eq!(
            again.text, pushed.text,
            "the same request, however it was sent"
        );
        let too_large = compress(&vec![b' '; BODY_BYTES + 1]);
        let answer = push_encoded(&crm, "/records", &key("large"), encoding, too_large).await;
        assert_eq!(answer.push_error(), refused(413, "payload_too_large"));
        let broken = push_encoded(
            &crm,
            "/records",
            &key("broken"),
            encoding,
            batch.into_bytes(),
        )
        .await;
        assert_eq!(broken.push_error(), refused(400, "invalid_json"));
        crm.complete_sync(json!({})).await;
    }
    let other = push_encoded(&crm, "/records", "other", "br", b"{}".to_vec()).await;
    assert_eq!(other.push_error(), refused(415, "unsupported_encoding"));
    assert_eq!(other.headers["accept-encoding"], "gzip, zstd");
    assert_eq!(crm.list_external_ids().await, ["gzip", "zstd"]);
}

/// A call of the Integrations MCP server with an encoded body.
async fn call_encoded(crm: &CrmClient, encoding: &str, body: Vec<u8>) -> ApiResponse {
    let authorization = format!("Bearer {INTEGRATION_KEY}");
    let headers = [
        ("authorization", &authorization[..]),
        ("content-type", "application/json"),
        ("content-encoding", encoding),
    ];
    let url = format!("{}/api/integrations/push/v1/mcp", crm.stack.url);
    crm.stack.request(Method::POST, &url, &headers, body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_compressed_call_of_a_tool_is_the_call_that_it_holds() {
    let crm = CrmClient::start().await;
    let ping = json!({"jsonrpc": "2.0", "id": 7, "method": "ping"}).to_string();
    let code = |answer: &ApiResponse| answer.json()["error"]["code"].clone();
    for (encoding, compress) in COMPRESSIONS {
        let answer = call_encoded(&crm, encoding, compress(ping.as_bytes())).await;
        assert_eq!(
            (&answer.json()["id"], &answer.json()["result"]),
            (&json!(7), &json!({}))
        );
        let broken = call_encoded(&crm, encoding, ping.clone().into_bytes()).await;
        assert_eq!(
            (broken.status.as_u16(), code(&broken)),
            (200, json!(-32700))
        );
        let large = call_encoded(&crm, encoding, compress(&vec![b' '; BODY_BYTES + 1])).await;
        assert_eq!((large.status.as_u16(), code(&large)), (200, json!(-32600)));
    }
    let other = call_encoded(&crm, "br", ping.into_bytes()).await;
    assert_eq!(other.push_error(), refused(415, "unsupported_encoding"));
    assert_eq!(other.headers["accept-encoding"], "gzip, zstd");
}

#[tokio::test(flavor = "multi_thread")]
async fn bombs_and_large_bodies_wait_for_each_other_and_all_come_to_their_end() {
    // Room for two of the largest size: the others wait, and each comes through.
    let stack = ready(vec![(
        "GATEWAY__BODY_MEMORY_BYTES",
        (2 * BODY_BYTES).to_string(),
    )])
    .await;
    let bomb = compress_gzip(&vec![b' '; 64 * 1024 * 1024]);
    let bombs = (0..20).map(|_| post_encoded(&stack, "gzip", bomb.clone()));
    let sends = COMPRESSIONS.iter().cycle().take(6).enumerate();
    let sends = sends.map(|(number, (encoding, compress))| {
        let body = compress(&padded_send(10 * number..10 * number + 1, BODY_BYTES));
        post_encoded(&stack, encoding, body)
    });
    let (bombs, sends): (Vec<ApiResponse>, Vec<ApiResponse>) = tokio::join!(
        futures_util::future::join_all(bombs),
        futures_util::future::join_all(sends)
    );
    assert!(
        bombs
            .iter()
            .all(|answer| answer.error() == refused(413, "payload_too_large"))
    );
    let mailed: Vec<Value> = sends.iter().map(|answer| json!(answer.reasons())).collect();
    assert_eq!(mailed, vec![json!(["mailed"]); 6]);
}
