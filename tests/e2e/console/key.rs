//! API keys, of all three kinds, and the log of who made them.

use pillarbox_tests::TestStack;
use serde_json::json;
use store::MemberRole;

use super::{console, member, secret_in};

#[tokio::test(flavor = "multi_thread")]
async fn a_team_holds_ten_keys_and_its_integrations_keys_do_not_count() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let crm = json!({"name": "CRM", "keys": [{"name": "Nightly"}]});
    stack
        .apply_team(json!({"teams": [{"name": "Test", "integrations": [crm]}]}))
        .await;
    for number in 0..9 {
        let kind = if number % 2 == 0 {
            "formulas"
        } else {
            "full_access"
        };
        let made = admin
            .post(
                "/keys",
                &[("name", &format!("Key {number}")), ("kind", kind)],
            )
            .await;
        assert_eq!(made.status, 200, "{}", made.html);
    }
    let page = admin.get("/keys").await.html;
    assert!(
        page.contains("10 of at most 10") && page.contains("Your team holds 10 active keys"),
        "{page}"
    );
    assert!(
        page.contains(">CRM</a>") && page.contains("Formulas only") && page.contains("Full access")
    );
    let eleventh = admin
        .post("/keys", &[("name", "Eleventh"), ("kind", "formulas")])
        .await;
    assert!(
        eleventh.status == 422 && eleventh.html.contains("which is the most"),
        "{}",
        eleventh.html
    );
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM api_keys WHERE name = 'Eleventh'")
            .await,
        0
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_cannot_be_is_told_beside_the_field_and_kept() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    for name in ["", "  ", &"x".repeat(201)] {
        let page = admin
            .post("/keys", &[("name", name), ("kind", "formulas")])
            .await;
        assert_eq!(page.status, 422, "{name}");
        assert!(
            page.html
                .contains("the name must be 1 to 200 characters on one line"),
            "{}",
            page.html
        );
        assert!(page.html.contains(&format!("value=\"{name}\"")) && page.html.contains("selected"));
    }
    let harmless = admin
        .post_and_follow(
            "/keys",
            &[("name", "<script>alert(1)</script>"), ("kind", "formulas")],
        )
        .await;
    assert!(
        !harmless.html.contains("<script>alert"),
        "{}",
        harmless.html
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_formulas_key_made_here_does_not_open_the_api() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let made = admin
        .post_and_follow("/keys", &[("name", "Formulas"), ("kind", "formulas")])
        .await;
    let bearer = format!("Bearer {}", secret_in(&made, "pk_fx_"));
    let refused = post(&stack, "/api/v1/recipients", &bearer, json!({})).await;
    assert_eq!(refused.error(), (401, "invalid_api_key".to_owned()));
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let opened = post(&stack, "/api/formulas/v1/mcp", &bearer, ping).await;
    assert_eq!(
        (opened.status.as_u16(), &opened.json()["id"]),
        (200, &json!(1))
    );
}

async fn post(
    stack: &TestStack,
    path: &str,
    bearer: &str,
    body: serde_json::Value,
) -> pillarbox_tests::ApiResponse {
    let headers = [
        ("authorization", bearer),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    stack
        .request(
            reqwest::Method::POST,
            &format!("{}{path}", stack.url),
            &headers,
            body.to_string(),
        )
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_is_searched_by_person_and_by_kind_and_walked_by_pages() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let owner = member(&stack, &url, MemberRole::Owner).await;
    let sql = "SELECT member_id::text FROM members WHERE role = 'admin'";
    let admin_id: String = stack.sql.query_one(sql, &[]).await.unwrap().get(0);
    let empty = admin.get("/activity?kind=endpoint").await.html;
    assert!(empty.contains("Nothing of this kind"), "{empty}");
    admin
        .post("/keys", &[("name", "Of the admin"), ("kind", "formulas")])
        .await;
    admin
        .post("/integrations", &[("name", "Of the admin too")])
        .await;
    owner
        .post("/keys", &[("name", "Of the owner"), ("kind", "formulas")])
        .await;
    for number in 0..60 {
        owner
            .post("/integrations", &[("name", &format!("Many {number}"))])
            .await;
    }
    let shown = async |query: String| admin.get(&format!("/activity?{query}")).await.html;
    let by_admin = shown(format!("person={admin_id}&kind=")).await;
    assert!(
        by_admin.contains("Of the admin too") && !by_admin.contains("Of the owner"),
        "{by_admin}"
    );
    let keys = shown("person=&kind=key".to_owned()).await;
    assert!(
        keys.contains("Of the owner") && keys.contains("Of the admin") && !keys.contains("Many"),
        "{keys}"
    );
    let both = shown(format!("person={admin_id}&kind=integration")).await;
    assert!(
        both.contains("Of the admin too")
            && !both.contains("key.created")
            && !both.contains("Many")
    );
    assert!(
        shown("kind=nothing".to_owned())
            .await
            .contains("Nothing of this kind")
    );
    assert_eq!(admin.get("/activity?person=nobody").await.status, 404);

    let first = shown("kind=integration".to_owned()).await;
    let more = first
        .split("<a href=\"")
        .find(|rest| rest.contains("rel=\"next\""));
    assert!(
        more.is_none(),
        "a team makes 50 integrations at the most, so they fit a page"
    );
    let all = shown(String::new()).await;
    let older = all
        .split("<a href=\"")
        .find(|rest| rest.contains("rel=\"next\""))
        .expect("a second page");
    let older = older
        .split('"')
        .next()
        .unwrap()
        .replace("&amp;", "&")
        .replace("&#38;", "&");
    let rest = admin.get(&older).await.html;
    assert!(
        rest.contains("Of the admin too") && !rest.contains("rel=\"next\""),
        "{rest}"
    );
}
