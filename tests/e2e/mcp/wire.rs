//! What the official clients were measured to need of a server that answers POST only and keeps no sessions.

use pillarbox_tests::{CrmClient, INTEGRATION_KEY, TestStack};
use reqwest::Method;
use serde_json::{Value, json};

use super::Mcp;

const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

fn initialize(version: &str) -> String {
    let params = json!({
        "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}
    });
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn initialize_echoes_a_known_version_and_offers_the_latest_for_another() {
    let crm = CrmClient::with_settings(Vec::new()).await;
    for server in [Mcp::integrations(&crm)] {
        for version in VERSIONS {
            let answer = server.post(&[], initialize(version)).await;
            assert_eq!(answer.status, 200);
            let json = answer.json();
            assert_eq!((&json["jsonrpc"], &json["id"]), (&json!("2.0"), &json!(0)));
            assert_eq!(json["result"]["protocolVersion"], version);
            assert_eq!(json["result"]["capabilities"], json!({"tools": {}}));
            for name in ["name", "version", "title"] {
                assert!(json["result"]["serverInfo"][name].is_string(), "{name}");
            }
            assert!(
                json["result"]["instructions"]
                    .as_str()
                    .unwrap()
                    .contains("get_status")
            );
        }
        let answer = server.post(&[], initialize("2026-07-28")).await;
        assert_eq!(answer.json()["result"]["protocolVersion"], "2025-11-25");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_without_an_id_is_202_with_an_empty_body_and_does_nothing() {
    let crm = CrmClient::start().await;
    let server = Mcp::integrations(&crm);
    for method in [
        "notifications/initialized",
        "notifications/cancelled",
        "tools/call",
        "nothing",
    ] {
        let params = json!({"name": "begin_sync", "arguments": {}});
        let body = json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string();
        let answer = server
            .post(&[("mcp-protocol-version", "2025-11-25")], body)
            .await;
        assert_eq!(
            (answer.status.as_u16(), answer.text.as_str()),
            (202, ""),
            "{method}"
        );
    }
    assert_eq!(
        server.call("get_status", json!({})).await.unwrap()["openSync"],
        Value::Null
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_method_but_post_is_405_use_post_before_the_key() {
    let crm = CrmClient::with_settings(Vec::new()).await;
    let wrong = [
        ("authorization", "Bearer pk_int_Wrong"),
        ("origin", "http://evil.example.com"),
    ];
    for server in [Mcp::integrations(&crm), Mcp::formulas(&crm.stack)] {
        for method in [
            Method::GET,
            Method::DELETE,
            Method::PUT,
            Method::PATCH,
            Method::OPTIONS,
        ] {
            for headers in [&[][..], &wrong[..]] {
                let answer = server.raw(method.clone(), headers, "").await;
                assert_eq!(
                    answer.push_error(),
                    (405, "use_post".to_owned()),
                    "{method}"
                );
                assert_eq!(answer.headers["allow"], "POST");
                assert_eq!(answer.headers["content-type"], "application/json");
            }
        }
        assert_eq!(server.raw(Method::HEAD, &[], "").await.status, 405);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn there_are_no_sessions_and_one_that_is_named_is_ignored() {
    let crm = CrmClient::with_settings(Vec::new()).await;
    let server = Mcp::integrations(&crm);
    let answer = server
        .post(&[("mcp-session-id", "made-up")], initialize("2025-11-25"))
        .await;
    assert_eq!(answer.status, 200);
    assert!(!answer.headers.contains_key("mcp-session-id"));
    assert_eq!(
        server.result("ping", json!({})).await,
        json!({}),
        "nothing had to be initialized"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_is_json_and_an_error_has_a_code_and_a_message_and_no_more() {
    let crm = CrmClient::start().await;
    let server = Mcp::integrations(&crm);
    for (method, params) in [
        ("ping", json!({})),
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("tools/call", json!({"name": "get_status"})),
        ("tools/call", json!({"name": "nothing"})),
        ("tools/call", json!({"name": "complete_sync"})),
    ] {
        let answer = server.request(method, params).await;
        assert_eq!(answer.status, 200, "{method}");
        assert_eq!(answer.headers["content-type"], "application/json");
        let json = answer.json();
        assert_eq!((&json["jsonrpc"], &json["id"]), (&json!("2.0"), &json!(7)));
        assert_eq!(json.as_object().unwrap().len(), 3);
        if let Some(error) = json.get("error") {
            let keys: Vec<_> = error.as_object().unwrap().keys().cloned().collect();
            assert_eq!(keys, ["code", "message"]);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_are_echoed_and_params_may_be_absent() {
    let crm = CrmClient::with_settings(Vec::new()).await;
    let server = Mcp::integrations(&crm);
    for id in [
        json!(0),
        json!(1),
        json!(-3),
        json!("server-discover-probe-1"),
    ] {
        let answer = server
            .post(
                &[],
                json!({"method": "tools/list", "jsonrpc": "2.0", "id": id}).to_string(),
            )
            .await;
        assert_eq!(answer.json()["id"], id);
        assert!(answer.json()["result"]["tools"].is_array());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn json_rpc_errors_have_their_codes_and_http_200() {
    let crm = CrmClient::start().await;
    for server in [Mcp::integrations(&crm), Mcp::formulas(&crm.stack)] {
        for (body, code) in [
            ("", -32700),
            ("{", -32700),
            ("\"text\"", -32700),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32700),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32700),
            (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/remove"}"#,
                -32601,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#,
                -32601,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"format_disk"}}"#,
                -32601,
            ),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, -32602),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_status","arguments":[]}}"#,
                -32602,
            ),
        ] {
            let answer = server.post(&[], body).await;
            assert_eq!(answer.status, 200, "{body}");
            assert_eq!(answer.json()["error"]["code"], code, "{body}");
            assert!(answer.json()["error"]["message"].is_string());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_over_4456448_bytes_is_32600_and_one_of_that_size_is_not() {
    let crm = CrmClient::with_settings(Vec::new()).await;
    let server = Mcp::integrations(&crm);
    let frame =
        json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"padding": ""}}).to_string();
    let padded = |bytes: usize| {
        let padding = "x".repeat(bytes - frame.len());
        frame.replace("\"padding\":\"\"", &format!("\"padding\":\"{padding}\""))
    };
    let fits = server.post(&[], padded(4_456_448)).await;
    assert_eq!(fits.json()["result"], json!({}), "{}", fits.text);
    let over = server.post(&[], padded(4_456_449)).await;
    assert_eq!(
        (over.status.as_u16(), &over.json()["error"]["code"]),
        (200, &json!(-32600))
    );
    assert_eq!(
        over.json()["id"],
        1,
        "the client that waits for this answer finds it"
    );
    // The key comes first, as far as headers tell.
    let stranger = Mcp {
        key: "pk_live_NobodyNobodyNobodyNobody",
        ..Mcp::formulas(&crm.stack)
    };
    assert_eq!(
        stranger.post(&[], padded(4_456_449)).await.push_error(),
        (401, "invalid_key".to_owned())
    );
    // In pieces, so that the size is not known beforehand.
    let pieces: Vec<_> = padded(4_456_449)
        .as_bytes()
        .chunks(1 << 16)
        .map(|piece| Ok::<_, std::io::Error>(piece.to_vec()))
        .collect();
    let stream = reqwest::Body::wrap(http_body_util::StreamBody::new(futures_util::stream::iter(
        pieces
            .into_iter()
            .map(|piece| piece.map(|bytes| hyper::body::Frame::data(bytes::Bytes::from(bytes)))),
    )));
    let over = server.post(&[], stream).await;
    assert_eq!(
        (over.status.as_u16(), &over.json()["error"]["code"]),
        (200, &json!(-32600))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unsupported_protocol_version_is_400_and_none_is_an_old_one() {
    let crm = CrmClient::with_settings(Vec::new()).await;
    let server = Mcp::integrations(&crm);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    for version in VERSIONS {
        assert_eq!(
            server
                .post(&[("mcp-protocol-version", version)], ping.clone())
                .await
                .status,
            200
        );
    }
    assert_eq!(server.post(&[], ping.clone()).await.status, 200);
    // The probe of newer clients, which fall back at a quick and typed refusal.
    let probe = json!({"jsonrpc": "2.0", "id": "server-discover-probe-1", "method": "server/discover", "params": {}});
    let answer = server
        .post(&[("mcp-protocol-version", "2026-07-28")], probe.to_string())
        .await;
    assert_eq!(
        answer.push_error(),
        (400, "unsupported_protocol_version".to_owned())
    );
    assert_eq!(answer.headers["content-type"], "application/json");
    assert!(
        answer.text.contains("2025-11-25"),
        "it says what is supported"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_insists_on_nothing_is_served_without_accept_and_content_type() {
    let crm = CrmClient::with_settings(Vec::new()).await;
    let authorization = format!("bearer {INTEGRATION_KEY}");
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    let answer = Mcp::integrations(&crm)
        .raw(Method::POST, &[("authorization", &authorization)], ping)
        .await;
    assert_eq!(answer.json()["result"], json!({}));
}

#[tokio::test(flavor = "multi_thread")]
async fn both_servers_introduce_themselves_apart() {
    let stack = TestStack::start().await;
    let answer = Mcp::formulas(&stack)
        .post(&[], initialize("2025-11-25"))
        .await
        .json();
    assert_eq!(answer["result"]["serverInfo"]["name"], "pillarbox-formulas");
    assert!(
        answer["result"]["instructions"]
            .as_str()
            .unwrap()
            .contains("list_columns")
    );
}
