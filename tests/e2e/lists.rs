//! Whoever was told that an address is removed or on the do-not-mail list sees no card made for it afterwards, also by what
//! was under way.

use chrono::TimeDelta;
use pillarbox_tests::{CAMPAIGN, TestStack, build_recipients, wait_until};
use serde_json::json;
use uuid::Uuid;

/// How an address is taken out.
#[derive(Debug, Clone, Copy)]
enum Way {
    Removed,
    Listed,
}

/// Takes the recipient with this reference out while `work` makes cards: it has found nothing against the recipient yet, and
/// waits for the campaign.
async fn taken_out_during<T>(
    stack: &TestStack,
    way: Way,
    reference: &str,
    work: impl Future<Output = T>,
) -> T {
    let (campaign, now) = (CAMPAIGN.parse().unwrap(), stack.now());
    let team = stack.store.find_team_by_name("Test").await.unwrap().team_id;
    let find = "SELECT entry_id, address_id, address FROM recipients WHERE reference = $1";
    let row = stack.sql.query_one(find, &[&reference]).await.unwrap();
    let (entry_id, address_id): (Uuid, Uuid) = (row.get(0), row.get(1));
    let mut connection = stack.store.connection().await.unwrap();
    let transaction = connection.begin_transaction().await.unwrap();
    match way {
        Way::Removed => {
            transaction
                .remove_recipient(team, &campaign, entry_id, now)
                .await
                .unwrap();
        }
        Way::Listed => {
            transaction
                .add_do_not_mail(&campaign, &[(address_id, row.get(2))], now)
                .await
                .unwrap();
        }
    }
    let (done, ()) = tokio::join!(work, async {
        let waiting = "SELECT count(*) FROM pg_stat_activity
             WHERE datname = current_database() AND wait_event_type = 'Lock'";
        wait_until("the mailer waits for the campaign", async || {
            stack.query_count(waiting).await > 0
        })
        .await;
        transaction.commit().await.unwrap();
    });
    done
}

#[tokio::test(flavor = "multi_thread")]
async fn a_send_under_way_does_not_mail_who_is_removed_or_listed_meanwhile() {
    let stack = TestStack::start().await;
    assert_eq!(
        stack
            .send_recipients(&build_recipients(1..4))
            .await
            .reasons(),
        ["mailed"; 3]
    );
    stack.clock.advance(TimeDelta::days(31));
    let answer = taken_out_during(
        &stack,
        Way::Removed,
        "r1",
        stack.send_recipients(&build_recipients(1..4)),
    )
    .await;
    assert_eq!(answer.reasons(), ["removed_by_sender", "mailed", "mailed"]);
    stack.clock.advance(TimeDelta::days(31));
    let answer = taken_out_during(
        &stack,
        Way::Listed,
        "r2",
        stack.send_recipients(&build_recipients(1..4)),
    )
    .await;
    assert_eq!(
        answer.reasons(),
        ["removed_by_sender", "do_not_mail", "mailed"]
    );
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_step_under_way_does_not_mail_who_is_removed_or_listed_meanwhile() {
    let stack = TestStack::start().await;
    let step = |delay_days: u32| json!({"design": "Card", "postage": "standard", "delay_days": delay_days});
    stack
        .save_campaign(json!({"steps": [step(0), step(10), step(20)]}))
        .await;
    assert_eq!(
        stack
            .send_recipients(&build_recipients(1..4))
            .await
            .reasons(),
        ["mailed"; 3]
    );
    for (way, reference, jobs_left) in [(Way::Removed, "r1", 1), (Way::Listed, "r2", 0)] {
        taken_out_during(&stack, way, reference, async {
            stack
                .clock
                .advance(TimeDelta::days(10) + TimeDelta::minutes(1));
            let left = "SELECT count(*) FROM jobs";
            wait_until("the step is done", async || {
                stack.query_count(left).await == jobs_left
            })
            .await;
        })
        .await;
    }
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM mailpieces WHERE step = 2")
            .await,
        2
    );
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM mailpieces WHERE step = 3")
            .await,
        1
    );
    stack.assert_consistent().await;
}
