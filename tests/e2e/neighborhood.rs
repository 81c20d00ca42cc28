//! Neighborhood Mail: recipients are centers, the homes around them are mailed.

use chrono::TimeDelta;
use pillarbox_tests::{
    ApiResponse, CAMPAIGN, MAIN_STREET, SpawnedProcess, StackOptions, TestStack, build_center,
    build_recipient, build_recipients, wait_until,
};
use serde_json::{Value, json};

/// A campaign of Neighborhood Mail with 40 houses of Main Street, 11 metres apart, in the points.
async fn stack_with(overrides: Value) -> TestStack {
    let stack = TestStack::with_options(StackOptions::default()).await;
    stack.import_main_street(1..41).await;
    campaign(&stack, overrides).await;
    stack
}

/// By default five homes to each side.
async fn campaign(stack: &TestStack, overrides: Value) {
    let mut settings = json!({"kind": "neighborhood", "radius_metres": 60});
    settings
        .as_object_mut()
        .unwrap()
        .extend(overrides.as_object().unwrap().clone());
    stack.save_campaign(settings).await;
}

/// For each result: `mailed` or the reason, homes found and homes mailed.
fn outcomes(answer: &ApiResponse) -> Vec<(String, u64, u64)> {
    let reasons = answer.reasons();
    let json = answer.json();
    let results = json["results"].as_array().unwrap();
    let homes = |result: &Value, name: &str| result[name].as_u64().unwrap();
    reasons
        .into_iter()
        .zip(results)
        .map(|(reason, result)| {
            (
                reason,
                homes(result, "homesFound"),
                homes(result, "homesMailed"),
            )
        })
        .collect()
}

fn outcome(reason: &str, found: u64, mailed: u64) -> (String, u64, u64) {
    (reason.to_owned(), found, mailed)
}

/// The house numbers that have cards of a step.
async fn mailed_numbers(stack: &TestStack, step: i16) -> Vec<i32> {
    let sql = "SELECT split_part(line_1, ' ', 1)::int AS number FROM mailpieces WHERE step = $1 ORDER BY number";
    stack
        .sql
        .query(sql, &[&step])
        .await
        .unwrap()
        .iter()
        .map(|row| row.get(0))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn homes_around_a_center_are_mailed_and_the_center_is_one_of_them() {
    let stack = stack_with(json!({})).await;
    let answer = stack.send_recipients(&[build_center(20)]).await;
    assert_eq!(outcomes(&answer), [outcome("mailed", 11, 11)]);
    assert_eq!(
        mailed_numbers(&stack, 1).await,
        (15..26).collect::<Vec<i32>>()
    );
    let json = answer.json();
    assert_eq!(
        json["summary"],
        json!({"received": 1, "mailed": 1, "notMailed": 0})
    );
    let mut keys: Vec<&String> = json["results"][0].as_object().unwrap().keys().collect();
    keys.sort();
    let expected = [
        "address",
        "detail",
        "homesFound",
        "homesMailed",
        "mail_by_date",
        "postage",
        "reference",
        "status",
        "verification",
    ];
    assert_eq!(
        keys, expected,
        "product_type and warnings are for other campaigns"
    );
    assert_eq!(
        stack
            .query_count("SELECT committed_cents FROM campaigns")
            .await,
        11 * 79
    );
    // The center is in the address book and in the campaign's recipients; the homes' people are nobody's contacts.
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM address_entries")
            .await,
        1
    );
    assert_eq!(
        stack.query_count("SELECT count(*) FROM recipients").await,
        1
    );
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn homes_are_taken_nearest_first_up_to_the_limit_per_center() {
    let stack = stack_with(json!({"homes_per_center": 3})).await;
    assert_eq!(
        outcomes(&stack.send_recipients(&[build_center(20)]).await),
        [outcome("mailed", 11, 3)]
    );
    assert_eq!(mailed_numbers(&stack, 1).await, [19, 20, 21]);
}

#[tokio::test(flavor = "multi_thread")]
async fn more_than_250_centers_are_413_right_after_the_campaign_is_found() {
    let stack = stack_with(json!({})).await;
    let centers = build_recipients(1..252);
    assert_eq!(
        stack.send_recipients(&centers).await.error(),
        (413, "payload_too_large".to_owned())
    );
    assert_eq!(
        stack
            .send_recipients_to("PA-NOBODY", &centers)
            .await
            .error(),
        (404, "campaign_not_found".to_owned())
    );
    campaign(&stack, json!({"status": "paused"})).await;
    assert_eq!(
        stack.send_recipients(&centers).await.error(),
        (413, "payload_too_large".to_owned())
    );
    assert_eq!(
        stack.send_recipients(&centers[..250]).await.error(),
        (409, "campaign_not_active".to_owned())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_homes_found() {
    let stack = stack_with(json!({})).await;
    // On the street, but shops only; and an address that nobody has located.
    stack
        .sql
        .execute(
            "UPDATE address_points SET residential = false WHERE line_1 >= '3'",
            &[],
        )
        .await
        .unwrap();
    let shop = outcomes(&stack.send_recipients(&[build_center(36)]).await);
    assert_eq!(shop, [outcome("no_homes_found", 0, 0)]);
    let mut box_holder = build_center(1);
    box_holder["address_1"] = "PO Box 7".into();
    assert_eq!(
        outcomes(&stack.send_recipients(&[box_holder]).await),
        [outcome("no_homes_found", 0, 0)]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_center_that_cannot_be_verified_is_invalid_address_and_the_rest_still_runs() {
    let stack = stack_with(json!({})).await;
    let mut nowhere = build_center(1);
    nowhere["zip"] = "".into();
    // A number that the points do not have: they cover the street.
    let answer = stack
        .send_recipients(&[nowhere, build_center(4_000), build_center(20)])
        .await;
    let invalid = outcome("invalid_address", 0, 0);
    assert_eq!(
        outcomes(&answer),
        [invalid.clone(), invalid, outcome("mailed", 11, 11)]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn request_capacity_reached_mails_nothing_for_that_center_and_a_smaller_one_still_fits() {
    let stack = stack_with(json!({"homes_per_center": 10_000})).await;
    let homes = "INSERT INTO address_points (zip, address_id, cell, latitude, longitude, line_1, city, state)
        SELECT zip, md5(number || line_1)::uuid, cell, latitude, longitude, number || ' Tower', city, state
        FROM address_points CROSS JOIN generate_series(1, 6000) AS number
        WHERE line_1 IN ('5 Main St', '20 Main St')";
    stack.sql.execute(homes, &[]).await.unwrap();
    let answer = stack
        .send_recipients(&[build_center(5), build_center(20), build_center(35)])
        .await;
    assert_eq!(
        outcomes(&answer),
        [
            outcome("mailed", 6_010, 6_010),
            outcome("request_capacity_reached", 6_011, 0),
            outcome("mailed", 11, 11)
        ]
    );
    assert_eq!(
        stack.query_count("SELECT count(*) FROM mailpieces").await,
        6_021
    );
    // As told: sent again in another request.
    assert_eq!(
        outcomes(&stack.send_recipients(&[build_center(20)]).await),
        [outcome("mailed", 6_011, 6_011)]
    );
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_home_is_mailed_once_for_all_centers_and_windows() {
    let stack = stack_with(json!({})).await;
    let answer = stack
        .send_recipients(&[build_center(20), build_center(22), build_center(20)])
        .await;
    assert_eq!(
        outcomes(&answer),
        [
            outcome("mailed", 11, 11),
            outcome("mailed", 11, 2),
            outcome("duplicate_recent", 11, 0)
        ]
    );
    let later = stack
        .send_recipients(&[build_center(21), build_center(30)])
        .await;
    assert_eq!(
        outcomes(&later),
        [outcome("duplicate_recent", 11, 0), outcome("mailed", 11, 8)]
    );
    stack.clock.advance(TimeDelta::days(31));
    assert_eq!(
        outcomes(&stack.send_recipients(&[build_center(21)]).await),
        [outcome("mailed", 11, 11)]
    );
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_map_area_and_the_do_not_mail_list_apply_to_homes() {
    let north_of_20 = json!({"type": "Polygon", "coordinates": [[[-98.0, 30.27205], [-97.0, 30.27205],
        [-97.0, 31.0], [-98.0, 31.0], [-98.0, 30.27205]]]});
    let listed = [
        "22 Main St, Austin, TX 78701",
        "20 Main St, Austin, TX 78701",
    ];
    let stack = stack_with(json!({"area": north_of_20, "do_not_mail": listed})).await;
    // The center itself is on the list and outside: it is a center all the same.
    assert_eq!(
        outcomes(&stack.send_recipients(&[build_center(20)]).await),
        [outcome("mailed", 11, 4)]
    );
    assert_eq!(mailed_numbers(&stack, 1).await, [21, 23, 24, 25]);
    assert_eq!(
        outcomes(&stack.send_recipients(&[build_center(10)]).await),
        [outcome("filtered_location", 11, 0)]
    );
    campaign(
        &stack,
        json!({"homes_per_center": 1, "do_not_mail": listed}),
    )
    .await;
    assert_eq!(
        outcomes(&stack.send_recipients(&[build_center(22)]).await),
        [outcome("do_not_mail", 11, 0)]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn homes_are_mailed_while_the_budget_lasts() {
    let stack = stack_with(json!({"budget": "$4.00"})).await;
    let answer = stack
        .send_recipients(&[build_center(20), build_center(35)])
        .await;
    assert_eq!(
        outcomes(&answer),
        [outcome("mailed", 11, 5), outcome("budget_exceeded", 11, 0)]
    );
    assert_eq!(mailed_numbers(&stack, 1).await, [18, 19, 20, 21, 22]);
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn payment_failed_mails_no_home_and_leaves_the_way_free() {
    let stack = stack_with(json!({})).await;
    let poor = "UPDATE ledger_accounts SET balance_cents = 800 WHERE account = 'prepaid'";
    stack.sql.execute(poor, &[]).await.unwrap();
    let answer = stack
        .send_recipients(&[build_center(20), build_center(20)])
        .await;
    assert_eq!(
        outcomes(&answer),
        [
            outcome("payment_failed", 11, 0),
            outcome("payment_failed", 11, 0)
        ]
    );
    assert_eq!(
        stack.query_count("SELECT count(*) FROM mailpieces").await,
        0
    );
    assert_eq!(
        stack
            .query_count("SELECT committed_cents FROM campaigns")
            .await,
        0
    );
    campaign(&stack, json!({"homes_per_center": 10})).await;
    assert_eq!(
        outcomes(&stack.send_recipients(&[build_center(20)]).await),
        [outcome("mailed", 11, 10)]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_centers_within_15_minutes_get_the_stored_response() {
    let stack = stack_with(json!({})).await;
    let first = stack.send_recipients(&[build_center(20)]).await;
    assert_eq!(
        stack.send_recipients(&[build_center(20)]).await.text,
        first.text
    );
    assert_eq!(
        stack.query_count("SELECT count(*) FROM mailpieces").await,
        11
    );
}

/// A campaign that looks around centers with a score over 10.
async fn with_conditions() -> TestStack {
    let stack = TestStack::with_options(StackOptions::default()).await;
    stack.import_main_street(1..41).await;
    stack
        .apply_team(
            json!({"teams": [{"name": "Test", "columns": [{"name": "Score", "type": "number"}]}]}),
        )
        .await;
    campaign(
        &stack,
        json!({"conditions": {"column": "score", "operator": "greater", "value": 10}}),
    )
    .await;
    stack
}

fn scored(number: usize, score: i64) -> Value {
    let mut center = build_recipient(number);
    center["score"] = score.into();
    center
}

#[tokio::test(flavor = "multi_thread")]
async fn conditions_apply_to_the_center_and_a_waiting_one_is_looked_around_at_the_daily_recheck() {
    let stack = with_conditions().await;
    let answer = stack
        .send_recipients(&[scored(20, 5), scored(35, 50)])
        .await;
    assert_eq!(
        outcomes(&answer),
        [
            outcome("filtered_conditions", 0, 0),
            outcome("mailed", 11, 11)
        ]
    );
    assert_eq!(
        stack.send_recipients(&[scored(20, 60)]).await.reasons(),
        ["filtered_conditions"]
    );
    stack.clock.advance(TimeDelta::days(1));
    let waiting = "SELECT count(*) FROM recipients WHERE reason = 'filtered_conditions'";
    wait_until("the center is looked around", async || {
        stack.query_count(waiting).await == 0
    })
    .await;
    let settled = "SELECT count(*) FROM charges WHERE kind = 'recheck' AND state = 'settled'";
    wait_until("its homes are paid", async || {
        stack.query_count(settled).await == 1
    })
    .await;
    assert_eq!(
        stack.query_count("SELECT count(*) FROM mailpieces").await,
        22
    );
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_step_mails_the_homes_again_with_the_same_checks() {
    let steps = json!([
        {"design": "Card", "postage": "standard"},
        {"design": "Card", "postage": "standard", "delay_days": 10},
    ]);
    let stack = stack_with(json!({"steps": steps})).await;
    assert_eq!(
        outcomes(
            &stack
                .send_recipients(&[build_center(20), build_center(35)])
                .await
        )
        .len(),
        2
    );
    let not_around_35 = json!({"column": "last_name", "operator": "is_not", "value": "Reader35"});
    let north_of_20 = json!({"type": "Polygon", "coordinates": [[[-98.0, 30.27205], [-97.0, 30.27205],
        [-97.0, 31.0], [-98.0, 31.0], [-98.0, 30.27205]]]});
    let listed = ["22 Main St, Austin, TX 78701"];
    campaign(
        &stack,
        json!({"steps": steps, "conditions": not_around_35, "area": north_of_20, "do_not_mail": listed}),
    )
    .await;
    stack.clock.advance(TimeDelta::days(11));
    wait_until("step 2 is done", async || {
        stack.query_count("SELECT count(*) FROM jobs").await == 0
    })
    .await;
    assert_eq!(mailed_numbers(&stack, 1).await.len(), 22);
    assert_eq!(mailed_numbers(&stack, 2).await, [21, 23, 24, 25]);
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mailer_killed_after_reserve_leaves_one_card_for_each_home() {
    let settings = vec![("MAILER__LEASE_MS", "1500".to_owned())];
    let stack = TestStack::with_options(StackOptions {
        settings,
        mailers: 0,
        ..StackOptions::default()
    })
    .await;
    stack.import_main_street(1..41).await;
    campaign(&stack, json!({})).await;
    for point in ["send.reserved", "send.charged"] {
        let number = if point == "send.reserved" { 10 } else { 30 };
        let mut doomed = SpawnedProcess::start("mailer", &stack.settings, Some(point));
        let answer = std::sync::Mutex::new(None);
        let send = async {
            wait_until("the send is answered", async || {
                let got = stack.send_recipients(&[build_center(number)]).await;
                let is_answered = got.status == 200;
                *answer.lock().unwrap() = Some(got);
                is_answered
            })
            .await;
        };
        let die = async {
            let doomed = tokio::sync::Mutex::new(&mut doomed);
            wait_until("the mailer dies", async || doomed.lock().await.has_ended()).await;
            SpawnedProcess::start("mailer", &stack.settings, None)
        };
        let ((), _second) = tokio::join!(send, die);
        let answer = answer.into_inner().unwrap().unwrap();
        assert_eq!(outcomes(&answer), [outcome("mailed", 11, 11)]);
    }
    assert_eq!(
        stack.query_count("SELECT count(*) FROM mailpieces").await,
        22
    );
    assert_eq!(
        stack
            .query_count("SELECT count(DISTINCT address_id) FROM mailpieces")
            .await,
        22
    );
    assert_eq!(
        stack
            .query_count("SELECT sum(amount_cents)::bigint FROM charges WHERE state = 'settled'")
            .await,
        22 * 79
    );
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_of_a_neighborhood_have_their_bounds_and_belong_to_no_other_kind() {
    let stack = stack_with(json!({})).await;
    for (settings, expected) in [
        (
            json!({"kind": "neighborhood", "radius_metres": 0}),
            "radius_metres: must be 1 to 20000",
        ),
        (
            json!({"kind": "neighborhood", "homes_per_center": 10_001}),
            "homes_per_center: must be 1 to 10000",
        ),
        (
            json!({"radius_metres": 5}),
            "radius_metres: is for campaigns of the kind neighborhood",
        ),
        (json!({"strictness": "strict"}), "strictness"),
    ] {
        let mut campaign = json!({"id": CAMPAIGN, "name": "Test", "steps": [{}]});
        campaign
            .as_object_mut()
            .unwrap()
            .extend(settings.as_object().unwrap().clone());
        let file = json!({"teams": [{"name": "Test", "campaigns": [campaign]}]}).to_string();
        let applied = pillarbox::apply::apply_text(
            &stack.store,
            &file,
            std::path::Path::new("."),
            &stack.target_policy(),
            stack.now(),
        )
        .await;
        let Err(error) = applied else {
            panic!("{settings} was taken")
        };
        let error = error.to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(MAIN_STREET.0 > 0.0);
}
