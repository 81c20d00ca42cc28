//! Nobody saves over what somebody else has saved meanwhile without having seen it.

use contract::push::FieldSemantic;
use model::id::IntegrationId;
use pillarbox_tests::{CAMPAIGN, ConsoleClient, ConsoleResponse, CrmClient};
use serde_json::json;
use store::MemberRole;

use super::member;

/// A form that two people have open.
struct Form {
    /// The page that it stands on.
    page: String,
    /// Where it is sent to.
    action: String,
    /// What both have before them, without what it was made from.
    fields: Vec<(String, String)>,
    /// The field that they change, and to what.
    field: &'static str,
    first: &'static str,
    second: &'static str,
    /// A value that cannot be saved.
    wrong: &'static str,
}

impl Form {
    /// Sends it with another value in its field.
    async fn send(&self, person: &ConsoleClient, seen: &str, value: &str) -> ConsoleResponse {
        let mut fields: Vec<(&str, &str)> = self
            .fields
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        fields.extend([("seen", seen), (self.field, value)]);
        person.post(&self.action, &fields).await
    }

    async fn is_saved_over_only_by_who_has_seen_what_stands(&self, person: &ConsoleClient) {
        let seen = person.get(&self.page).await.seen_token();
        let first = self.send(person, &seen, self.first).await;
        assert_eq!(first.status, 303, "{}: {}", self.action, first.html);
        let wrong = self.send(person, &seen, self.wrong).await;
        assert_eq!(wrong.status, 422, "{}", self.action);
        let is_told = wrong.html.contains("Nothing was saved: somebody");
        assert!(
            is_told || wrong.seen_token() == seen,
            "{}: not told of what stands: {}",
            self.action,
            wrong.html
        );
        let late = self.send(person, &seen, self.second).await;
        assert_eq!(late.status, 422, "{}", self.action);
        assert!(
            late.html.contains("Nothing was saved: somebody"),
            "{}: {}",
            self.action,
            late.html
        );
        for shown in [self.first, self.second] {
            assert!(
                late.html.contains(shown),
                "{}: {shown} in {}",
                self.action,
                late.html
            );
        }
        assert_eq!(
            self.send(person, "", self.second).await.status,
            422,
            "{}: a form of nothing",
            self.action
        );
        let again = self.send(person, &late.seen_token(), self.second).await;
        assert_eq!(
            again.status, 303,
            "{}: who has seen it may: {}",
            self.action, again.html
        );
    }
}

fn fields(fields: &[(&str, &str)]) -> Vec<(String, String)> {
    fields
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

/// Each with two values that can be saved, and one that cannot.
fn forms(integration: IntegrationId) -> [Form; 4] {
    let columns = FieldSemantic::ALL
        .iter()
        .map(|semantic| (semantic.as_str(), ""));
    [
        Form {
            page: format!("/campaigns/{CAMPAIGN}/conditions"),
            action: format!("/campaigns/{CAMPAIGN}/conditions"),
            fields: fields(&[
                ("do", "save"),
                ("part.0.parent", "0"),
                ("part.0.group", "all"),
                ("part.1.parent", "0"),
                ("part.1.column", "city"),
                ("part.1.operator", "is"),
            ]),
            field: "part.1.value",
            first: "Austin",
            second: "Dallas",
            wrong: "",
        },
        Form {
            page: "/address-book/formula?name=hello".to_owned(),
            action: "/address-book/formula".to_owned(),
            fields: fields(&[("name", "Hello")]),
            field: "formula",
            first: "UPPER(city)",
            second: "LOWER(city)",
            wrong: "LOWER(",
        },
        Form {
            page: format!("/integrations/{integration}/fields"),
            action: format!("/integrations/{integration}/fields"),
            fields: fields(
                &columns
                    .filter(|(name, _)| *name != "zip")
                    .collect::<Vec<_>>(),
            ),
            field: "zip",
            first: "plz",
            second: "code",
            wrong: "nothing",
        },
        Form {
            page: format!("/integrations/{integration}"),
            action: format!("/integrations/{integration}/guard"),
            fields: Vec::new(),
            field: "percent",
            first: "17",
            second: "23",
            wrong: "many",
        },
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_saved_meanwhile_is_shown_and_not_saved_over() {
    let mut crm = CrmClient::with_settings(Vec::new()).await;
    let url = crm.stack.start_console().await;
    let admin = member(&crm.stack, &url, MemberRole::Admin).await;
    crm.declare_fields(json!([{"key": "plz"}, {"key": "code"}]))
        .await;
    crm.stack.save_campaign(json!({})).await;
    let endpoint = json!({"url": "http://127.0.0.1:9/hook"});
    crm.stack
        .apply_team(json!({"teams": [{"name": "Test", "endpoints": [endpoint]}]}))
        .await;
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
        .unwrap()
        .integration_id;
    let endpoint = crm.stack.store.list_endpoints(team_id).await.unwrap()[0].endpoint_id;
    let made = admin
        .post(
            "/address-book/formula",
            &[("name", "Hello"), ("formula", "\"zero\"")],
        )
        .await;
    assert_eq!(made.status, 303, "{}", made.html);
    for form in forms(integration) {
        form.is_saved_over_only_by_who_has_seen_what_stands(&admin)
            .await;
    }
    let log = admin.get("/activity").await.html;
    for change in [
        "before: All of these: city is Austin; now: All of these: city is Dallas",
        "before: zip from plz; now: zip from code",
        "before: 17 %; now: 23 %",
    ] {
        assert!(log.contains(change), "{change}: {log}");
    }

    let (page, scope) = (
        format!("/endpoints/{endpoint}"),
        format!("/endpoints/{endpoint}/scope"),
    );
    let seen = admin.get(&page).await.seen_token();
    let chosen = [
        ("seen", seen.as_str()),
        ("scope", "chosen"),
        ("campaign", CAMPAIGN),
    ];
    assert_eq!(admin.post(&scope, &chosen).await.status, 303);
    let none = admin
        .post(&scope, &[("seen", seen.as_str()), ("scope", "chosen")])
        .await;
    assert_eq!(
        (none.status.as_u16(), none.seen_token()),
        (422, seen),
        "a mistake tells nothing of what stands"
    );
    let late = admin
        .post(
            &scope,
            &[("seen", none.seen_token().as_str()), ("scope", "all")],
        )
        .await;
    assert!(
        late.status == 422 && late.html.contains(&format!("It hears of {CAMPAIGN} now")),
        "{}",
        late.html
    );
    assert_eq!(
        admin
            .post(
                &scope,
                &[("seen", late.seen_token().as_str()), ("scope", "all")]
            )
            .await
            .status,
        303
    );
}
