//! Scans of printed cards: GET /q/{code}.

use pillarbox_tests::{
    CAMPAIGN, StackOptions, TestStack, WebhookSink, build_recipient, list_codes, wait_until,
    with_qr_codes,
};
use serde_json::{Value, json};

/// A stack whose cards have QR codes, with one endpoint for all campaigns, and one card.
async fn with_card(person: Value) -> (TestStack, WebhookSink, String) {
    let (stack, sink) = with_qr_codes(StackOptions {
        dispatchers: 1,
        ..StackOptions::default()
    })
    .await;
    assert_eq!(stack.send_recipients(&[person]).await.reasons(), ["mailed"]);
    let code = list_codes(&stack).await.remove(0);
    (stack, sink, code)
}

async fn scans(stack: &TestStack) -> i64 {
    stack.query_count("SELECT count(*) FROM scans").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_is_redirected_to_the_links_with_fields_filled_in_and_never_cached() {
    let mut person = build_recipient(1);
    person["offer"] = "x7".into();
    let (stack, _, code) = with_card(person).await;
    let answer = stack.scan_code(&code).await;
    assert_eq!(answer.status, 302);
    assert_eq!(answer.headers["location"], "https://example.com/?name=Pat");
    assert_eq!(answer.headers["cache-control"], "no-store");
    assert_eq!(answer.headers["referrer-policy"], "no-referrer");
    // The second QR code of the design has an address of its own.
    let second = stack.scan_code(&format!("{code}-2")).await;
    assert_eq!(second.headers["location"], "https://example.com/offer/x7");
    assert_eq!(stack.scan_code(&format!("{code}-3")).await.status, 404);
    assert_eq!(scans(&stack).await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unit_is_told_on_the_line_that_it_was_sent_on() {
    let (stack, sink) = with_qr_codes(StackOptions {
        dispatchers: 1,
        ..StackOptions::default()
    })
    .await;
    let at = |number: usize, address_1: &str, address_2: &str| {
        let mut person = build_recipient(number);
        (person["address_1"], person["address_2"]) = (address_1.into(), address_2.into());
        person
    };
    let recipients = [
        at(1, "101 Oak St", "apartment 7"),
        at(2, "102 Oak St Apt 7", ""),
        at(3, "103 Oak St", "c/o Jo, Apt 7"),
        at(4, "104 Oak St", ""),
    ];
    assert_eq!(
        stack.send_recipients(&recipients).await.reasons(),
        ["mailed"; 4]
    );
    let expected = [
        json!(["101 Oak St", "Apt 7"]),
        json!(["102 Oak St Apt 7", null]),
        json!(["103 Oak St", "Apt 7, c/o Jo"]),
        json!(["104 Oak St", null]),
    ];
    let lines = |event: &Value| {
        json!([
            event["recipient"]["address_1"],
            event["recipient"]["address_2"]
        ])
    };
    let printed = "SELECT code FROM mailpieces ORDER BY line_1";
    let codes: Vec<String> = stack
        .sql
        .query(printed, &[])
        .await
        .unwrap()
        .iter()
        .map(|row| row.get(0))
        .collect();
    for (number, (code, expected)) in (1..).zip(codes.iter().zip(&expected)) {
        stack.scan_code(code).await;
        wait_until("the event is delivered", async || {
            sink.count_received() == number
        })
        .await;
        assert_eq!(lines(&sink.received()[number - 1].json()), *expected);
    }
    let url = format!(
        "{}/api/v1/scans?after=00000000-0000-0000-0000-000000000000",
        stack.url
    );
    let feed = stack
        .request(
            reqwest::Method::GET,
            &url,
            &[("x-api-key", pillarbox_tests::KEY)],
            "",
        )
        .await
        .json();
    let told: Vec<Value> = feed["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(lines)
        .collect();
    assert_eq!(told, expected);
    // What prints is the same whichever line it came on.
    let lines = "SELECT count(*) FROM mailpieces WHERE line_1 LIKE '10_ Oak St Apt 7'";
    assert_eq!(stack.query_count(lines).await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn values_are_percent_encoded_in_the_path_and_in_the_query() {
    let mut person = build_recipient(1);
    person["first_name"] = "Ann & Bob?".into();
    person["offer"] = "50% off/today".into();
    let (stack, sink, code) = with_card(person).await;
    let (query, path) = (
        "https://example.com/?name=Ann%20%26%20Bob%3F",
        "https://example.com/offer/50%25%20off%2Ftoday",
    );
    assert_eq!(stack.scan_code(&code).await.headers["location"], query);
    assert_eq!(
        stack.scan_code(&format!("{code}-2")).await.headers["location"],
        path
    );
    wait_until("both are delivered", async || sink.count_received() == 2).await;
    let mut sent_to: Vec<Value> = sink
        .received()
        .iter()
        .map(|got| got.json()["destination"].clone())
        .collect();
    sent_to.sort_by_key(ToString::to_string);
    assert_eq!(sent_to, [query, path]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_fallback_link_is_used_when_a_needed_field_is_empty() {
    let (stack, _, code) = with_card(build_recipient(1)).await;
    assert_eq!(
        stack.scan_code(&format!("{code}-2")).await.headers["location"],
        "https://example.com/back"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_field_that_was_stored_before_fills_a_link() {
    let (stack, _, _) = with_card(
        json!({"offer": "kept", "first_name": "Pat", "last_name": "Reader1",
        "address_1": "1 Main St", "city": "Austin", "state": "TX", "zip": "78701"}),
    )
    .await;
    stack
        .save_campaign(json!({"id": "PA-SECOND", "name": "Second", "steps": [{"design": "Codes", "postage": "standard"}]}))
        .await;
    assert_eq!(
        stack
            .send_recipients_to("PA-SECOND", &[build_recipient(1)])
            .await
            .reasons(),
        ["mailed"]
    );
    let sql = "SELECT destinations[2] FROM mailpieces WHERE campaign_id = 'PA-SECOND'";
    let destination: String = stack.sql.query_one(sql, &[]).await.unwrap().get(0);
    assert_eq!(destination, "https://example.com/offer/kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn repeat_scans_are_recorded_and_head_is_no_scan() {
    let (stack, sink, code) = with_card(build_recipient(1)).await;
    let head = stack.request_code(reqwest::Method::HEAD, &code, &[]).await;
    assert_eq!((head.status.as_u16(), head.text.as_str()), (302, ""));
    assert_eq!(head.headers["location"], "https://example.com/?name=Pat");
    assert_eq!(scans(&stack).await, 0);
    for _ in 0..3 {
        stack.scan_code(&code).await;
    }
    assert_eq!(scans(&stack).await, 3);
    wait_until("each scan is delivered", async || {
        sink.count_received() == 3
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_code_gets_a_small_404_page() {
    let (stack, _, code) = with_card(build_recipient(1)).await;
    for wrong in [
        "0000000000",
        "x",
        &code.to_lowercase(),
        &format!("{code}-1"),
        "%00",
        "a%2Fb",
    ] {
        if wrong == code {
            continue;
        }
        let answer = stack.scan_code(wrong).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.headers["cache-control"]),
            (404, &"no-store".parse().unwrap())
        );
        assert!(
            answer.text.contains("<h1>") && answer.text.len() < 1_000,
            "{}",
            answer.text
        );
    }
    let wrong_method = stack.request_code(reqwest::Method::POST, &code, &[]).await;
    assert_eq!(
        (wrong_method.status.as_u16(), &wrong_method.headers["allow"]),
        (405, &"GET, HEAD".parse().unwrap())
    );
    assert_eq!(scans(&stack).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn previewers_and_prefetchers_are_marked() {
    let (stack, sink, code) = with_card(build_recipient(1)).await;
    stack
        .request_code(
            reqwest::Method::GET,
            &code,
            &[("user-agent", "Slackbot-LinkExpanding 1.0")],
        )
        .await;
    stack
        .request_code(reqwest::Method::GET, &code, &[("sec-purpose", "prefetch")])
        .await;
    stack.scan_code(&code).await;
    let programs = "SELECT count(*) FROM scans WHERE visitor = 'program'";
    assert_eq!(
        (scans(&stack).await, stack.query_count(programs).await),
        (3, 2)
    );
    wait_until("all are delivered", async || sink.count_received() == 3).await;
    let marked = sink
        .received()
        .iter()
        .filter(|got| got.json()["automated"] == true)
        .count();
    assert_eq!(marked, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_redirect_works_though_nothing_can_be_written() {
    let (stack, sink, code) = with_card(build_recipient(1)).await;
    stack
        .sql
        .batch_execute("ALTER TABLE scans RENAME TO gone")
        .await
        .unwrap();
    assert_eq!(stack.scan_code(&code).await.status, 302);
    stack
        .sql
        .batch_execute("ALTER TABLE gone RENAME TO scans")
        .await
        .unwrap();
    assert_eq!(stack.scan_code(&code).await.status, 302);
    wait_until("the scan that could be recorded is delivered", async || {
        sink.count_received() == 1
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_redirect_works_though_writes_hang() {
    let (stack, _, code) = with_card(build_recipient(1)).await;
    let lock = "BEGIN; LOCK TABLE scans IN ACCESS EXCLUSIVE MODE";
    stack.sql.batch_execute(lock).await.unwrap();
    // More than there are writers: none of them may stand in a reader's way.
    let answers = futures_util::future::join_all((0..20).map(|_| stack.scan_code(&code))).await;
    assert!(answers.iter().all(|answer| answer.status == 302));
    stack.sql.batch_execute("ROLLBACK").await.unwrap();
    wait_until("the scans are recorded after all", async || {
        scans(&stack).await == 20
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_location_comes_from_a_maxmind_file() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/data/location.mmdb");
    let settings = vec![
        ("SCANS__LOCATION_FILES", file.to_owned()),
        ("GATEWAY__TRUSTED_PROXIES", "127.0.0.0/8".to_owned()),
    ];
    let (stack, sink) = with_qr_codes(StackOptions {
        dispatchers: 1,
        settings,
        ..StackOptions::default()
    })
    .await;
    stack.send_recipients(&[build_recipient(1)]).await;
    let code = list_codes(&stack).await.remove(0);
    for source in ["1.2.3.4", "2001:db8:7::1", "9.9.9.9"] {
        stack
            .request_code(reqwest::Method::GET, &code, &[("x-forwarded-for", source)])
            .await;
    }
    wait_until("all are delivered", async || sink.count_received() == 3).await;
    let mut locations: Vec<Value> = sink
        .received()
        .iter()
        .map(|got| got.json()["location"].clone())
        .collect();
    locations.sort_by_key(ToString::to_string);
    let unknown = json!({"city": null, "region": null, "latitude": null, "longitude": null});
    let austin =
        json!({"city": "Austin", "region": "Texas", "latitude": 30.2672, "longitude": -97.7431});
    let reno =
        json!({"city": "Reno", "region": "Nevada", "latitude": 39.5296, "longitude": -119.8138});
    assert_eq!(locations, [austin, reno, unknown]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_that_scans_one_card_is_recorded_to_the_last() {
    let (stack, sink, code) = with_card(build_recipient(1)).await;
    let answers = futures_util::future::join_all((0..300).map(|_| stack.scan_code(&code))).await;
    assert!(answers.iter().all(|answer| answer.status == 302));
    assert_eq!(scans(&stack).await, 300);
    wait_until("each scan is delivered", async || {
        sink.count_received() == 300
    })
    .await;
    let ids: std::collections::HashSet<String> =
        sink.received().iter().map(|got| got.id()).collect();
    assert_eq!(ids.len(), 300);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_that_the_database_refuses_takes_no_other_with_it() {
    let (stack, sink) = with_qr_codes(StackOptions {
        dispatchers: 1,
        ..StackOptions::default()
    })
    .await;
    stack
        .send_recipients(&pillarbox_tests::build_recipients(1..3))
        .await;
    let codes = list_codes(&stack).await;
    let card = "SELECT mailpiece_id FROM mailpieces WHERE code = $1";
    let card: uuid::Uuid = stack
        .sql
        .query_one(card, &[&codes[0]])
        .await
        .unwrap()
        .get(0);
    let refused = format!("ALTER TABLE scans ADD CHECK (mailpiece_id <> '{card}')");
    stack.sql.batch_execute(&refused).await.unwrap();
    let all = (0..100).map(|number| stack.scan_code(&codes[usize::from(number % 10 != 0)]));
    let answers = futures_util::future::join_all(all).await;
    assert!(
        answers.iter().all(|answer| answer.status == 302),
        "the phones are redirected all the same"
    );
    wait_until("all others are recorded", async || {
        scans(&stack).await == 90
    })
    .await;
    wait_until("and delivered", async || sink.count_received() == 90).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_without_a_qr_code_leads_nowhere() {
    let stack = TestStack::start().await;
    stack.send_recipients(&[build_recipient(1)]).await;
    let code = list_codes(&stack).await.remove(0);
    assert_eq!(stack.scan_code(&code).await.status, 404);
    assert_eq!((scans(&stack).await, CAMPAIGN), (0, "PA-TEST01"));
}
