//! What came of an attempt is kept though its record fails at first: nothing is posted again for it, and every failure counts.

use delivering::EndpointManager;
use pillarbox_tests::{
    EndpointReaction, StackOptions, TestStack, WebhookSink, build_recipient, list_codes,
    wait_until, with_qr_codes,
};
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

use super::{World, failing};

const SCANS: usize = 20;

/// A healthy endpoint and one that answers with an error, of the same team.
struct Two {
    stack: TestStack,
    healthy: WebhookSink,
    failing: WebhookSink,
    failing_id: Uuid,
    code: String,
}

async fn two(settings: Vec<(&'static str, String)>) -> Two {
    let settings = [
        settings,
        vec![("DISPATCHER__DISABLE_AFTER", "100000".to_owned())],
    ]
    .concat();
    let (stack, healthy) = with_qr_codes(StackOptions {
        dispatchers: 1,
        settings,
        ..StackOptions::default()
    })
    .await;
    let failing = WebhookSink::start().await;
    failing.set_default(self::failing());
    let team = stack.store.find_team_by_name("Test").await.unwrap().team_id;
    let manager = EndpointManager::new(&stack.store, team, store::Actor::Operator, stack.now());
    let failing_id = manager
        .add(&stack.target_policy(), &failing.url, None)
        .await
        .unwrap()
        .endpoint_id
        .0;
    stack.send_recipients(&[build_recipient(1)]).await;
    let code = list_codes(&stack).await.remove(0);
    Two {
        stack,
        healthy,
        failing,
        failing_id,
        code,
    }
}

impl Two {
    async fn scan(&self) {
        futures_util::future::join_all((0..SCANS).map(|_| self.stack.scan_code(&self.code))).await;
        wait_until("both got everything", async || {
            (self.healthy.count_received(), self.failing.count_received()) == (SCANS, SCANS)
        })
        .await;
    }

    async fn until_healthy_is_recorded(&self) {
        let sql = format!(
            "SELECT count(*) FROM deliveries WHERE state = 'delivered' AND endpoint_id <> '{}'",
            self.failing_id
        );
        wait_until("the healthy endpoint's are recorded", async || {
            self.stack.query_count(&sql).await == i64::try_from(SCANS).unwrap()
        })
        .await;
    }

    /// Until every failure is counted; none was posted a second time for it.
    async fn until_failing_is_recorded(&self) {
        let sql = format!(
            "SELECT failures_in_row::bigint FROM endpoints WHERE endpoint_id = '{}'",
            self.failing_id
        );
        wait_until("every failure is counted", async || {
            self.stack.query_count(&sql).await == i64::try_from(SCANS).unwrap()
        })
        .await;
        assert_eq!(
            self.stack
                .query_count("SELECT count(*) FROM deliveries WHERE attempts <> 1")
                .await,
            0
        );
        assert_eq!(
            (self.healthy.count_received(), self.failing.count_received()),
            (SCANS, SCANS)
        );
    }
}

async fn session(stack: &TestStack) -> Client {
    let url = &stack.settings["PILLARBOX__DATABASE__URL"];
    let (client, connection) = tokio_postgres::connect(url, NoTls)
        .await
        .expect("the database answers");
    tokio::spawn(connection);
    client
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_the_database_refuses_takes_no_other_with_it_and_is_not_made_again() {
    let world = World::start().await;
    // A rule with a name, a column that must not be null, a row without a partition, and what a function raises.
    let refuse = "ALTER TABLE attempts ADD CHECK (answer IS DISTINCT FROM 'poison');
         CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN RAISE EXCEPTION 'told to' USING ERRCODE = NEW.answer; END $$;
         CREATE TRIGGER refuse BEFORE INSERT ON attempts FOR EACH ROW
             WHEN (NEW.answer IN ('23502', '23514', 'P0001')) EXECUTE FUNCTION refuse()";
    world.stack.sql.batch_execute(refuse).await.unwrap();
    let refused = ["poison", "23502", "23514", "P0001"];
    let answers = (0..SCANS).map(|number| match refused.get(number.wrapping_sub(7)) {
        Some(answer) => EndpointReaction::Answer(500, (*answer).to_owned()),
        None => EndpointReaction::Answer(200, "fine".to_owned()),
    });
    world.sink.script_next(answers);
    futures_util::future::join_all((0..SCANS).map(|_| world.scan())).await;
    world.until_attempts(i64::try_from(SCANS).unwrap()).await;
    let recorded = i64::try_from(SCANS - refused.len()).unwrap();
    let delivered = "SELECT count(*) FROM deliveries WHERE state = 'delivered'";
    assert_eq!(world.stack.query_count(delivered).await, recorded);
    let retried = "SELECT count(*) FROM deliveries WHERE state = 'waiting' AND is_retry AND due_at > created_at";
    assert_eq!(
        world.stack.query_count(retried).await,
        4,
        "the refused ones go on as their failure says"
    );
    assert_eq!(
        world
            .stack
            .query_count("SELECT count(*) FROM attempts")
            .await,
        recorded
    );
    assert_eq!(world.sink.count_received(), SCANS);
}

#[tokio::test(flavor = "multi_thread")]
async fn results_of_an_endpoint_that_is_locked_wait_and_hold_up_nobody() {
    let two = two(Vec::new()).await;
    let other = session(&two.stack).await;
    other.batch_execute("BEGIN").await.unwrap();
    let lock = "SELECT FROM endpoints WHERE endpoint_id = $1 FOR UPDATE";
    other.execute(lock, &[&two.failing_id]).await.unwrap();
    two.scan().await;
    two.until_healthy_is_recorded().await;
    other.batch_execute("ROLLBACK").await.unwrap();
    two.until_failing_is_recorded().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn results_whose_statement_takes_too_long_are_tried_again_apart_from_the_others() {
    let two = two(vec![("DATABASE__STATEMENT_TIMEOUT_MS", "4000".to_owned())]).await;
    let slow = format!(
        "CREATE TABLE slow (url text); INSERT INTO slow VALUES ('{}');
         CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
         BEGIN IF EXISTS (SELECT FROM slow WHERE url = NEW.url) THEN PERFORM pg_sleep(60); END IF; RETURN NEW; END $$;
         CREATE TRIGGER slow BEFORE INSERT ON attempts FOR EACH ROW EXECUTE FUNCTION wait()",
        two.failing.url
    );
    two.stack.sql.batch_execute(&slow).await.unwrap();
    two.scan().await;
    two.until_healthy_is_recorded().await;
    two.stack
        .sql
        .batch_execute("DELETE FROM slow")
        .await
        .unwrap();
    two.until_failing_is_recorded().await;
}
