//! Sending again: the stored response, the duplicate window, equal requests at the same time.

use chrono::TimeDelta;
use pillarbox_tests::{StackOptions, TestStack, build_recipient, build_recipients, wait_until};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn within_15_minutes_the_stored_response_returns_byte_for_byte() {
    let stack = TestStack::start().await;
    let first = stack.send_recipients(&build_recipients(1..4)).await;
    assert_eq!(first.reasons(), ["mailed", "mailed", "mailed"]);
    stack.clock.advance(TimeDelta::minutes(14));
    // Other names, references and custom fields are the same request; so are other cases and spaces.
    let again: Vec<_> = build_recipients(1..4)
        .into_iter()
        .map(|mut person| {
            person["reference"] = "other".into();
            person["first_name"] = "Kim".into();
            person["pet"] = "cat".into();
            person["city"] = " AUSTIN ".into();
            person
        })
        .collect();
    assert_eq!(stack.send_recipients(&again).await.text, first.text);
    stack.clock.advance(TimeDelta::minutes(2));
    assert_eq!(
        stack
            .send_recipients(&build_recipients(1..4))
            .await
            .reasons(),
        vec!["duplicate_recent"; 3]
    );
    assert_eq!(
        stack.query_count("SELECT count(*) FROM mailpieces").await,
        3
    );
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stored_response_comes_first_whatever_became_of_the_campaign() {
    let stack = TestStack::start().await;
    let first = stack.send_recipients(&build_recipients(1..4)).await;
    assert_eq!(first.reasons(), ["mailed"; 3]);
    let refused = |answer: pillarbox_tests::ApiResponse| (answer.status.as_u16(), answer.error().1);
    for (became, code) in [
        (
            "UPDATE campaigns SET status = 'paused'",
            "campaign_not_active",
        ),
        (
            "UPDATE campaigns SET status = 'active'; UPDATE designs SET ai_draft = true",
            "design_cannot_render",
        ),
        ("DELETE FROM campaign_steps", "campaign_not_active"),
    ] {
        stack.sql.batch_execute(became).await.unwrap();
        assert_eq!(
            stack.send_recipients(&build_recipients(1..4)).await.text,
            first.text,
            "{became}"
        );
        assert_eq!(
            refused(stack.send_recipients(&build_recipients(7..9)).await),
            (409, code.to_owned()),
            "{became}"
        );
    }
    stack.clock.advance(TimeDelta::minutes(16));
    assert_eq!(
        refused(stack.send_recipients(&build_recipients(1..4)).await).0,
        409,
        "the 15 minutes are over"
    );
    assert_eq!(stack.query_count("SELECT count(*) FROM sends").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_begins_as_its_equal_ends_gets_its_response() {
    let stack = TestStack::start().await;
    let recipients = build_recipients(1..3);
    let stored = stack.send_recipients(&recipients).await;
    // The first attempt once more, at its end: claimed, so that nobody sees it yet, and then finished.
    let mut first = stack.open_second_session().await;
    first
        .batch_execute("CREATE TEMPORARY TABLE ended AS SELECT * FROM sends; DELETE FROM sends")
        .await
        .unwrap();
    let end = first.transaction().await.unwrap();
    end.batch_execute(
        "INSERT INTO sends (team_id, send_id, campaign_id, fingerprint, state, lease_id, leased_until, created_at)
             SELECT team_id, send_id, campaign_id, fingerprint, 'claimed', lease_id, leased_until, created_at FROM ended",
    )
    .await
    .unwrap();
    let (answer, ()) = tokio::join!(stack.send_recipients(&recipients), async {
        let waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
            AND wait_event_type = 'Lock' AND query LIKE '%sends%'";
        wait_until("the second has looked and is about to begin", async || {
            stack.query_count(waits).await > 0
        })
        .await;
        end.batch_execute(
            "UPDATE sends SET state = 'finished', response = ended.response, mailed = ended.mailed,
                 finished_at = ended.finished_at FROM ended WHERE sends.send_id = ended.send_id",
        )
        .await
        .unwrap();
        end.commit().await.unwrap();
    });
    assert_eq!(answer.text, stored.text);
    assert_eq!(stack.query_count("SELECT count(*) FROM sends").await, 1);
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_that_mailed_nobody_is_not_replayed() {
    let stack = TestStack::start().await;
    stack.save_campaign(json!({"budget": "$0.10"})).await;
    assert_eq!(
        stack
            .send_recipients(&build_recipients(1..3))
            .await
            .reasons(),
        vec!["budget_exceeded"; 2]
    );
    stack.save_campaign(json!({"budget": "$10.00"})).await;
    assert_eq!(
        stack
            .send_recipients(&build_recipients(1..3))
            .await
            .reasons(),
        vec!["mailed"; 2]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn another_order_or_another_campaign_is_another_request() {
    let stack = TestStack::start().await;
    stack
        .save_campaign(json!({"id": "PA-SECOND", "name": "Second"}))
        .await;
    assert_eq!(
        stack
            .send_recipients(&build_recipients([1, 2]))
            .await
            .reasons(),
        ["mailed", "mailed"]
    );
    assert_eq!(
        stack
            .send_recipients(&build_recipients([2, 1]))
            .await
            .reasons(),
        ["duplicate_recent", "duplicate_recent"]
    );
    assert_eq!(
        stack
            .send_recipients_to("PA-SECOND", &build_recipients([1, 2]))
            .await
            .reasons(),
        ["mailed", "mailed"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_is_mailed_once_in_30_days_per_campaign() {
    let stack = TestStack::start().await;
    assert_eq!(
        stack.send_recipients(&[build_recipient(1)]).await.reasons(),
        ["mailed"]
    );
    stack.clock.advance(TimeDelta::days(29));
    assert_eq!(
        stack.send_recipients(&[build_recipient(1)]).await.reasons(),
        ["duplicate_recent"]
    );
    stack
        .clock
        .advance(TimeDelta::days(1) + TimeDelta::minutes(1));
    assert_eq!(
        stack.send_recipients(&[build_recipient(1)]).await.reasons(),
        ["mailed"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn resend_protection_holds_when_on_and_longer() {
    let stack = TestStack::start().await;
    stack
        .save_campaign(json!({"resend_protection_days": 90}))
        .await;
    assert_eq!(
        stack.send_recipients(&[build_recipient(1)]).await.reasons(),
        ["mailed"]
    );
    stack.clock.advance(TimeDelta::days(89));
    assert_eq!(
        stack.send_recipients(&[build_recipient(1)]).await.reasons(),
        ["duplicate_recent"]
    );
    // A shorter protection than the duplicate window changes nothing.
    stack
        .save_campaign(json!({"resend_protection_days": 5}))
        .await;
    assert_eq!(
        stack
            .send_recipients(&build_recipients(1..3))
            .await
            .reasons(),
        ["mailed", "mailed"]
    );
    stack.clock.advance(TimeDelta::days(20));
    assert_eq!(
        stack
            .send_recipients(&build_recipients(1..3))
            .await
            .reasons(),
        ["duplicate_recent", "duplicate_recent"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn equal_requests_at_the_same_time_get_one_answer_and_one_card_each() {
    let stack = TestStack::with_options(StackOptions {
        mailers: 2,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    let recipients = build_recipients(1..41);
    let (a, b, c, d) = tokio::join!(
        stack.send_recipients(&recipients),
        stack.send_recipients(&recipients),
        stack.send_recipients(&recipients),
        stack.send_recipients(&recipients)
    );
    assert_eq!(a.reasons(), vec!["mailed"; 40]);
    assert!([&b, &c, &d].iter().all(|answer| answer.text == a.text));
    assert_eq!(
        stack.query_count("SELECT count(*) FROM mailpieces").await,
        40
    );
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn overlapping_requests_at_the_same_time_mail_each_address_once() {
    let stack = TestStack::with_options(StackOptions {
        mailers: 2,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    stack
        .save_campaign(json!({"id": "PA-SECOND", "name": "Second"}))
        .await;
    let batches: Vec<_> = (0..8)
        .map(|shift| build_recipients(shift * 5..shift * 5 + 30))
        .collect();
    let sends = batches.iter().enumerate().map(|(at, batch)| {
        let campaign = if at % 2 == 0 {
            pillarbox_tests::CAMPAIGN
        } else {
            "PA-SECOND"
        };
        stack.send_recipients_to(campaign, batch)
    });
    let answers = futures_util::future::join_all(sends).await;
    let mailed: usize = answers
        .iter()
        .map(|answer| {
            answer
                .reasons()
                .iter()
                .filter(|reason| *reason == "mailed")
                .count()
        })
        .sum();
    assert_eq!(
        stack.query_count("SELECT count(*) FROM mailpieces").await,
        i64::try_from(mailed).unwrap()
    );
    let twice = "SELECT count(*) FROM (SELECT 1 FROM mailpieces GROUP BY campaign_id, address_id HAVING count(*) > 1) twice";
    assert_eq!(stack.query_count(twice).await, 0);
    stack.assert_consistent().await;
}
