//! What is old goes, what is not stays, in bounded portions, whoever does it.

use chrono::{DateTime, Datelike, TimeDelta, Utc};
use pillarbox_tests::{StackOptions, TestStack, build_recipient, list_codes, with_qr_codes};
use store::retry_conflicts;
use uuid::Uuid;

/// A UUID of version 7 of this moment.
fn id_at(moment: DateTime<Utc>) -> Uuid {
    let milliseconds = u128::try_from(moment.timestamp_millis()).unwrap();
    Uuid::from_u128(milliseconds << 80 | Uuid::now_v7().as_u128() & (u128::MAX >> 48))
}

async fn old_scan(stack: &TestStack, at: DateTime<Utc>) {
    let sql = "INSERT INTO scans (team_id, scan_id, mailpiece_id, campaign_id, visitor, destination, scanned_at)
               SELECT team_id, $1, mailpiece_id, campaign_id, 'person', 'https://example.com', $2 FROM mailpieces LIMIT 1";
    assert_eq!(stack.sql.execute(sql, &[&id_at(at), &at]).await.unwrap(), 1);
}

async fn with_one_card() -> TestStack {
    let (stack, _) = with_qr_codes(StackOptions::default()).await;
    assert_eq!(
        stack.send_recipients(&[build_recipient(1)]).await.reasons(),
        ["mailed"]
    );
    stack
}

#[tokio::test(flavor = "multi_thread")]
async fn scans_go_by_whole_months_and_those_of_now_have_a_partition() {
    let stack = with_one_card().await;
    let now = Utc::now();
    assert_eq!(
        stack.scan_code(&list_codes(&stack).await[0]).await.status,
        302
    );
    assert_eq!(
        stack.query_count("SELECT count(*) FROM scans_other").await,
        0,
        "a scan finds its month"
    );
    let long_ago = now - TimeDelta::days(800);
    old_scan(&stack, long_ago).await;
    assert_eq!(
        stack.query_count("SELECT count(*) FROM scans_other").await,
        1,
        "no month, and recorded all the same"
    );
    stack.store.create_scan_partitions(long_ago).await.unwrap();
    assert_eq!(
        stack.query_count("SELECT count(*) FROM scans_other").await,
        0,
        "it moved into its month"
    );
    assert_eq!(stack.query_count("SELECT count(*) FROM scans").await, 2);
    let month = format!("scans_{}_{:02}", long_ago.year(), long_ago.month());
    assert_eq!(
        stack
            .query_count(&format!("SELECT count(*) FROM {month}"))
            .await,
        1
    );
    // Its last day is not over for long enough yet.
    stack.store.drop_scan_partitions(long_ago).await.unwrap();
    assert_eq!(stack.query_count("SELECT count(*) FROM scans").await, 2);
    assert!(
        stack
            .store
            .drop_scan_partitions(now - TimeDelta::days(730))
            .await
            .unwrap()
            >= 1
    );
    assert_eq!(stack.query_count("SELECT count(*) FROM scans").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn partitions_are_made_by_many_at_a_time() {
    let stack = with_one_card().await;
    let later = Utc::now() + TimeDelta::days(400);
    let make = || retry_conflicts(|| stack.store.create_scan_partitions(later));
    let (one, two, three) = tokio::join!(make(), make(), make());
    assert_eq!(one.unwrap(), two.unwrap());
    assert!(three.unwrap() > later + TimeDelta::days(59));
}

#[tokio::test(flavor = "multi_thread")]
async fn ended_deliveries_events_and_emails_go_and_waiting_ones_stay() {
    let stack = with_one_card().await;
    let (old, young) = (
        Utc::now() - TimeDelta::days(40),
        Utc::now() - TimeDelta::days(1),
    );
    for (at, state) in [
        (old, "delivered"),
        (old, "failed"),
        (old, "waiting"),
        (young, "delivered"),
    ] {
        let id = id_at(at);
        let event = "INSERT INTO events SELECT team_id, $1, false, '{}', $2 FROM teams";
        stack.sql.execute(event, &[&id, &at]).await.unwrap();
        let delivery =
            "INSERT INTO deliveries (team_id, endpoint_id, delivery_id, event_id, kind, state, attempts,
                is_retry, due_at, created_at)
            SELECT team_id, endpoint_id, $1, $1, 'event', $3, 1, false, $2, $2 FROM endpoints";
        stack
            .sql
            .execute(delivery, &[&id, &at, &state])
            .await
            .unwrap();
        let attempt = "INSERT INTO attempts SELECT team_id, endpoint_id, $1, 1, 'https://x', $2, 1 FROM endpoints";
        stack.sql.execute(attempt, &[&id, &at]).await.unwrap();
        let email = "INSERT INTO emails SELECT team_id, $1, 's', 'b', 1, $2::timestamptz, CASE WHEN $3 THEN $2 END, $2 FROM teams";
        stack
            .sql
            .execute(email, &[&id, &at, &(state != "waiting")])
            .await
            .unwrap();
    }
    let before = Utc::now() - TimeDelta::days(30);
    assert_eq!(
        stack.store.purge_deliveries(before, 1).await.unwrap(),
        1,
        "a portion"
    );
    assert_eq!(
        stack.store.purge_deliveries(before, 100).await.unwrap(),
        1,
        "the rest"
    );
    assert_eq!(stack.store.purge_deliveries(before, 100).await.unwrap(), 0);
    assert_eq!(
        stack.query_count("SELECT count(*) FROM deliveries").await,
        2
    );
    assert_eq!(stack.query_count("SELECT count(*) FROM attempts").await, 2);
    assert_eq!(stack.store.purge_events(before, 100).await.unwrap(), 3);
    assert_eq!(stack.store.purge_emails(before, 10, 100).await.unwrap(), 2);
    assert_eq!(stack.query_count("SELECT count(*) FROM emails").await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_duty_is_held_by_one_until_it_is_silent_and_no_clock_keeps_it_for_ever() {
    let stack = with_one_card().await;
    let (one, other, now, lease) = (
        Uuid::new_v4(),
        Uuid::new_v4(),
        Utc::now(),
        TimeDelta::seconds(30),
    );
    let take = async |holder, now| {
        stack
            .store
            .claim_duty("test", holder, now, now + lease)
            .await
            .unwrap()
    };
    assert!(take(one, now).await);
    assert!(!take(other, now).await, "it has a holder");
    assert!(take(one, now + lease / 2).await, "its holder keeps it");
    assert!(!take(other, now + lease).await, "the lease was renewed");
    assert!(take(other, now + lease * 2).await, "the holder was silent");
    assert!(
        take(other, now + TimeDelta::days(3650)).await,
        "a clock jumps ahead"
    );
    assert!(take(one, now + lease * 2).await, "and is not believed");
    stack.store.release_duty("test", other).await.unwrap();
    assert!(
        !take(other, now + lease * 2).await,
        "only its holder gives it up"
    );
    stack.store.release_duty("test", one).await.unwrap();
    assert!(take(other, now + lease * 2).await);
}
