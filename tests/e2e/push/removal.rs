//! Guarding, foreseeing and taking back removals: additions to the contract.

use chrono::TimeDelta;
use pillarbox_tests::{CrmClient, wait_until};
use reqwest::Method;
use serde_json::json;
use store::Actor;

use super::records;

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_over_the_owners_share_is_409_removal_guard_until_it_is_confirmed() {
    let crm = CrmClient::start().await;
    crm.apply_integration(json!({"removal_guard_percent": 50}))
        .await;
    crm.run_sync("full", &records(&["a", "b", "c", "d"])).await;
    crm.begin_sync("full").await;
    crm.push_records(&records(&["a"])).await;
    let guarded = crm.complete_sync(json!({})).await;
    assert_eq!(guarded.push_error(), (409, "removal_guard".to_owned()));
    assert_eq!(
        guarded.json()["error"]["details"],
        json!({"count": 3, "share": 0.75, "limit": 0.5})
    );
    assert_eq!(crm.list_external_ids().await.len(), 4);
    let confirmed = crm
        .complete_sync(json!({"confirmRemoval": true}))
        .await
        .json();
    assert_eq!(confirmed["markedRemoved"], 3);
    crm.run_sync("full", &records(&["a", "b"])).await;
    let half = crm.run_sync("full", &records(&["a"])).await;
    assert_eq!(half["markedRemoved"], 1, "the share itself is allowed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_integration_is_guarded_against_losing_more_than_a_fifth_and_at_least_25_contacts() {
    let crm = CrmClient::start().await;
    let ids: Vec<String> = (0..250).map(|number| format!("c{number}")).collect();
    let all: Vec<&str> = ids.iter().map(String::as_str).collect();
    crm.run_sync("full", &records(&all)).await;
    // A client that was told of an open sync, and completes it without having sent anything.
    crm.begin_sync("full").await;
    let again = crm.begin_sync("full").await.json()["error"].clone();
    assert_eq!(again["code"], "sync_in_progress");
    assert!(
        again["message"]
            .as_str()
            .unwrap()
            .contains("removes every contact"),
        "{again}"
    );
    let guarded = crm.complete_sync(json!({})).await;
    assert_eq!(
        guarded.json()["error"]["details"],
        json!({"count": 250, "share": 1.0, "limit": 0.2})
    );
    assert_eq!(crm.list_external_ids().await.len(), 250);
    // A fifth is allowed, and so are fewer than 25, whatever their share.
    crm.push_records(&records(&all[..200])).await;
    assert_eq!(
        crm.complete_sync(json!({})).await.json()["markedRemoved"],
        50
    );
    let small = crm.run_sync("full", &records(&all[..176])).await;
    assert_eq!(small["markedRemoved"], 24);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_integration_that_stands_keeps_its_guard_when_a_file_says_nothing_of_it() {
    let crm = CrmClient::start().await;
    let guard = "SELECT coalesce(removal_guard_percent, -1)::bigint * 1000 + removal_guard_minimum FROM integrations";
    assert_eq!(crm.stack.query_count(guard).await, 20_025);
    crm.stack
        .sql
        .execute(
            "UPDATE integrations SET removal_guard_percent = NULL, removal_guard_minimum = 0",
            &[],
        )
        .await
        .unwrap();
    crm.apply_integration(json!({})).await;
    assert_eq!(
        crm.stack.query_count(guard).await,
        -1000,
        "made before there was a default"
    );
    crm.apply_integration(json!({"removal_guard_percent": 50}))
        .await;
    assert_eq!(
        crm.stack.query_count(guard).await,
        50_000,
        "the owner's share has no minimum"
    );
    crm.apply_integration(json!({})).await;
    assert_eq!(crm.stack.query_count(guard).await, 50_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn complete_with_validate_1_only_counts() {
    let crm = CrmClient::start().await;
    crm.run_sync("full", &records(&["a", "b", "c", "d"])).await;
    let validate = async || {
        crm.request_with_key(Method::PATCH, "/sync?validate=1", "", &json!({}))
            .await
    };
    assert_eq!(
        validate().await.push_error(),
        (409, "no_open_sync".to_owned())
    );
    let open = crm.begin_sync("full").await.json();
    crm.push_records(&records(&["a"])).await;
    assert_eq!(
        validate().await.json(),
        json!({"validated": true, "syncId": open["syncId"], "mode": "full", "recordsUpserted": 1,
               "recordsDeleted": 0, "recordsRejected": 0, "wouldRemove": 3, "share": 0.75})
    );
    assert_eq!(crm.get("/sync").await.json()["sync"]["status"], "open");
    assert_eq!(crm.list_external_ids().await.len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_removal_can_be_taken_back_once() {
    let crm = CrmClient::start().await;
    crm.run_sync("full", &records(&["a", "b", "c", "d"])).await;
    crm.run_sync("full", &records(&["a"])).await;
    // One comes back, another is deleted by the client after all.
    crm.run_sync(
        "delta",
        &[
            records(&["b"])[0].clone(),
            json!({"external_id": "c", "op": "delete"}),
        ],
    )
    .await;
    assert_eq!(undo(&crm).await.unwrap(), 1);
    assert_eq!(crm.list_external_ids().await, ["a", "b", "d"]);
    assert!(
        undo(&crm).await.is_err(),
        "there is nothing more to take back"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_full_sync_missed_is_erased_when_it_can_no_longer_be_taken_back() {
    let crm = CrmClient::start().await;
    let named = |id: &str| json!({"external_id": id, "fields": {"first": "Ann", "score": 7}});
    crm.run_sync("full", &["a", "b", "c"].map(named)).await;
    crm.run_sync("full", &["a", "c"].map(named)).await;
    // As a syncer deletes that knows of no erasing.
    let delete = "UPDATE contacts SET removed_at = now() WHERE external_id = 'c'";
    crm.stack.sql.execute(delete, &[]).await.unwrap();
    let with_values =
        "SELECT count(*) FROM contacts WHERE fields <> '{}' OR fingerprint IS NOT NULL";
    wait_until("a syncer erases what was deleted", async || {
        crm.stack.query_count(with_values).await == 2
    })
    .await;
    let shown = async |id: &str| crm.get(&format!("/contacts?externalId={id}")).await.json();
    assert_eq!(
        shown("b").await["fields"],
        json!({"first": "Ann", "score": "7"}),
        "it can still be undone"
    );

    crm.stack.clock.advance(TimeDelta::days(31));
    assert!(
        undo(&crm).await.is_err(),
        "its time is over, whether it is erased yet or not"
    );
    wait_until("a syncer erases what was missed", async || {
        crm.stack.query_count(with_values).await == 1
    })
    .await;
    for id in ["b", "c"] {
        let contact = shown(id).await;
        assert_eq!(
            (&contact["fields"], &contact["removed"]),
            (&json!({}), &json!(true)),
            "{contact}"
        );
    }
    // Who comes back has what is sent, and can be removed again.
    crm.run_sync(
        "delta",
        &[json!({"external_id": "b", "fields": {"score": 8}})],
    )
    .await;
    assert_eq!(shown("b").await["fields"], json!({"score": "8"}));
    crm.run_sync("full", &["a"].map(named)).await;
    assert_eq!(undo(&crm).await.unwrap(), 1);
    assert_eq!(shown("b").await["fields"], json!({"score": "8"}));
}

async fn undo(crm: &CrmClient) -> Result<i64, store::StoreError> {
    let team = crm.stack.store.find_team_by_name("Test").await?;
    let integration = crm
        .stack
        .store
        .find_integration_by_name(team.team_id, "CRM")
        .await?;
    let now = crm.stack.now();
    let (store, since) = (&crm.stack.store, now - TimeDelta::days(30));
    integrations::undo_removal(store, Actor::Operator, &integration, since, now).await
}
