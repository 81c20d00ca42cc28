//! Signing in: what is refused, what is counted, and what is told.

use pillarbox_tests::{ConsoleClient, ConsoleResponse, PASSWORD, TestStack, wait_until};
use reqwest::Method;
use store::MemberRole;

use super::{console, member};

/// A console that believes the address in `X-Forwarded-For`, and the e-mail address of a Member.
async fn behind_a_proxy() -> (TestStack, String, String) {
    let settings = vec![("CONSOLE__TRUSTED_PROXIES", "127.0.0.1/32".to_owned())];
    let mut stack = TestStack::with_options(pillarbox_tests::StackOptions {
        settings,
        ..Default::default()
    })
    .await;
    let url = stack.start_console().await;
    let team = stack.store.list_teams("", 1).await.unwrap().remove(0);
    let email = ConsoleClient::create_member(&stack, team.team_id, MemberRole::Member).await;
    (stack, url, email)
}

/// An attempt to sign in from this source.
async fn attempt(url: &str, email: &str, password: &str, source: &str) -> ConsoleResponse {
    let headers = [("x-forwarded-for", source), ("origin", url)];
    let form = [("email", email), ("password", password)];
    ConsoleClient::anonymous(url)
        .request(Method::POST, "/sign-in", &form, &headers)
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_fails_at_an_account_from_many_sources_does_not_lock_out_its_owner() {
    let (stack, url, email) = behind_a_proxy().await;
    assert_eq!(
        attempt(&url, &email, PASSWORD, "192.0.2.1").await.status,
        303,
        "the owner's usual source"
    );
    for number in 0..100 {
        let source = format!("198.51.100.{}", number / 20);
        assert_eq!(
            attempt(&url, &email, "not the password", &source)
                .await
                .status,
            403,
            "{number}"
        );
    }
    let again = attempt(&url, &email, PASSWORD, "198.51.100.0").await;
    assert_eq!(again.status, 429, "the source has failed too often");
    let wait: i64 = again.headers["retry-after"]
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    assert!((1..=900).contains(&wait), "{wait}");
    assert_eq!(
        attempt(&url, &email, PASSWORD, "192.0.2.1").await.status,
        303,
        "a source that is known"
    );
    assert_eq!(
        attempt(&url, &email, PASSWORD, "203.0.113.1").await.status,
        303,
        "one that has not failed yet"
    );
    assert_eq!(
        attempt(&url, &email, "not the password", "203.0.113.2")
            .await
            .status,
        403
    );
    assert_eq!(
        attempt(&url, &email, PASSWORD, "203.0.113.2").await.status,
        429,
        "and is fresh no more"
    );
    stack.clock.advance(chrono::TimeDelta::minutes(15));
    assert_eq!(
        attempt(&url, &email, PASSWORD, "198.51.100.0").await.status,
        303
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn right_passwords_are_no_failures_and_both_are_in_the_team_s_log() {
    let (_stack, url, email) = behind_a_proxy().await;
    for _ in 0..25 {
        assert_eq!(
            attempt(&url, &email, PASSWORD, "192.0.2.1").await.status,
            303
        );
    }
    assert_eq!(
        attempt(&url, &email, "not the password", "192.0.2.9")
            .await
            .status,
        403
    );
    let mut visitor = ConsoleClient::anonymous(&url);
    visitor.sign_in(&email, PASSWORD).await;
    wait_until("the log has both", async || {
        let log = visitor.get("/activity?kind=sign_in").await.html;
        [
            "sign_in.failed",
            "from 192.0.2.9",
            "sign_in.succeeded",
            "from 192.0.2.1",
        ]
        .into_iter()
        .all(|noted| log.contains(noted))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_is_answered_without_waiting_for_the_log() {
    let (stack, url, email) = behind_a_proxy().await;
    stack
        .sql
        .batch_execute("BEGIN; LOCK TABLE activities IN SHARE MODE")
        .await
        .unwrap();
    assert_eq!(
        attempt(&url, &email, "not the password", "192.0.2.9")
            .await
            .status,
        403
    );
    stack.sql.batch_execute("COMMIT").await.unwrap();
    wait_until("it is noted after all", async || {
        stack
            .query_count("SELECT count(*) FROM activities WHERE action = 'sign_in.failed'")
            .await
            == 1
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_of_a_session_that_has_ended_leads_back_to_its_page_and_says_that_nothing_was_done()
{
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    admin.post("/sign-out", &[]).await;
    let referrer = format!("{url}/keys?after=a");
    let headers = [("referer", referrer.as_str()), ("origin", url.as_str())];
    let page = admin
        .request(
            Method::POST,
            "/keys",
            &[("name", "A"), ("kind", "formulas")],
            &headers,
        )
        .await;
    assert_eq!(
        page.location(),
        "/sign-in?back=%2Fkeys%3Fafter%3Da&lost=yes"
    );
    assert!(
        admin
            .get(page.location())
            .await
            .html
            .contains("so nothing was done")
    );
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM api_keys WHERE name = 'A'")
            .await,
        0
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_action_must_say_that_it_comes_from_the_console_s_own_address() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let form = [("name", "Foreign"), ("kind", "formulas")];
    let referrer = format!("{url}/keys");
    for (headers, status) in [
        (&[("origin", "")][..], 403),
        (&[("origin", "null")], 403),
        (&[("referer", "https://evil.example/keys")], 403),
        (
            &[
                ("origin", "https://evil.example"),
                ("sec-fetch-site", "same-origin"),
            ],
            403,
        ),
        (&[("referer", referrer.as_str())], 200),
    ] {
        let page = admin.request(Method::POST, "/keys", &form, headers).await;
        assert_eq!(page.status, status, "{headers:?}");
        assert!(
            page.status == 200
                || page
                    .html
                    .contains("did not come from a page of this console"),
            "{headers:?}"
        );
    }
    let silent = reqwest::Client::new()
        .post(format!("{url}/sign-in"))
        .form(&[("email", "a")])
        .send()
        .await
        .unwrap();
    assert_eq!(silent.status(), 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notice_is_shown_behind_an_action_and_not_by_a_link_of_another_site() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let foreign = [("sec-fetch-site", "cross-site")];
    let page = admin
        .request(
            Method::GET,
            "/activity?kind=key&notice=key-revoked",
            &[],
            &foreign,
        )
        .await;
    assert_eq!(
        (page.status.as_u16(), page.location()),
        (303, "/activity?kind=key")
    );
    let own = [("sec-fetch-site", "same-origin")];
    let page = admin
        .request(Method::GET, "/keys?notice=key-revoked", &[], &own)
        .await;
    assert!(page.html.contains("Key revoked."), "{}", page.html);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_framework_refuses_is_a_page_with_the_headers_of_all_pages() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let large = "x".repeat(300 * 1024);
    let refused = [
        (
            405,
            admin
                .request(Method::PUT, "/keys", &[], &[("origin", &url)])
                .await,
        ),
        (404, admin.get("/sign-in?back=a&back=b").await),
        (
            413,
            admin
                .post("/keys", &[("name", &large), ("kind", "formulas")])
                .await,
        ),
        (404, admin.get("/designs/%ff").await),
    ];
    for (status, page) in refused {
        assert_eq!(page.status, status, "{}", page.html);
        assert!(page.html.contains("<h1>"), "{}", page.html);
        assert!(page.headers.contains_key("content-security-policy"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn over_tls_the_session_is_bound_to_the_host_and_browsers_stay_with_tls() {
    for (is_secure, cookie) in [
        (true, "__Host-pillarbox_session="),
        (false, "pillarbox_session="),
    ] {
        let settings = vec![("CONSOLE__SECURE_COOKIES", is_secure.to_string())];
        let mut stack = TestStack::with_options(pillarbox_tests::StackOptions {
            settings,
            ..Default::default()
        })
        .await;
        let url = stack.start_console().await;
        let team = stack.store.list_teams("", 1).await.unwrap().remove(0);
        let email = ConsoleClient::create_member(&stack, team.team_id, MemberRole::Owner).await;
        let mut visitor = ConsoleClient::anonymous(&url);
        let signed_in = visitor.sign_in(&email, PASSWORD).await;
        let given = signed_in.headers["set-cookie"].to_str().unwrap();
        assert!(
            given.starts_with(cookie) && given.contains("Path=/") && !given.contains("Domain"),
            "{given}"
        );
        assert_eq!(given.contains("Secure"), is_secure, "{given}");
        assert_eq!(visitor.get("/").await.status, 200);
        // One that a neighbour of the domain has planted, or that is left from before.
        let token = visitor.cookie().split_once('=').unwrap().1;
        let planted = format!("pillarbox_session={token}");
        let page = ConsoleClient::anonymous(&url)
            .request(Method::GET, "/", &[], &[("cookie", &planted)])
            .await;
        assert_eq!(page.status == 200, !is_secure, "{}", page.status);
        let transport = page
            .headers
            .get("strict-transport-security")
            .map(|value| value.to_str().unwrap());
        assert_eq!(transport, is_secure.then_some("max-age=31536000"));
        // What is shown once is shown.
        let form = [("name", "Website"), ("kind", "full_access")];
        super::secret_in(&visitor.post_and_follow("/keys", &form).await, "pk_live_");
    }
}
