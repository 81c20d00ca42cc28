//! Sync: states and transitions.

use chrono::TimeDelta;
use pillarbox_tests::{CrmClient, wait_until};
use serde_json::json;

use super::{record, records};

#[tokio::test(flavor = "multi_thread")]
async fn a_full_sync_marks_every_contact_it_did_not_receive_as_removed() {
    let crm = CrmClient::start().await;
    let first = crm.run_sync("full", &records(&["a", "b", "c"])).await;
    assert_eq!(
        (&first["recordsUpserted"], &first["markedRemoved"]),
        (&json!(3), &json!(0))
    );
    let second = crm.run_sync("full", &records(&["b"])).await;
    assert_eq!(
        second,
        json!({"ok": true, "syncId": second["syncId"], "mode": "full", "recordsUpserted": 1,
               "recordsDeleted": 0, "recordsRejected": 0, "markedRemoved": 2})
    );
    assert_eq!(crm.list_external_ids().await, ["b"]);
    let third = crm.run_sync("full", &records(&["a", "b"])).await;
    assert_eq!(third["markedRemoved"], 0, "a contact is removed once");
    assert_eq!(
        crm.list_external_ids().await,
        ["a", "b"],
        "a contact that comes back is restored"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delta_sync_removes_only_what_is_deleted_explicitly() {
    let crm = CrmClient::start().await;
    crm.run_sync("full", &records(&["a", "b", "c"])).await;
    let delta = crm
        .run_sync(
            "delta",
            &[
                json!({"external_id": "a", "op": "delete"}),
                json!({"external_id": "x", "op": "delete"}),
            ],
        )
        .await;
    assert_eq!(
        (&delta["recordsDeleted"], &delta["markedRemoved"]),
        (&json!(2), &json!(0))
    );
    assert_eq!(crm.list_external_ids().await, ["b", "c"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_contact_deleted_within_a_full_sync_is_not_marked_removed() {
    let crm = CrmClient::start().await;
    crm.run_sync("full", &records(&["a", "b"])).await;
    let full = crm
        .run_sync(
            "full",
            &[
                json!({"external_id": "a", "op": "delete"}),
                record("b", "Ann"),
            ],
        )
        .await;
    assert_eq!(
        (&full["recordsDeleted"], &full["markedRemoved"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(crm.list_external_ids().await, ["b"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_record_whose_external_id_can_be_read_counts_as_received() {
    let crm = CrmClient::start().await;
    crm.run_sync("full", &records(&["a", "b"])).await;
    let bad = json!({"external_id": "a", "fields": {"mail": "nobody"}});
    let full = crm.run_sync("full", &[bad, record("b", "Ann")]).await;
    assert_eq!(
        (&full["recordsRejected"], &full["markedRemoved"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(crm.list_external_ids().await, ["a", "b"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn begin_answers_the_sync_and_a_second_one_409_sync_in_progress() {
    let crm = CrmClient::start().await;
    let begun = crm.begin_sync("delta").await.json();
    assert_eq!(begun["mode"], "delta");
    let expires: chrono::DateTime<chrono::Utc> =
        begun["expiresAt"].as_str().unwrap().parse().unwrap();
    assert!((expires - crm.stack.now() - TimeDelta::hours(24)).abs() < TimeDelta::minutes(1));
    let second = crm.begin_sync("full").await;
    assert_eq!(second.push_error(), (409, "sync_in_progress".to_owned()));
    assert_eq!(second.json()["error"]["details"], begun);
}

#[tokio::test(flavor = "multi_thread")]
async fn push_and_complete_without_an_open_sync_are_409_no_open_sync() {
    let crm = CrmClient::start().await;
    for _ in 0..2 {
        assert_eq!(
            crm.push_records(&records(&["a"])).await.push_error(),
            (409, "no_open_sync".to_owned())
        );
        assert_eq!(
            crm.complete_sync(json!({})).await.push_error(),
            (409, "no_open_sync".to_owned())
        );
        crm.run_sync("full", &[]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn complete_takes_only_the_id_of_the_open_sync() {
    let crm = CrmClient::start().await;
    let old = crm.run_sync("full", &[]).await["syncId"].clone();
    let open = crm.begin_sync("full").await.json()["syncId"].clone();
    assert_eq!(
        crm.complete_sync(json!({"syncId": old})).await.push_error(),
        (409, "no_open_sync".to_owned())
    );
    let nobodys = uuid::Uuid::now_v7().to_string();
    assert_eq!(
        crm.complete_sync(json!({"syncId": nobodys}))
            .await
            .push_error(),
        (404, "sync_not_found".to_owned())
    );
    assert_eq!(
        crm.complete_sync(json!({"syncId": "x"})).await.push_error(),
        (400, "invalid_sync_id".to_owned())
    );
    assert_eq!(
        crm.complete_sync(json!({"syncId": open})).await.json()["syncId"],
        open
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unfinished_sync_expires_after_24_hours_and_removes_nothing() {
    let crm = CrmClient::start().await;
    crm.run_sync("full", &records(&["a", "b"])).await;
    crm.begin_sync("full").await;
    crm.push_records(&records(&["a"])).await;
    crm.stack.clock.advance(TimeDelta::hours(24));
    assert_eq!(crm.get("/sync").await.json()["sync"]["status"], "expired");
    assert_eq!(
        crm.push_records(&records(&["b"])).await.push_error(),
        (409, "no_open_sync".to_owned())
    );
    assert_eq!(
        crm.complete_sync(json!({})).await.push_error(),
        (409, "no_open_sync".to_owned())
    );
    assert_eq!(crm.list_external_ids().await, ["a", "b"]);
    assert_eq!(
        crm.begin_sync("delta").await.status,
        200,
        "the next request finds it expired"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_periodic_job_writes_expiry_down_and_forgets_what_ended_syncs_received() {
    let crm = CrmClient::with_settings(vec![("SYNCER__JOB_INTERVAL_MS", "20".to_owned())]).await;
    crm.begin_sync("full").await;
    crm.push_records(&[json!({"external_id": "a"})]).await;
    crm.stack.clock.advance(TimeDelta::hours(25));
    wait_until("the sync is expired and its marks are gone", async || {
        crm.stack
            .query_count("SELECT count(*) FROM syncs WHERE status = 'expired' AND is_purged")
            .await
            == 1
            && crm
                .stack
                .query_count("SELECT count(*) FROM sync_received")
                .await
                == 0
    })
    .await;
    crm.stack.clock.advance(TimeDelta::days(7));
    wait_until("the keys are gone after 7 days", async || {
        crm.stack
            .query_count("SELECT count(*) FROM idempotency_keys")
            .await
            == 0
    })
    .await;
    crm.run_sync("full", &[json!({"external_id": "a"}), json!(7)])
        .await;
    crm.stack.clock.advance(TimeDelta::days(91));
    wait_until("old syncs are gone, the latest stays", async || {
        crm.stack.query_count("SELECT count(*) FROM syncs").await == 1
    })
    .await;
    assert_eq!(
        crm.get("/sync/rejections").await.json()["items"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn many_old_syncs_are_forgotten_together_and_one_whose_integration_is_held_expires_later() {
    // The periodic job looks once, before there is anything.
    let crm =
        CrmClient::with_settings(vec![("SYNCER__JOB_INTERVAL_MS", "3600000".to_owned())]).await;
    for number in 0..5 {
        crm.run_sync("full", &[json!({"external_id": "a"}), json!(number)])
            .await;
    }
    let store = &crm.stack.store;
    assert_eq!(
        store.purge_received_contacts(100).await.unwrap(),
        5 + 5,
        "what they received, and their marks"
    );
    let later = crm.stack.clock.now() + TimeDelta::days(91);
    assert_eq!(
        store.purge_syncs(later, 2).await.unwrap(),
        2,
        "two issues, and more to come"
    );
    assert_eq!(
        store.purge_syncs(later, 100).await.unwrap(),
        2 + 4,
        "the rest of them, and the syncs but the latest"
    );
    assert_eq!(store.purge_syncs(later, 100).await.unwrap(), 0);
    crm.begin_sync("full").await;
    let team = store.find_team_by_name("Test").await.unwrap();
    let integration_id = store
        .find_integration_by_name(team.team_id, "CRM")
        .await
        .unwrap()
        .integration_id;
    let mut connection = store.connection().await.unwrap();
    let complete = connection.begin_transaction().await.unwrap();
    complete
        .lock_integration_syncs(integration_id)
        .await
        .unwrap();
    assert_eq!(
        crm.push_records(&records(&["a"])).await.push_error(),
        (409, "in_progress".to_owned())
    );
    assert_eq!(
        store.expire_syncs(later, 100).await.unwrap(),
        0,
        "what is under way ends well"
    );
    drop(complete);
    wait_until("the integration is free again", async || {
        store.expire_syncs(later, 100).await.unwrap() == 1
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pushes_to_one_sync_run_in_parallel_and_complete_waits_for_them() {
    let crm = CrmClient::start().await;
    crm.run_sync("full", &records(&["old"])).await;
    crm.begin_sync("full").await;
    let ids: Vec<String> = (0..300).map(|number| format!("c{number}")).collect();
    let pushes = (0..8).map(|worker: usize| {
        // Each batch holds all contacts, in an order of its own, deletes among them.
        let mut batch: Vec<_> = ids
            .iter()
            .map(|id| record(id, &format!("w{worker}")))
            .collect();
        batch.rotate_left(worker * 37);
        if worker % 2 == 1 {
            batch.reverse();
            batch[worker]["op"] = json!("delete");
        }
        let crm = &crm;
        async move { crm.push_records(&batch).await }
    });
    for answer in futures_util::future::join_all(pushes).await {
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert_eq!(answer.json()["rejected"], 0);
    }
    let last = records(&["last"]);
    let (pushed, completed) = tokio::join!(crm.push_records(&last), crm.complete_sync(json!({})));
    let stands = crm.list_external_ids().await.contains(&"last".to_owned());
    // Either the push came first and the sync received it, or it came too late and was refused.
    assert_eq!(pushed.status == 200, stands, "{}", pushed.text);
    assert_eq!(completed.json()["markedRemoved"], 1, "{}", completed.text);
    assert!(crm.list_external_ids().await.len() >= 296);
}
