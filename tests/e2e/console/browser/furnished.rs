//! The demo team with something on every page.

use pillarbox_tests::{
    ApiResponse, Browser, ConsoleClient, CrmClient, StackOptions, TestStack, WebhookSink,
    wait_until,
};
use serde_json::{Value, json};
use store::{MemberRole, Team};

/// The demo's campaign that filters.
const SPRING: &str = "PA-SPRING";

/// What `./dev up` applies, and what it posts.
const TEAM: &str = include_str!("../../../../deploy/demo/team.yaml");
const RECIPIENTS: &str = include_str!("../../../../deploy/demo/recipients.json");

/// The demo team after a busy morning.
pub(super) struct Furnished {
    pub(super) stack: TestStack,
    pub(super) url: String,
    /// Hears of scans.
    pub(super) sink: WebhookSink,
    pub(super) team: Team,
    /// The demo's key.
    key: String,
}

impl Furnished {
    pub(super) async fn new() -> Self {
        let options = StackOptions {
            syncers: 1,
            dispatchers: 1,
            ..StackOptions::default()
        };
        let (stack, url) = super::stack(options).await;
        let sink = WebhookSink::start().await;
        let mut file: Value = yaml_serde::from_str(TEAM).unwrap();
        let demo = &mut file["teams"][0];
        demo["endpoints"] = json!([{"url": sink.url}]);
        let tier =
            json!({"name": "Tier", "formula": "IF(lifetime_value > 500, \"VIP\", \"Regular\")"});
        demo["columns"].as_array_mut().unwrap().push(tier);
        let till_key = demo["integrations"][0]["keys"][0]["key"]
            .as_str()
            .unwrap()
            .to_owned();
        let key = demo["keys"][0]["key"].as_str().unwrap().to_owned();
        stack.apply_team(file).await;
        let teams = stack.store.list_teams("", 10).await.unwrap();
        let team = teams.into_iter().find(|team| team.name == "Demo").unwrap();
        mail(&stack, &sink, &key).await;
        let crm = CrmClient::on_stack(stack, &till_key);
        sync(&crm).await;
        Self {
            stack: crm.stack,
            url,
            sink,
            team,
            key,
        }
    }

    /// Sends recipients to a campaign of the demo.
    pub(super) async fn send(&self, campaign: &str, recipients: &[Value]) -> ApiResponse {
        let bearer = format!("Bearer {}", self.key);
        let body = json!({"campaign_id": campaign, "recipients": recipients}).to_string();
        self.stack
            .post_send_with(&[("authorization", bearer.as_str())], body)
            .await
    }

    /// A browser in which somebody of the demo team has signed in.
    pub(super) async fn browser(&self, role: MemberRole) -> Browser {
        let email = ConsoleClient::create_member(&self.stack, self.team.team_id, role).await;
        let browser = Browser::open(&self.url).await;
        browser.sign_in(&email).await;
        browser
    }

    /// What stands for a parameter of a route.
    pub(super) async fn value(&self, parameter: &str) -> String {
        let sql = match parameter {
            "campaign_id" => return SPRING.to_owned(),
            "side" => return "front".to_owned(),
            "version" | "step" => return "1".to_owned(),
            "token" => return "a-link-that-nobody-made".to_owned(),
            "design_id" => "SELECT design_id FROM designs WHERE team_id = $1",
            "entry_id" => {
                "SELECT entry_id FROM recipients WHERE team_id = $1 AND status = 'mailed'"
            }
            "integration_id" => "SELECT integration_id FROM integrations WHERE team_id = $1",
            "sync_id" => {
                "SELECT sync_id FROM syncs JOIN integrations USING (integration_id) WHERE integrations.team_id = $1"
            }
            "endpoint_id" => "SELECT endpoint_id FROM endpoints WHERE team_id = $1",
            "delivery_id" => {
                "SELECT delivery_id FROM deliveries JOIN endpoints USING (endpoint_id) WHERE endpoints.team_id = $1"
            }
            "charge_id" => "SELECT charge_id FROM charges WHERE team_id = $1",
            other => panic!("say here what stands for {{{other}}} of a new route"),
        };
        let row = self
            .stack
            .sql
            .query_one(&format!("{sql} LIMIT 1"), &[&self.team.team_id.0])
            .await;
        row.unwrap_or_else(|error| panic!("{error:?}: {sql}"))
            .get::<_, uuid::Uuid>(0)
            .to_string()
    }
}

/// Sends the demo's recipients, and scans the first card.
async fn mail(stack: &TestStack, sink: &WebhookSink, key: &str) {
    let bearer = format!("Bearer {key}");
    let sent = stack
        .post_send_with(&[("authorization", bearer.as_str())], RECIPIENTS)
        .await;
    assert_eq!(sent.status, 200, "{}", sent.text);
    let code = pillarbox_tests::list_codes(stack).await.remove(0);
    stack.scan_code(&code).await;
    wait_until("the sink hears of the scan", async || {
        sink.count_received() == 1
    })
    .await;
}

/// A sync with a contact that is taken and one that is rejected.
async fn sync(crm: &CrmClient) {
    crm.wait_until_ready().await;
    crm.declare_usual_fields().await;
    let taken = json!({"external_id": "till-1", "fields": {"first": "Nina", "score": 4}});
    let rejected = json!({"external_id": "till-2", "fields": {"first": "Omar", "mail": "nobody"}});
    crm.run_sync("full", &[taken, rejected]).await;
}
