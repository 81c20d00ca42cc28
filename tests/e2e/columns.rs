//! The address book: custom columns, their types and limits, birthdays.

use pillarbox_tests::{CAMPAIGN, TestStack, build_recipient};
use serde_json::{Value, json};

async fn send_with(stack: &TestStack, number: usize, fields: Value, types: Value) -> Value {
    let mut recipient = build_recipient(number);
    recipient
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    let answer = stack
        .post_send(
            &json!({"campaign_id": CAMPAIGN, "recipients": [recipient], "field_types": types}),
        )
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()["summary"].clone()
}

async fn columns(stack: &TestStack) -> Vec<(String, String)> {
    let rows = stack
        .sql
        .query(
            "SELECT name, type FROM address_columns ORDER BY column_id",
            &[],
        )
        .await
        .unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

async fn custom(stack: &TestStack, number: usize) -> Value {
    let sql = "SELECT custom FROM address_entries WHERE last_name = $1";
    stack
        .sql
        .query_one(sql, &[&format!("Reader{number}")])
        .await
        .unwrap()
        .get(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn field_types_give_new_columns_their_type_and_text_is_the_default() {
    let stack = TestStack::start().await;
    let fields = json!({" Pet ": "Rex", "Visits": "3", "Since": "2024-05-01", "vip": true});
    let types = json!({"visits": "number", "Since": "date", "VIP": "yes_no"});
    let summary = send_with(&stack, 1, fields, types).await;
    assert_eq!(summary, json!({"received": 1, "mailed": 1, "notMailed": 0}));
    let expected = [
        ("Pet", "text"),
        ("Since", "date"),
        ("Visits", "number"),
        ("vip", "yes_no"),
    ]
    .map(|(n, t)| (n.to_owned(), t.to_owned()));
    let mut made = columns(&stack).await;
    made.sort();
    assert_eq!(made, expected);
    assert_eq!(
        custom(&stack, 1).await,
        json!({"pet": "Rex", "visits": "3", "since": "2024-05-01", "vip": "true"})
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_meets_its_column_whatever_its_case_and_keeps_its_type() {
    let stack = TestStack::start().await;
    send_with(&stack, 1, json!({"Visits": 1}), json!({"Visits": "number"})).await;
    send_with(&stack, 2, json!({" VISITS": 2}), json!({"VISITS": "text"})).await;
    assert_eq!(
        columns(&stack).await,
        [("Visits".to_owned(), "number".to_owned())]
    );
    assert_eq!(custom(&stack, 2).await, json!({"visits": "2"}));
}

#[tokio::test(flavor = "multi_thread")]
async fn unparseable_typed_values_are_counted_and_stored_as_sent() {
    let stack = TestStack::start().await;
    let types = json!({"n": "number", "d": "date", "y": "yes_no"});
    let summary = send_with(
        &stack,
        1,
        json!({"n": "many", "d": "soon", "y": "maybe"}),
        types.clone(),
    )
    .await;
    assert_eq!(summary["unparseableTypedValues"], 3);
    assert_eq!(
        custom(&stack, 1).await,
        json!({"n": "many", "d": "soon", "y": "maybe"})
    );
    let summary = send_with(
        &stack,
        2,
        json!({"n": "$1,234.50", "d": "3/7/2026", "y": "N"}),
        types,
    )
    .await;
    assert_eq!(summary.get("unparseableTypedValues"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn computed_fields_ignored_counts_values_for_formula_and_ai_columns() {
    let stack = TestStack::start().await;
    let insert = "INSERT INTO address_columns SELECT team_id, gen_random_uuid(), kind, kind, 'text', kind, 'owner', now()
        FROM teams, unnest(ARRAY['formula', 'ai']) AS kind WHERE teams.name = 'Test'";
    stack.sql.execute(insert, &[]).await.unwrap();
    let summary = send_with(
        &stack,
        1,
        json!({"Formula": 1, "AI": 2, "other": 3}),
        json!({}),
    )
    .await;
    assert_eq!(summary["computedFieldsIgnored"], 2);
    assert_eq!(custom(&stack, 1).await, json!({"other": "3"}));
}

#[tokio::test(flavor = "multi_thread")]
async fn new_custom_columns_per_request_and_per_team_are_limited_and_the_request_still_runs() {
    let stack = TestStack::start().await;
    for request in 0..6 {
        let fields: serde_json::Map<_, _> = (0..12)
            .map(|n| (format!("c{request}-{n:02}"), json!("v")))
            .collect();
        let summary = send_with(&stack, request + 1, Value::Object(fields), json!({})).await;
        assert_eq!(summary["mailed"], 1);
        assert_eq!(columns(&stack).await.len(), (request + 1).min(5) * 10);
    }
    let kept = custom(&stack, 1).await;
    assert!(kept.get("c0-09").is_some() && kept.get("c0-10").is_none());
    assert_eq!(custom(&stack, 6).await, json!({}));
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_distinct_names_make_ten_columns() {
    let stack = TestStack::start().await;
    let fields: serde_json::Map<_, _> = (0..10_000)
        .map(|n| (format!("name {n}"), json!(n)))
        .collect();
    assert_eq!(
        send_with(&stack, 1, Value::Object(fields), json!({})).await["mailed"],
        1
    );
    assert_eq!(columns(&stack).await.len(), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_at_the_same_time_make_each_column_once_and_keep_the_limit() {
    let stack = TestStack::start().await;
    let sends = (0..8).map(|request| {
        let fields: serde_json::Map<_, _> = (0..10)
            .map(|n| (format!("c{}", (request * 7 + n) % 60), json!("v")))
            .collect();
        send_with(&stack, request + 1, Value::Object(fields), json!({}))
    });
    // Sends of eight people's fields meet in four slots of one mailer.
    let sends: Vec<_> = sends.collect();
    for summary in futures_util::future::join_all(sends).await {
        assert_eq!(summary["mailed"], 1);
    }
    let made = columns(&stack).await;
    let distinct: std::collections::HashSet<_> = made.iter().collect();
    assert_eq!(distinct.len(), made.len());
    assert!(made.len() <= 50);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_custom_value_is_stored_up_to_600_characters() {
    let stack = TestStack::start().await;
    send_with(&stack, 1, json!({"note": "é".repeat(700)}), json!({})).await;
    assert_eq!(custom(&stack, 1).await, json!({"note": "é".repeat(600)}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_is_cut_is_told_in_the_result() {
    let stack = TestStack::start().await;
    let [mut cut, mut whole] = [build_recipient(1), build_recipient(2)];
    cut["note"] = "é".repeat(601).into();
    whole["note"] = "é".repeat(600).into();
    let answer = stack.send_recipients(&[cut, whole]).await.json();
    let warnings = &answer["results"][0]["warnings"];
    assert_eq!(
        (&warnings[0]["code"], &warnings[0]["field"]),
        (&json!("value_cut"), &json!("note"))
    );
    assert_eq!(answer["results"][1]["warnings"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_field_whose_name_is_too_long_is_left_out_and_counted() {
    let stack = TestStack::start().await;
    let (long, pet) = ("n".repeat(201), "p".repeat(200));
    let summary = send_with(
        &stack,
        1,
        json!({&long: "x", &pet: "3"}),
        json!({&long: "date", &pet: "number"}),
    )
    .await;
    assert_eq!(
        (&summary["mailed"], &summary["longNamesIgnored"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(custom(&stack, 1).await, json!({ &pet: "3" }));
    assert_eq!(
        send_with(&stack, 2, json!({}), json!({}))
            .await
            .get("longNamesIgnored"),
        None
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_birthday_that_cannot_be_read_is_told_and_counted() {
    let stack = TestStack::start().await;
    let sent = ["July 4", "07/04/90", "7/4/05", "31.12.1990", ""];
    let recipients: Vec<Value> = (1..)
        .zip(sent)
        .map(|(number, birthday)| {
            let mut person = build_recipient(number);
            person["birthday"] = birthday.into();
            person
        })
        .collect();
    let answer = stack.send_recipients(&recipients).await.json();
    assert_eq!(answer["summary"]["birthdaysNotRead"], 2);
    let codes: Vec<_> = (0..5)
        .map(|at| answer["results"][at]["warnings"][0]["code"].clone())
        .collect();
    let [told, untold] = [json!("birthday_not_read"), Value::Null];
    assert_eq!(
        codes,
        [untold.clone(), untold.clone(), told.clone(), told, untold]
    );
    let sql = "SELECT concat_ws('/', birth_month, birth_day, birth_year) FROM address_entries ORDER BY last_name";
    let kept: Vec<String> = stack
        .sql
        .query(sql, &[])
        .await
        .unwrap()
        .iter()
        .map(|row| row.get(0))
        .collect();
    assert_eq!(kept, ["7/4", "7/4/1990", "7/4", "", ""]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unit_is_in_address_2_for_conditions_on_whichever_line_it_was_sent() {
    let stack = TestStack::start().await;
    let houses = json!({"all": [{"column": "address_2", "operator": "is_empty"}]});
    stack.save_campaign(json!({ "conditions": houses })).await;
    let [mut below, mut behind, house] =
        [build_recipient(1), build_recipient(2), build_recipient(3)];
    below["address_2"] = "Apt 5".into();
    behind["address_1"] = format!("{} Apt 5", behind["address_1"].as_str().unwrap()).into();
    let sent = stack.send_recipients(&[below, behind, house]).await;
    assert_eq!(
        sent.reasons(),
        ["filtered_conditions", "filtered_conditions", "mailed"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn birthdays_are_read_in_their_forms_and_kept_as_sent() {
    let stack = TestStack::start().await;
    for (number, birthday) in [(1, "3/7"), (2, "1984-02-29"), (3, "someday")] {
        send_with(&stack, number, json!({"birthday": birthday}), json!({})).await;
    }
    let sql = "SELECT birthday, birth_month, birth_day, birth_year FROM address_entries ORDER BY last_name";
    let rows = stack.sql.query(sql, &[]).await.unwrap();
    type Birth = (String, Option<i16>, Option<i16>, Option<i16>);
    let births: Vec<Birth> = rows
        .iter()
        .map(|row| (row.get(0), row.get(1), row.get(2), row.get(3)))
        .collect();
    assert_eq!(
        births,
        [
            ("3/7".to_owned(), Some(3), Some(7), None),
            ("1984-02-29".to_owned(), Some(2), Some(29), Some(1984)),
            ("someday".to_owned(), None, None, None),
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_is_keyed_by_verified_address_and_name_and_a_send_updates_it() {
    let stack = TestStack::start().await;
    stack
        .save_campaign(json!({"id": "PA-SECOND", "name": "Second"}))
        .await;
    let mut first = build_recipient(1);
    first.as_object_mut().unwrap().extend(
        json!({"email": "a@b.example", "pet": "Rex", "colour": "red"})
            .as_object()
            .unwrap()
            .clone(),
    );
    stack.send_recipients(&[first]).await;
    let mut second = build_recipient(1);
    second["address_1"] = "1 MAIN STREET".into();
    second["first_name"] = "PAT".into();
    second.as_object_mut().unwrap().extend(
        json!({"phone": "512", "pet": "Tom"})
            .as_object()
            .unwrap()
            .clone(),
    );
    let mut other = build_recipient(1);
    other["first_name"] = "Kim".into();
    stack
        .send_recipients_to("PA-SECOND", &[second, other])
        .await;
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM address_entries")
            .await,
        2
    );
    let row = stack
        .sql
        .query_one(
            "SELECT email, phone, custom FROM address_entries WHERE first_name = 'Pat'",
            &[],
        )
        .await
        .unwrap();
    assert_eq!((row.get(0), row.get(1)), ("a@b.example", "512"));
    assert_eq!(
        row.get::<_, Value>(2),
        json!({"pet": "Tom", "colour": "red"})
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_column_that_conditions_use_keeps_its_type() {
    let stack = TestStack::start().await;
    let columns = |column_type| json!({"teams": [{"name": "Test", "columns": [{"name": "Score", "type": column_type}]}]});
    stack.apply_team(columns("number")).await;
    stack
        .save_campaign(
            json!({"conditions": {"column": "score", "operator": "greater", "value": 10}}),
        )
        .await;
    let (file, folder, policy) = (
        columns("text").to_string(),
        std::path::Path::new("."),
        stack.target_policy(),
    );
    let refused =
        pillarbox::apply::apply_text(&stack.store, &file, folder, &policy, stack.now()).await;
    let reason = "conditions of the campaign \"Test\" use the column \"Score\" as it is: take them out first";
    assert_eq!(
        refused.unwrap_err().to_string(),
        format!("teams[0].columns[0].type: {reason}")
    );
    stack.save_campaign(json!({})).await;
    stack.apply_team(columns("text")).await;
    assert_eq!(
        self::columns(&stack).await,
        [("Score".to_owned(), "text".to_owned())]
    );
}
