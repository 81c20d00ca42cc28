//! The console: who may do what, and that it takes effect.

mod address_book;
mod billing;
mod browser;
mod campaign;
mod column_types;
mod design;
mod endpoint;
mod home;
mod integration;
mod key;
mod null_character;
mod overtaken;
mod password;
mod recipient;
mod refused;
mod removed;
mod setup;
mod shown_once;
mod sign_in;
mod stalled;
mod team;
mod walk;

use console::router::{self, RouteAccess};
use pillarbox_tests::{ConsoleClient, ConsoleResponse, KEY, PASSWORD, TestStack};
use reqwest::Method;
use serde_json::json;
use store::{MemberRole, Team};

/// A console, and a visitor of each role in the tests' team.
async fn console() -> (TestStack, String) {
    let mut stack = TestStack::start().await;
    let url = stack.start_console().await;
    (stack, url)
}

async fn member(stack: &TestStack, url: &str, role: MemberRole) -> ConsoleClient {
    let team = stack.store.list_teams("", 1).await.unwrap().remove(0);
    ConsoleClient::new(stack, url, team.team_id, role).await
}

/// The secret with this prefix that a page shows.
fn secret_in(page: &ConsoleResponse, prefix: &str) -> String {
    let start = page
        .html
        .find(prefix)
        .unwrap_or_else(|| panic!("no {prefix} in {}", page.html));
    page.html[start..].split('<').next().unwrap().to_owned()
}

/// The owner of another team.
async fn foreigner(stack: &TestStack, url: &str) -> ConsoleClient {
    let ours = stack.store.list_teams("", 1).await.unwrap().remove(0);
    let mut connection = stack.store.connection().await.unwrap();
    let transaction = connection.begin_transaction().await.unwrap();
    let other = Team {
        team_id: model::id::TeamId::new(),
        name: "Somebody else".to_owned(),
        ..ours
    };
    let other_id = transaction
        .save_team(&other, stack.clock.now())
        .await
        .unwrap()
        .team_id;
    transaction.commit().await.unwrap();
    ConsoleClient::new(stack, url, other_id, MemberRole::Owner).await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_is_closed_to_strangers_and_to_roles_that_may_not_use_it() {
    let (stack, url) = console().await;
    let people = [
        (None, ConsoleClient::anonymous(&url)),
        (
            Some(MemberRole::Member),
            member(&stack, &url, MemberRole::Member).await,
        ),
        (
            Some(MemberRole::Admin),
            member(&stack, &url, MemberRole::Admin).await,
        ),
    ];
    for route in router::console_routes()
        .iter()
        .filter(|route| route.access != RouteAccess::Anyone && route.path != "/sign-out")
    {
        let path = route.path.replace(['{', '}'], "");
        for (role, person) in &people {
            let page = person.request(route.method.clone(), &path, &[], &[]).await;
            let case = format!("{} {} as {role:?}", route.method, route.path);
            match (role, route.access) {
                (None, _) => assert!(
                    page.location().starts_with("/sign-in"),
                    "{case}: {}",
                    page.status
                ),
                (Some(MemberRole::Member), RouteAccess::Manager | RouteAccess::Owner)
                | (Some(MemberRole::Admin), RouteAccess::Owner) => {
                    assert_eq!(page.status, 403, "{case}");
                }
                _ => assert_ne!(page.status, 403, "{case}"),
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_made_here_opens_the_api_until_it_is_revoked_here() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let made = admin
        .post_and_follow("/keys", &[("name", "Website"), ("kind", "full_access")])
        .await;
    let key = secret_in(&made, "pk_live_");
    assert!(
        !admin.get("/keys").await.html.contains(&key),
        "it is shown once"
    );
    let body =
        json!({"campaign_id": "PA-TEST01", "recipients": [pillarbox_tests::build_recipient(1)]})
            .to_string();
    let bearer = format!("Bearer {key}");
    let send = async || {
        stack
            .post_send_with(&[("authorization", bearer.as_str())], body.clone())
            .await
    };
    assert_eq!(send().await.status, 200);
    let keys = stack
        .store
        .list_api_keys(stack.store.list_teams("", 1).await.unwrap()[0].team_id)
        .await
        .unwrap();
    let key_id = keys
        .iter()
        .find(|key| key.name == "Website")
        .unwrap()
        .key_id;
    let revoked = admin.post(&format!("/keys/{key_id}/revoke"), &[]).await;
    assert_eq!(
        (revoked.status.as_u16(), revoked.location()),
        (303, "/keys?notice=key-revoked")
    );
    assert!(
        admin
            .get(revoked.location())
            .await
            .html
            .contains("Key revoked.")
    );
    assert_eq!(send().await.error(), (401, "invalid_api_key".to_owned()));
    let log = admin.get("/activity").await.html;
    assert!(
        log.contains("key.created") && log.contains("key.revoked") && log.contains("Website"),
        "{log}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_team_neither_sees_nor_changes_what_is_another_s() {
    let (stack, url) = console().await;
    let ours = stack.store.list_teams("", 1).await.unwrap().remove(0);
    let foreigner = foreigner(&stack, &url).await;
    let key = stack
        .store
        .list_api_keys(ours.team_id)
        .await
        .unwrap()
        .remove(0);
    assert_eq!(
        foreigner
            .post(&format!("/keys/{}/revoke", key.key_id), &[])
            .await
            .status,
        404
    );
    assert!(!foreigner.get("/keys").await.html.contains(&key.display));
    assert!(
        stack.store.list_api_keys(ours.team_id).await.unwrap()[0]
            .revoked_at
            .is_none()
    );
    assert!(KEY.starts_with("pk_live_"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_action_that_another_site_sent_is_refused() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let form = [("name", "Foreign"), ("kind", "full_access")];
    for foreign in [
        ("sec-fetch-site", "cross-site"),
        ("origin", "https://evil.example"),
    ] {
        let page = admin
            .request(Method::POST, "/keys", &form, &[foreign])
            .await;
        assert_eq!(page.status, 403, "{foreign:?}");
    }
    let same = admin
        .request(
            Method::POST,
            "/keys",
            &form,
            &[("sec-fetch-site", "same-origin")],
        )
        .await;
    assert_eq!(same.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_by_signing_out_by_idleness_and_by_age() {
    let (stack, url) = console().await;
    let person = member(&stack, &url, MemberRole::Member).await;
    assert_eq!(person.get("/").await.status, 200);
    person.post("/sign-out", &[]).await;
    assert_eq!(
        person.get("/").await.status,
        303,
        "the token is worth nothing any more"
    );
    let person = member(&stack, &url, MemberRole::Member).await;
    stack.clock.advance(chrono::TimeDelta::minutes(119));
    assert_eq!(person.get("/").await.status, 200);
    stack.clock.advance(chrono::TimeDelta::minutes(119));
    assert_eq!(person.get("/").await.status, 200, "it was used meanwhile");
    stack.clock.advance(chrono::TimeDelta::minutes(121));
    assert_eq!(person.get("/").await.status, 303);
    let person = member(&stack, &url, MemberRole::Member).await;
    for _ in 0..84 {
        stack.clock.advance(chrono::TimeDelta::minutes(119));
        person.get("/").await;
    }
    stack.clock.advance(chrono::TimeDelta::minutes(100));
    assert_eq!(person.get("/").await.status, 303, "a week has passed");
}

#[tokio::test(flavor = "multi_thread")]
async fn signing_in_is_refused_alike_for_unknown_people_and_wrong_passwords_and_bounded() {
    let (stack, url) = console().await;
    let team = stack.store.list_teams("", 1).await.unwrap().remove(0);
    member(&stack, &url, MemberRole::Member).await;
    let email = stack
        .store
        .list_member_summaries(team.team_id)
        .await
        .unwrap()
        .pop()
        .unwrap()
        .email;
    let mut stranger = ConsoleClient::anonymous(&url);
    let wrong = stranger.sign_in(&email, "not the password").await;
    let unknown = stranger.sign_in("nobody@example.com", PASSWORD).await;
    assert_eq!((wrong.status.as_u16(), unknown.status.as_u16()), (403, 403));
    assert_eq!(
        wrong.html.replace(&email, ""),
        unknown.html.replace("nobody@example.com", "")
    );
    let mut statuses = Vec::new();
    for _ in 0..20 {
        statuses.push(
            stranger
                .sign_in(&email, "not the password")
                .await
                .status
                .as_u16(),
        );
    }
    assert_eq!(statuses.pop(), Some(429));
    assert_eq!(
        stranger.sign_in(&email, PASSWORD).await.status,
        429,
        "not even the right one is looked at"
    );
    stack.clock.advance(chrono::TimeDelta::minutes(15));
    assert_eq!(stranger.sign_in(&email, PASSWORD).await.status, 303);
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_allow_no_content_of_other_hosts_and_are_kept_by_nobody() {
    let (_stack, url) = console().await;
    let stranger = ConsoleClient::anonymous(&url);
    for path in ["/sign-in", "/nothing-here", "/assets/console.css"] {
        let page = stranger.get(path).await;
        let header = |name: &str| page.headers.get(name).unwrap().to_str().unwrap().to_owned();
        assert!(
            header("content-security-policy").starts_with("default-src 'none'; script-src 'self'"),
            "{path}"
        );
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(
            header("cache-control") == "no-store",
            path != "/assets/console.css"
        );
        assert!(
            !page.html.contains("http://") && !page.html.contains("https://"),
            "{path}"
        );
    }
}
