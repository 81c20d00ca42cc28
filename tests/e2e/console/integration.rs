//! Integrations: what is set up at the console holds in the push API at once.

use contract::push::FieldSemantic;
use pillarbox_tests::{ApiResponse, ConsoleClient, ConsoleResponse, CrmClient};
use reqwest::Method;
use serde_json::{Value, json};
use store::MemberRole;

use super::{member, secret_in};

/// A CRM, and an Admin of its team at the console.
async fn world(crm: CrmClient) -> (CrmClient, ConsoleClient) {
    let mut crm = crm;
    let url = crm.stack.start_console().await;
    let admin = member(&crm.stack, &url, MemberRole::Admin).await;
    (crm, admin)
}

/// The path of the integration that [`CrmClient`] speaks for.
async fn path(crm: &CrmClient) -> String {
    let team_id = crm
        .stack
        .store
        .find_team_by_name("Test")
        .await
        .unwrap()
        .team_id;
    let integration = crm
        .stack
        .store
        .find_integration_by_name(team_id, "CRM")
        .await
        .unwrap();
    format!("/integrations/{}", integration.integration_id)
}

/// Calls the push API with a key.
async fn call(crm: &CrmClient, method: Method, path: &str, key: &str, body: Value) -> ApiResponse {
    let (authorization, idempotency) = (format!("Bearer {key}"), crm.new_idempotency_key());
    let headers = [
        ("authorization", authorization.as_str()),
        ("idempotency-key", &idempotency),
    ];
    crm.request(method, path, &headers, body.to_string()).await
}

/// Fills these columns with these fields, and all others with none.
async fn map(admin: &ConsoleClient, page: &str, columns: &[(&str, &str)]) -> ConsoleResponse {
    admin.save_form(page, page, &mapping(columns)).await
}

fn mapping<'a>(columns: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let field = |column: &str| {
        columns
            .iter()
            .find(|(name, _)| *name == column)
            .map_or("", |(_, field)| field)
    };
    FieldSemantic::ALL
        .iter()
        .map(|semantic| (semantic.as_str(), field(semantic.as_str())))
        .collect()
}

fn redirects(page: &ConsoleResponse, location: &str) {
    assert_eq!(
        (page.status.as_u16(), page.location()),
        (303, location),
        "{}",
        page.html
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_integration_made_here_takes_pushes_with_its_key_until_it_is_paused_or_the_key_revoked()
{
    let (crm, admin) = world(CrmClient::with_settings(Vec::new()).await).await;
    let made = admin
        .post("/integrations", &[("name", " Second CRM ")])
        .await;
    let path = made.location().to_owned();
    assert!(path.starts_with("/integrations/"), "{}", made.html);
    let again = admin.post("/integrations", &[("name", "Second CRM")]).await;
    assert_eq!(again.status, 422);
    assert!(
        again.html.contains("has an integration named")
            && again.html.contains("value=\"Second CRM\"")
    );
    assert!(admin.get(&path).await.html.contains("Setup needed"));

    let keys = format!("{path}/keys");
    let key = secret_in(
        &admin.post_and_follow(&keys, &[("name", "Nightly")]).await,
        "pk_int_",
    );
    assert!(
        !admin.get(&path).await.html.contains(&key),
        "it is shown once"
    );
    secret_in(
        &admin.post_and_follow(&keys, &[("name", "Next")]).await,
        "pk_int_",
    );
    let third = admin.post(&keys, &[("name", "Third")]).await;
    assert_eq!(third.status, 422);
    assert!(
        third.html.contains("2 active keys, which is the most"),
        "{}",
        third.html
    );

    let declared = call(
        &crm,
        Method::POST,
        "/schema",
        &key,
        json!({"fields": [{"key": "first"}]}),
    )
    .await;
    assert_eq!(declared.status, 200, "{}", declared.text);
    assert_eq!(
        call(&crm, Method::POST, "/sync", &key, json!({}))
            .await
            .status,
        200
    );
    assert!(admin.get(&path).await.html.contains("Syncing"));
    let records = json!({"records": [{"external_id": "a", "fields": {"first": "Ann"}}]});
    assert_eq!(
        call(&crm, Method::POST, "/records", &key, records)
            .await
            .json()["accepted"],
        1
    );

    let status = async || {
        call(&crm, Method::GET, "/sync", &key, json!({}))
            .await
            .status
            .as_u16()
    };
    for (action, notice, then) in [
        ("pause", "integration-paused", 403),
        ("resume", "integration-resumed", 200),
        ("disconnect", "integration-disconnected", 403),
        ("resume", "integration-resumed", 200),
    ] {
        let done = admin.post(&format!("{path}/{action}"), &[]).await;
        redirects(&done, &format!("{path}?notice={notice}"));
        assert_eq!(status().await, then, "{action}");
    }
    assert_eq!(
        call(&crm, Method::PATCH, "/sync", &key, json!({}))
            .await
            .json()["recordsUpserted"],
        1
    );
    assert!(
        admin
            .get(&format!("{path}/syncs"))
            .await
            .html
            .contains("completed")
    );

    let team_id = crm
        .stack
        .store
        .find_team_by_name("Test")
        .await
        .unwrap()
        .team_id;
    let keys = crm.stack.store.list_api_keys(team_id).await.unwrap();
    let key_id = keys
        .iter()
        .find(|key| key.name == "Nightly")
        .unwrap()
        .key_id;
    let other = self::path(&crm).await;
    assert_eq!(
        admin
            .post(&format!("{other}/keys/{key_id}/revoke"), &[])
            .await
            .status,
        404
    );
    redirects(
        &admin
            .post(&format!("{path}/keys/{key_id}/revoke"), &[])
            .await,
        &format!("{path}?notice=key-revoked"),
    );
    assert_eq!(status().await, 401);
    let log = admin.get("/activity?kind=integration").await.html;
    for action in ["created", "paused", "resumed", "disconnected"] {
        assert!(log.contains(&format!("integration.{action}")), "{action}");
    }
    assert!(!log.contains("key.revoked"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_s_mapping_fills_columns_and_outlives_declarations_until_it_is_given_back() {
    let (crm, admin) = world(CrmClient::with_settings(Vec::new()).await).await;
    let fields = format!("{}/fields", path(&crm).await);
    assert!(admin.get(&fields).await.html.contains("No fields yet"));
    let declaration = json!([{"key": "given", "semantic": "email"}, {"key": "plz"}]);
    crm.declare_fields(declaration.clone()).await;
    crm.run_sync(
        "full",
        &[json!({"external_id": "a", "fields": {"given": "ann@example.com", "plz": "78701"}})],
    )
    .await;
    let semantics = async || -> Vec<Value> {
        let schema = crm.get("/schema").await.json();
        schema["fields"]
            .as_array()
            .unwrap()
            .iter()
            .map(|field| field["semantic"].clone())
            .collect()
    };

    let wrong = map(
        &admin,
        &fields,
        &[("zip", "plz"), ("city", "plz"), ("state", "nowhere")],
    )
    .await;
    assert_eq!(wrong.status, 422);
    assert!(
        wrong.html.contains("The field plz fills city already."),
        "{}",
        wrong.html
    );
    assert!(
        wrong.html.contains("No field is declared with the key")
            && wrong.html.contains("value=\"nowhere\"")
    );
    assert_eq!(semantics().await, [json!("email"), json!(null)]);

    let partial = admin.save_form(&fields, &fields, &[("zip", "plz")]).await;
    assert!(
        partial.status == 422 && partial.html.contains("came without the column"),
        "{}",
        partial.html
    );
    let mapped = map(
        &admin,
        &fields,
        &[("first_name", "given"), ("zip", " plz ")],
    )
    .await;
    redirects(&mapped, &format!("{fields}?notice=fields-mapped"));
    assert_eq!(semantics().await, [json!("first_name"), json!("zip")]);
    crm.declare_fields(declaration.clone()).await;
    assert_eq!(semantics().await, [json!("first_name"), json!("zip")]);
    let team_id = crm
        .stack
        .store
        .find_team_by_name("Test")
        .await
        .unwrap()
        .team_id;
    let mut book = crm
        .stack
        .store
        .list_address_book_page(team_id, store::BookCursor::START, 10)
        .await
        .unwrap();
    while book.lines.is_empty() {
        let next = book.next.expect("a contact");
        book = crm
            .stack
            .store
            .list_address_book_page(team_id, next, 10)
            .await
            .unwrap();
    }
    assert_eq!(
        book.lines[0].built_in["zip"], "78701",
        "also of what was received before"
    );

    redirects(
        &admin.post(&format!("{fields}/release"), &[]).await,
        &format!("{fields}?notice=fields-released"),
    );
    assert_eq!(semantics().await, [json!("first_name"), json!("zip")]);
    crm.declare_fields(declaration).await;
    assert_eq!(semantics().await, [json!("email"), json!(null)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guard_set_here_asks_first_and_a_removal_is_taken_back_here_once() {
    let (crm, admin) = world(CrmClient::start().await).await;
    let path = path(&crm).await;
    let guard = async |percent| {
        admin
            .save_form(&path, &format!("{path}/guard"), &[("percent", percent)])
            .await
    };
    for none in ["%", "101", "-1", "2.5"] {
        assert_eq!(guard(none).await.status, 422, "{none}");
    }
    let wrong = guard("lots").await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.html.contains("Give a whole number") && wrong.html.contains("value=\"lots\""));
    redirects(&guard("50").await, &format!("{path}?notice=guard-set"));
    let records =
        ["a", "b", "c", "d"].map(|id| json!({"external_id": id, "fields": {"first": "Ann"}}));
    crm.run_sync("full", &records).await;
    crm.begin_sync("full").await;
    crm.push_records(&records[..1]).await;
    assert_eq!(
        crm.complete_sync(json!({})).await.push_error(),
        (409, "removal_guard".to_owned())
    );
    redirects(&guard("").await, &format!("{path}?notice=guard-cleared"));
    assert_eq!(
        crm.complete_sync(json!({})).await.json()["markedRemoved"],
        3
    );
    assert_eq!(crm.list_external_ids().await, ["a"]);
    assert!(
        admin
            .get(&path)
            .await
            .html
            .contains("Take the last removal back")
    );
    let undo = format!("{path}/undo-removal");
    redirects(
        &admin.post(&undo, &[]).await,
        &format!("{path}?notice=removal-undone"),
    );
    assert_eq!(crm.list_external_ids().await, ["a", "b", "c", "d"]);
    assert!(
        !admin
            .get(&path)
            .await
            .html
            .contains("Take the last removal back")
    );
    let again = admin.post(&undo, &[]).await;
    assert!(
        admin
            .get(again.location())
            .await
            .html
            .contains("undone already"),
        "{}",
        again.html
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sync_that_the_guard_holds_back_is_told_until_it_is_completed_or_expires() {
    let mut crm = CrmClient::start().await;
    let url = crm.stack.start_console().await;
    let mut admin = member(&crm.stack, &url, MemberRole::Admin).await;
    let path = path(&crm).await;
    redirects(
        &admin
            .save_form(&path, &format!("{path}/guard"), &[("percent", "50")])
            .await,
        &format!("{path}?notice=guard-set"),
    );
    let records =
        ["a", "b", "c", "d"].map(|id| json!({"external_id": id, "fields": {"first": "Ann"}}));
    crm.run_sync("full", &records).await;
    for ends in ["confirmed", "expired"] {
        crm.begin_sync("full").await;
        crm.push_records(&records[..1]).await;
        let sync_id = crm.get("/sync").await.json()["sync"]["id"]
            .as_str()
            .unwrap()
            .to_owned();
        let pages = [
            "/".to_owned(),
            path.clone(),
            format!("{path}/syncs/{sync_id}"),
        ];
        for page in &pages {
            assert!(!admin.get(page).await.html.contains("held back"), "{page}");
        }
        assert_eq!(
            crm.complete_sync(json!({})).await.push_error(),
            (409, "removal_guard".to_owned())
        );
        for page in &pages {
            let html = admin.get(page).await.html;
            assert!(
                html.contains("held back") && html.contains("3 contacts, 75.0 % of all"),
                "{page}: {html}"
            );
        }
        if ends == "confirmed" {
            assert_eq!(
                crm.complete_sync(json!({"confirmRemoval": true}))
                    .await
                    .json()["markedRemoved"],
                3
            );
            admin.post(&format!("{path}/undo-removal"), &[]).await;
        } else {
            crm.stack.clock.advance(chrono::TimeDelta::hours(25));
            admin = member(&crm.stack, &url, MemberRole::Admin).await;
        }
        for page in &pages {
            let page = admin.get(page).await;
            assert!(
                page.status == 200 && !page.html.contains("held back"),
                "{ends}: {}",
                page.html
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rejections_and_warnings_are_browsed_page_by_page_and_exported_whole() {
    let (crm, admin) = world(CrmClient::start().await).await;
    let mut records: Vec<Value> = (0..120)
        .map(|number| json!({"external_id": format!("=r{number}"), "fields": {"fax": "1"}}))
        .collect();
    records.push(json!({"external_id": "dropped", "fields": {"score": "many"}}));
    crm.run_sync("delta", &records).await;
    let sync_id = crm.get("/sync").await.json()["sync"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("{}/syncs/{sync_id}", path(&crm).await);

    let (mut next, mut seen) = (Some(path.clone()), Vec::new());
    while let Some(address) = next {
        let html = admin.get(&address).await.html;
        let ids = html
            .split("<code>=r")
            .skip(1)
            .map(|rest| rest.split('<').next().unwrap().to_owned());
        seen.extend(ids);
        let more = html
            .split("<a href=\"")
            .find(|rest| rest.contains("rel=\"next\""));
        next = more.map(|rest| rest.split('"').next().unwrap().replace("&amp;", "&"));
    }
    let all: Vec<String> = (0..120).map(|number| number.to_string()).collect();
    assert_eq!(seen, all);

    let file = admin
        .get(&format!("{path}/issues.csv?type=rejection"))
        .await;
    assert_eq!(file.headers["content-type"], "text/csv; charset=utf-8");
    assert_eq!(file.html.lines().count(), 121);
    assert!(
        file.html
            .lines()
            .nth(1)
            .unwrap()
            .starts_with("1,0,'=r0,unknown_field,fax,"),
        "{}",
        file.html
    );
    let warnings = admin.get(&format!("{path}?type=warning")).await.html;
    assert!(
        warnings.contains("dropped")
            && warnings.contains("invalid_type")
            && !warnings.contains("=r0")
    );
    let file = admin
        .get(&format!("{path}/issues.csv?type=warning"))
        .await
        .html;
    assert_eq!(file.lines().count(), 2);
    assert_eq!(admin.get(&format!("{path}?type=other")).await.status, 404);
}
