//! `pillarbox send`.

use std::process::Stdio;

use chrono::TimeDelta;
use pillarbox_tests::{CAMPAIGN, FaultyProxy, KEY, ProxyBehavior, TestStack, wait_until};

use super::{Desk, interrupt, people_file};

/// Quick retries: what is waited is tested apart.
const SEND: [&str; 6] = ["send", CAMPAIGN, "people.csv", "--pause-ms", "10", "--json"];

/// The columns of the results.
const STATUS: usize = 2;
const REASON: usize = 3;

fn send<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SEND.iter().chain(more).copied().collect()
}

async fn mailpieces(stack: &TestStack) -> i64 {
    stack.query_count("SELECT count(*) FROM mailpieces").await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_row_of_a_file_gets_its_outcome() {
    let stack = TestStack::start().await;
    let file = people_file(1..4)
        + "=evil,Ann,Hill,,Austin,TX,78701\n,Bob,Hill,9 Main St,Austin,TX,78701\n";
    let desk = Desk::with(&file);
    let said = desk.run(&stack.url, KEY, &send(&["--batch", "2"])).await;
    assert_eq!(said.code, Some(3), "a row was not mailed: {said:?}");
    assert_eq!(
        said.json()["outcomes"],
        serde_json::json!({"mailed": 4, "invalid_address": 1})
    );
    assert_eq!(
        desk.column(0),
        ["2", "3", "4", "5", "6"],
        "one line for each row"
    );
    assert_eq!(
        desk.column(1),
        ["c1", "c2", "c3", "'=evil", "line 6"],
        "a cell that begins like a formula is made harmless"
    );
    assert_eq!(
        desk.column(STATUS),
        ["mailed", "mailed", "mailed", "not_mailed", "mailed"]
    );
    assert_eq!(desk.column(REASON)[3], "invalid_address");
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM recipients WHERE reference = 'c2'")
            .await,
        1
    );
    assert!(
        !desk.has("people.results.csv.journal"),
        "an upload that ended leaves no journal"
    );
    let again = desk.run(&stack.url, KEY, &SEND).await;
    assert!(again.stderr.contains("is there already"), "{again:?}");
    assert_eq!(mailpieces(&stack).await, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_validation_tells_what_would_come_of_each_row_and_mails_nobody() {
    let stack = TestStack::start().await;
    let desk = Desk::with(&(people_file(1..4) + "c9,Ann,Hill,,Austin,TX,78701\n"));
    let arguments = send(&["--validate", "--results", "people.results.csv"]);
    let said = desk.run(&stack.url, KEY, &arguments).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(
        said.json()["outcomes"],
        serde_json::json!({"would_mail": 3, "invalid_address": 1})
    );
    assert_eq!(
        desk.column(STATUS),
        ["would_mail", "would_mail", "would_mail", "not_mailed"]
    );
    let said = desk.run(&stack.url, KEY, &send(&["--validate"])).await;
    assert!(
        said.code == Some(0) && desk.has("people.validated.csv"),
        "{said:?}"
    );
    assert_eq!(mailpieces(&stack).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_mailed_only_at_the_price_that_is_expected() {
    let stack = TestStack::start().await;
    let desk = Desk::with(&people_file(1..4));
    let said = desk
        .run(&stack.url, KEY, &send(&["--expect-total", "158"]))
        .await;
    assert!(
        said.code != Some(0) && said.stderr.contains("237 cents"),
        "{said:?}"
    );
    assert_eq!(mailpieces(&stack).await, 0);
    let several = send(&["--expect-total", "237", "--batch", "2"]);
    let said = desk.run(&stack.url, KEY, &several).await;
    assert!(said.stderr.contains("--expect-total"), "{said:?}");
    assert_eq!(mailpieces(&stack).await, 0);
    // What was refused stands in no one's way.
    let elsewhere = ["--expect-total", "237", "--results", "other.results.csv"];
    let said = desk.run(&stack.url, KEY, &send(&elsewhere)).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(mailpieces(&stack).await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_validation_and_a_send_tell_what_the_cards_cost() {
    let stack = TestStack::start().await;
    let between = FaultyProxy::start(&stack.url).await;
    let desk = Desk::with(&(people_file(1..6) + "c9,Ann,Hill,,Austin,TX,78701\n"));
    let validated = desk
        .run(&between.url, KEY, &send(&["--validate", "--batch", "2"]))
        .await
        .json();
    // The answer of the second batch is lost, and told again from where it is stored.
    between.script_next([ProxyBehavior::Pass, ProxyBehavior::LoseAnswer]);
    let said = desk.run(&between.url, KEY, &send(&["--batch", "2"])).await;
    let price = stack
        .query_count("SELECT min(price_cents)::bigint FROM mailpieces")
        .await;
    assert_eq!(
        stack
            .query_count("SELECT sum(amount_cents)::bigint FROM charges")
            .await,
        5 * price
    );
    assert_eq!(validated["cost_cents"], 5 * price);
    assert_eq!(
        (
            &said.json()["cost_cents"],
            &said.json()["rows_of_unknown_cost"]
        ),
        (&(3 * price).into(), &2.into())
    );
    let desk = Desk::with(&people_file(11..13));
    let said = desk
        .run(&stack.url, KEY, &["send", CAMPAIGN, "people.csv"])
        .await;
    let dollars = format!(
        "2 of 2 rows were mailed. They cost ${}.{:02}.",
        2 * price / 100,
        2 * price % 100
    );
    assert!(said.stdout.starts_with(&dollars), "{}", said.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_tells_what_is_mailed_and_what_is_unknown_and_ends_with_130() {
    let stack = TestStack::start().await;
    let between = FaultyProxy::start(&stack.url).await;
    let desk = Desk::with(&people_file(1..6));
    // The second batch is carried out, and its answer lost: the command waits long before it asks again.
    between.script_next([ProxyBehavior::Pass, ProxyBehavior::LoseAnswer]);
    let arguments = [
        "send",
        CAMPAIGN,
        "people.csv",
        "--batch",
        "2",
        "--pause-ms",
        "60000",
    ];
    let mut command = desk.command(&between.url, KEY, &arguments);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("two batches are mailed", async || {
        mailpieces(&stack).await == 4
    })
    .await;
    wait_until("the first one's results are kept", async || {
        desk.results().len() == 2
    })
    .await;
    interrupt(&child);
    let output = tokio::task::spawn_blocking(|| child.wait_with_output())
        .await
        .unwrap()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    for part in [
        "2 of 5 rows are done (2 mailed",
        "2 rows of lines 4 to 5",
        "may have been mailed and charged",
        "for 15 minutes",
        "run the same command again",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let said = desk.run(&between.url, KEY, &send(&["--batch", "2"])).await;
    assert_eq!(
        said.json()["outcomes"],
        serde_json::json!({"mailed": 5}),
        "{said:?}"
    );
    assert_eq!(mailpieces(&stack).await, 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_column_that_would_be_new_is_asked_about_and_a_known_one_is_not() {
    let stack = TestStack::start().await;
    let row = "Ann Hill,1 Main St,Austin,TX,78701,gold\n";
    let desk = Desk::with(&format!("full name,Address,City,State,Zip,Plan\n{row}"));
    let dry = desk.run(&stack.url, KEY, &send(&["--dry-run"])).await;
    assert_eq!(
        (
            &dry.json()["columns"][0]["new"],
            &dry.json()["columns"][1]["new"]
        ),
        (&true.into(), &false.into())
    );
    assert!(
        dry.json()["notes"].to_string().contains("CURRENT RESIDENT"),
        "{dry:?}"
    );
    let said = desk.run(&stack.url, KEY, &SEND).await;
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.stderr
            .contains("column 1 \"full name\" is no field of the API"),
        "{}",
        said.stderr
    );
    assert!(
        !desk.has("people.results.csv") && mailpieces(&stack).await == 0,
        "nothing was sent"
    );
    // Said column by column, or of all at once.
    let said = desk
        .run(
            &stack.url,
            KEY,
            &send(&["--map", "full name=", "--map", "Plan=Plan"]),
        )
        .await;
    assert_eq!(said.code, Some(0), "{said:?}");
    let desk = Desk::with(&format!(
        "Note,Address,City,State,Zip,PLAN\n{}",
        row.replace("1 Main", "2 Main")
    ));
    assert_eq!(
        desk.run(&stack.url, KEY, &send(&["--new-columns"]))
            .await
            .code,
        Some(0)
    );
    // Now the team has them all.
    let desk = Desk::with(&format!(
        "note,Address,City,State,Zip,plan\n{}",
        row.replace("1 Main", "3 Main")
    ));
    let said = desk.run(&stack.url, KEY, &SEND).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    let names = stack
        .query_count(
            "SELECT count(*) FROM address_columns WHERE name_key IN ('note', 'plan', 'full name')",
        )
        .await;
    assert_eq!(names, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_lost_is_asked_for_again_with_the_same_key_and_body() {
    let stack = TestStack::start().await;
    let between = FaultyProxy::start(&stack.url).await;
    between.script_next([
        ProxyBehavior::LoseAnswer,
        ProxyBehavior::Answer(502),
        ProxyBehavior::Answer(503),
        ProxyBehavior::Pass,
        ProxyBehavior::LoseAnswer,
    ]);
    let desk = Desk::with(&people_file(1..9));
    let said = desk.run(&between.url, KEY, &send(&["--batch", "4"])).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(
        desk.column(STATUS),
        vec!["mailed"; 8],
        "the stored answer, not a duplicate"
    );
    assert_eq!(mailpieces(&stack).await, 8);
    let passed = between.passed_requests();
    assert_eq!(passed.len(), 6);
    for again in [1, 2, 3] {
        assert_eq!(
            (passed[again].idempotency_key(), &passed[again].body),
            (passed[0].idempotency_key(), &passed[0].body)
        );
    }
    assert_ne!(passed[0].idempotency_key(), "");
    assert_ne!(
        passed[0].idempotency_key(),
        passed[4].idempotency_key(),
        "another batch has another key"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rate_limit_is_waited_out() {
    let stack = TestStack::start().await;
    let between = FaultyProxy::start(&stack.url).await;
    between.script_next([
        ProxyBehavior::Limit,
        ProxyBehavior::Pass,
        ProxyBehavior::Limit,
    ]);
    let desk = Desk::with(&people_file(1..3));
    let said = desk
        .run(&between.url, KEY, &send(&["--batch", "1", "--tries", "1"]))
        .await;
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(
        said.stderr.matches("again in 1.0 s").count(),
        2,
        "as Retry-After says: {}",
        said.stderr
    );
    assert_eq!(desk.column(STATUS), ["mailed", "mailed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_command_goes_on_where_it_stopped_and_nobody_is_mailed_twice() {
    const ROWS: usize = 60;
    let stack = TestStack::start().await;
    let desk = Desk::with(&people_file(1..1 + ROWS));
    let arguments = send(&["--batch", "2"]);
    // Killed again and again, each time a little further on, wherever it happens to be.
    for rows in [1, 20, 40] {
        let mut child = desk.command(&stack.url, KEY, &arguments).spawn().unwrap();
        wait_until("some rows are through", async || {
            desk.results().len() >= rows
        })
        .await;
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
    assert_eq!(mailpieces(&stack).await, i64::try_from(ROWS).unwrap());
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_goes_away_is_given_up_and_taken_up_again() {
    let stack = TestStack::start().await;
    let between = FaultyProxy::start(&stack.url).await;
    between.script_next([ProxyBehavior::Pass, ProxyBehavior::LoseAnswer]);
    between.set_default(ProxyBehavior::Answer(502));
    let desk = Desk::with(&people_file(1..7));
    let arguments = send(&["--batch", "2", "--tries", "3"]);
    let said = desk.run(&between.url, KEY, &arguments).await;
    assert_eq!(said.code, Some(1));
    let expected =
        "after 2 of 6 rows (the same command goes on from there): gave up after 3 attempts";
    assert!(said.stderr.contains(expected), "{}", said.stderr);
    // Nothing listens there now; then it is back.
    let dead = desk.run("http://127.0.0.1:1", KEY, &arguments).await;
    assert!(
        dead.stderr.contains("other options, another address"),
        "{}",
        dead.stderr
    );
    between.set_default(ProxyBehavior::Pass);
    let said = desk.run(&between.url, KEY, &arguments).await;
    assert_eq!(
        (said.code, desk.column(STATUS)),
        (Some(0), vec!["mailed".to_owned(); 6]),
        "{said:?}"
    );
    assert_eq!(mailpieces(&stack).await, 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_not_in_order_is_told_by_line_and_column_and_nothing_is_sent() {
    let stack = TestStack::start().await;
    let between = FaultyProxy::start(&stack.url).await;
    let row = "Ann,1 Main St,Austin,TX,78701\n";
    for (content, expected) in [
        (
            format!("Frist Name,Address,City,State,Zip\n{row}"),
            "column 1 \"Frist Name\" looks like first_name: say --map",
        ),
        (
            format!("First Name,Address,City,State,Plz\n{row}"),
            "no column fills zip: say --map 'COLUMN=zip'",
        ),
        (
            format!("First Name,Address,City,State,Zip\n{row}Bob,2 Main St,Austin\n"),
            "people.csv, line 3: only 3 cells under 5",
        ),
        (
            format!("First Name,Address,City,State,Zip\r\n\r\n{row}Bob,2 Main St,Austin\r\n"),
            "people.csv, line 4: only 3 cells under 5",
        ),
        (
            "PK\u{3}\u{4}\u{14}\0\u{6}\0".to_owned(),
            "people.csv is an Excel workbook (.xlsx)",
        ),
        (
            "First Name,Address,City,State,Zip\n".to_owned(),
            "has headings and no rows",
        ),
    ] {
        let said = Desk::with(&content).run(&between.url, KEY, &SEND).await;
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.stderr.contains(expected), "{}", said.stderr);
        assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
    }
    let desk = Desk::with(&people_file(1..3));
    let said = desk.run(&between.url, KEY, &send(&["--dry-run"])).await;
    assert_eq!(said.json()["columns"][3]["field"], "address_1", "{said:?}");
    assert!(between.passed_requests().is_empty() && !desk.has("people.results.csv"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_service_refuses_leaves_nothing_behind() {
    let stack = TestStack::start().await;
    let desk = Desk::with(&people_file(1..3));
    let said = desk
        .run(&stack.url, "pk_live_WrongWrongWrongWrongWrong", &SEND)
        .await;
    assert_eq!(said.code, Some(1));
    assert!(
        said.stderr
            .starts_with("pillarbox: nothing was sent: 401 invalid_api_key: "),
        "{}",
        said.stderr
    );
    assert!(!desk.has("people.results.csv") && !desk.has("people.results.csv.journal"));
    let said = desk
        .run(&stack.url, KEY, &["send", "PA-NOBODY", "people.csv"])
        .await;
    assert!(
        said.stderr.contains("404 campaign_not_found"),
        "{}",
        said.stderr
    );
    assert!(
        said.stderr
            .contains("(`pillarbox explain campaign_not_found` says more)"),
        "{}",
        said.stderr
    );
    assert_eq!(
        desk.run(&stack.url, KEY, &SEND).await.code,
        Some(0),
        "another campaign can be sent to at once"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_after_a_lost_answer_keeps_the_journal() {
    let stack = TestStack::start().await;
    let between = FaultyProxy::start(&stack.url).await;
    between.script_next([ProxyBehavior::Answer(502)]);
    let desk = Desk::with(&people_file(1..3));
    let said = desk
        .run(&between.url, "pk_live_WrongWrongWrongWrongWrong", &SEND)
        .await;
    assert_eq!(said.code, Some(1), "{said:?}");
    for part in ["may have been mailed", "401 invalid_api_key"] {
        assert!(said.stderr.contains(part), "{part}: {}", said.stderr);
    }
    assert!(desk.has("people.results.csv.journal"));
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_a_lost_request_may_have_mailed_count_as_unknown() {
    let stack = TestStack::start().await;
    let between = FaultyProxy::start(&stack.url).await;
    let desk = Desk::with(&people_file(1..5));
    between.script_next([ProxyBehavior::Pass, ProxyBehavior::LoseAnswer]);
    between.set_default(ProxyBehavior::Answer(502));
    let arguments = send(&["--batch", "2", "--tries", "2"]);
    assert_eq!(desk.run(&between.url, KEY, &arguments).await.code, Some(1));
    // The stored answer is told for 15 minutes.
    stack.clock.advance(TimeDelta::minutes(20));
    between.set_default(ProxyBehavior::Pass);
    let said = desk.run(&between.url, KEY, &arguments).await;
    assert_eq!(said.code, Some(3), "{said:?}");
    assert_eq!(
        said.json()["outcomes"],
        serde_json::json!({"mailed": 2, "unknown": 2})
    );
    assert_eq!(said.json()["rows_of_unknown_cost"], 2);
    assert_eq!(
        desk.column(REASON),
        ["", "", "duplicate_recent", "duplicate_recent"],
        "as the service tells it"
    );
    // What was never sent before is certain.
    let desk = Desk::with(&people_file(1..5));
    let said = desk.run(&between.url, KEY, &send(&["--batch", "3"])).await;
    assert_eq!(
        said.json()["outcomes"],
        serde_json::json!({"duplicate_recent": 4}),
        "{said:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_cannot_be_kept_is_told_and_ends_with_4() {
    let stack = TestStack::start().await;
    let desk = Desk::with(&people_file(1..41));
    let limited = "trap '' XFSZ; ulimit -f 2; exec \"$@\"";
    let inner = desk.command(&stack.url, KEY, &SEND);
    let mut command = std::process::Command::new("sh");
    command
        .args(["-c", limited, "sh"])
        .arg(inner.get_program())
        .args(inner.get_args());
    command
        .current_dir(desk.path(""))
        .env_clear()
        .env("PATH", "/usr/bin:/bin");
    command
        .envs(
            inner
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .stdin(Stdio::null());
    let output = tokio::task::spawn_blocking(move || command.output())
        .await
        .unwrap()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(
        said.contains("the 40 rows from line 2 on (40 mailed)"),
        "{said}"
    );
    let said = desk.run(&stack.url, KEY, &SEND).await;
    assert_eq!(
        (said.code, mailpieces(&stack).await),
        (Some(0), 40),
        "{said:?}"
    );
}
