//! `pillarbox push`.

use std::process::Stdio;

use pillarbox_tests::{CrmClient, FaultyProxy, INTEGRATION_KEY, ProxyBehavior, wait_until};
use serde_json::json;

use super::{Desk, interrupt};

const PUSH: [&str; 5] = ["push", "people.csv", "--pause-ms", "10", "--json"];

/// The columns of the results.
const STATUS: usize = 2;
const CODE: usize = 3;
const DROPPED: usize = 6;

fn push<'a>(more: &[&'a str]) -> Vec<&'a str> {
    PUSH.iter().chain(more).copied().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_row_is_accepted_rejected_or_loses_a_value_and_says_so() {
    let crm = CrmClient::start().await;
    let mut file =
        "ID,first,E-mail address,score\n1,Ann,ann@example.com,5\n2,Bob,not-an-address,5\n3,,,\n"
            .to_owned();
    // More rows that lose a value than an answer gives examples of.
    for number in 4..12 {
        file.push_str(&format!("{number},Cleo,,many\n"));
    }
    let desk = Desk::with(&file);
    let said = desk
        .run(
            &crm.stack.url,
            INTEGRATION_KEY,
            &push(&["--map", "E-mail address=mail"]),
        )
        .await;
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(
        said.json()["outcomes"],
        json!({"accepted": 10, "invalid_email": 1})
    );
    assert_eq!(
        desk.column(STATUS)[..3],
        ["accepted", "rejected", "accepted"]
    );
    assert_eq!(desk.column(CODE)[1], "invalid_email");
    let dropped = desk.column(DROPPED);
    assert!(
        dropped[..3].iter().all(String::is_empty)
            && dropped[3..].iter().all(|text| text.contains("score")),
        "{dropped:?}"
    );
    assert_eq!(
        crm.get("").await.json()["openSync"],
        json!(null),
        "the sync is completed"
    );
    assert_eq!(crm.list_contacts().await.len(), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_that_are_not_declared_are_told_or_declared_when_asked() {
    let crm = CrmClient::start().await;
    let desk = Desk::with("external_id,first,Shoe size,Zip code,scroe\n7,Ann,39,78701,1\n");
    let said = desk.run(&crm.stack.url, INTEGRATION_KEY, &PUSH).await;
    assert!(
        said.stderr
            .contains("column 3 \"Shoe size\" is not declared: say --declare"),
        "{}",
        said.stderr
    );
    assert!(
        said.stderr.contains("column 5 \"scroe\" looks like score"),
        "{}",
        said.stderr
    );
    let said = desk
        .run(
            &crm.stack.url,
            INTEGRATION_KEY,
            &push(&["--declare", "--map", "scroe=score"]),
        )
        .await;
    assert_eq!(said.code, Some(0), "{said:?}");
    let fields = crm.get("/schema").await.json()["fields"].clone();
    let find = |key: &str| {
        fields
            .as_array()
            .unwrap()
            .iter()
            .find(|field| field["key"] == key)
            .cloned()
            .unwrap()
    };
    assert_eq!(find("zip")["semantic"], "zip");
    assert_eq!(
        (&find("Shoe size")["type"], &find("score")["type"]),
        (&json!("text"), &json!("number"))
    );
    assert_eq!(crm.list_contacts().await[0].1["Shoe size"], "39");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_push_removes_who_is_not_in_the_file_and_delete_removes_who_is() {
    let crm = CrmClient::start().await;
    let url = &crm.stack.url;
    crm.run_sync(
        "delta",
        &[json!({"external_id": "old", "fields": {"first": "Old"}})],
    )
    .await;
    let desk = Desk::with("id,first\n1,Ann\n2,Bob\n3,Cleo\n");
    let said = desk
        .run(url, INTEGRATION_KEY, &push(&["--mode", "full"]))
        .await;
    assert_eq!(
        (said.code, &said.json()["sync"]["markedRemoved"]),
        (Some(0), &json!(1)),
        "{said:?}"
    );
    let desk = Desk::with("id,first\n2,whatever\n");
    let said = desk.run(url, INTEGRATION_KEY, &push(&["--delete"])).await;
    assert_eq!(
        (said.code, &said.json()["outcomes"]["deleted"]),
        (Some(0), &json!(1)),
        "{said:?}"
    );
    assert_eq!(crm.list_external_ids().await, ["1", "3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_that_was_interrupted_goes_on_in_its_sync() {
    let crm = CrmClient::start().await;
    let between = FaultyProxy::start(&crm.stack.url).await;
    let rows: String = (0..2500)
        .map(|number| format!("{number},Name{number}\n"))
        .collect();
    let desk = Desk::with(&format!("id,first\n{rows}"));
    // The sync begins, the first batch arrives but its answer does not, the second one does not arrive.
    between.script_next([
        ProxyBehavior::LoseAnswer,
        ProxyBehavior::Pass,
        ProxyBehavior::LoseAnswer,
        ProxyBehavior::Pass,
    ]);
    between.set_default(ProxyBehavior::Answer(500));
    let said = desk
        .run(
            &between.url,
            INTEGRATION_KEY,
            &push(&["--tries", "2", "--mode", "full"]),
        )
        .await;
    assert!(
        said.stderr.contains("after 1000 of 2500 rows"),
        "{}",
        said.stderr
    );
    assert_eq!(crm.get("").await.json()["openSync"]["batchesReceived"], 1);
    between.set_default(ProxyBehavior::Pass);
    let said = desk
        .run(
            &between.url,
            INTEGRATION_KEY,
            &push(&["--tries", "2", "--mode", "full"]),
        )
        .await;
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(said.json()["sync"]["recordsUpserted"], 2500);
    assert_eq!(
        (desk.results().len(), crm.list_external_ids().await.len()),
        (2500, 2500)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_tells_what_is_taken_and_what_is_unknown_and_ends_with_130() {
    let crm = CrmClient::start().await;
    let between = FaultyProxy::start(&crm.stack.url).await;
    let desk = Desk::with("id,first\n1,Ann\n");
    // The sync begins; the row is taken and its answer lost, and the command waits long before it asks again.
    between.script_next([ProxyBehavior::Pass, ProxyBehavior::LoseAnswer]);
    let mut command = desk.command(
        &between.url,
        INTEGRATION_KEY,
        &["push", "people.csv", "--pause-ms", "60000"],
    );
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let taken = "SELECT count(*) FROM contacts";
    wait_until("the row is taken", async || {
        crm.stack.query_count(taken).await == 1
    })
    .await;
    interrupt(&child);
    let output = tokio::task::spawn_blocking(|| child.wait_with_output())
        .await
        .unwrap()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(
        said.contains("0 of 1 rows are done") && said.contains("the row of line 2"),
        "{said}"
    );
    let said = desk.run(&between.url, INTEGRATION_KEY, &PUSH).await;
    assert_eq!(
        (
            said.code,
            crm.stack.query_count("SELECT count(*) FROM syncs").await
        ),
        (Some(0), 1),
        "{said:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_push_goes_on() {
    let crm = CrmClient::start().await;
    let rows: String = (0..5000)
        .map(|number| format!("{number},Name{number}\n"))
        .collect();
    let desk = Desk::with(&format!("id,first\n{rows}"));
    let mut child = desk
        .command(&crm.stack.url, INTEGRATION_KEY, &PUSH)
        .spawn()
        .unwrap();
    wait_until("some rows are through", async || {
        desk.results().len() >= 1000
    })
    .await;
    child.kill().unwrap();
    child.wait().unwrap();
    let said = desk.run(&crm.stack.url, INTEGRATION_KEY, &PUSH).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(
        (desk.results().len(), crm.list_external_ids().await.len()),
        (5000, 5000)
    );
    assert_eq!(crm.stack.query_count("SELECT count(*) FROM syncs").await, 1);
}
