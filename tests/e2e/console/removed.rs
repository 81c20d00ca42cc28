//! Removing an integration: at once for its client and its team, later for what it has stored.

use chrono::TimeDelta;
use pillarbox_tests::{ConsoleClient, CrmClient, run_operator_command, wait_until};
use reqwest::Method;
use serde_json::json;
use store::{Actor, Integration, MemberRole, StoreError};

use super::member;

const NOTHING: &str = "SELECT count(*) FROM contacts";

/// A CRM with three contacts and an open sync, and an Admin of its team.
async fn world() -> (CrmClient, ConsoleClient) {
    let mut crm =
        CrmClient::with_settings(vec![("SYNCER__JOB_INTERVAL_MS", "50".to_owned())]).await;
    crm.declare_usual_fields().await;
    let record = |id: &str| json!({"external_id": id, "fields": {"first": "Ann"}});
    crm.run_sync("full", &["a", "b", "c"].map(record)).await;
    assert_eq!(crm.begin_sync("full").await.status, 200);
    assert_eq!(crm.push_records(&["a"].map(record)).await.status, 200);
    let url = crm.stack.start_console().await;
    let admin = member(&crm.stack, &url, MemberRole::Admin).await;
    (crm, admin)
}

async fn integration(crm: &CrmClient) -> Result<Integration, StoreError> {
    let team_id = crm.stack.store.find_team_by_name("Test").await?.team_id;
    crm.stack
        .store
        .find_integration_by_name(team_id, "CRM")
        .await
}

/// Every call, and the MCP server beside them.
async fn assert_closed(crm: &CrmClient) {
    for (method, path) in [
        (Method::GET, ""),
        (Method::GET, "/schema"),
        (Method::POST, "/schema"),
        (Method::POST, "/sync"),
        (Method::PATCH, "/sync"),
        (Method::POST, "/records"),
        (Method::GET, "/sync/rejections"),
        (Method::POST, "/mcp"),
    ] {
        let answer = crm
            .request_with_key(method, path, &crm.new_idempotency_key(), &json!({}))
            .await;
        assert_eq!(
            answer.push_error(),
            (401, "invalid_key".to_owned()),
            "{path}"
        );
        assert_eq!(
            answer.headers["www-authenticate"],
            "Bearer realm=\"Pillarbox\""
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_integration_that_is_removed_by_its_name_opens_for_nobody_and_its_contacts_are_gone() {
    let (crm, admin) = world().await;
    let path = format!(
        "/integrations/{}",
        integration(&crm).await.unwrap().integration_id
    );
    let contacts = format!(
        "/address-book/contacts/{}",
        integration(&crm).await.unwrap().integration_id
    );
    assert_eq!(admin.get(&contacts).await.status, 200);
    let other = admin
        .post(&format!("{path}/remove"), &[("name", "CMR")])
        .await;
    assert!(
        other.status == 422 && other.html.contains("this is not its name"),
        "{}",
        other.html
    );
    assert_eq!(crm.get("").await.status, 200, "nothing was removed");

    let removed = admin
        .post(&format!("{path}/remove"), &[("name", " CRM ")])
        .await;
    assert_eq!(
        removed.location(),
        "/integrations?notice=integration-removed",
        "{}",
        removed.html
    );
    assert_closed(&crm).await;
    for page in [&path, &contacts] {
        assert_eq!(admin.get(page).await.status, 404, "{page}");
    }
    assert_eq!(
        admin
            .post(&format!("{path}/remove"), &[("name", "CRM")])
            .await
            .status,
        404
    );
    assert!(
        admin
            .get("/activity")
            .await
            .html
            .contains("integration.removed")
    );
    assert_eq!(
        run_operator_command(&["address-book", "Test"], &crm.stack.settings),
        ""
    );
    assert_eq!(
        crm.stack
            .query_count("SELECT count(*) FROM syncs WHERE status = 'open'")
            .await,
        0
    );
    let missed = "SELECT count(*) FROM contacts WHERE removed_at IS NOT NULL";
    assert_eq!(
        crm.stack.query_count(missed).await,
        0,
        "the sync that it ended has removed nothing"
    );
    // Its name is free again, and its key stays revoked.
    let made = admin.post("/integrations", &[("name", "CRM")]).await;
    assert!(
        made.location().starts_with("/integrations/") && made.location() != path,
        "{}",
        made.html
    );
    assert_closed(&crm).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_operator_removes_is_erased_when_its_time_is_over_and_not_before() {
    let (crm, admin) = world().await;
    let said = run_operator_command(
        &["integration", "remove", "Test", "CRM"],
        &crm.stack.settings,
    );
    assert!(said.starts_with("CRM is removed"), "{said}");
    assert_closed(&crm).await;
    let log = admin.get("/activity").await.html;
    assert!(
        log.contains("integration.removed") && log.contains("Operator"),
        "{log}"
    );

    let (store, removed_at) = (&crm.stack.store, crm.stack.now());
    assert_eq!(
        store
            .erase_removed_integration(removed_at - TimeDelta::hours(1), 10, removed_at)
            .await
            .unwrap(),
        0
    );
    assert_eq!(crm.stack.query_count(NOTHING).await, 3);
    // A portion is never larger than it may be.
    let later = removed_at + TimeDelta::hours(1);
    assert_eq!(
        store
            .erase_removed_integration(later, 2, later)
            .await
            .unwrap(),
        2
    );
    assert_eq!(crm.stack.query_count(NOTHING).await, 1);
    crm.stack.clock.advance(TimeDelta::days(31));
    wait_until("a syncer erases the rest", async || {
        crm.stack
            .query_count("SELECT count(*) FROM integrations WHERE erased_at IS NOT NULL")
            .await
            == 1
    })
    .await;
    for table in [
        "contacts",
        "syncs",
        "sync_received",
        "sync_issues",
        "idempotency_keys",
        "integration_fields",
    ] {
        assert_eq!(
            crm.stack
                .query_count(&format!("SELECT count(*) FROM {table}"))
                .await,
            0,
            "{table}"
        );
    }
    assert_closed(&crm).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_waits_for_a_push_under_way_and_what_comes_behind_it_changes_nothing() {
    let (crm, _admin) = world().await;
    let integration = integration(&crm).await.unwrap();
    // A push under way: it shares the integration, and is about to write.
    let mut connection = crm.stack.store.connection().await.unwrap();
    let push = connection.begin_transaction().await.unwrap();
    push.share_open_sync(integration.integration_id, crm.stack.now())
        .await
        .unwrap()
        .unwrap();
    let (store, removing, now) = (
        crm.stack.store.clone(),
        integration.clone(),
        crm.stack.now(),
    );
    let removal = tokio::spawn(async move {
        integrations::remove_integration(&store, Actor::Operator, &removing, now).await
    });
    // Other databases of the server have locks of their own.
    let waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    wait_until("the removal waits", async || {
        crm.stack.query_count(waits).await == 1
    })
    .await;
    assert_eq!(crm.get("").await.status, 200, "it is not removed yet");
    push.commit().await.unwrap();
    removal.await.unwrap().unwrap();
    assert_closed(&crm).await;

    // Requests that were admitted a moment before the removal: their key was good.
    crm.stack
        .sql
        .execute("UPDATE api_keys SET revoked_at = NULL", &[])
        .await
        .unwrap();
    let fields = json!({"fields": [{"key": "late"}]});
    for (method, path, body) in [
        (Method::POST, "/sync", json!({})),
        (Method::PATCH, "/sync", json!({})),
        (Method::POST, "/schema", fields),
        (Method::GET, "", json!({})),
    ] {
        let answer = crm
            .request_with_key(method, path, &crm.new_idempotency_key(), &body)
            .await;
        assert_eq!(
            answer.push_error(),
            (401, "invalid_key".to_owned()),
            "{path}"
        );
    }
    let records = json!({"records": [{"external_id": "late", "fields": {}}]});
    let late = crm
        .request_with_key(
            Method::POST,
            "/records",
            &crm.new_idempotency_key(),
            &records,
        )
        .await;
    assert_eq!(late.push_error(), (409, "no_open_sync".to_owned()));
    assert_eq!(crm.stack.query_count(NOTHING).await, 3);
    let store = &crm.stack.store;
    let again = integrations::remove_integration(store, Actor::Operator, &integration, now).await;
    assert!(matches!(again, Err(StoreError::NotFound(_))), "{again:?}");
}
