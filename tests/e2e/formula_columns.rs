//! Formula columns: computed for conditions and links, never stored, never sent.

use chrono::TimeDelta;
use pillarbox_tests::{
    CAMPAIGN, StackOptions, TestStack, build_center, build_recipient, postcard_design, text_box,
    variable_picture, wait_until,
};
use serde_json::{Value, json};

fn spender(number: usize, value: i64) -> Value {
    let mut person = build_recipient(number);
    person["lifetime_value"] = value.into();
    person
}

fn columns(columns: Value) -> Value {
    json!({"teams": [{"name": "Test", "columns": columns}]})
}

/// A campaign for those whose tier, a formula, is VIP.
async fn for_vips() -> TestStack {
    let stack = TestStack::start().await;
    stack
        .apply_team(columns(json!([
            {"name": "lifetime_value", "type": "number"},
            {"name": "Tier", "formula": "IF(lifetime_value > 500, \"VIP\", {Polite name})"},
            {"name": "Polite name", "formula": "PROPER(first_name)"},
        ])))
        .await;
    stack
        .save_campaign(json!({"conditions": {"column": "tier", "operator": "is", "value": "vip"}}))
        .await;
    stack
}

/// Why a file with these columns is refused.
async fn refusal(stack: &TestStack, wanted: Value) -> String {
    let (now, folder, policy) = (
        stack.clock.now(),
        std::path::Path::new("."),
        stack.target_policy(),
    );
    let file = columns(wanted).to_string();
    pillarbox::apply::apply_text(&stack.store, &file, folder, &policy, now)
        .await
        .unwrap_err()
        .to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn conditions_look_at_formula_columns_and_nothing_of_them_is_stored() {
    let stack = for_vips().await;
    let mut liar = spender(3, 100);
    liar["TIER"] = "VIP".into();
    let answer = stack
        .send_recipients(&[spender(1, 501), spender(2, 500), liar])
        .await;
    assert_eq!(
        answer.reasons(),
        ["mailed", "filtered_conditions", "filtered_conditions"]
    );
    assert_eq!(answer.json()["summary"]["computedFieldsIgnored"], 1);
    let stored =
        "SELECT count(*) FROM address_entries WHERE custom ?| ARRAY['tier', 'polite name']";
    assert_eq!(stack.query_count(stored).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_daily_recheck_uses_the_formula_of_that_day() {
    let stack = for_vips().await;
    assert_eq!(
        stack.send_recipients(&[spender(1, 400)]).await.reasons(),
        ["filtered_conditions"]
    );
    stack
        .apply_team(columns(
            json!([{"name": "Tier", "formula": "IF(lifetime_value > 300, \"VIP\", \"\")"}]),
        ))
        .await;
    stack.clock.advance(TimeDelta::days(1));
    wait_until("the recipient is mailed", async || {
        stack
            .query_count("SELECT count(*) FROM recipients WHERE status = 'mailed'")
            .await
            == 1
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn links_take_formula_columns_over_what_is_stored() {
    let stack = for_vips().await;
    let document = json!({"product": "postcard_4x6", "back": {"elements": []}, "front": {"elements": [{
        "id": "code", "kind": "qr_code", "area": {"x": 20, "y": 100, "width": 80, "height": 80},
        "destination": "https://a.example/{{tier}}", "fallback_link": "https://a.example/none",
    }]}});
    // Making the campaign gives the card its usual design back.
    stack.save_campaign(json!({})).await;
    stack
        .apply_team(json!({"teams": [{"name": "Test", "designs": [{"name": "Card", "document": document}]}]}))
        .await;
    assert_eq!(
        stack.send_recipients(&[spender(1, 900)]).await.reasons(),
        ["mailed"]
    );
    // Nothing of the amount is sent: the formula finds the stored one.
    stack.clock.advance(TimeDelta::days(200));
    assert_eq!(
        stack.send_recipients(&[build_recipient(1)]).await.reasons(),
        ["mailed"]
    );
    let rows = stack
        .sql
        .query(
            "SELECT DISTINCT array_to_string(destinations, ' ') FROM mailpieces",
            &[],
        )
        .await
        .unwrap();
    let links: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(links, ["https://a.example/VIP"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_formula_is_blank_and_the_send_runs() {
    let stack = for_vips().await;
    stack
        .sql
        .execute(
            "DELETE FROM address_columns WHERE name_key = 'lifetime_value'",
            &[],
        )
        .await
        .unwrap();
    let answer = stack
        .post_send(&json!({"campaign_id": CAMPAIGN, "recipients": [build_recipient(1)]}))
        .await;
    assert_eq!(answer.reasons(), ["filtered_conditions"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_computed_is_refused_when_it_is_saved() {
    let stack = for_vips().await;
    let refused = refusal(
        &stack,
        json!([{"name": "a", "formula": "UPER(first_name)"}]),
    )
    .await;
    assert_eq!(
        refused,
        "teams[0].columns[0].formula: at character 1: There is no function UPER. Did you mean UPPER?"
    );
    let refused = refusal(
        &stack,
        json!([{"name": "Polite name", "formula": "Tier + \"!\""}]),
    )
    .await;
    assert!(refused.contains("The column builds on itself"), "{refused}");
    let refused = refusal(&stack, json!([{"name": "lifetime_value", "type": "date"}])).await;
    assert!(
        refused.contains("the formula of Tier would break"),
        "{refused}"
    );
}

/// A QR code that leads to this destination.
fn code(destination: &str) -> Value {
    json!({"id": "code", "kind": "qr_code", "area": {"x": 20, "y": 200, "width": 64, "height": 64},
        "destination": destination, "fallback_link": "https://a.example/none"})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_prints_a_formula_column_as_it_is_computed_for_the_card() {
    let stack = for_vips().await;
    stack
        .apply_design(
            postcard_design(&[text_box("greeting", "{{TIER|nobody}}")]),
            json!({}),
        )
        .await;
    assert_eq!(
        stack
            .send_recipients(&[spender(1, 900), spender(2, 5)])
            .await
            .reasons(),
        ["mailed", "mailed"]
    );
    let mut printed: Vec<Value> = stack
        .list_contents()
        .await
        .iter()
        .map(|content| content["fields"].clone())
        .collect();
    printed.sort_by_key(Value::to_string);
    assert_eq!(printed, [json!({"tier": "Pat"}), json!({"tier": "VIP"})]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_step_uses_the_formula_of_its_day() {
    let stack = for_vips().await;
    stack
        .save_design(postcard_design(&[text_box("greeting", "{{Tier|nobody}}")]))
        .await;
    let steps = json!([{"design": "Designed"}, {"design": "Designed", "delay_days": 10}]);
    stack.save_campaign(json!({ "steps": steps })).await;
    assert_eq!(
        stack.send_recipients(&[spender(1, 900)]).await.reasons(),
        ["mailed"]
    );
    stack
        .apply_team(columns(
            json!([{"name": "Tier", "formula": "\"since \" + lifetime_value"}]),
        ))
        .await;
    stack.clock.advance(TimeDelta::days(11));
    wait_until("the second step is mailed", async || {
        stack.list_contents().await.len() == 2
    })
    .await;
    let printed: Vec<Value> = stack
        .list_contents()
        .await
        .iter()
        .map(|content| content["fields"]["tier"].clone())
        .collect();
    assert_eq!(printed, [json!("VIP"), json!("since 900")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_links_of_neighborhood_mail_take_the_formula_over_each_home() {
    let stack = TestStack::with_options(StackOptions::default()).await;
    stack.import_main_street(1..41).await;
    let formula = "TEXTBEFORE(address_1, \" \") + \"-\" + LOWER(city)";
    stack
        .apply_team(columns(json!([{"name": "Slug", "formula": formula}])))
        .await;
    let campaign = json!({"kind": "neighborhood", "radius_metres": 15});
    stack
        .apply_design(
            postcard_design(&[code("https://a.example/{{slug}}")]),
            campaign,
        )
        .await;
    assert_eq!(
        stack.send_recipients(&[build_center(20)]).await.reasons(),
        ["mailed"]
    );
    let sql = "SELECT array_to_string(destinations, ' ') AS link FROM mailpieces ORDER BY link";
    let rows = stack.sql.query(sql, &[]).await.unwrap();
    let links: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(
        links,
        [19, 20, 21].map(|house| format!("https://a.example/{house}-austin"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_formula_that_gives_what_cannot_be_stored_is_blank_and_the_send_runs() {
    let stack = TestStack::start().await;
    let formula = "SUBSTITUTE(first_name, \"a\", \"\\x00\")";
    stack
        .apply_team(columns(json!([{"name": "Photo", "formula": formula}])))
        .await;
    let mut document = postcard_design(&[
        text_box("t", "{{photo|none}}"),
        code("https://a.example/{{photo}}"),
        variable_picture(Value::Null),
    ]);
    let address = |name: &str| json!({"name": name, "address_1": "1 Main St", "city": "Austin", "state": "TX", "zip": "78701"});
    document["return_address"] =
        json!({"address": address("{{photo}}"), "fallback": address("Acme")});
    stack.apply_design(document, json!({})).await;
    let answer = stack
        .post_send(&json!({"campaign_id": CAMPAIGN, "recipients": [build_recipient(1)]}))
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn prompts_and_names_that_cannot_work_are_refused_when_they_are_saved() {
    let stack = for_vips().await;
    let cases = [
        (
            json!([{"name": "Hello", "prompt": "Say {{nothing}}."}]),
            "prompt: the team has no column \"nothing\"",
        ),
        (
            json!([{"name": "Hello", "prompt": "Say {{hello}}."}]),
            "prompt: The column builds on itself: Hello → Hello.",
        ),
        (
            json!([{"name": "Hello", "prompt": "Say {{loud}}."}, {"name": "Loud", "formula": "UPPER(Hello)"}]),
            "The column builds on itself",
        ),
        (
            json!([{"name": "br{ace", "formula": "1"}]),
            "name: must not have braces",
        ),
    ];
    for (wanted, why) in cases {
        let refused = refusal(&stack, wanted).await;
        assert!(refused.contains(why), "{refused}");
    }
    let many: Vec<Value> = (0..101)
        .map(|at| json!({"name": format!("f{at}"), "formula": "1"}))
        .collect();
    let refused = refusal(&stack, json!(many)).await;
    assert!(
        refused.contains("a team has at most 100 formula columns"),
        "{refused}"
    );
}
