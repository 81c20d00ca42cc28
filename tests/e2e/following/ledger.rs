//! GET /api/v1/ledger.

use std::collections::HashSet;
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use pillarbox_tests::{CAMPAIGN, TestStack, build_recipients};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use uuid::Uuid;

use super::{ListReader, add_another_team, ids_of, read_ok};

#[tokio::test(flavor = "multi_thread")]
async fn bookings_tell_what_moved_and_why_in_the_order_of_their_commits() {
    let stack = TestStack::start().await;
    add_another_team(&stack).await;
    let sent = stack.send_recipients(&build_recipients(1..4)).await;
    stack.send_recipients(&build_recipients(4..5)).await;
    let mut reader = ListReader::new(&stack, "/api/v1/ledger?limit=2", "bookings");
    let bookings = reader.rest().await;
    assert_eq!(bookings.len(), 3, "the team's alone: {bookings:?}");
    assert_eq!(bookings[0]["kind"], "top_up");
    assert!(bookings[0]["reference"].is_string());
    assert_eq!(
        bookings[0]["balance_change_cents"],
        bookings[0]["amount_cents"]
    );
    let charge = &bookings[1];
    let cents = charge["amount_cents"].as_i64().unwrap();
    assert_eq!(charge["kind"], "charge");
    assert_eq!(charge["balance_change_cents"], -cents);
    assert_eq!(charge["campaign_id"], CAMPAIGN);
    assert_eq!(
        charge["charge_id"],
        sent.headers["x-request-id"].to_str().unwrap()
    );
    let balance: i64 = bookings
        .iter()
        .map(|booking| booking["balance_change_cents"].as_i64().unwrap())
        .sum();
    let kept = stack
        .query_count(
            "SELECT balance_cents FROM ledger_accounts JOIN teams USING (team_id)
             WHERE account = 'prepaid' AND name <> 'Other'",
        )
        .await;
    assert_eq!(balance, kept, "they sum to the balance");
    assert_eq!(reader.rest().await.len(), 0);
    stack.send_recipients(&build_recipients(5..6)).await;
    assert_eq!(reader.rest().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_tells_what_it_gives_back_of() {
    let stack = TestStack::start().await;
    stack.send_recipients(&build_recipients(1..2)).await;
    // What is there when somebody reads keeps its place.
    read_ok(&stack, "/api/v1/ledger").await;
    stack
        .sql
        .batch_execute(
            "INSERT INTO refunds (team_id, refund_id, charge_id, campaign_id, mailpieces, amount_cents, state, payment, source,
                 created_at, settled_at, due_at)
             SELECT team_id, charge_id, charge_id, campaign_id, 1, amount_cents, 'settled', 'balance', 'api', now(), now(), now()
             FROM charges;
             INSERT INTO ledger_transactions (team_id, transaction_id, kind, refund_id, created_at)
             SELECT team_id, refund_id, 'refund', refund_id, now() FROM refunds;
             INSERT INTO ledger_entries (team_id, transaction_id, account, amount_cents)
             SELECT team_id, refund_id, 'prepaid', amount_cents FROM refunds
             UNION ALL SELECT team_id, refund_id, 'sales', -amount_cents FROM refunds",
        )
        .await
        .unwrap();
    let answer = read_ok(&stack, "/api/v1/ledger").await;
    let refund = &answer["bookings"][2];
    assert_eq!(refund["kind"], "refund");
    assert_eq!(refund["balance_change_cents"], refund["amount_cents"]);
    assert_eq!(refund["charge_id"], answer["bookings"][1]["charge_id"]);
    assert_eq!(refund["campaign_id"], CAMPAIGN);
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_beside_writers_whose_clocks_differ_get_each_booking_once_and_in_one_order() {
    const WRITERS: u64 = 6;
    const TRANSACTIONS: u64 = 25;
    const BOOK: &str = "
        INSERT INTO ledger_transactions (team_id, transaction_id, kind, reference, created_at)
        SELECT team_id, new.id, 'top_up', new.id::text, now() FROM teams, unnest($1::uuid[]) AS new (id)";
    let stack = TestStack::start().await;
    let mut writers = Vec::new();
    for writer in 0..WRITERS {
        let client = stack.open_second_session().await;
        writers.push(tokio::spawn(async move {
            let mut random = StdRng::seed_from_u64(writer);
            let skew = TimeDelta::seconds(random.random_range(-5..=5));
            let mut written = Vec::new();
            for _ in 0..TRANSACTIONS {
                let millis = (Utc::now() + skew).timestamp_millis().cast_unsigned();
                let ids: Vec<Uuid> = (0..random.random_range(1..4))
                    .map(|_| {
                        let mut bytes = [0; 10];
                        random.fill(&mut bytes);
                        uuid::Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid()
                    })
                    .collect();
                client.batch_execute("BEGIN").await.unwrap();
                client.execute(BOOK, &[&ids]).await.unwrap();
                tokio::time::sleep(Duration::from_millis(random.random_range(0..20))).await;
                client.batch_execute("COMMIT").await.unwrap();
                written.extend(ids.iter().map(Uuid::to_string));
            }
            written
        }));
    }
    let follow = async || {
        let mut reader = ListReader::new(&stack, "/api/v1/ledger?limit=7", "bookings");
        let mut seen = Vec::new();
        loop {
            let is_last = writers.iter().all(tokio::task::JoinHandle::is_finished);
            let page = reader.next().await;
            seen.extend(ids_of(&page.items));
            if is_last && !page.has_more {
                return seen;
            }
        }
    };
    let (one, two) = tokio::join!(follow(), follow());
    let mut written = HashSet::new();
    for writer in writers {
        written.extend(writer.await.unwrap());
    }
    // The team's first top-up was there.
    assert_eq!(one.len(), written.len() + 1, "none twice");
    assert!(written.is_subset(&one.iter().cloned().collect()));
    assert_eq!(one, two, "in one order");
}
