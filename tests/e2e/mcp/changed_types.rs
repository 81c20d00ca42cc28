//! What another type of a column does to the formulas over it.

use pillarbox_tests::{CAMPAIGN, CrmClient, TestStack, build_recipient, wait_until};
use serde_json::{Value, json};

use super::Mcp;

fn apply_columns(columns: Value) -> Value {
    json!({"teams": [{"name": "Test", "columns": columns}]})
}

fn conditions(column: &str, operator: &str) -> Value {
    json!({"conditions": {"column": column, "operator": operator, "value": 5}})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_column_that_has_got_another_type_leaves_the_formulas_over_it_blank_with_the_reason() {
    let mut crm = CrmClient::start().await;
    crm.stack.add_mailer(None);
    crm.stack.save_campaign(json!({})).await;
    let probe = json!({"campaign_id": CAMPAIGN, "recipients": [build_recipient(9)]});
    wait_until("a mailer takes sends", async || {
        crm.stack.post_send(&probe).await.status == 200
    })
    .await;
    let (integrations, formulas) = (
        Mcp::integrations(&crm),
        Mcp::formulas_ready(&crm.stack).await,
    );
    let declare = |field_type: &str| json!({"fields": [{"key": "x", "type": field_type}]});
    integrations
        .call("declare_schema", declare("number"))
        .await
        .unwrap();
    let save = json!({"name": "Uses x", "formula": "x + 1"});
    assert_eq!(
        formulas.call("save_formula", save.clone()).await.unwrap()["type"],
        "number"
    );
    crm.stack
        .save_campaign(conditions("uses x", "greater"))
        .await;
    let with_x = |number: usize, x: i64| {
        let mut person = build_recipient(number);
        person["x"] = x.into();
        person
    };
    assert_eq!(
        crm.stack
            .send_recipients(&[with_x(1, 5), with_x(2, 4)])
            .await
            .reasons(),
        ["mailed", "filtered_conditions"]
    );

    // No declaration does it; a version before may have let one through. As text, 1 is joined: 31 would be greater than 5.
    assert_eq!(
        integrations
            .failure("declare_schema", declare("text"))
            .await,
        "field_locked"
    );
    let sql = "UPDATE address_columns SET type = 'text' WHERE name_key = 'x'";
    crm.stack.sql.execute(sql, &[]).await.unwrap();
    let answer = crm
        .stack
        .post_send(&json!({"campaign_id": CAMPAIGN, "recipients": [with_x(3, 3)]}))
        .await;
    assert_eq!(answer.reasons(), ["filtered_conditions"]);
    let message = "The column x was a number when the formula was saved and is text now";
    let listed = formulas
        .call("list_columns", json!({"search": "uses x"}))
        .await
        .unwrap();
    assert!(
        listed["columns"][0]["problem"]
            .as_str()
            .unwrap()
            .contains(message),
        "{listed}"
    );
    let explained = formulas
        .call("explain_formula", json!({"name": "Uses x"}))
        .await
        .unwrap();
    assert!(
        explained["problems"][0]["message"]
            .as_str()
            .unwrap()
            .starts_with(message),
        "{explained}"
    );
    assert_eq!(
        formulas
            .failure("preview_formula", json!({"name": "Uses x"}))
            .await,
        "invalid_formula"
    );
    // Saved as it stands it would mean something else; said so that it means the same, it is saved.
    assert_eq!(formulas.failure("save_formula", save).await, "type_in_use");
    let mended = json!({"name": "Uses x", "formula": "VALUE(x) + 1"});
    assert_eq!(
        formulas.call("save_formula", mended).await.unwrap()["outcome"],
        "changed"
    );
    assert_eq!(
        crm.stack
            .send_recipients(&[with_x(4, 5), with_x(5, 3)])
            .await
            .reasons(),
        ["mailed", "filtered_conditions"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_may_not_change_the_type_of_a_formula_that_conditions_use_through_another_column() {
    let stack = TestStack::start().await;
    stack
        .apply_team(apply_columns(json!([
            {"name": "pts", "type": "number"},
            {"name": "Up", "formula": "pts + 1"},
            {"name": "Base", "formula": "1 + 1"},
            {"name": "Der", "formula": "Base + 1"},
        ])))
        .await;
    let refusal = async |wanted: Value| {
        let (folder, policy) = (std::path::Path::new("."), stack.target_policy());
        let file = apply_columns(wanted).to_string();
        pillarbox::apply::apply_text(&stack.store, &file, folder, &policy, stack.now())
            .await
            .err()
            .map(|error| error.to_string())
    };
    stack.save_campaign(conditions("up", "greater")).await;
    let refused = refusal(json!([{"name": "pts", "type": "text"}]))
        .await
        .unwrap();
    assert!(
        refused.contains("use the column \"Up\" as it is"),
        "{refused}"
    );
    stack.save_campaign(conditions("der", "greater")).await;
    let refused = refusal(json!([{"name": "Base", "formula": "first_name"}]))
        .await
        .unwrap();
    assert!(
        refused.contains("use the column \"Der\" as it is"),
        "{refused}"
    );
    assert_eq!(
        stack.send_recipients(&[build_recipient(1)]).await.reasons(),
        ["filtered_conditions"],
        "nothing was changed"
    );
    // Nothing filters on it: the owner's change goes through, and the formula is that of the new type.
    assert_eq!(
        refusal(json!([{"name": "pts", "type": "text"}])).await,
        None
    );
    let server = Mcp::formulas_ready(&stack).await;
    let explained = server
        .call("explain_formula", json!({"name": "Up"}))
        .await
        .unwrap();
    assert_eq!(
        (&explained["type"], &explained["problems"]),
        (&json!("text"), &json!([]))
    );
}
