//! What stands in the logs of the real processes: who asked for what and what came of it; of a failure, all that finds it and
//! nothing that is anybody's.

use std::sync::Mutex;

use messages::{PUSH_V1, SEND_V1};
use pillarbox_tests::{CAMPAIGN, build_recipient, wait_until};
use serde_json::{Value, json};

use super::Fleet;

impl Fleet {
    /// The first line of a process in which these fields have these values, as soon as there is one.
    async fn line(&self, process: &str, fields: &Value) -> Value {
        let found = Mutex::new(Value::Null);
        let is_wanted = |line: &Value| {
            let mut wanted = fields.as_object().unwrap().iter();
            wanted.all(|(name, value)| line[name] == *value)
        };
        wait_until(
            &format!("a line of the {process} has {fields}"),
            async || {
                let line = self.logs[process].lines().into_iter().find(is_wanted);
                *found.lock().unwrap() = line.unwrap_or_default();
                !found.lock().unwrap().is_null()
            },
        )
        .await;
        found.into_inner().unwrap()
    }

    async fn team_id(&self) -> String {
        self.stack
            .store
            .find_team_by_name("Test")
            .await
            .unwrap()
            .team_id
            .to_string()
    }

    /// No log has anything of the people that the tests send.
    fn assert_nothing_personal(&self) {
        for (process, log) in &self.logs {
            let text = log.text();
            for personal in ["Reader", "Main St", "Pat\"", "Pat,", pillarbox_tests::KEY] {
                assert!(
                    !text.contains(personal),
                    "{personal} stands in the log of the {process}"
                );
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_request_has_a_line_and_so_has_the_work_for_it() {
    let fleet = Fleet::start(Vec::new()).await;
    let request_id = fleet
        .send(json!([build_recipient(1), build_recipient(1), {}]), 200)
        .await;
    let team_id = fleet.team_id().await;
    let request = fleet
        .line(
            "gateway",
            &json!({"message": "request", "request_id": request_id}),
        )
        .await;
    let expected = json!({"level": "INFO", "method": "POST", "route": "/api/v1/recipients", "status": "200",
        "code": "ok", "team_id": team_id, "key_kind": "full_access", "process": "gateway"});
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(request[name], *value, "{name} in {request}");
    }
    assert!(
        request["seconds"]
            .as_f64()
            .is_some_and(|seconds| seconds > 0.0)
    );
    let work = fleet
        .line(
            "mailer",
            &json!({"message": "call", "request_id": request_id}),
        )
        .await;
    let expected = json!({"kind": SEND_V1, "code": "ok", "team_id": team_id, "campaign_id": CAMPAIGN, "received": 3,
        "mailed": 1, "cards": 1, "charge": "settled", "trace_id": request["trace_id"]});
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(work[name], *value, "{name} in {work}");
    }
    assert_eq!(work["not_mailed"], "duplicate_recent 1, invalid_address 1");
    assert!(work["amount_cents"].as_i64().is_some_and(|cents| cents > 0));
    fleet.push_contacts().await;
    let push = fleet
        .line("syncer", &json!({"message": "call", "kind": PUSH_V1}))
        .await;
    assert_eq!(
        (&push["upserted"], &push["team_id"]),
        (&json!(1), &json!(team_id))
    );
    assert!(
        push["integration_id"].is_string() && push["request_id"].is_string(),
        "{push}"
    );
    reqwest::get(format!("{}/sign-in", fleet.console))
        .await
        .unwrap();
    let page = fleet
        .line(
            "console",
            &json!({"message": "request", "route": "/sign-in"}),
        )
        .await;
    assert_eq!(
        (&page["method"], &page["status"]),
        (&json!("GET"), &json!("200"))
    );
    fleet.assert_nothing_personal();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_of_the_database_is_logged_with_its_code_its_statement_its_request_and_its_team()
{
    let fleet = Fleet::start(Vec::new()).await;
    fleet.send(json!([build_recipient(1)]), 200).await;
    let take = "REVOKE SELECT ON campaign_steps FROM pillarbox_mailer";
    fleet.stack.sql.batch_execute(take).await.unwrap();
    let request_id = fleet.send(json!([build_recipient(2)]), 500).await;
    let failure = fleet
        .line(
            "mailer",
            &json!({"level": "ERROR", "request_id": request_id}),
        )
        .await;
    let expected = json!({"message": "the database failed", "error": "a statement failed", "sqlstate": "42501",
        "cause": "permission denied for table campaign_steps", "team_id": fleet.team_id().await});
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(failure[name], *value, "{name} in {failure}");
    }
    let text = |name: &str| failure[name].as_str().unwrap().to_owned();
    assert!(
        text("statement").starts_with("SELECT campaign_steps"),
        "{failure}"
    );
    assert!(
        text("statement_at").starts_with("shared/infra/store/src/campaign.rs:"),
        "{failure}"
    );
    fleet
        .stack
        .sql
        .batch_execute("REVOKE SELECT ON api_keys FROM pillarbox_gateway")
        .await
        .unwrap();
    let request_id = fleet.send(json!([build_recipient(3)]), 500).await;
    let failure = fleet
        .line(
            "gateway",
            &json!({"level": "ERROR", "request_id": request_id}),
        )
        .await;
    assert_eq!(failure["sqlstate"], "42501", "{failure}");
    fleet.assert_nothing_personal();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_database_quotes_of_a_row_does_not_reach_the_logs() {
    let fleet = Fleet::start(Vec::new()).await;
    fleet.send(json!([build_recipient(1)]), 200).await;
    let sql = &fleet.stack.sql;
    let tell = "CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN RAISE EXCEPTION 'no place for %', NEW USING DETAIL = NEW::text, HINT = NEW::text; END$$;
        CREATE TRIGGER tell BEFORE INSERT OR UPDATE ON address_entries FOR EACH ROW EXECUTE FUNCTION tell()";
    sql.batch_execute(tell).await.unwrap();
    let request_id = fleet.send(json!([build_recipient(2)]), 500).await;
    let failure = fleet
        .line(
            "mailer",
            &json!({"level": "ERROR", "request_id": request_id}),
        )
        .await;
    assert_eq!(
        (&failure["sqlstate"], &failure["cause"]),
        (&json!("P0001"), &Value::Null),
        "{failure}"
    );
    // Of a constraint the server says which; its detail has the row.
    let refuse = "DROP TRIGGER tell ON address_entries;
        ALTER TABLE address_entries ADD CONSTRAINT nobody CHECK (false) NOT VALID";
    sql.batch_execute(refuse).await.unwrap();
    let request_id = fleet.send(json!([build_recipient(3)]), 500).await;
    let failure = fleet
        .line(
            "mailer",
            &json!({"level": "ERROR", "request_id": request_id}),
        )
        .await;
    let named = ["sqlstate", "constraint", "table"].map(|name| &failure[name]);
    assert_eq!(
        named,
        [&json!("23514"), &json!("nobody"), &json!("address_entries")],
        "{failure}"
    );
    fleet.assert_nothing_personal();
}
