//! Authentication, availability and rate.

use pillarbox_tests::{CrmClient, INTEGRATION_KEY, KEY};
use reqwest::Method;
use serde_json::json;

const CALLS: [(Method, &str); 10] = [
    (Method::GET, ""),
    (Method::GET, "/schema"),
    (Method::POST, "/schema"),
    (Method::GET, "/sync"),
    (Method::POST, "/sync"),
    (Method::PATCH, "/sync"),
    (Method::POST, "/records"),
    (Method::GET, "/sync/rejections"),
    (Method::GET, "/syncs"),
    (Method::GET, "/contacts?externalId=a"),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_does_not_open_it_is_401_invalid_key_with_a_challenge() {
    let crm = CrmClient::start().await;
    let full_access = format!("Bearer {KEY}");
    let basic = format!("Basic {INTEGRATION_KEY}");
    let bearer = format!("Bearer {INTEGRATION_KEY}");
    for (method, path) in CALLS {
        for headers in [
            vec![],
            vec![("authorization", full_access.as_str())],
            vec![("authorization", "Bearer pk_int_WrongWrongWrongWrong")],
            vec![("authorization", basic.as_str())],
            vec![("x-api-key", INTEGRATION_KEY)],
        ] {
            let answer = crm
                .request(method.clone(), path, &headers, "{}".to_owned())
                .await;
            assert_eq!(
                answer.push_error(),
                (401, "invalid_key".to_owned()),
                "{method} {path} {headers:?}"
            );
            assert_eq!(
                answer.headers["www-authenticate"],
                "Bearer realm=\"Pillarbox\""
            );
            assert!(answer.headers.contains_key("x-request-id"));
        }
        let answer = crm
            .request(
                method,
                &format!("{path}?api_key={INTEGRATION_KEY}"),
                &[],
                String::new(),
            )
            .await;
        assert_eq!(
            answer.status, 401,
            "a key in the query string is never read"
        );
    }
    let sent = crm
        .stack
        .post_send_with(&[("authorization", &bearer)], "{}".to_owned())
        .await;
    assert_eq!(
        sent.error(),
        (401, "invalid_api_key".to_owned()),
        "each kind opens only its own endpoints"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_or_disconnected_integration_is_403_integration_unavailable_until_it_is_resumed() {
    let crm = CrmClient::start().await;
    for availability in ["paused", "disconnected"] {
        crm.apply_integration(json!({"availability": availability}))
            .await;
        for (method, path) in CALLS {
            let answer = crm.request_with_key(method, path, "k", &json!({})).await;
            assert_eq!(
                answer.push_error(),
                (403, "integration_unavailable".to_owned()),
                "{path}"
            );
        }
    }
    crm.apply_integration(json!({})).await;
    assert_eq!(crm.get("").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_key_opens_nothing_at_once() {
    let crm = CrmClient::start().await;
    let sql = "UPDATE api_keys SET revoked_at = now() WHERE kind = 'integration'";
    crm.stack.sql.execute(sql, &[]).await.unwrap();
    assert_eq!(
        crm.get("").await.push_error(),
        (401, "invalid_key".to_owned())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn over_120_requests_a_minute_of_one_source_is_429_with_retry_after() {
    let setting = (
        "GATEWAY__PUSH_REQUESTS_PER_MINUTE_PER_SOURCE",
        "120".to_owned(),
    );
    let crm = CrmClient::with_settings(vec![
        setting,
        ("GATEWAY__TRUSTED_PROXIES", "127.0.0.0/8".to_owned()),
    ])
    .await;
    let bearer = format!("Bearer {INTEGRATION_KEY}");
    let get = async |source: &str| {
        let headers = [
            ("authorization", bearer.as_str()),
            ("x-forwarded-for", source),
        ];
        crm.request(Method::GET, "/sync", &headers, String::new())
            .await
    };
    // The window begins with the minute, so two of them see 241 requests at the least once too many.
    let mut limited = None;
    for _ in 0..241 {
        let answer = get("192.0.2.7").await;
        assert_eq!(answer.headers["ratelimit-limit"], "120");
        if answer.status != 200 {
            limited = Some(answer);
            break;
        }
    }
    let limited = limited.expect("the limit holds");
    assert_eq!(limited.push_error(), (429, "rate_limited".to_owned()));
    assert_eq!(limited.headers["retry-after"], "60");
    assert_eq!(limited.headers["ratelimit-remaining"], "0");
    assert_eq!(
        get("192.0.2.8").await.status,
        200,
        "another source is counted by itself"
    );
    let send = crm
        .stack
        .post_send_with(&[("x-forwarded-for", "192.0.2.7")], "{}".to_owned())
        .await;
    assert_eq!(send.status, 401, "sends have windows of their own");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_integration_holds_at_most_2_active_keys() {
    let crm = CrmClient::start().await;
    let keys = |count: usize| {
        (0..count)
            .map(|number| json!({"name": format!("k{number}")}))
            .collect::<Vec<_>>()
    };
    let file = |count| json!({"teams": [{"name": "Test", "integrations": [{"name": "Other", "keys": keys(count)}]}]});
    crm.stack.apply_team(file(2)).await;
    let (folder, policy) = (std::path::Path::new("."), crm.stack.target_policy());
    let (file, now) = (file(3).to_string(), crm.stack.now());
    let third = pillarbox::apply::apply_text(&crm.stack.store, &file, folder, &policy, now).await;
    assert!(third.unwrap_err().to_string().contains("2 active keys"));
}

#[tokio::test(flavor = "multi_thread")]
async fn other_paths_and_methods_get_the_envelope_of_this_api() {
    let crm = CrmClient::start().await;
    assert_eq!(
        crm.get("/nothing").await.push_error(),
        (404, "not_found".to_owned())
    );
    let other = crm
        .request_with_key(Method::DELETE, "/sync", "k", &json!({}))
        .await;
    assert_eq!(other.push_error(), (405, "method_not_allowed".to_owned()));
    let allowed = other.headers["allow"].to_str().unwrap();
    assert!(
        ["GET", "POST", "PATCH"]
            .iter()
            .all(|method| allowed.contains(method)),
        "{allowed}"
    );
}
