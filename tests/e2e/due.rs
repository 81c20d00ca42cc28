//! What happens later: steps after the first, the daily re-check.

use chrono::TimeDelta;
use model::id::TeamId;
use pillarbox_tests::{
    ADDRESS, CAMPAIGN, StackOptions, TestStack, build_recipient, build_recipients, wait_until,
};
use serde_json::{Value, json};
use store::Actor;
use uuid::Uuid;

fn scored(number: usize, score: i64) -> Value {
    let mut person = build_recipient(number);
    person["score"] = score.into();
    person
}

/// A campaign that mails who has a score over 10, after whatever else it has.
async fn with_conditions(overrides: Value) -> TestStack {
    let stack = TestStack::start().await;
    stack
        .apply_team(
            json!({"teams": [{"name": "Test", "columns": [{"name": "Score", "type": "number"}]}]}),
        )
        .await;
    let mut campaign =
        json!({"conditions": {"column": "score", "operator": "greater", "value": 10}});
    campaign
        .as_object_mut()
        .unwrap()
        .extend(overrides.as_object().unwrap().clone());
    stack.save_campaign(campaign).await;
    stack
}

async fn mailpieces(stack: &TestStack) -> i64 {
    stack.query_count("SELECT count(*) FROM mailpieces JOIN charges USING (team_id, charge_id) WHERE charges.state = 'settled'").await
}

/// Moves past the next re-check and waits until it is done.
async fn next_recheck(stack: &TestStack) {
    stack.clock.advance(TimeDelta::days(1));
    let now = stack.now();
    wait_until("the re-check is done", async || {
        let due = "SELECT count(*) FROM jobs WHERE kind = 'recheck' AND due_at <= $1";
        stack
            .sql
            .query_one(due, &[&now])
            .await
            .unwrap()
            .get::<_, i64>(0)
            == 0
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn filtered_conditions_is_mailed_and_charged_at_the_daily_recheck_when_it_matches() {
    let stack = with_conditions(json!({})).await;
    let answer = stack
        .send_recipients(&[scored(1, 5), scored(2, 50), scored(3, 7)])
        .await;
    assert_eq!(
        answer.reasons(),
        ["filtered_conditions", "mailed", "filtered_conditions"]
    );
    next_recheck(&stack).await;
    assert_eq!(mailpieces(&stack).await, 1);
    // The recipient's information is updated, its outcome is not.
    let answer = stack.send_recipients(&[scored(1, 60), scored(3, 8)]).await;
    assert_eq!(
        answer.reasons(),
        ["filtered_conditions", "filtered_conditions"]
    );
    next_recheck(&stack).await;
    assert_eq!(mailpieces(&stack).await, 2);
    let row = stack.sql.query_one(
        "SELECT status, charge_id IS NOT NULL FROM recipients WHERE reference = 'r1'",
        &[],
    );
    let row = row.await.unwrap();
    assert_eq!((row.get(0), row.get(1)), ("mailed", true));
    assert_eq!(
        stack
            .query_count(
                "SELECT count(*) FROM charges WHERE kind = 'recheck' AND state = 'settled'"
            )
            .await,
        1
    );
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM recipients WHERE reason = 'filtered_conditions'")
            .await,
        1
    );
    assert_eq!(
        stack.send_recipients(&[scored(1, 60)]).await.reasons(),
        ["duplicate_recent"]
    );
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn at_the_recheck_who_does_not_fit_the_budget_or_cannot_be_paid_keeps_waiting() {
    let stack = with_conditions(json!({"budget": "$0.80"})).await;
    stack.send_recipients(&[scored(1, 5), scored(2, 5)]).await;
    stack
        .save_campaign(
            json!({"budget": "$0.80", "conditions": {"column": "score", "operator": "less", "value": 10}}),
        )
        .await;
    next_recheck(&stack).await;
    assert_eq!(mailpieces(&stack).await, 1);
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM recipients WHERE reason = 'filtered_conditions'")
            .await,
        1
    );
    // Budget enough, but the team's money is gone: its sale was booked and nothing is left.
    stack
        .save_campaign(
            json!({"budget": "$90.00", "conditions": {"column": "score", "operator": "less", "value": 10}}),
        )
        .await;
    let drain = "UPDATE ledger_accounts SET balance_cents = 10 WHERE account = 'prepaid'";
    stack.sql.execute(drain, &[]).await.unwrap();
    next_recheck(&stack).await;
    assert_eq!(mailpieces(&stack).await, 1);
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM charges WHERE state = 'declined'")
            .await,
        1
    );
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM recipients WHERE reason = 'filtered_conditions'")
            .await,
        1
    );
    assert_eq!(
        stack
            .query_count("SELECT committed_cents FROM campaigns")
            .await,
        79
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_recheck_ends_when_nobody_waits_and_returns_when_somebody_does() {
    let stack = with_conditions(json!({})).await;
    stack.send_recipients(&[scored(1, 5)]).await;
    stack.send_recipients(&[scored(1, 50)]).await;
    next_recheck(&stack).await;
    assert_eq!(stack.query_count("SELECT count(*) FROM jobs").await, 0);
    stack.send_recipients(&[scored(2, 5)]).await;
    assert_eq!(stack.query_count("SELECT count(*) FROM jobs").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recheck_of_thousands_runs_in_portions() {
    let stack = with_conditions(json!({})).await;
    let waiting: Vec<_> = (1..2501).map(|number| scored(number, 5)).collect();
    stack.send_recipients(&waiting).await;
    stack.save_campaign(json!({})).await;
    next_recheck(&stack).await;
    assert_eq!(mailpieces(&stack).await, 2500);
    assert_eq!(stack.query_count("SELECT count(*) FROM charges").await, 3);
    stack.assert_consistent().await;
}

fn two_steps() -> Value {
    json!({"steps": [
        {"design": "Card", "postage": "standard"},
        {"design": "Card", "postage": "first_class", "delay_days": 10},
    ]})
}

async fn until_steps_are_done(stack: &TestStack) {
    let now = stack.now();
    wait_until("the steps that are due are mailed", async || {
        let due = "SELECT count(*) FROM jobs WHERE due_at <= $1";
        stack
            .sql
            .query_one(due, &[&now])
            .await
            .unwrap()
            .get::<_, i64>(0)
            == 0
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_step_mails_and_charges_its_days_after_step_1() {
    let stack = TestStack::start().await;
    stack.save_campaign(two_steps()).await;
    let answer = stack.send_recipients(&build_recipients(1..4)).await;
    assert_eq!(answer.reasons(), vec!["mailed"; 3]);
    assert_eq!(answer.json()["results"][0]["postage"], "standard");
    stack.clock.advance(TimeDelta::days(9));
    until_steps_are_done(&stack).await;
    assert_eq!(mailpieces(&stack).await, 3);
    stack
        .clock
        .advance(TimeDelta::days(1) + TimeDelta::minutes(1));
    until_steps_are_done(&stack).await;
    let second = "SELECT count(*) FROM mailpieces WHERE step = 2 AND postage = 'first_class' AND price_cents = 99";
    assert_eq!(stack.query_count(second).await, 3);
    assert_eq!(
        stack
            .query_count("SELECT committed_cents FROM campaigns")
            .await,
        3 * (79 + 99)
    );
    assert_eq!(stack.query_count("SELECT count(*) FROM jobs").await, 0);
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_step_makes_the_same_checks_at_its_time() {
    let stack = TestStack::start().await;
    let mut first = two_steps();
    // What step 1 has queued goes, and keeps its part of the budget.
    first["cancels_unwanted"] = json!(false);
    stack.save_campaign(first).await;
    assert_eq!(
        stack
            .send_recipients(&build_recipients(1..6))
            .await
            .reasons(),
        vec!["mailed"; 5]
    );
    let team = stack.store.find_team_by_name("Test").await.unwrap().team_id;
    let row = stack
        .sql
        .query_one(
            "SELECT address_id FROM recipients WHERE reference = 'r2'",
            &[],
        )
        .await
        .unwrap();
    let campaign = pillarbox_tests::CAMPAIGN.parse().unwrap();
    let removed = (&campaign, row.get(0));
    campaigns::remove_recipients_at(&stack.store, Actor::Operator, team, removed, stack.now())
        .await
        .unwrap();
    let mut changed = two_steps();
    changed["do_not_mail"] = json!([ADDRESS]);
    changed["conditions"] =
        json!({"column": "last_name", "operator": "is_not", "value": "Reader3"});
    // Budget for one more card than step 1 took.
    changed["budget"] = json!(5 * 79 + 99 + 50);
    stack.save_campaign(changed).await;
    stack.clock.advance(TimeDelta::days(11));
    until_steps_are_done(&stack).await;
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM mailpieces WHERE step = 2")
            .await,
        1
    );
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_step_waits_while_the_campaign_is_paused() {
    let stack = TestStack::start().await;
    stack.save_campaign(two_steps()).await;
    stack.send_recipients(&build_recipients(1..3)).await;
    let mut paused = two_steps();
    paused["status"] = "paused".into();
    stack.save_campaign(paused).await;
    stack.clock.advance(TimeDelta::days(11));
    until_steps_are_done(&stack).await;
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM mailpieces WHERE step = 2")
            .await,
        0
    );
    stack.save_campaign(two_steps()).await;
    stack.clock.advance(TimeDelta::hours(2));
    until_steps_are_done(&stack).await;
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM mailpieces WHERE step = 2")
            .await,
        2
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_whose_campaign_is_paused_in_its_middle_mails_the_rest_afterwards() {
    let stack = TestStack::start().await;
    stack.save_campaign(two_steps()).await;
    assert_eq!(
        stack
            .send_recipients(&build_recipients(1..1501))
            .await
            .reasons(),
        vec!["mailed"; 1500]
    );
    // The first portion gets no further than its payment.
    let hold = "BEGIN; SELECT 1 FROM ledger_accounts WHERE account = 'prepaid' FOR UPDATE";
    stack.sql.batch_execute(hold).await.unwrap();
    stack.clock.advance(TimeDelta::days(11));
    let open = "SELECT count(*) FROM jobs WHERE open_charge IS NOT NULL";
    wait_until("the first portion is reserved", async || {
        stack.query_count(open).await == 1
    })
    .await;
    stack
        .sql
        .batch_execute("UPDATE campaigns SET status = 'paused'; COMMIT")
        .await
        .unwrap();
    until_steps_are_done(&stack).await;
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM mailpieces WHERE step = 2")
            .await,
        1000
    );
    stack.save_campaign(two_steps()).await;
    stack.clock.advance(TimeDelta::hours(2));
    until_steps_are_done(&stack).await;
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM mailpieces WHERE step = 2")
            .await,
        1500
    );
    assert_eq!(
        stack
            .query_count("SELECT count(DISTINCT address_id) FROM mailpieces WHERE step = 2")
            .await,
        1500
    );
    assert_eq!(stack.query_count("SELECT count(*) FROM jobs").await, 0);
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recheck_whose_campaign_is_paused_in_its_middle_looks_at_everybody_on_the_next_day() {
    let stack = with_conditions(json!({})).await;
    let waiting: Vec<_> = (1..1501).map(|number| scored(number, 5)).collect();
    stack.send_recipients(&waiting).await;
    let everybody = json!({"column": "score", "operator": "less", "value": 10});
    stack
        .save_campaign(json!({"conditions": everybody, "budget": "$0.80"}))
        .await;
    let hold = "BEGIN; SELECT 1 FROM ledger_accounts WHERE account = 'prepaid' FOR UPDATE";
    stack.sql.batch_execute(hold).await.unwrap();
    stack.clock.advance(TimeDelta::days(1));
    let open = "SELECT count(*) FROM jobs WHERE open_charge IS NOT NULL";
    wait_until("the first portion is reserved", async || {
        stack.query_count(open).await == 1
    })
    .await;
    stack
        .sql
        .batch_execute("UPDATE campaigns SET status = 'paused'; COMMIT")
        .await
        .unwrap();
    let rests = "SELECT count(*) FROM jobs WHERE lease_id IS NULL AND open_charge IS NULL";
    wait_until("the re-check rests", async || {
        stack.query_count(rests).await == 1
    })
    .await;
    // The budget took one of the first portion; its others are looked at on the next day too.
    stack.save_campaign(json!({"conditions": everybody})).await;
    next_recheck(&stack).await;
    assert_eq!(mailpieces(&stack).await, 1500);
    stack.assert_consistent().await;
}

/// A stack that gives a job up after two tries, with a second step that is due tomorrow.
async fn soon_given_up() -> TestStack {
    let settings = vec![("MAILER__JOB_ATTEMPTS", "2".to_owned())];
    let stack = TestStack::with_options(StackOptions {
        settings,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(two_steps()).await;
    assert_eq!(
        stack
            .send_recipients(&build_recipients(1..3))
            .await
            .reasons(),
        ["mailed", "mailed"]
    );
    stack.clock.advance(TimeDelta::days(9));
    stack
}

/// Lets more time pass than there are tries, and sees that the job is tried each time.
async fn is_tried_again_and_again(stack: &TestStack) {
    for _ in 0..4 {
        let now = stack.now();
        wait_until("the job is tried and put off", async || {
            let put_off = "SELECT count(*) FROM jobs WHERE due_at > $1 AND lease_id IS NULL";
            stack
                .sql
                .query_one(put_off, &[&now])
                .await
                .unwrap()
                .get::<_, i64>(0)
                == 1
        })
        .await;
        stack.clock.advance(TimeDelta::minutes(2));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_cannot_be_paid_for_now_is_never_given_up() {
    let stack = soon_given_up().await;
    // Nobody has set up the provider.
    let by_card = "UPDATE teams SET payment = 'stripe', stripe_customer = 'cus_1', stripe_payment_method = 'pm_1'";
    stack.sql.execute(by_card, &[]).await.unwrap();
    stack.clock.advance(TimeDelta::days(2));
    is_tried_again_and_again(&stack).await;
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM charges WHERE state = 'reserved'")
            .await,
        1
    );
    // Nor is one whose worker has died with it too often.
    let paid = "UPDATE jobs SET attempts = 50; UPDATE charges SET payment = 'balance' WHERE state = 'reserved'";
    stack.sql.batch_execute(paid).await.unwrap();
    stack.clock.advance(TimeDelta::minutes(2));
    wait_until("the step is paid", async || {
        stack.query_count("SELECT count(*) FROM jobs").await == 0
    })
    .await;
    assert_eq!(mailpieces(&stack).await, 4);
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_whose_design_cannot_print_waits_for_its_owner() {
    let stack = soon_given_up().await;
    stack
        .sql
        .execute("UPDATE designs SET ai_draft = true", &[])
        .await
        .unwrap();
    stack.clock.advance(TimeDelta::days(2));
    is_tried_again_and_again(&stack).await;
    stack
        .sql
        .execute("UPDATE designs SET ai_draft = false", &[])
        .await
        .unwrap();
    stack.clock.advance(TimeDelta::minutes(2));
    wait_until("the step is mailed", async || {
        stack.query_count("SELECT count(*) FROM jobs").await == 0
    })
    .await;
    assert_eq!(mailpieces(&stack).await, 4);
    stack.assert_consistent().await;
}

/// Rows that scans of the jobs' indexes have read.
const READ: &str =
    "SELECT sum(idx_tup_read)::bigint FROM pg_stat_user_indexes WHERE relname = 'jobs'";

#[tokio::test(flavor = "multi_thread")]
async fn a_team_with_many_jobs_does_not_make_anothers_dear_to_find() {
    const BUSY: TeamId = TeamId(Uuid::from_u128(2));
    let stack = TestStack::with_options(StackOptions {
        mailers: 0,
        ..StackOptions::default()
    })
    .await;
    // The busy team's are older, and the others' ids lie on both sides of its own.
    let jobs = "INSERT INTO jobs (team_id, job_id, campaign_id, kind, charge_id, step, due_at, created_at)
         SELECT $1, gen_random_uuid(), $4, 'step', gen_random_uuid(), 2, $2::timestamptz + n * interval '1 ms', $2
         FROM generate_series(1, $3::int) n";
    let now = stack.now();
    for (team, age, count) in [(1, 2, 3), (2, 9, 20_000), (3, 4, 3)] {
        let due_at = now - TimeDelta::hours(age);
        stack
            .sql
            .execute(jobs, &[&Uuid::from_u128(team), &due_at, &count, &CAMPAIGN])
            .await
            .unwrap();
    }
    stack.sql.batch_execute("ANALYZE jobs").await.unwrap();
    let before = stack.query_count(READ).await;
    let mut teams = Vec::new();
    for full in [&[][..], &[BUSY], &[BUSY, TeamId(Uuid::from_u128(3))]] {
        let job = stack
            .store
            .claim_due_job(Uuid::now_v7(), now, now + TimeDelta::hours(1), 20, full)
            .await
            .unwrap();
        teams.push(job.unwrap().lease.team_id.0.as_u128());
    }
    assert_eq!(teams, [2, 3, 1], "the oldest of those that are not full");
    wait_until("what was read is told", async || {
        stack.query_count(READ).await > before
    })
    .await;
    assert!(stack.query_count(READ).await - before < 1_000);
}
