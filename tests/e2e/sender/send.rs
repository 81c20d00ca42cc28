//! `pillarbox send`.

use pillarbox_tests::{Between, CAMPAIGN, Fate, KEY, Stack, eventually};

use super::{Desk, people_file};

/// Quick retries: what is waited is tested apart.
const SEND: [&str; 6] = ["send", CAMPAIGN, "people.csv", "--pause-ms", "10", "--json"];

/// The columns of the results.
const STATUS: usize = 2;
const REASON: usize = 3;

fn send<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SEND.iter().chain(more).copied().collect()
}

async fn pieces(stack: &Stack) -> i64 {
    stack.count("SELECT count(*) FROM pieces").await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_row_of_a_file_gets_its_outcome() {
    let stack = Stack::start().await;
    let file = people_file(1..4) + "=evil,Ann,Hill,,Austin,TX,78701\n,Bob,Hill,9 Main St,Austin,TX,78701\n";
    let desk = Desk::with(&file);
    let said = desk.run(&stack.url, KEY, &send(&["--batch", "2"])).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(said.json()["outcomes"], serde_json::json!({"mailed": 4, "invalid_address": 1}));
    assert_eq!(desk.column(0), ["2", "3", "4", "5", "6"], "one line for each row");
    assert_eq!(
        desk.column(1),
        ["c1", "c2", "c3", "'=evil", "line 6"],
        "a cell that begins like a formula is made harmless"
    );
    assert_eq!(desk.column(STATUS), ["mailed", "mailed", "mailed", "not_mailed", "mailed"]);
    assert_eq!(desk.column(REASON)[3], "invalid_address");
    assert_eq!(stack.count("SELECT count(*) FROM recipients WHERE reference = 'c2'").await, 1);
    assert!(!desk.has("people.results.csv.journal"), "an upload that ended leaves no journal");
    let again = desk.run(&stack.url, KEY, &SEND).await;
    assert!(again.stderr.contains("is there already"), "{again:?}");
    assert_eq!(pieces(&stack).await, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_validation_tells_what_would_come_of_each_row_and_mails_nobody() {
    let stack = Stack::start().await;
    let desk = Desk::with(&(people_file(1..4) + "c9,Ann,Hill,,Austin,TX,78701\n"));
    let arguments = send(&["--validate", "--results", "people.results.csv"]);
    let said = desk.run(&stack.url, KEY, &arguments).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(said.json()["outcomes"], serde_json::json!({"would_mail": 3, "invalid_address": 1}));
    assert_eq!(desk.column(STATUS), ["would_mail", "would_mail", "would_mail", "not_mailed"]);
    let said = desk.run(&stack.url, KEY, &send(&["--validate"])).await;
    assert!(said.code == Some(0) && desk.has("people.validated.csv"), "{said:?}");
    assert_eq!(pieces(&stack).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_lost_is_asked_for_again_with_the_same_key_and_body() {
    let stack = Stack::start().await;
    let between = Between::start(&stack.url).await;
    between.next([Fate::LoseAnswer, Fate::Answer(502), Fate::Answer(503), Fate::Pass, Fate::LoseAnswer]);
    let desk = Desk::with(&people_file(1..9));
    let said = desk.run(&between.url, KEY, &send(&["--batch", "4"])).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(desk.column(STATUS), vec!["mailed"; 8], "the stored answer, not a duplicate");
    assert_eq!(pieces(&stack).await, 8);
    let passed = between.passed();
    assert_eq!(passed.len(), 6);
    for again in [1, 2, 3] {
        assert_eq!((passed[again].key(), &passed[again].body), (passed[0].key(), &passed[0].body));
    }
    assert_ne!(passed[0].key(), "");
    assert_ne!(passed[0].key(), passed[4].key(), "another batch has another key");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rate_limit_is_waited_out() {
    let stack = Stack::start().await;
    let between = Between::start(&stack.url).await;
    between.next([Fate::Limit, Fate::Pass, Fate::Limit]);
    let desk = Desk::with(&people_file(1..3));
    let said = desk.run(&between.url, KEY, &send(&["--batch", "1", "--tries", "1"])).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(said.stderr.matches("again in 1.0 s").count(), 2, "as Retry-After says: {}", said.stderr);
    assert_eq!(desk.column(STATUS), ["mailed", "mailed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_command_goes_on_where_it_stopped_and_nobody_is_mailed_twice() {
    const ROWS: usize = 60;
    let stack = Stack::start().await;
    let desk = Desk::with(&people_file(1..1 + ROWS));
    let arguments = send(&["--batch", "2"]);
    // Killed again and again, each time a little further on, wherever it happens to be.
    for rows in [1, 20, 40] {
        let mut child = desk.command(&stack.url, KEY, &arguments).spawn().unwrap();
        eventually("some rows are through", async || desk.results().len() >= rows).await;
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(desk.has("people.results.csv.journal"));
    }
    let said = desk.run(&stack.url, KEY, &arguments).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(
        said.json()["outcomes"],
        serde_json::json!({ "mailed": ROWS }),
        "nobody came back as a duplicate"
    );
    let lines: Vec<String> = (2..2 + ROWS).map(|line| line.to_string()).collect();
    assert_eq!(desk.column(0), lines, "one line for each row");
    assert_eq!(pieces(&stack).await, i64::try_from(ROWS).unwrap());
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_goes_away_is_given_up_and_taken_up_again() {
    let stack = Stack::start().await;
    let between = Between::start(&stack.url).await;
    between.next([Fate::Pass, Fate::LoseAnswer]);
    between.always(Fate::Answer(502));
    let desk = Desk::with(&people_file(1..7));
    let arguments = send(&["--batch", "2", "--tries", "3"]);
    let said = desk.run(&between.url, KEY, &arguments).await;
    assert_eq!(said.code, Some(1));
    let expected = "after 2 of 6 rows (the same command goes on from there): gave up after 3 attempts";
    assert!(said.stderr.contains(expected), "{}", said.stderr);
    // Nothing listens there now; then it is back.
    let dead = desk.run("http://127.0.0.1:1", KEY, &arguments).await;
    assert!(dead.stderr.contains("other options, another address"), "{}", dead.stderr);
    between.always(Fate::Pass);
    let said = desk.run(&between.url, KEY, &arguments).await;
    assert_eq!((said.code, desk.column(STATUS)), (Some(0), vec!["mailed".to_owned(); 6]), "{said:?}");
    assert_eq!(pieces(&stack).await, 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_not_in_order_is_told_by_line_and_column_and_nothing_is_sent() {
    let stack = Stack::start().await;
    let between = Between::start(&stack.url).await;
    let row = "Ann,1 Main St,Austin,TX,78701\n";
    for (content, expected) in [
        (
            format!("Frist Name,Address,City,State,Zip\n{row}"),
            "column 1 \"Frist Name\" looks like first_name: say --map",
        ),
        (format!("First Name,Address,City,State,Plz\n{row}"), "no column fills zip: say --map 'COLUMN=zip'"),
        (
            format!("First Name,Address,City,State,Zip\n{row}Bob,2 Main St,Austin\n"),
            "people.csv, line 3: only 3 cells under 5",
        ),
        ("First Name,Address,City,State,Zip\n".to_owned(), "has headings and no rows"),
    ] {
        let said = Desk::with(&content).run(&between.url, KEY, &SEND).await;
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.stderr.contains(expected), "{}", said.stderr);
        assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
    }
    let desk = Desk::with(&people_file(1..3));
    let said = desk.run(&between.url, KEY, &send(&["--dry-run"])).await;
    assert_eq!(said.json()["columns"][3]["field"], "address_1", "{said:?}");
    assert!(between.passed().is_empty() && !desk.has("people.results.csv"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_service_refuses_leaves_nothing_behind() {
    let stack = Stack::start().await;
    let desk = Desk::with(&people_file(1..3));
    let said = desk.run(&stack.url, "pk_live_WrongWrongWrongWrongWrong", &SEND).await;
    assert_eq!(said.code, Some(1));
    assert!(said.stderr.starts_with("pillarbox: nothing was sent: 401 invalid_api_key: "), "{}", said.stderr);
    assert!(!desk.has("people.results.csv") && !desk.has("people.results.csv.journal"));
    let said = desk.run(&stack.url, KEY, &["send", "PA-NOBODY", "people.csv"]).await;
    assert!(said.stderr.contains("404 campaign_not_found"), "{}", said.stderr);
    assert_eq!(
        desk.run(&stack.url, KEY, &SEND).await.code,
        Some(0),
        "another campaign can be sent to at once"
    );
}
