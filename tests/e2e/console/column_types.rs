//! Columns keep the types with which campaigns and formulas use them, whoever declares another one.

use pillarbox_tests::{CAMPAIGN, ConsoleClient, CrmClient, build_recipient, wait_until};
use serde_json::{Value, json};
use store::MemberRole;

use super::member;

/// A CRM whose declared column `tier` is a number, a mailer, and an Admin at the console.
async fn world() -> (CrmClient, ConsoleClient) {
    let mut crm = CrmClient::with_settings(Vec::new()).await;
    crm.stack.add_mailer(None);
    crm.stack.save_campaign(json!({})).await;
    let probe = json!({"campaign_id": CAMPAIGN, "recipients": [build_recipient(99)]});
    wait_until("a mailer takes sends", async || {
        crm.stack.post_send(&probe).await.status == 200
    })
    .await;
    assert_eq!(declared(&crm, "number").await.0, 200);
    let url = crm.stack.start_console().await;
    let admin = member(&crm.stack, &url, MemberRole::Admin).await;
    (crm, admin)
}

/// The status of a declaration of `tier` with this type, and what it says.
async fn declared(crm: &CrmClient, field_type: &str) -> (u16, Value) {
    let answer = crm
        .declare_fields(json!([{"key": "Tier", "type": field_type}]))
        .await;
    (answer.status.as_u16(), answer.json())
}

fn with_tier(number: usize, tier: i64) -> Value {
    let mut person = build_recipient(number);
    person["tier"] = tier.into();
    person
}

/// The campaign with one condition on `tier`.
async fn filter(crm: &CrmClient, operator: &str) {
    let condition = json!({"column": "tier", "operator": operator, "value": 5});
    crm.stack
        .save_campaign(json!({"conditions": {"all": [condition]}}))
        .await;
}

async fn column_type(crm: &CrmClient) -> String {
    let sql = "SELECT type FROM address_columns WHERE name_key = 'tier'";
    crm.stack.sql.query_one(sql, &[]).await.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declaration_cannot_change_the_type_of_a_column_that_conditions_use_and_who_is_mailed_stays()
 {
    let (crm, admin) = world().await;
    filter(&crm, "is_not").await;
    let (status, answer) = declared(&crm, "text").await;
    assert_eq!(
        (status, &answer["error"]["code"]),
        (409, &json!("field_locked"))
    );
    assert_eq!(answer["error"]["details"], json!({"fields": ["Tier"]}));
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("filter conditions of campaigns use these columns"),
        "{message}"
    );
    assert_eq!(column_type(&crm).await, "number");
    let sent = crm
        .stack
        .send_recipients(&[with_tier(1, 5), with_tier(2, 6)])
        .await;
    assert_eq!(sent.reasons(), ["filtered_conditions", "mailed"]);
    let page = admin.get("/address-book/columns").await.html;
    assert!(
        page.contains("Campaigns filter on it, such as Test"),
        "{page}"
    );
    // Paused, it may go on: its conditions still hold.
    admin
        .post(&format!("/campaigns/{CAMPAIGN}/pause"), &[])
        .await;
    assert_eq!(declared(&crm, "date").await.0, 409);
    assert_eq!(
        declared(&crm, "number").await.0,
        200,
        "its own type can be declared again"
    );
    crm.stack.save_campaign(json!({"conditions": null})).await;
    assert_eq!(
        declared(&crm, "text").await.0,
        200,
        "nothing uses it any more"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declaration_cannot_change_the_type_of_a_column_that_a_formula_uses() {
    let (crm, admin) = world().await;
    let saved = admin
        .post(
            "/address-book/formula",
            &[("name", "Next tier"), ("formula", "tier + 1")],
        )
        .await;
    assert_eq!(saved.status, 303, "{}", saved.html);
    let (status, answer) = declared(&crm, "text").await;
    assert_eq!(
        (status, &answer["error"]["code"]),
        (409, &json!("field_locked"))
    );
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("Formulas use these columns"),
        "{answer}"
    );
    assert!(
        admin
            .get("/address-book/columns")
            .await
            .html
            .contains("Formulas use it")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_declaration_and_conditions_that_are_saved_at_once_one_is_refused() {
    let (crm, admin) = world().await;
    let path = format!("/campaigns/{CAMPAIGN}/conditions");
    let condition = [
        ("do", "save"),
        ("part.0.parent", "0"),
        ("part.0.group", "all"),
        ("part.1.parent", "0"),
        ("part.1.column", "tier"),
        ("part.1.operator", "greater"),
        ("part.1.value", "5"),
    ];
    let form = admin.get(&path).await.html;
    let seen = form
        .split("name=\"seen\" value=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .to_owned();
    let condition = [&condition[..], &[("seen", seen.as_str())]].concat();
    for round in 0..10 {
        crm.stack.save_campaign(json!({"conditions": null})).await;
        assert_eq!(declared(&crm, "number").await.0, 200);
        let ((declared, _), saved) =
            tokio::join!(declared(&crm, "text"), admin.post(&path, &condition));
        let is_saved = saved.status == 303;
        assert_ne!(
            declared == 200,
            is_saved,
            "round {round}: declared {declared}, saved {}",
            saved.status
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn conditions_that_cannot_be_used_are_told_on_every_page_and_shown_as_they_are() {
    let (crm, admin) = world().await;
    filter(&crm, "greater").await;
    // As a version before might have left it.
    let sql = "UPDATE address_columns SET type = 'text' WHERE name_key = 'tier'";
    crm.stack.sql.execute(sql, &[]).await.unwrap();
    let sent = crm.stack.send_recipients(&[with_tier(1, 9)]).await;
    assert_eq!(sent.error(), (409, "campaign_not_active".to_owned()));
    let campaign = admin.get(&format!("/campaigns/{CAMPAIGN}")).await.html;
    assert!(
        campaign.contains("Active, but mails nobody")
            && campaign.contains("Nobody is mailed, and requests are refused"),
        "{campaign}"
    );
    let list = admin.get("/campaigns").await.html;
    assert!(
        list.contains("mails nobody: its conditions cannot be used"),
        "{list}"
    );
    let form = admin
        .get(&format!("/campaigns/{CAMPAIGN}/conditions"))
        .await
        .html;
    assert!(
        form.contains("These conditions cannot be used") && !form.contains("Nothing was saved"),
        "{form}"
    );
    assert!(
        form.contains("<option value=\"greater\" selected>"),
        "{form}"
    );
    crm.stack
        .sql
        .execute(
            "UPDATE address_columns SET type = 'number' WHERE name_key = 'tier'",
            &[],
        )
        .await
        .unwrap();
    assert!(!admin.get("/campaigns").await.html.contains("mails nobody"));
}
