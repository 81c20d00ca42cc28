//! The list of routes, walked as an owner of another team with ids of ours: each path is closed to him.

use std::collections::HashMap;

use chrono::TimeDelta;
use console::router::{self, ConsoleRoute, RouteAccess};
use contract::push::{OpenSync, SyncMode};
use delivering::EndpointManager;
use model::id::{SyncId, TeamId};
use pillarbox_tests::{CAMPAIGN, TestStack, build_recipient};
use reqwest::Method;
use serde_json::json;
use store::MemberRole;

use super::{console, foreigner, member};

/// The name of each parameter of a path, with an id that our team has.
pub(super) type Ids = HashMap<&'static str, String>;

/// One text from the database.
async fn text(stack: &TestStack, sql: &str) -> String {
    stack.sql.query_one(sql, &[]).await.expect(sql).get(0)
}

/// Makes one of everything, and says what it is called in paths.
pub(super) async fn furnish(stack: &TestStack) -> Ids {
    let crm = json!({"name": "CRM", "keys": [{"name": "Nightly"}]});
    let endpoint = json!({"url": "http://127.0.0.1:9/hook"});
    stack
        .apply_team(
            json!({"teams": [{"name": "Test", "integrations": [crm], "endpoints": [endpoint]}]}),
        )
        .await;
    assert_eq!(
        stack.send_recipients(&[build_recipient(1)]).await.reasons(),
        ["mailed"]
    );
    let team_id = stack.store.find_team_by_name("Test").await.unwrap().team_id;
    let mut ids = deliveries_and_syncs(stack, team_id).await;
    for (name, sql) in [
        (
            "integration_id",
            "SELECT integration_id::text FROM integrations",
        ),
        (
            "key_id",
            "SELECT key_id::text FROM api_keys WHERE kind = 'integration'",
        ),
        ("endpoint_id", "SELECT endpoint_id::text FROM endpoints"),
        ("charge_id", "SELECT charge_id::text FROM charges"),
        (
            "user_id",
            "SELECT member_id::text FROM members WHERE role = 'member'",
        ),
        ("design_id", "SELECT design_id::text FROM designs"),
        ("entry_id", "SELECT entry_id::text FROM address_entries"),
    ] {
        ids.insert(name, text(stack, sql).await);
    }
    let fixed = [
        ("campaign_id", CAMPAIGN),
        ("version", "1"),
        ("step", "1"),
        ("side", "front"),
    ];
    ids.extend(fixed.map(|(name, id)| (name, id.to_owned())));
    ids
}

async fn deliveries_and_syncs(stack: &TestStack, team_id: TeamId) -> Ids {
    let (store, now) = (&stack.store, stack.now());
    let integration = store
        .find_integration_by_name(team_id, "CRM")
        .await
        .unwrap();
    let endpoint = store.list_endpoints(team_id).await.unwrap().remove(0);
    let manager = EndpointManager::new(store, team_id, store::Actor::Operator, now);
    let delivery_id = manager.send_test(endpoint.endpoint_id).await.unwrap();
    let sync = OpenSync {
        sync_id: SyncId::new(),
        mode: SyncMode::Full,
        expires_at: now + TimeDelta::hours(24),
    };
    let mut connection = store.connection().await.unwrap();
    let transaction = connection.begin_transaction().await.unwrap();
    transaction
        .begin_sync(integration.integration_id, &sync, now)
        .await
        .unwrap();
    let request_id = transaction
        .insert_top_up_request(team_id, 100, "TU-WALK", "Ada", now)
        .await
        .unwrap();
    transaction.commit().await.unwrap();
    Ids::from([
        ("sync_id", sync.sync_id.to_string()),
        ("delivery_id", delivery_id.to_string()),
        ("request_id", request_id.to_string()),
    ])
}

/// The path with our ids; panics for a parameter that has none yet, so that each new one is walked too.
pub(super) fn filled(route: &ConsoleRoute, ids: &Ids) -> String {
    let segment = |segment: &str| match segment
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
    {
        Some(name) => ids
            .get(name)
            .unwrap_or_else(|| panic!("{}: no id for {name}", route.path))
            .clone(),
        None => segment.to_owned(),
    };
    route
        .path
        .split('/')
        .map(segment)
        .collect::<Vec<_>>()
        .join("/")
}

/// A page that needs more than its path has.
fn query(route: &ConsoleRoute) -> &'static str {
    if route.path.ends_with("/contact") {
        "?id=a"
    } else {
        ""
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_path_with_an_id_of_ours_is_404_to_an_owner_of_another_team() {
    let (stack, url) = console().await;
    let ours = member(&stack, &url, MemberRole::Owner).await;
    member(&stack, &url, MemberRole::Member).await;
    let foreigner = foreigner(&stack, &url).await;
    let ids = furnish(&stack).await;
    let closed =
        |route: &&ConsoleRoute| route.access != RouteAccess::Anyone && route.path.contains('{');
    let routes = router::console_routes();
    let (mut walked, mut open, mut unreal) = (0, Vec::new(), Vec::new());
    for route in routes.iter().filter(closed) {
        let address = format!("{}{}", filled(route, &ids), query(route));
        let mut page = foreigner
            .request(route.method.clone(), &address, &[], &[])
            .await;
        if page.status == 422 {
            // It takes files.
            page = foreigner.upload_form(&address, &[]).await;
        }
        if page.status != 404 {
            open.push(format!("{} {address}: {}", route.method, page.status));
        }
        if route.method == Method::GET && query(route).is_empty() {
            let status = ours.get(&address).await.status;
            if status != 200 {
                unreal.push(format!("{address}: {status}"));
            }
        }
        walked += 1;
    }
    assert_eq!(
        (open, unreal),
        (Vec::<String>::new(), Vec::<String>::new()),
        "open to others, and not real ids"
    );
    assert!(walked > 40, "{walked}");
}
