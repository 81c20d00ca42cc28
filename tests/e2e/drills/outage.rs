//! The broker goes, then Postgres, then both before anybody starts: clients ask through the balancer that is deployed, and get
//! what works without, and for the rest the errors that are documented.

use pillarbox_tests::{
    ConsoleClient, FleetProcess, INTEGRATION_KEY, KEY, LoadBalancer, PrivateServers, TestStack,
    WebhookSink, build_recipient, wait_until, with_qr_codes_on,
};
use reqwest::Method;
use serde_json::{Value, json};
use store::MemberRole;

use super::behind_a_balancer;
use super::probes::probes;

/// Rounds of questions: for longer than the balancer takes to give a gateway up.
const ROUNDS: usize = 30;

/// What a healthy system answers.
const HEALTHY: [&str; 7] = [
    "docs 200",
    "scan 302",
    "read of pushes 200",
    "declaration 200",
    "send 200",
    "console's way in 200",
    "console's campaigns 200",
];

struct World {
    servers: PrivateServers,
    stack: TestStack,
    balancer: LoadBalancer,
    visitor: ConsoleClient,
    code: String,
    members: Vec<FleetProcess>,
}

impl World {
    async fn start() -> Self {
        let servers = PrivateServers::start().await;
        let mut settings = servers.settings().to_vec();
        settings.extend(behind_a_balancer());
        let files = std::env::temp_dir()
            .join("pillarbox-test-files")
            .display()
            .to_string();
        settings.extend([
            ("CONSOLE__SECURE_COOKIES", "false".to_owned()),
            ("OUTBOUND__ALLOWED_NETWORKS", "127.0.0.0/8".to_owned()),
            ("STORAGE__FOLDER", files),
        ]);
        let sink = WebhookSink::start().await;
        let (stack, codes) = with_qr_codes_on(settings, &sink, &[build_recipient(1)]).await;
        let integration = json!({"name": "CRM", "keys": [{"name": "k", "key": INTEGRATION_KEY}]});
        stack
            .apply_team(json!({"teams": [{"name": "Test", "integrations": [integration]}]}))
            .await;
        let members: Vec<FleetProcess> = ["gateway", "gateway", "mailer", "syncer", "console"]
            .map(|name| FleetProcess::start(name, &stack.settings))
            .into();
        let mut world = Self {
            servers,
            balancer: LoadBalancer::start_before(&members[0], &members[1]),
            visitor: ConsoleClient::anonymous(""),
            code: codes[0].clone(),
            members,
            stack,
        };
        for member in &world.members {
            member.wait_until_ready().await;
        }
        let team = world.stack.store.find_team_by_name("Test").await.unwrap();
        let console = world.members[4].url();
        world.visitor =
            ConsoleClient::new(&world.stack, &console, team.team_id, MemberRole::Owner).await;
        wait_until("all is well", async || world.answers().await == HEALTHY).await;
        world
    }

    /// What each kind of client gets. Answers of the APIs are held against their description.
    async fn answers(&self) -> [String; 7] {
        let (url, key) = (&self.balancer.url, format!("Bearer {INTEGRATION_KEY}"));
        let push = [("authorization", key.as_str())];
        let pushes = format!("{url}/api/integrations/push/v1");
        let ask = async |method, url: String, headers: &[(&str, &str)], body: &Value| {
            self.stack
                .request(method, &url, headers, body.to_string())
                .await
        };
        let told = |what: &str, status: u16, code: &Value| {
            format!("{what} {status} {}", code.as_str().unwrap_or_default())
                .trim_end()
                .to_owned()
        };
        let docs = ask(Method::GET, format!("{url}/docs"), &[], &json!(null)).await;
        let phone = [("user-agent", "Mozilla/5.0 (iPhone) Safari/604.1")];
        let scan = ask(
            Method::GET,
            format!("{url}/q/{}", self.code),
            &phone,
            &json!(null),
        )
        .await;
        let page = if scan.text.contains("Please scan it again") {
            json!("page")
        } else {
            json!(null)
        };
        let read = ask(Method::GET, format!("{pushes}/sync"), &push, &json!(null)).await;
        let fields = json!({"fields": [{"key": "first", "semantic": "first_name"}]});
        let declared = ask(Method::POST, format!("{pushes}/schema"), &push, &fields).await;
        let body =
            json!({"campaign_id": pillarbox_tests::CAMPAIGN, "recipients": [build_recipient(2)]});
        let sent = ask(
            Method::POST,
            format!("{url}/api/v1/recipients"),
            &[("x-api-key", KEY)],
            &body,
        )
        .await;
        let (way_in, campaigns) = (
            self.visitor.get("/sign-in").await,
            self.visitor.get("/campaigns").await,
        );
        [
            told("docs", docs.status.as_u16(), &Value::Null),
            told("scan", scan.status.as_u16(), &page),
            told(
                "read of pushes",
                read.status.as_u16(),
                &read.json()["error"]["code"],
            ),
            told(
                "declaration",
                declared.status.as_u16(),
                &declared.json()["error"]["code"],
            ),
            told("send", sent.status.as_u16(), &sent.json()["code"]),
            // Somebody who is signed in is led on.
            told(
                "console's way in",
                if way_in.status.is_server_error() {
                    500
                } else {
                    200
                },
                &Value::Null,
            ),
            told(
                "console's campaigns",
                campaigns.status.as_u16(),
                &Value::Null,
            ),
        ]
    }

    /// These answers, and none else for longer than any check of health looks away.
    async fn answers_stay(&self, what: &str, expected: [&str; 7]) {
        wait_until(what, async || self.answers().await == expected).await;
        for _ in 0..ROUNDS {
            assert_eq!(self.answers().await, expected, "{what}");
            // A pace, not a wait for a state.
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    }

    /// The probes that fail.
    async fn failing(&self) -> Vec<String> {
        let mut failing = Vec::new();
        for probe in probes() {
            let base = if probe.host.starts_with("console") {
                self.members[4].url()
            } else {
                self.balancer.url.clone()
            };
            if !probe.succeeds(&base).await {
                failing.push(probe.name);
            }
        }
        failing
    }

    fn act(&self, broker: Option<&str>, postgres: Option<&str>) {
        tokio::task::block_in_place(|| {
            if let Some(action) = broker {
                self.servers.broker().run_action(action);
            }
            if let Some(action) = postgres {
                self.servers.postgres().run_action(action);
            }
        });
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn clients_get_what_works_without_the_broker_or_postgres_and_documented_errors_for_the_rest()
{
    let world = World::start().await;
    assert_eq!(world.failing().await, Vec::<String>::new());

    world.act(Some("stop"), None);
    let without_broker = [
        "docs 200",
        "scan 302",
        "read of pushes 200",
        "declaration 500 internal_error",
        "send 500 internal_error",
        "console's way in 200",
        "console's campaigns 200",
    ];
    world
        .answers_stay("what needs no broker works", without_broker)
        .await;
    assert_eq!(
        world.failing().await,
        Vec::<String>::new(),
        "clients are answered"
    );

    world.act(Some("start"), Some("stop"));
    let without_database = [
        "docs 200",
        "scan 503 page",
        "read of pushes 500 internal_error",
        "declaration 500 internal_error",
        "send 500 internal_error",
        "console's way in 500",
        "console's campaigns 500",
    ];
    world
        .answers_stay("what needs the database is answered", without_database)
        .await;
    // The page to sign in at needs nothing of the database.
    assert_eq!(
        world.failing().await,
        ["scans", "sends"],
        "the probes see it"
    );
    // Nobody was restarted, and nobody has to be.
    for member in &world.members {
        assert_eq!(
            member.get_readiness().await.0,
            200,
            "{} is ready",
            member.name
        );
    }

    world.act(None, Some("start"));
    wait_until("all is well again", async || {
        world.answers().await == HEALTHY
    })
    .await;
    wait_until("nobody is in trouble", async || {
        for member in &world.members {
            if !member.get_readiness().await.1["troubles"]
                .as_array()
                .is_some_and(Vec::is_empty)
            {
                return false;
            }
        }
        true
    })
    .await;
    assert_eq!(world.failing().await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn processes_that_start_without_broker_and_postgres_come_up_say_so_and_work_when_these_are_back()
 {
    let mut world = World::start().await;
    world.act(Some("stop"), Some("stop"));
    for member in &mut world.members {
        assert!(
            member.restart_without_waiting(),
            "{} ended well",
            member.name
        );
    }
    for member in &world.members {
        member.wait_until_ready().await;
        let why = member.get_readiness().await.1["troubles"].to_string();
        assert!(
            why.contains("the database is away"),
            "{}: {why}",
            member.name
        );
        let needs_broker = member.name != "console";
        assert_eq!(
            why.contains("no connection to RabbitMQ"),
            needs_broker,
            "{}: {why}",
            member.name
        );
        assert_eq!(member.read_metric("pillarbox_database_usable").await, 0.0);
        assert_eq!(member.read_metric("pillarbox_ready").await, 1.0);
        wait_until("the log says why", async || {
            member
                .log_text()
                .lines()
                .any(|line| line.contains("\"not working\"") && line.contains("database is away"))
        })
        .await;
    }
    let answers = world.answers().await;
    assert_eq!(answers[..2], ["docs 200", "scan 503 page"]);
    assert_eq!(answers[4], "send 500 internal_error");
    world.act(Some("start"), Some("start"));
    wait_until("all work", async || world.answers().await == HEALTHY).await;
    for member in &world.members {
        wait_until("the log says so", async || {
            member.log_text().contains("\"working again\"")
        })
        .await;
    }
}
