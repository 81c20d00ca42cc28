//! GET /api/v1/mailpieces?changes=true: each change once, mailpieces as they are now.

use chrono::TimeDelta;
use pillarbox_tests::{TestStack, build_recipients};
use serde_json::json;
use store::SetAsideMailpiece;

use super::{
    ListReader, add_another_team, claim_run, ids_of, read_ok, send_as_another_team, states_of,
};

const CHANGES: &str = "/api/v1/mailpieces?changes=true&limit=3";

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_told_once_and_the_mailpieces_as_they_are_now() {
    let stack = TestStack::start().await;
    add_another_team(&stack).await;
    send_as_another_team(&stack, &build_recipients(20..24)).await;
    stack.send_recipients(&build_recipients(1..6)).await;
    let mut reader = ListReader::new(&stack, CHANGES, "mailpieces");
    let charged = reader.rest().await;
    assert_eq!(states_of(&charged), ["queued"; 5]);
    assert_eq!(reader.rest().await.len(), 0);
    let lease = claim_run(&stack).await;
    let printing = reader.rest().await;
    assert_eq!(states_of(&printing), ["printing"; 5], "the team's alone");
    stack
        .store
        .complete_print_run(lease, &[], stack.now())
        .await
        .unwrap();
    let printed = reader.rest().await;
    assert_eq!(states_of(&printed), ["printed"; 5]);
    let sorted = |items: &[serde_json::Value]| {
        let mut ids = ids_of(items);
        ids.sort();
        ids
    };
    assert_eq!(sorted(&charged), sorted(&printed));
    // Whoever reads it later gets as many changes, of mailpieces that are printed now.
    let again = ListReader::new(&stack, CHANGES, "mailpieces").rest().await;
    assert_eq!(states_of(&again), ["printed"; 15]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_leaves_its_print_run_is_told_behind_it_and_again_when_it_comes_back() {
    let stack = TestStack::start().await;
    stack.send_recipients(&build_recipients(1..6)).await;
    let mut reader = ListReader::new(&stack, CHANGES, "mailpieces");
    let charged = reader.rest().await;
    let lease = claim_run(&stack).await;
    // The reader is in the middle of the run when one of it is set aside.
    let begin = reader.next().await;
    assert_eq!((begin.items.len(), begin.has_more), (3, true));
    let row = stack
        .sql
        .query_one(
            "SELECT team_id, mailpiece_id FROM mailpieces ORDER BY print_position DESC LIMIT 1",
            &[],
        )
        .await
        .unwrap();
    let set_aside = SetAsideMailpiece {
        team_id: model::id::TeamId(row.get(0)),
        mailpiece_id: row.get(1),
        problem: "a picture is gone".to_owned(),
    };
    let aside = set_aside.mailpiece_id.to_string();
    stack
        .store
        .complete_print_run(lease, &[set_aside], stack.now())
        .await
        .unwrap();
    let rest = reader.rest().await;
    let told = |id: &str| {
        let of_id = rest.iter().filter(|item| item["id"] == id);
        of_id.map(|item| item["state"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(told(&aside), ["held"]);
    for other in ids_of(&charged).iter().filter(|id| **id != aside) {
        assert!(told(other).contains(&json!("printed")), "{other}");
    }
    let detail = read_ok(&stack, &format!("/api/v1/mailpieces/{aside}")).await;
    assert_eq!(detail["history"][1]["state"], "held");
    assert!(detail["mailpiece"]["state_since"].is_string());
    let requeued = stack.store.requeue_set_aside_mailpieces(stack.now()).await;
    assert_eq!(requeued.unwrap(), 1);
    let back = reader.rest().await;
    assert_eq!(
        (ids_of(&back), states_of(&back)),
        (vec![aside], vec!["queued"])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_moment_begins_where_things_changed_since_it() {
    let stack = TestStack::start().await;
    stack.send_recipients(&build_recipients(1..4)).await;
    // What was paid an hour ago.
    stack
        .sql
        .batch_execute(
            "UPDATE feed_batches SET batch_id = first_id_of(now() - interval '1 hour') WHERE feed = 'mailpieces'",
        )
        .await
        .unwrap();
    stack.send_recipients(&build_recipients(4..6)).await;
    let since = |ago: TimeDelta| {
        let moment = (chrono::Utc::now() - ago).format("%Y-%m-%dT%H:%M:%SZ");
        format!("/api/v1/mailpieces?changed_since={moment}")
    };
    let listed = async |path: String| {
        let answer = read_ok(&stack, &path).await;
        answer["mailpieces"].as_array().unwrap().len()
    };
    assert_eq!(listed(since(TimeDelta::minutes(5))).await, 2);
    assert_eq!(listed(since(TimeDelta::hours(2))).await, 5);
    // Nothing yet: the cursor waits for what comes.
    let ahead = read_ok(&stack, &since(TimeDelta::hours(-1))).await;
    assert_eq!(ahead["mailpieces"], json!([]));
    stack.send_recipients(&build_recipients(6..7)).await;
    let cursor = ahead["next_cursor"].as_str().unwrap();
    let next = read_ok(
        &stack,
        &format!("/api/v1/mailpieces?changes=true&cursor={cursor}"),
    )
    .await;
    assert_eq!(next["mailpieces"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_reads_a_bounded_number_of_rows_whatever_the_filters_leave() {
    let stack = TestStack::start().await;
    let many = following::READ_ROWS + 500;
    stack.send_recipients(&build_recipients(1..many + 1)).await;
    let last = stack
        .sql
        .query_one(
            "UPDATE mailpieces SET withheld = 'held' WHERE mailpiece_id = (
                 SELECT mailpiece_id FROM mailpieces ORDER BY mailpiece_id DESC LIMIT 1) RETURNING mailpiece_id::text",
            &[],
        )
        .await
        .unwrap();
    for path in [
        "/api/v1/mailpieces?state=held",
        "/api/v1/mailpieces?state=held&changes=true",
    ] {
        let mut reader = ListReader::new(&stack, path, "mailpieces");
        let first = reader.next().await;
        assert_eq!((first.items.len(), first.has_more), (0, true));
        let second = reader.next().await;
        assert_eq!(ids_of(&second.items), [last.get::<_, String>(0)]);
        assert!(!second.has_more);
    }
    // Of a print run, too.
    claim_run(&stack).await;
    let mut reader = ListReader::new(
        &stack,
        "/api/v1/mailpieces?changes=true&limit=1000",
        "mailpieces",
    );
    assert_eq!(reader.rest().await.len(), 2 * many - 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_from_before_a_restore_misses_nothing_that_came_after_it() {
    let stack = TestStack::start().await;
    for number in 1..7 {
        stack
            .send_recipients(&build_recipients(number..number + 1))
            .await;
    }
    let paths = ["/api/v1/mailpieces", "/api/v1/mailpieces?changes=true"];
    let mut readers: Vec<_> = paths
        .iter()
        .map(|path| ListReader::new(&stack, path, "mailpieces"))
        .collect();
    for reader in &mut readers {
        assert_eq!(reader.rest().await.len(), 6);
    }
    // The backup has the first three: the positions of the others are given out again.
    stack
        .sql
        .batch_execute(
            "DELETE FROM feed_batches WHERE feed = 'mailpieces' AND position > 3;
             UPDATE feeds SET position = 3 WHERE feed = 'mailpieces'",
        )
        .await
        .unwrap();
    for number in 10..15 {
        stack
            .send_recipients(&build_recipients(number..number + 1))
            .await;
    }
    let new = stack
        .sql
        .query(
            "SELECT mailpiece_id::text FROM mailpieces ORDER BY mailpiece_id DESC LIMIT 5",
            &[],
        )
        .await
        .unwrap();
    for reader in &mut readers {
        let told = ids_of(&reader.rest().await);
        for row in &new {
            assert!(told.contains(&row.get(0)), "{told:?}");
        }
        assert_eq!(reader.rest().await.len(), 0);
    }
}
