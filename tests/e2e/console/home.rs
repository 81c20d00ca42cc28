//! The first page: what happened lately, as it happened.

use pillarbox_tests::{
    ConsoleClient, StackOptions, build_recipient, build_recipients, list_codes, wait_until,
    with_qr_codes,
};
use serde_json::json;
use store::MemberRole;

use super::{console, member};

/// The number under a name on the first page.
fn figure(html: &str, name: &str) -> String {
    let (_, rest) = html
        .split_once(&format!("<dt>{name}</dt><dd>"))
        .unwrap_or_else(|| panic!("{name}: {html}"));
    rest.split('<').next().unwrap().to_owned()
}

/// Sends, recipients mailed, not mailed, cards.
fn figures(html: &str) -> [String; 4] {
    ["Sends", "Recipients mailed", "Not mailed", "Cards"].map(|name| figure(html, name))
}

#[tokio::test(flavor = "multi_thread")]
async fn sends_outcomes_and_reasons_are_counted_when_they_happen() {
    let (stack, url) = console().await;
    let looker = member(&stack, &url, MemberRole::Member).await;
    let empty = looker.get("/").await.html;
    assert_eq!(figures(&empty), ["0", "0", "0", "0"]);
    assert!(
        empty.contains("Recipients by day: none in 14 days.")
            && empty.contains("Nobody was left out")
    );
    let mut broken = build_recipient(9);
    broken["zip"] = "".into();
    stack
        .send_recipients(&[
            build_recipient(1),
            build_recipient(2),
            broken,
            build_recipient(2),
        ])
        .await;
    stack.send_recipients(&build_recipients([2, 3])).await;
    let html = looker.get("/").await.html;
    assert_eq!(figures(&html), ["2", "3", "3", "3"]);
    assert_eq!(figure(&html, "Prepaid balance"), "$99,997.63");
    let (_, reasons) = html.split_once("Why recipients were not mailed").unwrap();
    let place = |text: &str| {
        reasons
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {reasons}"))
    };
    assert!(
        place("Mailed lately") < place("Address not deliverable"),
        "the commonest first"
    );
    assert!(html.contains("Recipients by day: 6 in 14 days"), "{html}");
    // A repeated request that gets its stored response is no send.
    stack.send_recipients(&build_recipients([2, 3])).await;
    assert_eq!(figures(&looker.get("/").await.html), ["2", "3", "3", "3"]);
    // After two weeks it is not lately any more; the sessions are over by then too.
    stack.clock.advance(chrono::TimeDelta::days(14));
    let looker = member(&stack, &url, MemberRole::Member).await;
    assert_eq!(figures(&looker.get("/").await.html), ["0", "0", "0", "0"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_declined_payment_takes_back_is_taken_off() {
    let (stack, url) = console().await;
    let poor = json!({"teams": [{"name": "Poor", "keys": [
            {"kind": "full_access", "name": "k", "key": "pk_live_PoorPoorPoorPoorPoor1"}],
        "designs": [{"name": "Card", "document": {"product": "postcard_4x6", "front": {}, "back": {}}}],
        "campaigns": [{"id": "PA-POOR01", "name": "Poor", "steps": [{"design": "Card", "postage": "standard"}]}],
        "top_up": {"amount": "$1.00", "reference": "first"}}]});
    stack.apply_team(poor).await;
    let mut copy = build_recipient(1);
    copy["first_name"] = "Kim".into();
    let body =
        json!({"campaign_id": "PA-POOR01", "recipients": [build_recipient(1), build_recipient(2), copy]}).to_string();
    let answer = stack
        .post_send_with(&[("x-api-key", "pk_live_PoorPoorPoorPoorPoor1")], body)
        .await;
    assert_eq!(
        answer.reasons(),
        ["payment_failed", "payment_failed", "payment_failed"]
    );
    let team = stack.store.find_team_by_name("Poor").await.unwrap();
    let looker = ConsoleClient::new(&stack, &url, team.team_id, MemberRole::Member).await;
    let html = looker.get("/").await.html;
    assert_eq!(figures(&html), ["1", "0", "3", "0"], "{html}");
    assert!(html.contains("Payment declined"));
}

#[tokio::test(flavor = "multi_thread")]
async fn scans_by_people_are_counted() {
    let (mut stack, _sink) = with_qr_codes(StackOptions::default()).await;
    let url = stack.start_console().await;
    let looker = member(&stack, &url, MemberRole::Member).await;
    stack.send_recipients(&build_recipients(1..4)).await;
    for code in list_codes(&stack).await {
        assert_eq!(stack.scan_code(&code).await.status, 302);
    }
    wait_until("the scans are counted", async || {
        figure(&looker.get("/").await.html, "Scans") == "3"
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn endpoints_in_trouble_are_told_with_their_last_error() {
    let (stack, url) = console().await;
    let looker = member(&stack, &url, MemberRole::Member).await;
    stack
        .apply_team(
            json!({"teams": [{"name": "Test", "endpoints": [{"url": "http://127.0.0.1:9/hook"}]}]}),
        )
        .await;
    assert!(
        !looker.get("/").await.html.contains("127.0.0.1:9/hook"),
        "nothing is wrong with it yet"
    );
    let sql = "UPDATE endpoints SET state = 'disabled', failures_in_row = 20, last_error = 'it answered <404>'";
    stack.sql.execute(sql, &[]).await.unwrap();
    let html = looker.get("/").await.html;
    assert!(
        html.contains("Disabled after 20 failed attempts in a row"),
        "{html}"
    );
    assert!(html.contains("it answered &#60;404&#62;"));
}
