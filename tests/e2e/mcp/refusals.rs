//! What HTTP refuses on both servers, with the push API's body.

use pillarbox_tests::{CrmClient, INTEGRATION_KEY, KEY, TestStack};
use reqwest::Method;
use serde_json::{Value, json};

use super::{FORMULA_KEY, Mcp};

fn ping() -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string()
}

async fn give_formula_key(stack: &TestStack) {
    let keys = json!([
        {"kind": "full_access", "name": "Tests", "key": KEY},
        {"kind": "formulas", "name": "Agent", "key": FORMULA_KEY},
    ]);
    stack
        .apply_team(json!({"teams": [{"name": "Test", "keys": keys}]}))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_does_not_open_the_server_is_401_with_a_challenge() {
    let crm = CrmClient::start().await;
    give_formula_key(&crm.stack).await;
    let integrations = Mcp::integrations(&crm);
    let formulas = Mcp::formulas(&crm.stack);
    for (server, opens) in [
        (&integrations, vec![INTEGRATION_KEY]),
        (&formulas, vec![KEY, FORMULA_KEY]),
    ] {
        for key in [
            INTEGRATION_KEY,
            KEY,
            FORMULA_KEY,
            "pk_int_WrongWrongWrongWrong",
            "",
        ] {
            let authorization = format!("Bearer {key}");
            let answer = server
                .raw(Method::POST, &[("authorization", &authorization)], ping())
                .await;
            if opens.contains(&key) {
                assert_eq!(answer.status, 200, "{key}");
                continue;
            }
            assert_eq!(
                answer.push_error(),
                (401, "invalid_key".to_owned()),
                "{key}"
            );
            assert_eq!(
                answer.headers["www-authenticate"],
                "Bearer realm=\"Pillarbox\""
            );
            assert_eq!(answer.headers["content-type"], "application/json");
        }
        for headers in [
            &[][..],
            &[("x-api-key", KEY)],
            &[("x-api-key", INTEGRATION_KEY)],
        ] {
            assert_eq!(server.raw(Method::POST, headers, ping()).await.status, 401);
        }
    }
    let bearer = format!("Bearer {FORMULA_KEY}");
    let send = crm
        .stack
        .post_send_with(&[("authorization", &bearer)], "{}".to_owned())
        .await;
    assert_eq!(
        send.error(),
        (401, "invalid_api_key".to_owned()),
        "a Formulas only key opens nothing else"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_key_opens_nothing_at_once() {
    let crm = CrmClient::start().await;
    assert_eq!(
        Mcp::integrations(&crm).result("ping", json!({})).await,
        json!({})
    );
    crm.stack
        .sql
        .execute("UPDATE api_keys SET revoked_at = now()", &[])
        .await
        .unwrap();
    for server in [Mcp::integrations(&crm), Mcp::formulas(&crm.stack)] {
        assert_eq!(
            server.post(&[], ping()).await.push_error(),
            (401, "invalid_key".to_owned())
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_or_disconnected_integration_is_403() {
    let crm = CrmClient::start().await;
    for availability in ["paused", "disconnected"] {
        crm.apply_integration(json!({"availability": availability}))
            .await;
        let answer = Mcp::integrations(&crm).post(&[], ping()).await;
        assert_eq!(
            answer.push_error(),
            (403, "integration_unavailable".to_owned())
        );
    }
    crm.apply_integration(json!({})).await;
    assert_eq!(Mcp::integrations(&crm).post(&[], ping()).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_origin_is_403_before_the_key_and_a_local_or_allowed_one_is_served() {
    let allowed = (
        "GATEWAY__MCP_ALLOWED_ORIGINS",
        "https://agent.example.com".to_owned(),
    );
    let crm = CrmClient::with_settings(vec![allowed]).await;
    for server in [Mcp::integrations(&crm), Mcp::formulas(&crm.stack)] {
        for origin in ["http://evil.example.com", "null"] {
            let answer = server
                .raw(Method::POST, &[("origin", origin)], ping())
                .await;
            assert_eq!(
                answer.push_error(),
                (403, "origin_not_allowed".to_owned()),
                "{origin}"
            );
        }
        for origin in ["http://localhost:6274", "https://agent.example.com"] {
            assert_eq!(
                server.post(&[("origin", origin)], ping()).await.status,
                200,
                "{origin}"
            );
        }
    }
}

/// The first answer that is not 200, of twice as many requests as a minute takes and one more: they can lie in two.
async fn limited(server: &Mcp<'_>, limit: usize, source: &str) -> pillarbox_tests::ApiResponse {
    for _ in 0..=2 * limit {
        let answer = server.post(&[("x-forwarded-for", source)], ping()).await;
        if answer.status != 200 {
            return answer;
        }
    }
    panic!("the limit of {limit} does not hold");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_integrations_server_counts_toward_the_push_apis_limit_of_an_address() {
    let crm = CrmClient::with_settings(vec![
        (
            "GATEWAY__PUSH_REQUESTS_PER_MINUTE_PER_SOURCE",
            "40".to_owned(),
        ),
        ("GATEWAY__TRUSTED_PROXIES", "127.0.0.0/8".to_owned()),
    ])
    .await;
    let server = Mcp::integrations(&crm);
    let answer = limited(&server, 40, "192.0.2.7").await;
    assert_eq!(answer.push_error(), (429, "rate_limited".to_owned()));
    assert_eq!(answer.headers["retry-after"], "60");
    assert_eq!(answer.headers["ratelimit-limit"], "40");
    assert_eq!(answer.headers["ratelimit-remaining"], "0");
    let authorization = format!("Bearer {INTEGRATION_KEY}");
    let headers = [
        ("authorization", authorization.as_str()),
        ("x-forwarded-for", "192.0.2.7"),
    ];
    let push = crm
        .request(Method::GET, "/sync", &headers, String::new())
        .await;
    assert_eq!(push.status, 429, "the push API has used up the same minute");
    assert_eq!(
        server
            .post(&[("x-forwarded-for", "192.0.2.8")], ping())
            .await
            .status,
        200
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_formula_server_counts_keys_and_addresses_in_windows_of_its_own() {
    let crm = CrmClient::with_settings(vec![
        (
            "GATEWAY__FORMULA_REQUESTS_PER_MINUTE_PER_SOURCE",
            "40".to_owned(),
        ),
        (
            "GATEWAY__FORMULA_REQUESTS_PER_MINUTE_PER_KEY",
            "30".to_owned(),
        ),
        ("GATEWAY__TRUSTED_PROXIES", "127.0.0.0/8".to_owned()),
    ])
    .await;
    give_formula_key(&crm.stack).await;
    let server = Mcp::formulas(&crm.stack);
    let other_key = Mcp {
        key: FORMULA_KEY,
        ..Mcp::formulas(&crm.stack)
    };
    let answer = limited(&server, 30, "192.0.2.7").await;
    assert_eq!(answer.push_error(), (429, "rate_limited".to_owned()));
    assert_eq!(answer.headers["retry-after"], "60");
    assert_eq!(answer.headers["ratelimit-limit"], "30", "the key's");
    assert_eq!(
        other_key
            .post(&[("x-forwarded-for", "192.0.2.9")], ping())
            .await
            .status,
        200,
        "another key"
    );
    let authorization = format!("Bearer {KEY}");
    let headers = [
        ("authorization", authorization.as_str()),
        ("x-forwarded-for", "192.0.2.7"),
    ];
    let send = crm.stack.post_send_with(&headers, "{}".to_owned()).await;
    assert_eq!(send.status, 422, "sends have windows of their own");
    assert_eq!(
        Mcp::integrations(&crm)
            .post(&[("x-forwarded-for", "192.0.2.7")], ping())
            .await
            .status,
        200
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_on_our_side_is_32603_with_the_requests_id() {
    // No syncer, and no mailer.
    let crm = CrmClient::with_syncers(Vec::new(), 0).await;
    let error = Mcp::integrations(&crm)
        .error("tools/call", json!({"name": "begin_sync"}))
        .await;
    assert_eq!(error, -32603);
    assert_eq!(
        Mcp::formulas(&crm.stack)
            .error("tools/call", json!({"name": "list_columns"}))
            .await,
        -32603
    );
    // Even who asks cannot be looked up.
    crm.stack
        .sql
        .execute("ALTER TABLE api_keys RENAME TO gone", &[])
        .await
        .unwrap();
    let answer = Mcp::integrations(&crm)
        .request("tools/list", json!({}))
        .await;
    assert_eq!(
        (answer.status.as_u16(), &answer.json()["error"]["code"]),
        (200, &json!(-32603))
    );
    assert_eq!(answer.json()["id"], 7);
    assert_eq!(answer.json()["result"], Value::Null);
}
