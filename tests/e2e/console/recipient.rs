//! Recipients received: found, paged through, exported, removed.

use pillarbox_tests::{
    CAMPAIGN, ConsoleClient, ConsoleResponse, TestStack, build_recipient, build_recipients,
    wait_until,
};
use serde_json::json;
use store::MemberRole;

use super::{console, member};

fn path(rest: &str) -> String {
    format!("/campaigns/{CAMPAIGN}/recipients{rest}")
}

/// The references on a page, in their order.
fn references(page: &ConsoleResponse) -> Vec<String> {
    page.html
        .split("<td>")
        .filter_map(|cell| cell.split_once("</td>"))
        .map(|(cell, _)| cell.to_owned())
        .filter(|cell| cell.starts_with('r') && cell[1..].parse::<usize>().is_ok())
        .collect()
}

/// The references on all pages from this address on.
async fn all_pages(person: &ConsoleClient, address: &str) -> Vec<Vec<String>> {
    let (mut address, mut pages) = (address.to_owned(), Vec::new());
    for _ in 0..20 {
        let page = person.get(&address).await;
        assert_eq!(page.status, 200, "{address}");
        pages.push(references(&page));
        let Some((before, _)) = page.html.split_once("\" rel=\"next\"") else {
            return pages;
        };
        address = before
            .rsplit('"')
            .next()
            .unwrap()
            .replace("&#38;", "&")
            .replace("&amp;", "&");
    }
    panic!("the pages do not end: {address}");
}

async fn until_findable(stack: &TestStack) {
    wait_until("all recipients can be found", async || {
        stack
            .query_count("SELECT count(*) FROM recipients_unsearched")
            .await
            == 0
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn recipients_are_found_by_name_and_address_and_filtered_by_outcome() {
    let (stack, url) = console().await;
    let looker = member(&stack, &url, MemberRole::Member).await;
    assert!(
        looker
            .get(&path(""))
            .await
            .html
            .contains("None yet. Send the first one")
    );
    let mut broken = build_recipient(3);
    broken["zip"] = "".into();
    let mut other = build_recipient(4);
    other["last_name"] = "O'Neill".into();
    other["first_name"] = "=Ann".into();
    stack
        .send_recipients(&[build_recipient(1), build_recipient(2), broken, other])
        .await;
    until_findable(&stack).await;
    let found = async |question: &str| references(&looker.get(&path(question)).await);
    assert_eq!(found("?text=reader").await, ["r1", "r2", "r3"]);
    assert_eq!(found("?text=READER2%20pat").await, ["r2"]);
    assert_eq!(found("?text=o%27neill").await, ["r4"]);
    assert_eq!(found("?text=1%20main").await, ["r1"]);
    assert_eq!(found("?text=%25").await, [""; 0], "nothing is a wildcard");
    assert_eq!(found("?outcome=invalid_address").await, ["r3"]);
    assert_eq!(found("?text=reader&outcome=mailed").await, ["r1", "r2"]);
    assert_eq!(found("?text=reader&outcome=do_not_mail").await, [""; 0]);
    assert_eq!(looker.get(&path("?outcome=nothing")).await.status, 404);
    assert!(
        looker
            .get(&path("?text=reader3"))
            .await
            .html
            .contains("Address not deliverable")
    );
    // A page that nobody made begins at the beginning.
    assert_eq!(found("?from=x").await.len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_show_everybody_once_the_newest_first() {
    let (stack, url) = console().await;
    let looker = member(&stack, &url, MemberRole::Member).await;
    for batch in 0..4 {
        stack
            .send_recipients(&build_recipients(batch * 30 + 1..batch * 30 + 31))
            .await;
        stack.clock.advance(chrono::TimeDelta::minutes(1));
    }
    until_findable(&stack).await;
    for address in [
        path(""),
        path("?text=reader"),
        path("?outcome=mailed"),
        path("?text=reader&outcome=mailed"),
    ] {
        let pages = all_pages(&looker, &address).await;
        assert_eq!(
            pages.iter().map(Vec::len).collect::<Vec<_>>(),
            [50, 50, 20],
            "{address}"
        );
        let mut all = pages.concat();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 120, "{address}");
    }
    let newest = &all_pages(&looker, &path("")).await[0];
    assert!(
        newest[..30]
            .iter()
            .all(|reference| reference[1..].parse::<usize>().unwrap() > 90),
        "{newest:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_found_by_name_and_address_is_there_once() {
    let (stack, url) = console().await;
    let looker = member(&stack, &url, MemberRole::Member).await;
    let mut recipients = build_recipients(1..61);
    for (recipient, number) in recipients.iter_mut().zip(1..) {
        // In the order of what they are found by, half of the names stand before the addresses, and half behind.
        let (first, last) = if number % 2 == 0 {
            ("Al", "Po")
        } else {
            ("Pat", "Powell")
        };
        recipient["first_name"] = first.into();
        recipient["last_name"] = last.into();
        recipient["address_1"] = format!("PO Box {number}").into();
    }
    stack.send_recipients(&recipients).await;
    until_findable(&stack).await;
    for question in [
        "?text=po",
        "?text=po&outcome=invalid_address",
        "?text=po&outcome=mailed",
    ] {
        let mut found = all_pages(&looker, &path(question)).await.concat();
        found.sort();
        let count = found.len();
        found.dedup();
        assert_eq!(found.len(), count, "{question}");
    }
    assert_eq!(
        all_pages(&looker, &path("?text=po"))
            .await
            .iter()
            .map(Vec::len)
            .collect::<Vec<_>>(),
        [50, 10]
    );
    assert_eq!(
        looker.get(&path(".csv?text=po")).await.html.lines().count(),
        1 + 60
    );
    for question in ["?text=po%20box%207,", "?text=powell"] {
        assert!(
            !references(&looker.get(&path(question)).await).is_empty(),
            "either still finds: {question}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_has_everybody_who_is_asked_for_and_no_formula() {
    let (stack, url) = console().await;
    let looker = member(&stack, &url, MemberRole::Member).await;
    let mut evil = build_recipient(1);
    evil["first_name"] = "=HYPERLINK(\"https://evil.example\")".into();
    stack.send_recipients(&[evil]).await;
    stack.send_recipients(&build_recipients(2..1500)).await;
    until_findable(&stack).await;
    let file = looker.get(&path(".csv")).await;
    assert_eq!(file.headers["content-type"], "text/csv; charset=utf-8");
    let lines: Vec<&str> = file.html.lines().collect();
    assert_eq!(
        lines[0],
        "reference,first_name,last_name,address,status,reason,received_at,removed_at"
    );
    assert_eq!(lines.len(), 1500);
    let first = lines.iter().find(|line| line.starts_with("r1,")).unwrap();
    assert!(
        first.starts_with("r1,\"'=HYPERLINK(\"\"https://evil.example\"\")\",Reader1,"),
        "{first}"
    );
    let log = looker.get("/activity?kind=recipient").await.html;
    assert_eq!(
        log.matches("recipient.downloaded").count(),
        1,
        "who has the file is in the team's log: {log}"
    );
    assert_eq!(
        looker
            .get(&path(".csv?outcome=do_not_mail"))
            .await
            .html
            .lines()
            .count(),
        1
    );
    assert_eq!(
        looker
            .get(&path(".csv?text=reader14&outcome=mailed"))
            .await
            .html
            .lines()
            .count(),
        1 + 111
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recipient_removed_here_is_not_mailed_again() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    stack.send_recipients(&build_recipients(1..3)).await;
    let row = stack
        .sql
        .query_one(
            "SELECT entry_id FROM recipients WHERE reference = 'r1'",
            &[],
        )
        .await
        .unwrap();
    let entry_id: uuid::Uuid = row.get(0);
    let removed = admin.post(&path(&format!("/{entry_id}/remove")), &[]).await;
    assert_eq!(
        removed.location(),
        path("?notice=recipient-removed"),
        "{}",
        removed.html
    );
    assert!(
        admin
            .get(removed.location())
            .await
            .html
            .contains("Mailed, then removed")
    );
    let again = admin.post(&path(&format!("/{entry_id}/remove")), &[]).await;
    assert!(
        admin
            .get(again.location())
            .await
            .html
            .contains("was already removed"),
        "{}",
        again.html
    );
    let mut same_address = build_recipient(1);
    same_address["first_name"] = "Somebody else".into();
    let reasons = stack
        .send_recipients(&[same_address, build_recipient(3)])
        .await
        .reasons();
    assert_eq!(reasons, ["removed_by_sender", "mailed"]);
    let nobody = uuid::Uuid::from_u128(7);
    assert_eq!(
        admin
            .post(&path(&format!("/{nobody}/remove")), &[])
            .await
            .status,
        404
    );
    assert!(
        admin
            .get("/activity")
            .await
            .html
            .contains("recipient.removed")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_is_removed_from_waiting_too() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    stack
        .save_campaign(
            json!({"conditions": {"column": "city", "operator": "is", "value": "Dallas"}}),
        )
        .await;
    assert_eq!(
        stack
            .send_recipients(&build_recipients([1]))
            .await
            .reasons(),
        ["filtered_conditions"]
    );
    let row = stack
        .sql
        .query_one("SELECT entry_id FROM recipients", &[])
        .await
        .unwrap();
    let entry_id: uuid::Uuid = row.get(0);
    admin.post(&path(&format!("/{entry_id}/remove")), &[]).await;
    assert_eq!(
        references(&admin.get(&path("?outcome=removed_by_sender")).await),
        ["r1"]
    );
    assert!(references(&admin.get(&path("?outcome=filtered_conditions")).await).is_empty());
}
