//! What the post tells of mailpieces: its scans are taken in once, whatever dies, and move them along whatever their order.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};
use model::mailpiece_state::MailpieceState;
use pillarbox_tests::{SpawnedProcess, build_recipients, run_operator_command, wait_until};
use serde_json::{Value, json};
use store::{MailedPiece, NewPostalScan, Store};
use uuid::Uuid;

use crate::printing::Shop;

/// What the first line of a file is.
const HEADER: &str = "imb,scan_event_code,scan_datetime,scan_facility_zip\n";

/// A row of ours in Austin, in UTC.
fn scan_row(barcode: &str, operation: &str, at: DateTime<Utc>) -> String {
    format!("{barcode},{operation},{},78710\n", at.to_rfc3339())
}

/// A shop whose cards are printed, with the barcode of each by its id.
async fn printed_shop(
    count: usize,
    settings: &[(&'static str, &str)],
) -> (Shop, BTreeMap<Uuid, String>) {
    let shop = Shop::with_cards(count, settings).await;
    shop.print().await;
    let manifests = shop.manifests();
    let pieces = manifests
        .values()
        .flat_map(|manifest| manifest["pieces"].as_array().unwrap());
    let barcodes: BTreeMap<Uuid, String> = pieces
        .map(|piece| {
            let id = piece["piece_id"].as_str().unwrap().parse().unwrap();
            (id, piece["barcode"].as_str().unwrap().to_owned())
        })
        .collect();
    assert_eq!(barcodes.len(), count);
    (shop, barcodes)
}

fn write_file(shop: &Shop, name: &str, text: &str) -> PathBuf {
    let path = shop.folder.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

/// What the command line says of a file that it takes in.
fn import_file(shop: &Shop, path: &Path, more: &[&str]) -> Value {
    let path = path.to_str().unwrap();
    let arguments = [&["scans", "import", path, "--json"], more].concat();
    let text =
        tokio::task::block_in_place(|| run_operator_command(&arguments, &shop.stack.settings));
    let report: Value = serde_json::from_str(&text).unwrap();
    report["files"][0].clone()
}

async fn states(shop: &Shop) -> BTreeMap<Uuid, (String, String)> {
    let sql = "SELECT mailpiece_id, state, basis FROM mailpiece_progress";
    let rows = shop.stack.sql.query(sql, &[]).await.unwrap();
    rows.iter()
        .map(|row| (row.get(0), (row.get(1), row.get(2))))
        .collect()
}

fn scanned(state: &str) -> (String, String) {
    (state.to_owned(), "scanned".to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn scans_of_the_post_move_mailpieces_along() {
    let (shop, barcodes) = printed_shop(3, &[]).await;
    let now = shop.stack.now();
    let at = |minutes| now + TimeDelta::minutes(minutes);
    let [first, second, third]: [(Uuid, String); 3] =
        barcodes.into_iter().collect::<Vec<_>>().try_into().unwrap();
    let mut file = HEADER.to_owned();
    // Late before early.
    file += &scan_row(&first.1, "919", at(30));
    file += &scan_row(&first.1, "892", at(10));
    file += &scan_row(&second.1, "return to sender", at(40));
    file += &scan_row(&second.1, "delivered", at(50));
    file += &scan_row(&third.1[..20], "892", at(5));
    // The same again, another mailer's, a service type that was not printed, a serial number that nobody has.
    file += &scan_row(&third.1, "892", at(5));
    file += &scan_row("00301654321000000001", "892", at(5));
    file += &scan_row(&third.1.replacen("00301", "00310", 1), "892", at(5));
    file += &scan_row("00301123456000009999", "892", at(5));
    file += &scan_row(&third.1, "xyz", at(5));
    file += "nonsense\n";
    file += &scan_row(&third.1, "892", at(60 * 48));
    let path = write_file(&shop, "scans.csv", &file);
    let counts = import_file(&shop, &path, &[]);
    let expected = json!({
        "rows": 12, "new": 5, "doubled": 1, "foreign": 1, "unmatched": 2, "unknown": 1, "broken": 2,
        "unknown_operations": {"xyz": 1}, "was_finished": false, "resumed_after": 0,
        "broken_rows": [{"line": 12, "problem": "the row has not the columns of the file"},
            {"line": 13, "problem": "the time lies in the future"}],
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&counts[name], value, "{name}: {counts}");
    }
    let expected = BTreeMap::from([
        (first.0, scanned("out_for_delivery")),
        (second.0, scanned("returned")),
        (third.0, scanned("in_transit")),
    ]);
    assert_eq!(states(&shop).await, expected);
    let again = import_file(&shop, &path, &[]);
    assert_eq!(
        (&again["was_finished"], &again["new"]),
        (&json!(true), &json!(5))
    );
    // Another file with the same scans and one more tells of that one alone.
    let five = format!(
        "78710,919,{},,{}\n78710,DELIVERED,{},,{}\n",
        at(30).to_rfc3339(),
        first.1,
        at(60).to_rfc3339(),
        first.1
    );
    let counts = import_file(&shop, &write_file(&shop, "five.txt", &five), &[]);
    assert_eq!(
        (&counts["new"], &counts["doubled"]),
        (&json!(1), &json!(1)),
        "{counts}"
    );
    assert_eq!(states(&shop).await[&first.0], scanned("delivered"));
    // Another mapping reads a file again.
    let mapping = write_file(
        &shop,
        "mapping.yaml",
        "operations:\n  XYZ: out_for_delivery\n",
    );
    let counts = import_file(
        &shop,
        &path,
        &["--again", "--mapping", mapping.to_str().unwrap()],
    );
    assert_eq!(
        (&counts["new"], &counts["unknown"]),
        (&json!(1), &json!(0)),
        "{counts}"
    );
    let returned =
        "SELECT count(*) FROM returned_addresses JOIN mailpieces USING (team_id, mailpiece_id)
        WHERE returned_addresses.address_id = mailpieces.address_id";
    assert_eq!(shop.stack.query_count(returned).await, 1);
    shop.stack.assert_consistent().await;
}

/// Six thousand rows of others behind the scans of ours, all in disorder: three portions.
fn long_file(barcodes: &BTreeMap<Uuid, String>, now: DateTime<Utc>) -> (String, HashSet<String>) {
    let mut rows = Vec::new();
    for (number, barcode) in barcodes.values().enumerate() {
        for (minute, operation) in [(1, "891"), (20, "895"), (40, "918"), (50, "919")] {
            let at = now + TimeDelta::minutes(minute) + TimeDelta::seconds(number as i64);
            rows.push(scan_row(barcode, operation, at));
        }
    }
    let distinct: HashSet<String> = rows.iter().cloned().collect();
    let mut file = HEADER.to_owned();
    for number in 0..12_000 {
        if number % 100 == 7 {
            let place = number / 100 * 37 % rows.len();
            file += &rows[place];
        } else {
            writeln!(
                file,
                "00301654321{number:09},892,{},78710",
                now.to_rfc3339()
            )
            .unwrap();
        }
    }
    for row in rows.iter().rev() {
        file += row;
    }
    (file, distinct)
}

async fn dies_at(point: &'static str) {
    let (shop, barcodes) = printed_shop(20, &[]).await;
    let (file, distinct) = long_file(&barcodes, shop.stack.now());
    let path = write_file(&shop, "scans.csv", &file);
    let words = ["scans", "import", path.to_str().unwrap()];
    for _ in 0..2 {
        let mut doomed =
            SpawnedProcess::start_with("pillarbox", &words, &shop.stack.settings, Some(point));
        assert!(
            !tokio::task::block_in_place(|| doomed.wait()),
            "it dies at {point}"
        );
    }
    let counts = import_file(&shop, &path, &[]);
    let rows = file.lines().count() as u64 - 1;
    assert_eq!(counts["rows"], rows, "{counts}");
    assert_eq!(counts["new"], distinct.len(), "{counts}");
    assert_eq!(counts["doubled"], 120, "{counts}");
    assert_eq!(counts["foreign"], 12_000 - 120, "{counts}");
    let events = "SELECT count(*) FROM mailpiece_events";
    assert_eq!(shop.stack.query_count(events).await, distinct.len() as i64);
    assert!(
        states(&shop)
            .await
            .values()
            .all(|state| *state == scanned("out_for_delivery"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_of_scans_killed_before_a_commit_is_read_once() {
    dies_at("scans.recording").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_of_scans_killed_behind_a_commit_is_read_once() {
    dies_at("scans.recorded").await;
}

async fn record_state(
    store: &Store,
    piece: &MailedPiece,
    states: &[(MailpieceState, DateTime<Utc>)],
) {
    let scans: Vec<NewPostalScan<'_>> = states
        .iter()
        .map(|(state, at)| NewPostalScan {
            piece,
            event_id: Uuid::now_v7(),
            state: *state,
            scanned_at: *at,
            detail: String::new(),
        })
        .collect();
    let mut connection = store.connection().await.unwrap();
    let transaction = connection.begin_transaction().await.unwrap();
    transaction
        .record_postal_scans(&scans, states[0].1)
        .await
        .unwrap();
    transaction.commit().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_database_and_the_machine_agree_on_every_pair_of_states() {
    let (shop, _) = printed_shop(1, &[]).await;
    let now = shop.stack.now();
    let postal = || {
        MailpieceState::ALL
            .iter()
            .copied()
            .filter(|state| state.is_postal())
    };
    let team_id: Uuid = shop
        .stack
        .sql
        .query_one("SELECT team_id FROM mailpieces LIMIT 1", &[])
        .await
        .unwrap()
        .get(0);
    let mut expected = BTreeMap::new();
    for (one, other) in postal().flat_map(|one| postal().map(move |other| (one, other))) {
        for is_together in [false, true] {
            let piece = MailedPiece {
                team_id,
                mailpiece_id: Uuid::now_v7(),
                campaign_id: "PA-000000".to_owned(),
                address_id: Uuid::now_v7(),
                service_type: None,
            };
            let (first, second) = ((one, now), (other, now - TimeDelta::hours(1)));
            if is_together {
                record_state(&shop.stack.store, &piece, &[first, second]).await;
            } else {
                record_state(&shop.stack.store, &piece, &[first]).await;
                record_state(&shop.stack.store, &piece, &[second]).await;
            }
            expected.insert(piece.mailpiece_id, scanned(one.advance_to(other).as_str()));
        }
    }
    assert_eq!(states(&shop).await, expected);
    let sql = "SELECT count(*) FROM mailpiece_progress WHERE seen_at <> $1";
    let wrong: i64 = shop.stack.sql.query_one(sql, &[&now]).await.unwrap().get(0);
    assert_eq!(wrong, 0, "the latest fact is what was seen");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_the_watched_place_are_taken_in_once() {
    let settings = [
        ("SCANS__INBOX", "inbox"),
        ("SCANS__INBOX_INTERVAL_MS", "50"),
    ];
    let (shop, barcodes) = printed_shop(2, &settings).await;
    let now = shop.stack.now();
    let rows: String = barcodes
        .values()
        .map(|barcode| scan_row(barcode, "892", now))
        .collect();
    write_file(&shop, "inbox/no-scans.csv", "a,b\n1,2\n");
    let file = write_file(&shop, "inbox/2026/scans.csv", &format!("{HEADER}{rows}"));
    wait_until("the scans are in", async || states(&shop).await.len() == 2).await;
    let seen = "SELECT count(*) FROM postal_inbox_files WHERE (problem IS NULL) = (name LIKE '%/scans.csv')";
    wait_until("both are remembered", async || {
        shop.stack.query_count(seen).await == 2
    })
    .await;
    assert!(file.exists(), "nothing is moved");
    // One that grows is looked at again.
    let more = scan_row(barcodes.values().next().unwrap(), "919", now);
    write_file(
        &shop,
        "inbox/2026/scans.csv",
        &format!("{HEADER}{rows}{more}"),
    );
    let events = "SELECT count(*) FROM mailpiece_events";
    wait_until("the new one is in", async || {
        shop.stack.query_count(events).await == 3
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_handed_over_and_what_the_post_does_not_see_stalls() {
    let settings = [("SCANS__STALLED_INTERVAL_MS", "50")];
    let (shop, barcodes) = printed_shop(3, &settings).await;
    let run: Uuid = shop
        .stack
        .sql
        .query_one("SELECT run_id FROM print_runs", &[])
        .await
        .unwrap()
        .get(0);
    let run = run.to_string();
    let hand_over = |more: &[&str]| -> Value {
        let arguments = [&["print", "handed-over", &run, "--json"], more].concat();
        let text =
            tokio::task::block_in_place(|| run_operator_command(&arguments, &shop.stack.settings));
        serde_json::from_str(&text).unwrap()
    };
    let now = shop.stack.now();
    let at = now.to_rfc3339();
    assert_eq!(hand_over(&["--at", &at])["mailpieces"], 3);
    assert_eq!(hand_over(&[])["mailpieces"], 0, "told again");
    let entered = ("entered".to_owned(), "reported".to_owned());
    assert!(states(&shop).await.values().all(|state| *state == entered));
    let barcode = barcodes.values().next().unwrap();
    let path = write_file(
        &shop,
        "entered.csv",
        &format!("{HEADER}{}", scan_row(barcode, "entered", now)),
    );
    assert_eq!(import_file(&shop, &path, &[])["new"], 1);
    let seen = states(&shop).await;
    assert_eq!(
        seen.values()
            .filter(|state| **state == scanned("entered"))
            .count(),
        1,
        "{seen:?}"
    );
    let stalled = "SELECT count(*) FROM mailpiece_progress WHERE stalled_at IS NOT NULL";
    shop.stack.clock.advance(TimeDelta::hours(71));
    let text = format!(
        "{HEADER}{}",
        scan_row(barcode, "892", now + TimeDelta::hours(20))
    );
    assert_eq!(
        import_file(&shop, &write_file(&shop, "more.csv", &text), &[])["new"],
        1
    );
    shop.stack.clock.advance(TimeDelta::hours(2));
    wait_until("two have stalled", async || {
        shop.stack.query_count(stalled).await == 2
    })
    .await;
    let facts = "SELECT count(*) FROM mailpiece_events WHERE state = 'stalled'";
    assert_eq!(shop.stack.query_count(facts).await, 2);
    // A scan that is newer ends it; one that is older than what was seen does not.
    let last = barcodes.values().next_back().unwrap();
    let rows = scan_row(last, "892", now + TimeDelta::minutes(30));
    let path = write_file(&shop, "seen.csv", &format!("{HEADER}{rows}"));
    assert_eq!(import_file(&shop, &path, &[])["new"], 1);
    wait_until("it has stalled again", async || {
        shop.stack.query_count(facts).await == 3
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_from_which_a_mailpiece_came_back_is_mailed_no_more() {
    let (shop, barcodes) = printed_shop(1, &[]).await;
    let now = shop.stack.now();
    let barcode = barcodes.values().next().unwrap();
    let text = format!("{HEADER}{}", scan_row(barcode, "returned", now));
    assert_eq!(
        import_file(&shop, &write_file(&shop, "back.csv", &text), &[])["new"],
        1
    );
    // The duplicate window is over.
    shop.stack.clock.advance(TimeDelta::days(400));
    // Somebody else there: what a recipient was mailed before is not undone.
    let mut people = build_recipients(1..2);
    people[0]["first_name"] = json!("Zoe");
    let answer = shop.stack.send_recipients(&people).await;
    assert_eq!(answer.reasons(), ["do_not_mail"]);
    let sentence = format!(
        "A mailpiece to this address came back on {}.",
        now.date_naive()
    );
    assert!(
        answer.json().to_string().contains(&sentence),
        "{}",
        answer.json()
    );
    let run = |words: &[&str]| {
        let text =
            tokio::task::block_in_place(|| run_operator_command(words, &shop.stack.settings));
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let campaign: String = shop
        .stack
        .sql
        .query_one("SELECT campaign_id FROM mailpieces", &[])
        .await
        .unwrap()
        .get(0);
    let told = "SELECT count(*) FROM recipients WHERE reason = 'do_not_mail'";
    assert_eq!(shop.stack.query_count(told).await, 1);
    let owner = shop
        .stack
        .store
        .find_team_by_name("Test")
        .await
        .unwrap()
        .team_id;
    let campaign_id = campaign.parse().unwrap();
    let listing =
        shop.stack
            .store
            .list_recipients(owner, &campaign_id, Some("do_not_mail"), None, 10);
    let lines = listing.await.unwrap();
    assert!(
        lines[0].returned_at.is_some(),
        "the console says so: {lines:?}"
    );
    run(&["returned", "mail", &campaign, "--json"]);
    assert_eq!(
        shop.stack.send_recipients(&people).await.reasons(),
        ["mailed"]
    );
    run(&["returned", "mail", &campaign, "--off", "--json"]);
    let team: Uuid = shop
        .stack
        .sql
        .query_one("SELECT team_id FROM mailpieces LIMIT 1", &[])
        .await
        .unwrap()
        .get(0);
    let team = team.to_string();
    let listed = run(&["returned", "list", &team, "--json"]);
    let address = listed["addresses"][0]["address"].as_str().unwrap();
    let removed = run(&["returned", "remove", &team, address, "--json"]);
    assert_eq!(removed["addresses"][0]["was_returned"], true, "{listed}");
    assert_eq!(
        run(&["returned", "list", &team, "--json"])["addresses"],
        json!([])
    );
    shop.stack.assert_consistent().await;
}
