//! Errors of the Dynamic Audience API: status, code, body, and that nothing was mailed or charged.

use std::sync::Arc;

use pillarbox_tests::{
    CAMPAIGN, KEY, SlowVerifier, StackOptions, TestStack, UnavailableVerifier, build_recipient,
    build_recipients, wait_until,
};
use serde_json::{Value, json};
use store::Actor;

async fn assert_nothing_happened(stack: &TestStack) {
    assert_eq!(
        stack.query_count("SELECT count(*) FROM mailpieces").await,
        0
    );
    assert_eq!(stack.query_count("SELECT count(*) FROM charges").await, 0);
    assert_eq!(stack.query_count("SELECT count(*) FROM sends").await, 0);
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM address_entries")
            .await,
        0
    );
}

fn refused(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_api_key_when_wrong_revoked_or_of_another_kind() {
    let stack = TestStack::start().await;
    stack
        .apply_team(json!({"teams": [{"name": "Test", "keys": [
            {"kind": "formulas", "name": "Formulas", "key": "pk_fx_TestTestTestTestTestTest"},
            {"kind": "full_access", "name": "Old", "key": "pk_live_OldOldOldOldOldOldOld1"},
        ]}]}))
        .await;
    let team = stack.store.find_team_by_name("Test").await.unwrap().team_id;
    let body = json!({"campaign_id": CAMPAIGN, "recipients": [build_recipient(1)]});
    let old = [("x-api-key", "pk_live_OldOldOldOldOldOldOld1")];
    assert_eq!(
        stack.post_send_with(&old, body.to_string()).await.status,
        200
    );
    let keys = stack.store.list_api_keys(team).await.unwrap();
    let key = keys.iter().find(|key| key.name == "Old").unwrap();
    accounts::revoke_key(&stack.store, Actor::Operator, team, key.key_id, stack.now())
        .await
        .unwrap();
    for headers in [
        &old[..],
        &[],
        &[("authorization", "Bearer pk_live_wrong")],
        &[("authorization", "Bearer pk_fx_TestTestTestTestTestTest")],
        &[("authorization", "Basic cGs6")],
        &[("authorization", "Bearer nonsense"), ("x-api-key", KEY)],
        &[("x-api-key", "")],
    ] {
        let answer = stack.post_send_with(headers, body.to_string()).await;
        assert_eq!(
            answer.error(),
            refused(401, "invalid_api_key"),
            "{headers:?}"
        );
    }
    assert_eq!(
        stack.query_count("SELECT count(*) FROM mailpieces").await,
        1
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_key_comes_in_authorization_or_x_api_key_or_the_body_and_never_in_the_query() {
    let stack = TestStack::start().await;
    let body = |key: Option<&str>| {
        let mut body = json!({"campaign_id": CAMPAIGN, "recipients": [build_recipient(1)]});
        if let Some(key) = key {
            body["api_key"] = key.into();
        }
        body.to_string()
    };
    let bearer = format!("bearer {KEY}");
    for (headers, body) in [
        (&[("authorization", bearer.as_str())][..], body(None)),
        (&[("x-api-key", KEY)], body(None)),
        (&[], body(Some(KEY))),
        (&[("x-api-key", KEY)], body(Some("wrong"))),
    ] {
        assert_eq!(
            stack.post_send_with(headers, body).await.status,
            200,
            "{headers:?}"
        );
    }
    let url = format!("{}/api/v1/recipients?api_key={KEY}", stack.url);
    let answer = reqwest::Client::new()
        .post(url)
        .body(body(None))
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 401);
    // The key can only be in the body, and the body cannot be read.
    let answer = stack
        .post_send_with(&[], format!(r#"{{"api_key":"{KEY}","recipients":[{{}}]"#))
        .await;
    assert_eq!(answer.error(), refused(401, "invalid_api_key"));
}

#[tokio::test(flavor = "multi_thread")]
async fn campaign_not_found_when_unknown_missing_or_another_teams() {
    let stack = TestStack::start().await;
    let others = json!({"teams": [{"name": "Other", "designs": [{"name": "Card", "document": {
        "product": "letter", "front": {"elements": []}, "back": {"elements": []}}}],
        "campaigns": [{"id": "PA-OTHER1", "name": "Theirs", "steps": [{"design": "Card", "postage": "standard"}]}]}]});
    stack.apply_team(others).await;
    for id in [
        json!("PA-NOBODY"),
        json!("PA-OTHER1"),
        json!("pa-test01"),
        json!(7),
        json!(null),
        json!({}),
    ] {
        let answer = stack
            .post_send(&json!({"campaign_id": id, "recipients": [build_recipient(1)]}))
            .await;
        assert_eq!(answer.error(), refused(404, "campaign_not_found"), "{id}");
    }
    let answer = stack
        .post_send(&json!({"recipients": [build_recipient(1)]}))
        .await;
    assert_eq!(answer.error(), refused(404, "campaign_not_found"));
    assert_nothing_happened(&stack).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn campaign_not_active_when_paused_or_another_audience_or_without_a_design() {
    let stack = TestStack::start().await;
    for (change, words) in [
        (json!({"status": "paused"}), "not active"),
        (json!({"audience": "list"}), "audience"),
        (
            json!({"steps": [{"design": "Card", "postage": "standard"}, {"postage": "standard", "delay_days": 3}]}),
            "Step 2",
        ),
    ] {
        stack.save_campaign(change.clone()).await;
        let answer = stack.send_recipients(&build_recipients(1..3)).await;
        assert_eq!(
            answer.error(),
            refused(409, "campaign_not_active"),
            "{change}"
        );
        let message = answer.json()["message"].as_str().unwrap().to_owned();
        assert!(message.contains(words), "{message}");
    }
    stack.save_campaign(json!({})).await;
    stack
        .sql
        .execute("DELETE FROM campaign_steps", &[])
        .await
        .unwrap();
    assert_eq!(
        stack.send_recipients(&build_recipients(1..3)).await.error(),
        refused(409, "campaign_not_active")
    );
    assert_nothing_happened(&stack).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn design_cannot_render_when_a_draft_or_a_setting_cannot_print() {
    let stack = TestStack::start().await;
    let draft = json!({"name": "Draft", "ai_draft": true, "document": {
        "product": "postcard_4x6", "front": {"elements": []}, "back": {"elements": []}}});
    stack
        .apply_team(json!({"teams": [{"name": "Test", "designs": [draft]}]}))
        .await;
    stack
        .save_campaign(json!({"steps": [{"design": "Draft", "postage": "standard"}]}))
        .await;
    let answer = stack.send_recipients(&build_recipients(1..3)).await;
    assert_eq!(answer.error(), refused(409, "design_cannot_render"));
    assert!(answer.json()["message"].as_str().unwrap().contains("draft"));

    // A design that was fine when it was saved and is not any more: the stored document is changed behind.
    stack.save_campaign(json!({})).await;
    let broken = json!({"product": "postcard_4x6", "back": {"elements": []}, "front": {"elements": [
        {"kind": "unheard_of", "id": "headline"}]}});
    stack
        .sql
        .execute(
            "UPDATE designs SET document = $1 WHERE name = 'Card'",
            &[&broken],
        )
        .await
        .unwrap();
    let answer = stack.send_recipients(&build_recipients(1..3)).await;
    assert_eq!(answer.error(), refused(409, "design_cannot_render"));
    assert!(answer.json()["message"].as_str().unwrap().contains("Card"));
    assert_nothing_happened(&stack).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn payload_too_large_for_too_many_recipients_and_for_too_many_bytes() {
    let stack = TestStack::start().await;
    let answer = stack.send_recipients(&vec![json!({}); 5001]).await;
    assert_eq!(answer.error(), refused(413, "payload_too_large"));
    assert!(answer.json()["message"].as_str().unwrap().contains("5000"));
    let long = "x".repeat(4_456_448);
    let answer = stack.send_recipients(&[json!({"note": long})]).await;
    assert_eq!(answer.error(), refused(413, "payload_too_large"));
    assert_nothing_happened(&stack).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_payload_when_unreadable_or_recipients_empty() {
    let stack = TestStack::start().await;
    for recipients in [
        json!([]),
        json!({}),
        json!(null),
        json!([7]),
        json!([{"zip": [1]}]),
        json!([{"": 1}]),
    ] {
        let answer = stack
            .post_send(&json!({"campaign_id": CAMPAIGN, "recipients": recipients}))
            .await;
        assert_eq!(
            answer.error(),
            refused(422, "invalid_payload"),
            "{recipients}"
        );
    }
    let bearer = format!("Bearer {KEY}");
    for body in [
        &b"{"[..],
        b"",
        b"[]",
        b"{\"recipients\":[{\"a\":\"\xff\"}]}",
        b"{\"recipients\":[{}]}}",
    ] {
        let answer = stack
            .post_send_with(&[("authorization", &bearer)], body.to_vec())
            .await;
        assert_eq!(answer.error(), refused(422, "invalid_payload"));
    }
    assert_nothing_happened(&stack).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn internal_error_at_once_when_no_worker_or_no_broker_is_there() {
    for settings in [
        Vec::new(),
        vec![("BROKER__URL", "amqp://nobody:x@127.0.0.1:1/%2f".to_owned())],
    ] {
        let stack = TestStack::with_options(StackOptions {
            mailers: 0,
            settings,
            ..StackOptions::default()
        })
        .await;
        stack.save_campaign(json!({})).await;
        let answer = stack.send_recipients(&build_recipients(1..3)).await;
        assert_eq!(answer.error(), refused(500, "internal_error"));
        assert_nothing_happened(&stack).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn validation_unavailable_mails_and_charges_nothing() {
    let stack = TestStack::with_options(StackOptions {
        verifier: Some(Arc::new(UnavailableVerifier)),
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    for _ in 0..2 {
        // The second time it is asked anew: the failed request left nothing to wait for.
        assert_eq!(
            stack.send_recipients(&build_recipients(1..3)).await.error(),
            refused(503, "validation_unavailable")
        );
    }
    assert_nothing_happened(&stack).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_error_has_code_and_message_and_nothing_else() {
    let stack = TestStack::start().await;
    let answer = stack.send_recipients(&[]).await;
    let Value::Object(body) = answer.json() else {
        panic!("not an object")
    };
    let mut keys: Vec<_> = body.keys().cloned().collect();
    keys.sort();
    assert_eq!(keys, ["code", "message"]);
    assert_eq!(answer.headers["content-type"], "application/json");
}

#[tokio::test(flavor = "multi_thread")]
async fn timeout_past_the_deadline_and_the_request_still_finishes() {
    let settings = vec![("GATEWAY__CALL_DEADLINE_MS", "300".to_owned())];
    let stack = TestStack::with_options(StackOptions {
        verifier: Some(Arc::new(SlowVerifier(std::time::Duration::from_millis(
            900,
        )))),
        settings,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    assert_eq!(
        stack.send_recipients(&build_recipients(1..3)).await.error(),
        refused(504, "timeout")
    );
    wait_until("the request is finished", async || {
        stack
            .query_count("SELECT count(*) FROM sends WHERE state = 'finished'")
            .await
            == 1
    })
    .await;
    assert_eq!(
        stack
            .send_recipients(&build_recipients(1..3))
            .await
            .reasons(),
        ["mailed", "mailed"]
    );
    assert_eq!(
        stack.query_count("SELECT count(*) FROM mailpieces").await,
        2
    );
    stack.assert_consistent().await;
}
