//! Secrets are shown once, on a page that can be loaded again without making another.

use pillarbox_tests::TestStack;
use serde_json::json;
use store::MemberRole;

use super::{console, member, secret_in};

/// The number of secrets that wait to be shown.
async fn waiting(stack: &TestStack) -> i64 {
    stack.query_count("SELECT count(*) FROM shown_once").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_shows_a_secret_is_loaded_again_without_it_and_makes_nothing() {
    let (stack, url) = console().await;
    let owner = member(&stack, &url, MemberRole::Owner).await;
    stack
        .apply_team(json!({"teams": [{"name": "Test", "integrations": [{"name": "CRM"}]}]}))
        .await;
    let endpoint = json!({"url": "http://127.0.0.1:9/hook"});
    stack
        .apply_team(json!({"teams": [{"name": "Test", "endpoints": [endpoint]}]}))
        .await;
    let id = async |sql: &str| {
        stack
            .sql
            .query_one(sql, &[])
            .await
            .unwrap()
            .get::<_, String>(0)
    };
    let integration = id("SELECT integration_id::text FROM integrations").await;
    let endpoint = id("SELECT endpoint_id::text FROM endpoints").await;
    for (path, form, prefix, rows) in [
        (
            "/keys".to_owned(),
            &[("name", "Website"), ("kind", "full_access")][..],
            "pk_live_",
            "api_keys",
        ),
        (
            format!("/integrations/{integration}/keys"),
            &[("name", "Nightly")],
            "pk_int_",
            "api_keys",
        ),
        (
            format!("/endpoints/{endpoint}/sign"),
            &[],
            "whsec_",
            "endpoints WHERE earlier_secret IS NOT NULL",
        ),
        (
            "/team".to_owned(),
            &[
                ("email", "grace@example.com"),
                ("name", "Grace"),
                ("role", "member"),
            ],
            "/password/",
            "members",
        ),
    ] {
        let made = owner.post(&path, form).await;
        assert_eq!(
            (made.status.as_u16(), made.html.as_str()),
            (303, ""),
            "{path}"
        );
        let cookie = made.headers["set-cookie"].to_str().unwrap();
        assert!(
            cookie.contains("HttpOnly") && cookie.contains("Max-Age=300"),
            "{cookie}"
        );
        assert!(
            cookie.contains(&format!(
                "Path={}",
                made.location().split('?').next().unwrap()
            )),
            "{cookie}"
        );
        let count = format!("SELECT count(*) FROM {rows}");
        let before = stack.query_count(&count).await;
        let secret = secret_in(&owner.follow_redirect(&made).await, prefix);
        let sealed = "SELECT string_agg(encode(sealed, 'escape'), '') FROM shown_once";
        let kept: Option<String> = stack.sql.query_one(sealed, &[]).await.unwrap().get(0);
        assert_eq!(kept, None, "{path}: shown, it is kept no more");
        let again = owner.follow_redirect(&made).await;
        assert!(
            again.status == 200 && !again.html.contains(&secret),
            "{path}"
        );
        assert_eq!(stack.query_count(&count).await, before, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_waits_encrypted_for_its_maker_alone_and_some_minutes_at_the_most() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let other = member(&stack, &url, MemberRole::Admin).await;
    let made = admin
        .post("/keys", &[("name", "Website"), ("kind", "full_access")])
        .await;
    let sql = "SELECT count(*) FROM shown_once WHERE position('pk_live_'::bytea IN sealed) > 0";
    assert_eq!(
        (waiting(&stack).await, stack.query_count(sql).await),
        (1, 0)
    );
    assert!(
        !other
            .follow_redirect(&made)
            .await
            .html
            .contains("id=\"made-key\""),
        "somebody else's cookie"
    );
    stack.clock.advance(chrono::TimeDelta::minutes(5));
    assert!(
        !admin
            .follow_redirect(&made)
            .await
            .html
            .contains("id=\"made-key\""),
        "it is late"
    );
    assert_eq!(waiting(&stack).await, 0);
}
