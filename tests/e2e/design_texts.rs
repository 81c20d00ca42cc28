//! What the layout of a card says: reasons that keep it from printing, warnings that it prints with a fallback.

use pillarbox_tests::{
    StackOptions, TestStack, build_center, build_recipient, build_recipients, postcard_design,
    text_box,
};
use serde_json::{Value, json};

fn named(number: usize, name: &str) -> Value {
    let mut person = build_recipient(number);
    person["first_name"] = name.into();
    person
}

/// A stack whose postcard has these elements on its front.
async fn with_front(elements: &[Value]) -> TestStack {
    let stack = TestStack::start().await;
    stack
        .apply_design(postcard_design(elements), json!({}))
        .await;
    stack
}

/// Code and field of each warning of each result.
fn warnings(answer: &Value) -> Vec<Vec<(String, String)>> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let results = answer["results"].as_array().unwrap().iter();
    let warnings = results.map(|result| {
        let warnings = result["warnings"].as_array().cloned().unwrap_or_default();
        warnings
            .iter()
            .map(|warning| (text(&warning["code"]), text(&warning["field"])))
            .collect()
    });
    warnings.collect()
}

fn warning(code: &str, field: &str) -> Vec<(String, String)> {
    vec![(code.to_owned(), field.to_owned())]
}

fn details(answer: &Value) -> Vec<String> {
    let results = answer["results"].as_array().unwrap().iter();
    results
        .map(|result| result["detail"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn text_overflow_when_a_text_does_not_fit_its_box() {
    let stack = with_front(&[text_box("greeting", "Dear {{first_name}}")]).await;
    let answer = stack
        .send_recipients(&[named(1, "Ann"), named(2, &"Wolfeschlegelstein".repeat(3))])
        .await;
    assert_eq!(answer.reasons(), ["mailed", "text_overflow"]);
    assert!(
        details(&answer.json())[1].contains("\"greeting\""),
        "{}",
        answer.text
    );
    assert_eq!(
        stack.list_contents().await[0]["fields"],
        json!({"first_name": "Ann"})
    );
    assert_eq!(
        stack
            .query_count("SELECT sum(amount_cents)::bigint FROM charges")
            .await,
        79
    );
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unsupported_characters_are_named_with_their_box_and_come_before_text_overflow() {
    let stack = with_front(&[text_box("greeting", "Dear {{first_name}}")]).await;
    let long = format!("\u{1F389}{}", "Wolfeschlegelstein".repeat(3));
    let answer = stack
        .send_recipients(&[named(1, "\u{1F389}"), named(2, &long), named(3, "Zoë")])
        .await;
    let unsupported = "unsupported_characters";
    assert_eq!(answer.reasons(), [unsupported, unsupported, "mailed"]);
    let detail = &details(&answer.json())[0];
    assert!(
        detail.contains("U+1F389") && detail.contains("\"greeting\""),
        "{detail}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_design_says_comes_after_the_conditions_and_before_the_budget() {
    let stack = TestStack::start().await;
    stack
        .apply_team(
            json!({"teams": [{"name": "Test", "columns": [{"name": "Score", "type": "number"}]}]}),
        )
        .await;
    let campaign = json!({"budget": "$0.80",
        "conditions": {"column": "score", "operator": "greater", "value": 10}});
    stack
        .apply_design(
            postcard_design(&[text_box("greeting", "Dear {{first_name}}")]),
            campaign,
        )
        .await;
    let scored = |mut person: Value, score: i64| {
        person["score"] = score.into();
        person
    };
    let long = "Wolfeschlegelstein".repeat(3);
    let send = [
        scored(named(1, &long), 5),
        scored(named(2, &long), 50),
        scored(named(3, "Ann"), 50),
        scored(named(4, &long), 50),
        scored(named(5, "Ben"), 50),
    ];
    let expected = [
        "filtered_conditions",
        "text_overflow",
        "mailed",
        "text_overflow",
        "budget_exceeded",
    ];
    assert_eq!(stack.send_recipients(&send).await.reasons(), expected);
    // What is not mailed is no duplicate.
    stack
        .save_campaign(json!({"steps": [{"design": "Designed", "postage": "standard"}]}))
        .await;
    assert_eq!(
        stack
            .send_recipients(&[named(2, "Kim"), named(3, "Ann")])
            .await
            .reasons(),
        ["mailed", "duplicate_recent"]
    );
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_values_print_where_nothing_was_sent() {
    let stack = with_front(&[text_box("offer", "{{offer|Hello}}")]).await;
    stack
        .save_campaign(json!({"id": "PA-FIRST1", "name": "First"}))
        .await;
    let mut with_offer = build_recipient(1);
    with_offer["offer"] = "W".repeat(40).into();
    assert_eq!(
        stack
            .send_recipients_to("PA-FIRST1", &[with_offer])
            .await
            .reasons(),
        ["mailed"]
    );
    assert_eq!(
        stack
            .send_recipients(&build_recipients(1..3))
            .await
            .reasons(),
        ["text_overflow", "mailed"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn qr_fallback_link_when_a_needed_field_is_empty() {
    let code = json!({"id": "code", "kind": "qr_code", "area": {"x": 20, "y": 100, "width": 80, "height": 80},
        "destination": "https://example.com/offer/{{Offer}}", "fallback_link": "https://example.com/start"});
    let stack = with_front(&[code]).await;
    let mut with_offer = build_recipient(1);
    with_offer["offer"] = "spring".into();
    let answer = stack
        .send_recipients(&[with_offer, build_recipient(2)])
        .await;
    assert_eq!(answer.reasons(), ["mailed", "mailed"]);
    assert_eq!(
        warnings(&answer.json()),
        [vec![], warning("qr_fallback_link", "Offer")]
    );
    let sql = "SELECT destinations[1] FROM mailpieces ORDER BY mailpiece_id";
    let rows = stack.sql.query(sql, &[]).await.unwrap();
    let links: Vec<&str> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(
        links,
        [
            "https://example.com/offer/spring",
            "https://example.com/start"
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn text_overlap_when_a_text_reaches_another_element() {
    let mut greeting = text_box("greeting", "{{first_name}}");
    greeting["area"]["width"] = 200.into();
    let star = json!({"id": "star", "kind": "shape", "area": {"x": 120, "y": 115, "width": 40, "height": 30},
        "outline": "rectangle", "fill": "#ffcc00"});
    let stack = with_front(&[star, greeting]).await;
    let answer = stack
        .send_recipients(&[named(1, "Ann"), named(2, "Wolfeschlegelstein")])
        .await;
    assert_eq!(answer.reasons(), ["mailed", "mailed"]);
    assert_eq!(
        warnings(&answer.json()),
        [vec![], warning("text_overlap", "greeting")]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn text_curve_too_long_prints_smaller() {
    let mut arc = text_box("arc", "{{first_name}}");
    arc["area"]["height"] = 70.into();
    arc["arc"] = json!({"bend": "up", "radius": 60});
    let stack = with_front(&[arc]).await;
    let answer = stack
        .send_recipients(&[named(1, "Ann"), named(2, &"Wolfe ".repeat(8))])
        .await;
    assert_eq!(answer.reasons(), ["mailed", "mailed"]);
    assert_eq!(
        warnings(&answer.json()),
        [vec![], warning("text_curve_too_long", "arc")]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn text_unmeasurable_when_nobody_can_say_where_its_words_end() {
    let mut greeting = text_box("greeting", "{{first_name}}");
    greeting["font"] = "DejaVu Sans".into();
    greeting["area"]["height"] = 60.into();
    let stack = with_front(&[greeting]).await;
    // Lao is written without spaces between words.
    let lao = "ສະບາຍດີທ່ານຜູ້ອ່ານທຸກຄົນ";
    let answer = stack
        .send_recipients(&[named(1, "Ann"), named(2, lao)])
        .await;
    assert_eq!(answer.reasons(), ["mailed", "mailed"]);
    assert_eq!(
        warnings(&answer.json()),
        [vec![], warning("text_unmeasurable", "greeting")]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_send_and_its_cards_stay_with_the_designs_version_at_its_start() {
    let stack = with_front(&[text_box("greeting", "Dear {{first_name}}")]).await;
    stack.send_recipients(&build_recipients(1..2)).await;
    stack
        .save_design(postcard_design(&[text_box(
            "greeting",
            "Hello {{last_name}}",
        )]))
        .await;
    stack.send_recipients(&build_recipients(2..3)).await;
    let sql = "SELECT mailpiece.design_version, version.document->'front'->'elements'->0->>'text', mailpiece.content
               FROM mailpieces mailpiece JOIN design_versions version
                   ON version.team_id = mailpiece.team_id AND version.design_id = mailpiece.design_id
                       AND version.version = mailpiece.design_version
               ORDER BY mailpiece.mailpiece_id";
    let rows = stack.sql.query(sql, &[]).await.unwrap();
    let printed: Vec<(i32, &str, Value)> = rows
        .iter()
        .map(|row| (row.get(0), row.get(1), row.get(2)))
        .collect();
    assert_eq!(
        printed,
        [
            (
                1,
                "Dear {{first_name}}",
                json!({"fields": {"first_name": "Pat"}})
            ),
            (
                2,
                "Hello {{last_name}}",
                json!({"fields": {"last_name": "Reader2"}})
            ),
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn thousands_of_cards_are_decided_in_their_order() {
    let stack = with_front(&[text_box("greeting", "Dear {{first_name}}")]).await;
    let long = "Wolfeschlegelstein".repeat(3);
    let send: Vec<Value> = (1..=1500)
        .map(|number| named(number, if number % 7 == 0 { &long } else { "Ann" }))
        .collect();
    let reasons = stack.send_recipients(&send).await.reasons();
    let expected: Vec<&str> = (1..=1500)
        .map(|number| {
            if number % 7 == 0 {
                "text_overflow"
            } else {
                "mailed"
            }
        })
        .collect();
    assert_eq!(reasons, expected);
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn neighborhood_mail_leaves_out_homes_whose_card_cannot_print_and_shows_no_warnings() {
    let stack = TestStack::with_options(StackOptions::default()).await;
    stack.import_main_street(1..11).await;
    let code = json!({"id": "code", "kind": "qr_code", "area": {"x": 20, "y": 20, "width": 80, "height": 80},
        "destination": "https://example.com/{{offer}}", "fallback_link": "https://example.com/start"});
    let campaign = json!({"kind": "neighborhood", "radius_metres": 60});
    stack
        .apply_design(
            postcard_design(&[code.clone(), text_box("address", "{{address_1}}")]),
            campaign.clone(),
        )
        .await;
    let answer = stack.send_recipients(&[build_center(5)]).await.json();
    assert_eq!(answer["results"][0].get("warnings"), None);
    assert_eq!(
        answer["results"][0]["homesFound"],
        answer["results"][0]["homesMailed"]
    );
    // A box that no address fits.
    let mut narrow = text_box("address", "{{address_1}}");
    narrow["area"]["width"] = 20.into();
    stack
        .save_campaign(json!({"id": "PA-NARROW", "name": "Narrow"}))
        .await;
    stack
        .apply_design(postcard_design(&[narrow]), campaign)
        .await;
    let answer = stack.send_recipients(&[build_center(9)]).await;
    let result = &answer.json()["results"][0];
    let left: i64 = result["homesFound"].as_i64().unwrap();
    assert!(left > 0 && result["homesMailed"] == 0, "{result}");
    stack.assert_consistent().await;
}
