//! Verification: address points, strictness, overrides, the provider; and taking points in.

use std::time::Duration;

use pillarbox_tests::{
    PointFile, SpawnedProcess, StackOptions, TestStack, build_recipient, build_recipients,
};
use serde_json::{Value, json};
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

fn with(mut person: Value, name: &str, value: &str) -> Value {
    person[name] = value.into();
    person
}

/// A stack on which a ZIP is covered from its first point on.
async fn covered() -> TestStack {
    let settings = vec![("VERIFICATION__COVERAGE_POINTS", "1".to_owned())];
    let stack = TestStack::with_options(StackOptions {
        settings,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    stack.import_main_street(1..41).await;
    stack
}

async fn texts(stack: &TestStack, sql: &str) -> Vec<String> {
    stack
        .sql
        .query(sql, &[])
        .await
        .unwrap()
        .iter()
        .map(|row| row.get(0))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_with_a_point_is_confirmed_with_zip_4_and_place() {
    let stack = covered().await;
    stack
        .sql
        .execute(
            "UPDATE address_points SET plus4 = '1234' WHERE line_1 = '7 Main St'",
            &[],
        )
        .await
        .unwrap();
    let answer = stack
        .send_recipients(&[with(build_recipient(7), "address_1", "7 MAIN STREET")])
        .await;
    assert_eq!(
        answer.json()["results"][0]["address"],
        "7 Main St, Austin, TX 78701-1234"
    );
    assert_eq!(
        texts(
            &stack,
            "SELECT verification || ' ' || plus4 FROM mailpieces"
        )
        .await,
        ["delivery_point 1234"]
    );
    let place =
        "SELECT round(latitude::numeric, 6)::text || ' ' || longitude::text FROM address_entries";
    assert_eq!(texts(&stack, place).await, ["30.270700 -97.74"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn strictness_is_zip_where_no_points_cover_the_zip_and_delivery_point_where_they_do() {
    let stack = covered().await;
    let elsewhere = with(build_recipient(5), "zip", "78702");
    let other_street = with(build_recipient(5), "address_1", "5 Nowhere Ln");
    let boxed = with(build_recipient(5), "address_1", "PO Box 5");
    let answer = stack
        .send_recipients(&[
            build_recipient(5),
            build_recipient(4_000),
            other_street,
            boxed,
            elsewhere,
        ])
        .await;
    assert_eq!(
        answer.reasons(),
        [
            "mailed",
            "invalid_address",
            "invalid_address",
            "mailed",
            "mailed"
        ]
    );
    let detail = |at: usize| {
        answer.json()["results"][at]["detail"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        detail(1),
        "There is no number 4000 on Main St in ZIP code 78701."
    );
    assert_eq!(detail(2), "There is no Nowhere Ln in ZIP code 78701.");
    let kept =
        "SELECT verification FROM recipients WHERE status = 'not_mailed' ORDER BY verification";
    assert_eq!(texts(&stack, kept).await, [detail(2), detail(1)]);
    assert_eq!(
        texts(
            &stack,
            "SELECT verification FROM mailpieces ORDER BY verification"
        )
        .await,
        ["delivery_point", "zip", "zip"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_fringe_of_a_zip_does_not_make_the_rest_of_it_undeliverable() {
    let stack = TestStack::start().await;
    stack.import_main_street(1..41).await;
    // Few points: only the street that they know is known well.
    let answer = stack
        .send_recipients(&[
            with(build_recipient(5), "address_1", "5 Nowhere Ln"),
            build_recipient(4_000),
        ])
        .await;
    assert_eq!(answer.reasons(), ["mailed", "invalid_address"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_campaign_can_be_stricter_or_laxer() {
    let stack = covered().await;
    let other_street = with(build_recipient(5), "address_1", "6 Nowhere Ln");
    let elsewhere = with(build_recipient(6), "zip", "78702");
    let recipients = [
        build_recipient(5),
        build_recipient(4_000),
        other_street,
        elsewhere,
    ];
    let invalid = "invalid_address";
    for (name, strictness, expected) in [
        ("PA-ZIP001", "zip", ["mailed", "mailed", "mailed", "mailed"]),
        (
            "PA-STREET",
            "street",
            ["mailed", "mailed", invalid, invalid],
        ),
        (
            "PA-POINT1",
            "delivery_point",
            ["mailed", invalid, invalid, invalid],
        ),
    ] {
        stack
            .save_campaign(json!({"id": name, "name": name, "strictness": strictness}))
            .await;
        assert_eq!(
            stack.send_recipients_to(name, &recipients).await.reasons(),
            expected,
            "{strictness}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suffix_that_is_missing_or_wrong_is_corrected_from_the_points_and_told() {
    let stack = covered().await;
    let answer = stack
        .send_recipients(&[
            with(build_recipient(7), "address_1", "7 Main"),
            with(build_recipient(8), "address_1", "8 Main Ave"),
            build_recipient(9),
        ])
        .await;
    assert_eq!(answer.reasons(), ["mailed"; 3]);
    let results = &answer.json()["results"];
    assert_eq!(results[0]["address"], "7 Main St, Austin, TX 78701");
    let warned = |detail: &str| json!([{"code": "address_corrected", "field": "address_1", "detail": detail}]);
    assert_eq!(
        results[0]["warnings"],
        warned(r#""Main" was corrected to "Main St"."#)
    );
    assert_eq!(
        results[1]["warnings"],
        warned(r#""Main Ave" was corrected to "Main St"."#)
    );
    assert_eq!(results[2]["warnings"], Value::Null);
    let corrections = texts(&stack, "SELECT corrections FROM mailpieces ORDER BY line_1").await;
    assert_eq!(
        corrections,
        [
            "address_1: Main -> Main St",
            "address_1: Main Ave -> Main St",
            ""
        ]
    );
    // The corrected address is the one that was mailed.
    assert_eq!(
        stack.send_recipients(&[build_recipient(7)]).await.reasons(),
        ["duplicate_recent"]
    );
}

/// Points of Baltimore, whose ZIPs are covered from their first point on.
async fn with_points(rows: &str) -> TestStack {
    let stack = covered().await;
    let file = PointFile::new(&format!("number,street,postcode,lat,lon\n{rows}"));
    pillarbox::addresses::import::import_file(&stack.store, &file.path, false, stack.now())
        .await
        .unwrap();
    stack
}

fn in_baltimore(line: &str, zip: &str) -> Value {
    let fields = [
        ("reference", line),
        ("address_1", line),
        ("city", "Baltimore"),
        ("state", "MD"),
        ("zip", zip),
    ];
    fields
        .into_iter()
        .fold(build_recipient(1), |person, (name, value)| {
            with(person, name, value)
        })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slip_in_a_street_and_a_wrong_zip_are_corrected_and_told() {
    let stack = with_points(
        "7,HOLLY RD,21209,39.2,-76.4\n8,SAINT CHARLES AVE,21209,39.2,-76.4\n7,ELM ST,21210,39.2,-76.4\n\
         9,ELM ST,21209,39.2,-76.4\n9,ELM ST,21212,39.2,-76.4\n5,HILLY RD,21210,39.2,-76.4\n",
    )
    .await;
    let answer = stack
        .send_recipients(&[
            in_baltimore("7 Hollly Rd", "21209"),
            in_baltimore("8 Saint Charlse Ave", "21209"),
            in_baltimore("7 Elm St", "21212"),
            in_baltimore("7 Elm Street", "21740"),
            // The house stands in two ZIPs of the city; the street stands as it was written in another ZIP.
            in_baltimore("9 Elm St", "21210"),
            in_baltimore("7 Hilly Rd", "21209"),
        ])
        .await;
    let invalid = "invalid_address";
    assert_eq!(
        answer.reasons(),
        ["mailed", "mailed", invalid, invalid, invalid, invalid]
    );
    let results = &answer.json()["results"];
    assert_eq!(results[0]["address"], "7 Holly Rd, Baltimore, MD 21209");
    assert_eq!(
        results[0]["verification"],
        json!({"level": "delivery_point", "corrected": [{"field": "address_1", "from": "Hollly Rd", "to": "Holly Rd"}]})
    );
    assert_eq!(
        results[1]["address"],
        "8 Saint Charles Ave, Baltimore, MD 21209"
    );
    assert_eq!(results[2].get("verification"), None);
    let answer = stack
        .send_recipients(&[
            in_baltimore("7 Holly Rd", "21212"),
            in_baltimore("8 Saint Charles Ave", "21029"),
        ])
        .await;
    assert_eq!(answer.reasons(), ["duplicate_recent", "duplicate_recent"]);
    let results = &answer.json()["results"];
    assert_eq!(results[0]["address"], "7 Holly Rd, Baltimore, MD 21209");
    assert_eq!(
        results[1]["verification"]["corrected"],
        json!([{"field": "zip", "from": "21029", "to": "21209"}])
    );
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_tells_how_far_its_address_was_verified() {
    let stack = covered().await;
    stack
        .sql
        .execute(
            "UPDATE address_points SET plus4 = '1234' WHERE line_1 = '7 Main St'",
            &[],
        )
        .await
        .unwrap();
    stack
        .save_campaign(json!({"id": "PA-ZIP001", "name": "Zip", "strictness": "zip"}))
        .await;
    let recipients = [
        with(build_recipient(7), "address_1", "7 Main"),
        build_recipient(4_000),
        with(build_recipient(5), "address_1", "PO Box 5"),
        with(build_recipient(6), "zip", ""),
    ];
    let answer = stack.send_recipients_to("PA-ZIP001", &recipients).await;
    let told = |at: usize| answer.json()["results"][at]["verification"].clone();
    let corrected = json!([{"field": "address_1", "from": "Main", "to": "Main St"}]);
    assert_eq!(
        told(0),
        json!({"level": "delivery_point", "plus4": "1234", "corrected": corrected})
    );
    assert_eq!(told(1), json!({"level": "street"}));
    assert_eq!(told(2), json!({"level": "zip"}));
    assert_eq!(told(3), Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_said_against_a_street_of_a_zip_of_which_nothing_is_known() {
    let stack = TestStack::start().await;
    stack
        .save_campaign(json!({"id": "PA-STREET", "name": "Street", "strictness": "street"}))
        .await;
    let answer = stack
        .send_recipients_to("PA-STREET", &[build_recipient(5)])
        .await;
    assert_eq!(answer.reasons(), ["invalid_address"]);
    assert_eq!(
        answer.json()["results"][0]["detail"],
        "City, state and ZIP code agree, but too little is known of ZIP code 78701 to say whether Main St is there."
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_street_is_corrected_where_points_do_not_cover_the_zip() {
    let settings = vec![("VERIFICATION__COVERAGE_POINTS", "1000".to_owned())];
    let stack = TestStack::with_options(StackOptions {
        settings,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    stack.import_main_street(1..13).await;
    let answer = stack
        .send_recipients(&[with(build_recipient(8), "address_1", "8 Main Ave")])
        .await;
    assert_eq!(
        answer.reasons(),
        ["mailed"],
        "the ZIP is known, and no more is asked"
    );
    let result = &answer.json()["results"][0];
    assert_eq!(result["address"], "8 Main Ave, Austin, TX 78701");
    assert_eq!(result["warnings"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_household_is_never_confirmed() {
    let stack = covered().await;
    let file = PointFile::new(
        "number,street,postcode,lat,lon\n\
         2628,N MARINE AVE,21219,39.2,-76.4\n1,S MARINE AVE,21219,39.2,-76.4\n121,HOLLY CIR,21219,39.2,-76.4\n\
         1,HOLLY RD,21219,39.2,-76.4\n4900,CARROLL CT,21219,39.2,-76.4\n4900,CARROLL MANOR RD,21219,39.2,-76.4\n\
         5,OAK ST,21219,39.2,-76.4\n1,OAK LN,21222,39.2,-76.4\n7,ELM ST,21219,39.2,-76.4\n7,ELM CT,21219,39.2,-76.4\n",
    );
    pillarbox::addresses::import::import_file(&stack.store, &file.path, false, stack.now())
        .await
        .unwrap();
    let at = |line: &str| {
        let fields = [
            ("address_1", line),
            ("city", "Baltimore"),
            ("state", "MD"),
            ("zip", "21219"),
        ];
        fields.into_iter().fold(
            with(build_recipient(1), "reference", line),
            |person, (name, value)| with(person, name, value),
        )
    };
    let wrong = [
        "2628 S Marine Ave",
        "2628 Marine Ave",
        "121 Holly Rd",
        "5 Oak Ln",
        "7 Elm",
    ]
    .map(at);
    assert_eq!(
        stack.send_recipients(&wrong).await.reasons(),
        ["invalid_address"; 5]
    );
    let answer = stack
        .send_recipients(&[at("4900 Carroll Manor"), at("5 Oak")])
        .await;
    assert_eq!(answer.reasons(), ["mailed", "mailed"]);
    assert_eq!(
        answer.json()["results"][0]["address"],
        "4900 Carroll Manor Rd, Baltimore, MD 21219"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_overrides_a_false_undeliverable() {
    let stack = covered().await;
    assert_eq!(
        stack
            .send_recipients(&[build_recipient(4_000)])
            .await
            .reasons(),
        ["invalid_address"]
    );
    let operate = |action: &'static str| {
        let arguments = [
            "addresses",
            "override",
            action,
            "4000 Main Street, Austin TX 78701",
        ];
        tokio::task::block_in_place(|| {
            SpawnedProcess::start_with("pillarbox", &arguments, &stack.settings, None).wait()
        })
    };
    assert!(operate("add"));
    assert_eq!(
        stack
            .send_recipients(&[build_recipient(4_000)])
            .await
            .reasons(),
        ["mailed"]
    );
    assert_eq!(
        texts(&stack, "SELECT verification FROM mailpieces").await,
        ["override"]
    );
    assert!(operate("remove"));
    assert!(!operate("remove"), "it is gone");
    assert_eq!(
        stack
            .send_recipients(&[build_recipient(4_000), build_recipient(1)])
            .await
            .reasons(),
        ["invalid_address", "mailed"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn importing_again_changes_nothing_and_a_newer_file_brings_newer_places() {
    let stack = covered().await;
    let state = "SELECT count(*)::text || ' ' || sum(points)::text FROM address_points, (SELECT sum(points) AS points FROM address_zips) zips GROUP BY points";
    let before = texts(&stack, state).await;
    let file = PointFile::main_street(1..41);
    let import = async |again| {
        let imported =
            pillarbox::addresses::import::import_file(&stack.store, &file.path, again, stack.now())
                .await;
        imported.unwrap()
    };
    let left_alone = import(false).await;
    assert!(
        left_alone.was_finished,
        "its content is known, whatever its name"
    );
    let repeated = import(true).await;
    assert_eq!(
        (
            repeated.was_finished,
            repeated.rows_kept,
            repeated.points_added
        ),
        (false, 40, 0)
    );
    assert_eq!(texts(&stack, state).await, before);
    let newer = PointFile::new(
        "number\tstreet\tpostcode\tlat\tlon\n1\tMAIN ST\t78701\t30.5\t-97.5\n0\tMAIN ST\t78701\t30.5\t-97.5\n",
    );
    let imported =
        pillarbox::addresses::import::import_file(&stack.store, &newer.path, false, stack.now())
            .await
            .unwrap();
    assert_eq!(
        (
            imported.rows_read,
            imported.rows_kept,
            imported.points_added
        ),
        (2, 1, 0)
    );
    assert_eq!(
        imported.skipped,
        [("without a house number".to_owned(), 1)].into()
    );
    let moved = "SELECT latitude::text FROM address_points WHERE line_1 = '1 Main St'";
    assert_eq!(texts(&stack, moved).await, ["30.5"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_killed_half_way_goes_on_behind_its_last_chunk() {
    let stack = TestStack::with_options(StackOptions {
        mailers: 0,
        ..StackOptions::default()
    })
    .await;
    // More than one chunk.
    let file = PointFile::main_street(1..150_001);
    let path = file.path.to_str().unwrap();
    let import = |fail_point| {
        let arguments = ["addresses", "import", path];
        tokio::task::block_in_place(|| {
            SpawnedProcess::start_with("pillarbox", &arguments, &stack.settings, fail_point).wait()
        })
    };
    assert!(!import(Some("import.merged")), "it dies");
    let kept = stack
        .query_count("SELECT rows_kept FROM address_imports WHERE finished_at IS NULL")
        .await;
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM address_points")
            .await,
        kept
    );
    assert!(kept > 0 && kept < 150_000, "{kept}");
    assert!(import(None));
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM address_points")
            .await,
        150_000
    );
    assert_eq!(
        stack.query_count("SELECT points FROM address_zips").await,
        150_000
    );
    assert_eq!(
        stack
            .query_count("SELECT rows_read FROM address_imports WHERE finished_at IS NOT NULL")
            .await,
        150_000
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quoted_value_of_an_import_may_break_over_lines() {
    let stack = TestStack::with_options(StackOptions {
        mailers: 0,
        ..StackOptions::default()
    })
    .await;
    let file = PointFile::new(
        "number,street,notes,postcode,lat,lon\n\
         1,MAIN ST,\"behind the mill,\n2,SIDE ST,\r\nask \"\"Pat\"\"\",78701,30.5,-97.5\n\
         2,\"MAIN ST\n\",,78701,30.5,-97.5\n",
    );
    let imported =
        pillarbox::addresses::import::import_file(&stack.store, &file.path, false, stack.now())
            .await
            .unwrap();
    assert_eq!(
        (
            imported.rows_read,
            imported.rows_kept,
            imported.points_added
        ),
        (2, 2, 2)
    );
    assert_eq!(
        texts(&stack, "SELECT line_1 FROM address_points ORDER BY line_1").await,
        ["1 Main St", "2 Main St"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_is_too_long_is_invalid_and_the_rest_of_the_request_runs() {
    let stack = covered().await;
    let long = with(
        build_recipient(3),
        "address_1",
        &format!("3 {}St", "Main ".repeat(1_000)),
    );
    assert_eq!(long["address_1"].as_str().unwrap().len(), 5_004);
    let answer = stack.send_recipients(&[long, build_recipient(4)]).await;
    assert_eq!(answer.reasons(), ["invalid_address", "mailed"]);
    assert_eq!(
        stack.query_count("SELECT count(*) FROM mailpieces").await,
        1
    );
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_house_in_two_urbanizations_is_two_addresses() {
    let stack = TestStack::start().await;
    let home = |urbanization: &str| {
        let mut home = build_recipient(1);
        for (name, value) in [
            ("address_1", "150 Calle A"),
            ("address_2", urbanization),
            ("city", "San Juan"),
            ("state", "PR"),
        ] {
            home = with(home, name, value);
        }
        with(home, "zip", "00926")
    };
    let homes = [
        home("Urb Las Gladiolas"),
        home("Urb Royal Oak"),
        home("URBANIZACION LAS GLADIOLAS"),
    ];
    let answer = stack.send_recipients(&homes).await;
    assert_eq!(answer.reasons(), ["mailed", "mailed", "duplicate_recent"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_do_not_mail_list_knows_an_address_as_it_was_written_and_as_it_was_corrected() {
    let stack = covered().await;
    stack
        .save_campaign(
            json!({"do_not_mail": ["7 Main, Austin, TX 78701", "8 Main St, Austin, TX 78701"]}),
        )
        .await;
    let [written, corrected, other] =
        ["7 Main", "8 Main", "9 Main"].map(|line| with(build_recipient(7), "address_1", line));
    let answer = stack.send_recipients(&[written, corrected, other]).await;
    assert_eq!(answer.reasons(), ["do_not_mail", "do_not_mail", "mailed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_do_not_mail_list_knows_an_address_in_every_spelling() {
    let stack = covered().await;
    stack
        .save_campaign(json!({"do_not_mail": ["7 Main St Apt 2B, Austin, TX 78701"]}))
        .await;
    let spelled = |line: &str| {
        with(
            with(build_recipient(7), "address_1", line),
            "reference",
            line,
        )
    };
    let answer = stack
        .send_recipients(&[
            spelled("7 MAIN STREET #2-B"),
            spelled("7 Main st., unit 2b"),
            with(spelled("0007 Main St"), "address_2", "Suite 2B"),
            spelled("8 Main St"),
        ])
        .await;
    assert_eq!(
        answer.reasons(),
        ["do_not_mail", "do_not_mail", "do_not_mail", "mailed"]
    );
}

/// Confirms every address of a batch as it was sent.
struct Confirming;

impl Respond for Confirming {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let lookups: Vec<Value> = request.body_json().unwrap();
        let confirmed = lookups.iter().enumerate().map(|(at, lookup)| {
            json!({"input_index": at, "delivery_line_1": lookup["street"],
                "components": {"city_name": "Austin", "state_abbreviation": "TX", "zipcode": "78701", "plus4_code": "4321"},
                "metadata": {"latitude": 30.27, "longitude": -97.74, "precision": "Zip9"},
                "analysis": {"dpv_match_code": "Y"}})
        });
        ResponseTemplate::new(200).set_body_json(confirmed.collect::<Vec<_>>())
    }
}

/// A stack whose addresses the provider at this server verifies.
async fn with_provider(server: &MockServer) -> TestStack {
    let settings = vec![
        ("VERIFICATION__VERIFIER", "smarty".to_owned()),
        ("SMARTY__URL", server.uri()),
        ("SMARTY__AUTH_ID", "id".to_owned()),
        ("SMARTY__AUTH_TOKEN", "token".to_owned()),
        ("SMARTY__ATTEMPTS", "1".to_owned()),
        ("SMARTY__CONCURRENCY", "1".to_owned()),
        ("SMARTY__BREAKER_REST_MS", "1".to_owned()),
    ];
    let stack = TestStack::with_options(StackOptions {
        settings,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    stack
}

async fn batches(server: &MockServer) -> usize {
    server.received_requests().await.unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_confirms_and_its_answers_are_kept() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .respond_with(Confirming)
        .mount(&server)
        .await;
    let stack = with_provider(&server).await;
    let answer = stack
        .send_recipients(&[build_recipient(1), build_recipient(1), build_recipient(2)])
        .await;
    assert_eq!(answer.reasons(), ["mailed", "duplicate_recent", "mailed"]);
    assert_eq!(
        answer.json()["results"][0]["address"],
        "1 Main St, Austin, TX 78701-4321"
    );
    let first: Vec<Value> = server.received_requests().await.unwrap()[0]
        .body_json()
        .unwrap();
    assert_eq!(first.len(), 2, "the same address is asked once");
    stack.clock.advance(chrono::TimeDelta::days(29));
    stack.send_recipients(&[build_recipient(2)]).await;
    assert_eq!(batches(&server).await, 1);
    stack.clock.advance(chrono::TimeDelta::days(2));
    stack.send_recipients(&[build_recipient(1)]).await;
    assert_eq!(
        batches(&server).await,
        2,
        "an answer that has expired is asked for again"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_also_of_a_part_is_validation_unavailable_and_mails_and_charges_nothing() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .respond_with(Confirming)
        .up_to_n_times(1)
        .mount(&server)
        .await;
    Mock::given(method("POST"))
        .respond_with(ResponseTemplate::new(503).set_delay(Duration::from_millis(10)))
        .up_to_n_times(2)
        .mount(&server)
        .await;
    let stack = with_provider(&server).await;
    let recipients = build_recipients(1..251);
    {
        let answer = stack.send_recipients(&recipients).await;
        assert_eq!(answer.error(), (503, "validation_unavailable".to_owned()));
        for table in [
            "sends",
            "charges",
            "mailpieces",
            "recipients",
            "address_entries",
        ] {
            assert_eq!(
                stack
                    .query_count(&format!("SELECT count(*) FROM {table}"))
                    .await,
                0,
                "{table}"
            );
        }
    }
    // The provider is back: what it had answered is not asked again.
    Mock::given(method("POST"))
        .respond_with(Confirming)
        .mount(&server)
        .await;
    let before = batches(&server).await;
    assert_eq!(
        stack.send_recipients(&recipients).await.reasons(),
        vec!["mailed"; 250]
    );
    assert_eq!(batches(&server).await - before, 2);
    stack.assert_consistent().await;
}
