//! GET /api/v1/mailpieces in the order of payment, and one mailpiece.

use chrono::TimeDelta;
use model::mailpiece_state::{MailpieceBasis, MailpieceState};
use pillarbox_tests::{CAMPAIGN, KEY, TestStack, build_recipients};
use serde_json::json;
use store::NewMailpieceEvent;
use uuid::Uuid;

use super::{
    ListReader, add_another_team, claim_run, ids_of, read_as, read_ok, refused,
    send_as_another_team, states_of,
};

#[tokio::test(flavor = "multi_thread")]
async fn each_mailpiece_is_listed_once_as_it_was_paid_and_the_last_cursor_goes_on() {
    let stack = TestStack::start().await;
    add_another_team(&stack).await;
    for recipients in [1..6, 6..9, 9..10] {
        stack.send_recipients(&build_recipients(recipients)).await;
    }
    send_as_another_team(&stack, &build_recipients(20..23)).await;
    let mut reader = ListReader::new(&stack, "/api/v1/mailpieces?limit=2", "mailpieces");
    let listed = reader.rest().await;
    let expected = stack
        .sql
        .query(
            "SELECT mailpiece.mailpiece_id::text FROM mailpieces mailpiece JOIN charges USING (team_id, charge_id)
             WHERE mailpiece.campaign_id = $1 ORDER BY settled_at, mailpiece_id",
            &[&CAMPAIGN],
        )
        .await
        .unwrap();
    let expected: Vec<String> = expected.iter().map(|row| row.get(0)).collect();
    assert_eq!(ids_of(&listed), expected);
    assert_eq!(expected.len(), 9);
    assert!(!reader.next().await.has_more, "nothing came meanwhile");
    stack.send_recipients(&build_recipients(30..31)).await;
    assert_eq!(reader.rest().await.len(), 1, "what came meanwhile");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mailpiece_tells_state_price_and_whom_it_goes_to() {
    let stack = TestStack::start().await;
    stack.send_recipients(&build_recipients(1..2)).await;
    let listed = read_ok(&stack, "/api/v1/mailpieces").await;
    let mailpiece = &listed["mailpieces"][0];
    assert_eq!(mailpiece["campaign_id"], CAMPAIGN);
    assert_eq!(
        (&mailpiece["state"], &mailpiece["state_basis"]),
        (&json!("queued"), &json!("reported"))
    );
    assert_eq!(mailpiece["test"], false);
    assert_eq!(mailpiece["step"], 1);
    assert_eq!(mailpiece["postage"], "standard");
    assert_eq!(mailpiece["product"], "postcard_4x6");
    let price = stack
        .query_count("SELECT price_cents FROM mailpieces")
        .await;
    assert_eq!(mailpiece["price_cents"], price);
    let sent = &build_recipients(1..2)[0];
    assert_eq!(mailpiece["reference"], sent["reference"]);
    let name = mailpiece["name"].as_str().unwrap();
    assert!(name.starts_with(sent["first_name"].as_str().unwrap()));
    assert_eq!(mailpiece["address"]["state"], sent["state"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_leave_out_what_is_not_asked_for() {
    let stack = TestStack::start().await;
    stack.send_recipients(&build_recipients(1..6)).await;
    let all = read_ok(&stack, "/api/v1/mailpieces").await["mailpieces"].clone();
    let (id, reference) = (
        all[2]["id"].as_str().unwrap(),
        all[3]["reference"].as_str().unwrap(),
    );
    stack
        .sql
        .execute(
            "UPDATE mailpieces SET withheld = 'held' WHERE mailpiece_id = $1::text::uuid",
            &[&id],
        )
        .await
        .unwrap();
    let list = async |filters: &str| {
        let path = format!("/api/v1/mailpieces?{filters}");
        let answer = read_ok(&stack, &path).await;
        assert_eq!(answer["has_more"], false, "{filters}");
        ids_of(answer["mailpieces"].as_array().unwrap())
    };
    assert_eq!(list("state=held").await, [id]);
    assert_eq!(list("state=queued").await.len(), 4);
    assert_eq!(
        list(&format!("reference={reference}")).await,
        [all[3]["id"].as_str().unwrap()]
    );
    assert_eq!(list(&format!("campaign_id={CAMPAIGN}")).await.len(), 5);
    assert_eq!(list("campaign_id=PA-NOBODY").await.len(), 0);
    assert_eq!(list("changes=true&state=held").await, [id]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_asked_has_a_code_of_its_own() {
    let stack = TestStack::start().await;
    add_another_team(&stack).await;
    stack.send_recipients(&build_recipients(1..3)).await;
    let first = read_ok(&stack, "/api/v1/mailpieces?limit=1").await;
    let cursor = first["next_cursor"].as_str().unwrap();
    let with = |query: &str| format!("/api/v1/mailpieces?cursor={cursor}{query}");
    let others = read_as(&stack, super::OTHERS_KEY, &with("")).await;
    let invalid = (422, "invalid_cursor".to_owned());
    assert_eq!(others.error(), invalid, "another team's");
    assert_eq!(refused(&stack, &with("&state=held")).await, invalid);
    assert_eq!(refused(&stack, &with("&changes=true")).await, invalid);
    assert_eq!(
        refused(&stack, &format!("/api/v1/ledger?cursor={cursor}")).await,
        invalid
    );
    for broken in ["x", "", &cursor[1..]] {
        let path = format!("/api/v1/mailpieces?cursor={broken}");
        assert_eq!(refused(&stack, &path).await, invalid, "{broken}");
    }
    assert_eq!(
        refused(&stack, "/api/v1/mailpieces?state=lost").await,
        (422, "invalid_state".to_owned())
    );
    assert_eq!(
        refused(&stack, "/api/v1/mailpieces?limit=1001").await,
        (422, "invalid_payload".to_owned())
    );
    let not_found = (404, "mailpiece_not_found".to_owned());
    let unknown = format!("/api/v1/mailpieces/{}", Uuid::now_v7());
    assert_eq!(refused(&stack, &unknown).await, not_found);
    assert_eq!(refused(&stack, "/api/v1/mailpieces/7").await, not_found);
    let id = first["mailpieces"][0]["id"].as_str().unwrap();
    let path = format!("/api/v1/mailpieces/{id}");
    let others = read_as(&stack, super::OTHERS_KEY, &path).await;
    assert_eq!(others.error(), not_found, "another team's");
    for path in ["/api/v1/mailpieces", &path, "/api/v1/ledger"] {
        let wrong = read_as(&stack, "pk_live_WrongWrongWrongWrongWr", path).await;
        assert_eq!(wrong.error(), (401, "invalid_api_key".to_owned()));
        assert_eq!(read_as(&stack, KEY, path).await.status, 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unpaid_mailpiece_is_not_told() {
    let stack = TestStack::start().await;
    stack.send_recipients(&build_recipients(1..2)).await;
    let id = read_ok(&stack, "/api/v1/mailpieces").await["mailpieces"][0]["id"].clone();
    stack
        .sql
        .batch_execute("UPDATE charges SET state = 'reserved', settled_at = NULL")
        .await
        .unwrap();
    let path = format!("/api/v1/mailpieces/{}", id.as_str().unwrap());
    assert_eq!(refused(&stack, &path).await.0, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_history_says_when_by_whom_and_how_it_is_known_and_outlives_its_facts() {
    let stack = TestStack::start().await;
    stack.send_recipients(&build_recipients(1..2)).await;
    let listed = read_ok(&stack, "/api/v1/mailpieces").await;
    let id = listed["mailpieces"][0]["id"].as_str().unwrap();
    let path = format!("/api/v1/mailpieces/{id}");
    let history = async || {
        let answer = read_ok(&stack, &path).await;
        let entries = answer["history"].as_array().unwrap().clone();
        let lines = entries.iter().map(|entry| {
            let word = |name: &str| entry[name].as_str().unwrap().to_owned();
            [word("state"), word("basis"), word("source")].join(" ")
        });
        (lines.collect::<Vec<_>>(), answer)
    };
    let (lines, answer) = history().await;
    let expected = [
        "queued reported api",
        "entered estimated system",
        "delivered estimated system",
    ];
    assert_eq!(lines, expected);
    assert_eq!(
        answer["history"][1]["expected_on"],
        answer["mailpiece"]["mail_by_date"]
    );
    let lease = claim_run(&stack).await;
    stack
        .store
        .complete_print_run(lease, &[], stack.now())
        .await
        .unwrap();
    // As an import of the post's scans does.
    let mailpiece_id: Uuid = id.parse().unwrap();
    let team_id = model::id::TeamId(
        stack
            .sql
            .query_one("SELECT team_id FROM mailpieces", &[])
            .await
            .unwrap()
            .get(0),
    );
    let now = stack.now();
    let scan = |state: MailpieceState, minutes: i64| NewMailpieceEvent {
        mailpiece_id,
        event_id: Uuid::now_v7(),
        state,
        basis: MailpieceBasis::Scanned,
        source: "usps",
        occurred_at: now + TimeDelta::minutes(minutes),
        detail: "AUSTIN TX",
    };
    let mut connection = stack.store.connection().await.unwrap();
    let transaction = connection.begin_transaction().await.unwrap();
    let events = [
        scan(MailpieceState::Entered, 1),
        scan(MailpieceState::Delivered, 2),
    ];
    transaction
        .record_mailpiece_events(team_id, &events, now)
        .await
        .unwrap();
    transaction.commit().await.unwrap();
    stack
        .sql
        .execute(
            "INSERT INTO mailpiece_progress (team_id, mailpiece_id, campaign_id, state, basis, reached_at, seen_at)
             SELECT team_id, mailpiece_id, campaign_id, 'delivered', 'scanned', $1, $1 FROM mailpieces",
            &[&(now + TimeDelta::minutes(2))],
        )
        .await
        .unwrap();
    let (lines, answer) = history().await;
    let printed = [
        "queued reported api",
        "printing reported system",
        "printed reported system",
    ];
    assert_eq!(lines[..3], printed);
    assert_eq!(
        lines[3..],
        ["entered scanned usps", "delivered scanned usps"]
    );
    assert_eq!(answer["mailpiece"]["state"], "delivered");
    assert_eq!(answer["mailpiece"]["state_basis"], "scanned");
    // Its facts are old, and forgotten: what it has become stays.
    let later = now + TimeDelta::days(1);
    assert_eq!(
        stack.store.purge_mailpiece_events(later, 1).await.unwrap(),
        1
    );
    assert_eq!(
        stack.store.purge_mailpiece_events(later, 10).await.unwrap(),
        1
    );
    assert_eq!(
        stack.store.purge_mailpiece_events(later, 10).await.unwrap(),
        0
    );
    let (lines, _) = history().await;
    assert_eq!(lines[3..], ["delivered scanned usps"]);
    let listed = read_ok(&stack, "/api/v1/mailpieces").await;
    assert_eq!(
        states_of(listed["mailpieces"].as_array().unwrap()),
        ["delivered"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_mailpiece_tells_what_is_given_back() {
    let stack = TestStack::start().await;
    stack.send_recipients(&build_recipients(1..2)).await;
    let listed = read_ok(&stack, "/api/v1/mailpieces").await;
    let mailpiece = &listed["mailpieces"][0];
    let path = format!("/api/v1/mailpieces/{}", mailpiece["id"].as_str().unwrap());
    stack
        .sql
        .batch_execute(
            "UPDATE mailpieces SET withheld = 'cancelled';
             INSERT INTO refunds (team_id, refund_id, charge_id, campaign_id, mailpieces, amount_cents, state, payment, source,
                 created_at, due_at)
             SELECT team_id, charge_id, charge_id, campaign_id, 1, amount_cents, 'owed', 'balance', 'api', now(), now()
             FROM charges",
        )
        .await
        .unwrap();
    let refund = read_ok(&stack, &path).await["refund"].clone();
    assert_eq!(refund, json!({"amount_cents": mailpiece["price_cents"]}));
    stack
        .sql
        .batch_execute("UPDATE refunds SET state = 'settled', settled_at = now()")
        .await
        .unwrap();
    let answer = read_ok(&stack, &path).await;
    assert!(answer["refund"]["settled_at"].is_string(), "{answer}");
    assert_eq!(answer["mailpiece"]["state"], "cancelled");
    assert_eq!(answer["history"].as_array().unwrap().len(), 1);
}
