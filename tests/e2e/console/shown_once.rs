//! Secrets are shown once, in the answer to the form that makes them; the same form sent again makes no other.

use pillarbox_tests::{ConsoleClient, TestStack};
use serde_json::json;
use store::MemberRole;

use super::{console, member, secret_in};

/// A form that makes a secret.
struct SecretForm {
    /// The page that has it.
    page: String,
    /// Where it is sent.
    action: String,
    /// What a person types.
    typed: &'static [(&'static str, &'static str)],
    /// What the page puts into it beside, and what the value stands behind, in the page.
    hidden: Option<(&'static str, String)>,
    /// What its secret begins with.
    prefix: &'static str,
    /// What is counted to see that there is another secret.
    rows: &'static str,
    /// What is said of it when it is sent again.
    refusal: &'static str,
}

impl SecretForm {
    /// What a person's browser sends.
    async fn fields(&self, owner: &ConsoleClient) -> Vec<(&'static str, String)> {
        let mut fields: Vec<_> = self
            .typed
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect();
        if let Some((name, before)) = &self.hidden {
            let page = owner.get(&self.page).await.html;
            let (_, rest) = page.split_once(before.as_str()).expect(&page);
            let start = format!("name=\"{name}\" value=\"");
            let (_, rest) = rest.split_once(&start).expect(rest);
            fields.push((name, rest.split('"').next().unwrap().to_owned()));
        }
        fields
    }
}

async fn text(stack: &TestStack, sql: &str) -> String {
    stack.sql.query_one(sql, &[]).await.unwrap().get(0)
}

/// The forms of a team that has an integration, an endpoint and another member.
async fn secret_forms(stack: &TestStack) -> [SecretForm; 5] {
    let endpoint = json!({"url": "http://127.0.0.1:9/hook"});
    let team = json!({"name": "Test", "integrations": [{"name": "CRM"}], "endpoints": [endpoint]});
    stack.apply_team(json!({ "teams": [team] })).await;
    let integration = text(stack, "SELECT integration_id::text FROM integrations").await;
    let endpoint = text(stack, "SELECT endpoint_id::text FROM endpoints").await;
    let person = text(
        stack,
        "SELECT member_id::text FROM members WHERE role = 'member'",
    )
    .await;
    let form = |page: &str, action: &str, prefix, rows, refusal| SecretForm {
        page: page.to_owned(),
        action: action.to_owned(),
        typed: &[],
        hidden: None,
        prefix,
        rows,
        refusal,
    };
    let (keys, shown_then) = ("api_keys", "shown then");
    let own = format!("/integrations/{integration}");
    let hook = format!("/endpoints/{endpoint}");
    let reset = format!("/team/{person}/reset-password");
    let links = "activities WHERE action = 'person.password_reset'";
    [
        SecretForm {
            typed: &[("name", "Website"), ("kind", "full_access")],
            hidden: Some(("key_id", "action=\"/keys\"".to_owned())),
            ..form("/keys", "/keys", "pk_live_", keys, shown_then)
        },
        SecretForm {
            typed: &[("name", "Nightly")],
            hidden: Some(("key_id", format!("action=\"{own}/keys\""))),
            ..form(&own, &format!("{own}/keys"), "pk_int_", keys, shown_then)
        },
        SecretForm {
            hidden: Some(("signing", format!("action=\"{hook}/sign\""))),
            ..form(
                &hook,
                &format!("{hook}/sign"),
                "whsec_",
                "endpoints WHERE earlier_secret IS NOT NULL",
                shown_then,
            )
        },
        SecretForm {
            typed: &[
                ("email", "grace@example.com"),
                ("name", "Grace"),
                ("role", "member"),
            ],
            ..form("/team", "/team", "/password/", "members", "Not added")
        },
        SecretForm {
            hidden: Some(("password_state", format!("action=\"{reset}\""))),
            ..form("/team", &reset, "/password/", links, shown_then)
        },
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_shown_by_the_answer_to_its_form_alone_and_a_form_sent_again_makes_no_other() {
    let (stack, url) = console().await;
    let owner = member(&stack, &url, MemberRole::Owner).await;
    member(&stack, &url, MemberRole::Member).await;
    for form in secret_forms(&stack).await {
        let fields = form.fields(&owner).await;
        let fields: Vec<(&str, &str)> = fields
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let made = owner.post_and_follow(&form.action, &fields).await;
        assert!(!made.headers.contains_key("set-cookie"), "{}", form.action);
        let secret = secret_in(&made, form.prefix);
        let page = owner.get(&form.page).await;
        assert!(
            page.status == 200 && !page.html.contains(&secret),
            "{}: the page is loaded without it",
            form.action
        );
        let count = format!("SELECT count(*) FROM {}", form.rows);
        let before = stack.query_count(&count).await;
        let again = owner.post(&form.action, &fields).await;
        assert!(
            again.status == 422 && again.html.contains(form.refusal),
            "{}: {}",
            form.action,
            again.html
        );
        assert!(!again.html.contains(&secret), "{}", form.action);
        assert_eq!(stack.query_count(&count).await, before, "{}", form.action);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_equal_forms_at_the_same_time_make_one_key() {
    let (stack, url) = console().await;
    let owner = member(&stack, &url, MemberRole::Owner).await;
    let key_id = uuid::Uuid::now_v7().to_string();
    let form = [
        ("name", "Website"),
        ("kind", "full_access"),
        ("key_id", key_id.as_str()),
    ];
    let before = stack.query_count("SELECT count(*) FROM api_keys").await;
    let (one, other) = tokio::join!(owner.post("/keys", &form), owner.post("/keys", &form));
    let mut statuses = [one.status.as_u16(), other.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 422]);
    assert_eq!(
        stack.query_count("SELECT count(*) FROM api_keys").await,
        before + 1
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_signs_from_the_beginning_is_shown_with_its_endpoint_once() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let form = [
        ("url", "http://127.0.0.1:9/signed"),
        ("scope", "all"),
        ("signed", "on"),
    ];
    let secret = secret_in(&admin.post_and_follow("/endpoints", &form).await, "whsec_");
    let endpoint = text(&stack, "SELECT endpoint_id::text FROM endpoints").await;
    let page = admin.get(&format!("/endpoints/{endpoint}")).await;
    assert!(page.status == 200 && !page.html.contains(&secret));
    let again = admin.post("/endpoints", &form).await;
    assert!(
        again.status == 422 && again.html.contains("already"),
        "{}",
        again.html
    );
}
