//! What is read back.

use pillarbox_tests::{CrmClient, run_operator_command};
use serde_json::{Value, json};
use store::BookCursor;

use super::record;

#[tokio::test(flavor = "multi_thread")]
async fn the_integration_is_shown_with_its_open_sync_limits_and_next_step() {
    let crm = CrmClient::with_settings(Vec::new()).await;
    let shown = crm.get("").await.json();
    assert_eq!(
        shown,
        json!({
            "integration": {"id": shown["integration"]["id"], "name": "CRM", "status": "setup_needed", "setupComplete": false},
            "openSync": null,
            "limits": {"recordsPerBatch": 1000, "bytesPerBatch": 4_456_448, "declaredFields": 1000, "syncExpiryHours": 24},
            "nextStep": shown["nextStep"],
        })
    );
    assert!(shown["nextStep"].is_string());
    let address =
        ["address_1", "city", "state", "zip"].map(|name| json!({"key": name, "semantic": name}));
    crm.declare_fields(json!(address)).await;
    let begun = crm.begin_sync("full").await.json();
    crm.push_records(&[]).await;
    let shown = crm.get("").await.json();
    assert_eq!(shown["integration"]["status"], "syncing");
    assert_eq!(
        shown["openSync"],
        json!({"id": begun["syncId"], "mode": "full", "expiresAt": begun["expiresAt"], "batchesReceived": 1})
    );
    crm.complete_sync(json!({})).await;
    let shown = crm.get("").await.json();
    assert_eq!(
        (
            &shown["integration"]["status"],
            &shown["integration"]["setupComplete"]
        ),
        (&json!("ready"), &json!(true))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn get_sync_shows_the_latest_with_its_counters() {
    let crm = CrmClient::start().await;
    assert_eq!(crm.get("/sync").await.json(), json!({"sync": null}));
    let begun = crm.begin_sync("delta").await.json();
    crm.push_records(&[
        record("a", "Ann"),
        json!({"external_id": "b", "op": "delete"}),
        json!(7),
    ])
    .await;
    let sync = crm.get("/sync").await.json()["sync"].clone();
    assert_eq!(
        sync,
        json!({"id": begun["syncId"], "mode": "delta", "status": "open", "expiresAt": begun["expiresAt"],
               "begunAt": sync["begunAt"], "batchesReceived": 1, "recordsUpserted": 1, "recordsDeleted": 1,
               "recordsRejected": 1, "markedRemoved": 0})
    );
    crm.complete_sync(json!({})).await;
    assert_eq!(crm.get("/sync").await.json()["sync"]["status"], "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn rejections_are_listed_by_pages_until_next_after_is_null() {
    let crm = CrmClient::start().await;
    assert_eq!(
        crm.get("/sync/rejections").await.push_error(),
        (404, "sync_not_found".to_owned())
    );
    let sync_id = crm.begin_sync("delta").await.json()["syncId"].clone();
    for _ in 0..2 {
        let bad: Vec<_> = (0..3)
            .map(|n| json!({"external_id": format!("c{n}"), "fields": {"fax": 1}}))
            .collect();
        crm.push_records(&bad).await;
    }
    let (mut after, mut items) = (String::new(), Vec::new());
    loop {
        let page = crm
            .get(&format!("/sync/rejections?limit=4&unknown=1{after}"))
            .await
            .json();
        assert_eq!(
            (&page["syncId"], &page["type"]),
            (&sync_id, &json!("rejection"))
        );
        items.extend(page["items"].as_array().unwrap().clone());
        let Value::String(next) = &page["nextAfter"] else {
            break;
        };
        after = format!("&after={next}");
    }
    assert_eq!(
        items[4],
        json!({"id": 5, "batch": 2, "index": 1, "externalId": "c1", "code": "unknown_field", "field": "fax",
               "message": "The field fax was not declared."})
    );
    let places: Vec<_> = items
        .iter()
        .map(|item| {
            (
                item["batch"].as_i64().unwrap(),
                item["index"].as_i64().unwrap(),
            )
        })
        .collect();
    assert_eq!(places, [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2)]);
    let exact = crm.get("/sync/rejections?limit=6").await.json();
    assert_eq!(
        exact["nextAfter"],
        Value::Null,
        "a page that is full and the last has no next one"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_dropped_value_is_listed_with_type_warning() {
    let crm = CrmClient::start().await;
    crm.begin_sync("delta").await;
    let dropping: Vec<_> = (0..7)
        .map(|n| json!({"external_id": format!("c{n}"), "fields": {"score": "x", "since": []}}))
        .collect();
    let pushed = crm.push_records(&dropping).await.json();
    let groups: Vec<_> = pushed["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| (&group["field"], &group["count"]))
        .collect();
    assert_eq!(
        groups,
        [(&json!("score"), &json!(7)), (&json!("since"), &json!(7))]
    );
    let page = crm.get("/sync/rejections?type=warning").await.json();
    assert_eq!(page["items"].as_array().unwrap().len(), 14);
    assert_eq!(page["items"][0]["code"], "invalid_type");
    assert_eq!(crm.get("/sync/rejections").await.json()["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_later_batch_of_the_sync_accepts_is_marked_as_resolved() {
    let crm = CrmClient::start().await;
    crm.begin_sync("delta").await;
    let bad = |id: &str| json!({"external_id": id, "fields": {"mail": "nobody"}});
    let dropping = |id: &str| json!({"external_id": id, "fields": {"score": "x", "first": "Ann"}});
    crm.push_records(&[
        bad("a"),
        bad("b"),
        bad("c"),
        dropping("d"),
        dropping("e"),
        json!(7),
    ])
    .await;
    let listed = async |query: &str| {
        let page = crm.get(&format!("/sync/rejections{query}")).await.json();
        let told = |item: &Value| {
            let id = item["externalId"].as_str().unwrap_or("-");
            format!(
                "{id}{}",
                if item["resolved"] == true {
                    " resolved"
                } else {
                    ""
                }
            )
        };
        page["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(told)
            .collect::<Vec<_>>()
    };
    assert_eq!(listed("").await, ["a", "b", "c", "-"]);
    // One is mended, one is deleted, one is refused again. Of the dropped values one comes again, of the other nothing.
    crm.push_records(&[
        json!({"external_id": "a", "fields": {"mail": "ann@example.com"}}),
        json!({"external_id": "b", "op": "delete"}),
        bad("c"),
        json!({"external_id": "d", "fields": {"score": 7}}),
        json!({"external_id": "e", "fields": {"first": "Eve"}}),
    ])
    .await;
    assert_eq!(
        listed("").await,
        ["a resolved", "b resolved", "c", "-", "c"]
    );
    assert_eq!(listed("?resolved=false").await, ["c", "-", "c"]);
    assert_eq!(listed("?resolved=false&limit=1").await, ["c"]);
    assert_eq!(listed("?type=warning").await, ["d resolved", "e"]);
    assert_eq!(listed("?type=warning&resolved=false").await, ["e"]);
    let contact = crm.get("/contacts?externalId=a").await.json();
    assert_eq!(contact["issues"][0]["resolved"], true);
    crm.complete_sync(json!({})).await;
    // Another sync has issues of its own.
    crm.run_sync(
        "delta",
        &[json!({"external_id": "c", "fields": {"mail": "cy@example.com"}})],
    )
    .await;
    let first = crm.get("/syncs").await.json()["syncs"][1]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(
        listed(&format!("?resolved=false&syncId={first}")).await,
        ["c", "-", "c"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_parameters_of_the_list_each_have_their_code() {
    let crm = CrmClient::start().await;
    crm.run_sync("full", &[]).await;
    let nobodys = format!("syncId={}", uuid::Uuid::now_v7());
    for (query, status, code) in [
        ("syncId=x", 400, "invalid_sync_id"),
        ("type=both", 400, "invalid_type"),
        ("after=-1", 400, "invalid_cursor"),
        ("after=x", 400, "invalid_cursor"),
        ("after=1234567890123456", 400, "invalid_cursor"),
        ("limit=0", 400, "invalid_limit"),
        ("limit=1001", 400, "invalid_limit"),
        ("limit=ten", 400, "invalid_limit"),
        (&nobodys, 404, "sync_not_found"),
    ] {
        let answer = crm.get(&format!("/sync/rejections?{query}")).await;
        assert_eq!(answer.push_error(), (status, code.to_owned()), "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_contact_is_read_back_by_its_external_id_with_its_last_sync_and_issues() {
    let crm = CrmClient::start().await;
    let id = "Ünï/ço+de 🙂";
    let path = format!(
        "/contacts?externalId={}",
        "%C3%9Cn%C3%AF%2F%C3%A7o%2Bde%20%F0%9F%99%82"
    );
    assert_eq!(
        crm.get(&path).await.push_error(),
        (404, "contact_not_found".to_owned())
    );
    assert_eq!(
        crm.get("/contacts").await.push_error(),
        (400, "invalid_request".to_owned())
    );
    crm.run_sync(
        "full",
        &[json!({"external_id": id, "fields": {"first": "Ann", "score": "x"}})],
    )
    .await;
    let second = crm.run_sync("full", &[record(id, "Ann")]).await;
    let contact = crm.get(&path).await.json();
    assert_eq!(
        (&contact["externalId"], &contact["fields"]),
        (&json!(id), &json!({"first": "Ann"}))
    );
    assert_eq!(
        (&contact["removed"], &contact["lastSyncId"]),
        (&json!(false), &second["syncId"])
    );
    assert_eq!(
        (
            &contact["issues"][0]["type"],
            &contact["issues"][0]["field"]
        ),
        (&json!("warning"), &json!("score"))
    );
    crm.run_sync("full", &[]).await;
    assert_eq!(crm.get(&path).await.json()["removed"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn syncs_are_listed_the_newest_first() {
    let crm = CrmClient::start().await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.insert(0, crm.run_sync("full", &[]).await["syncId"].clone());
    }
    let page = crm.get("/syncs?limit=2").await.json();
    let next = page["nextAfter"].as_str().unwrap();
    let last = crm
        .get(&format!("/syncs?limit=2&after={next}"))
        .await
        .json();
    let shown: Vec<_> = [&page, &last]
        .iter()
        .flat_map(|page| page["syncs"].as_array().unwrap())
        .map(|sync| &sync["id"])
        .collect();
    assert_eq!(shown, ids.iter().collect::<Vec<_>>());
    assert_eq!(last["nextAfter"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_latest_sync_is_the_one_begun_last_though_another_workers_clock_was_ahead() {
    let crm = CrmClient::start().await;
    crm.run_sync("full", &[record("a", "Ann")]).await;
    // As a worker whose clock is an hour ahead would have named it.
    let ahead = uuid::Uuid::new_v7(uuid::Timestamp::from_unix(
        uuid::NoContext,
        (chrono::Utc::now().timestamp() + 3_600).cast_unsigned(),
        0,
    ));
    crm.stack
        .sql
        .execute("UPDATE syncs SET sync_id = $1", &[&ahead])
        .await
        .unwrap();
    let begun = crm.begin_sync("full").await.json()["syncId"].clone();
    assert_eq!(crm.get("/sync").await.json()["sync"]["id"], begun);
    let listed = crm.get("/syncs").await.json();
    assert_eq!(
        (&listed["syncs"][0]["id"], &listed["syncs"][1]["id"]),
        (&begun, &json!(ahead))
    );
    crm.push_records(&[record("a", "Ann")]).await;
    crm.complete_sync(json!({})).await;
    assert_eq!(
        crm.get("/contacts?externalId=a").await.json()["lastSyncId"],
        begun
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn contacts_appear_in_the_teams_address_book_under_the_columns_that_their_fields_fill() {
    let crm = CrmClient::start().await;
    let score = format!("0.{}", "7".repeat(700));
    let contact = |id: &str| json!({"external_id": id, "fields": {"first": "Ann", "score": score}});
    crm.run_sync("full", &[contact("a"), contact("b"), record("gone", "Bob")])
        .await;
    crm.run_sync("full", &[contact("a"), contact("b")]).await;
    let team_id = crm
        .stack
        .store
        .find_team_by_name("Test")
        .await
        .unwrap()
        .team_id;
    let (mut lines, mut next) = (Vec::new(), Some(BookCursor::START));
    while let Some(cursor) = next {
        let page = crm
            .stack
            .store
            .list_address_book_page(team_id, cursor, 1)
            .await
            .unwrap();
        lines.extend(page.lines);
        next = page.next;
    }
    let shown: Vec<_> = lines
        .iter()
        .map(|line| line.external_id.as_deref().unwrap())
        .collect();
    assert_eq!(shown, ["a", "b"]);
    assert_eq!(json!(lines[0].built_in), json!({"first_name": "Ann"}));
    assert_eq!(json!(lines[0].custom), json!({"score": score[..600]}));
    let written = run_operator_command(&["address-book", "Test"], &crm.stack.settings);
    let written: Vec<Value> = written
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(json!(written), json!(lines), "the operator sees the same");
}
