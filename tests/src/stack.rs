//! Gateway and mailer in this process, over a real database and broker.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use outbound::TargetPolicy;
use reqwest::header::HeaderMap;
use reqwest::{Method, StatusCode};
use runtime::{Clock, Config, Process};
use serde_json::{Value, json};
use store::Store;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use verification::AddressVerifier;

use crate::database::{TestDatabase, connect, settings_for};
use crate::documented::find_fault;
use crate::logs::keep_logs_of_this_process;
use crate::{CAMPAIGN, KEY};

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// How long a test waits for a state that must come.
const PATIENCE: Duration = Duration::from_secs(30);

/// How a stack differs from the usual one.
pub struct StackOptions {
    /// Settings by name, as in the environment but without the prefix: `GATEWAY__CALL_DEADLINE_MS`.
    pub settings: Vec<(&'static str, String)>,
    /// What verifies addresses; `None` is what the settings name.
    pub verifier: Option<Arc<dyn AddressVerifier>>,
    /// Mailers that run.
    pub mailers: usize,
    /// Syncers that run.
    pub syncers: usize,
    /// Dispatchers that run.
    pub dispatchers: usize,
}

impl Default for StackOptions {
    fn default() -> Self {
        Self {
            settings: Vec::new(),
            verifier: None,
            mailers: 1,
            syncers: 0,
            dispatchers: 0,
        }
    }
}

/// A running stack with a team that holds [`KEY`].
pub struct TestStack {
    /// Where the gateway listens.
    pub url: String,
    /// The time that all parts see.
    pub clock: Clock,
    /// The database, through our own statements.
    pub store: Store,
    /// The database, for looking into it.
    pub sql: tokio_postgres::Client,
    /// Its settings, for further processes on the same database and broker.
    pub settings: HashMap<String, String>,
    client: reqwest::Client,
    tokens: Vec<CancellationToken>,
}

/// An HTTP answer.
#[derive(Debug, Clone)]
pub struct ApiResponse {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub text: String,
}

impl ApiResponse {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error} in {}", self.text))
    }

    /// Status and `code` of an error.
    pub fn error(&self) -> (u16, String) {
        (
            self.status.as_u16(),
            self.json()["code"].as_str().unwrap_or_default().to_owned(),
        )
    }

    /// For each result: its reference and `mailed` or the reason.
    pub fn outcomes(&self) -> Vec<(String, String)> {
        assert_eq!(self.status, StatusCode::OK, "{}", self.text);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let outcome = |result: &Value| match result["reason"].as_str() {
            Some(reason) => reason.to_owned(),
            None => text(&result["status"]),
        };
        let json = self.json();
        let results = json["results"].as_array().expect("results");
        results
            .iter()
            .map(|result| (text(&result["reference"]), outcome(result)))
            .collect()
    }

    /// Only the outcomes, in the order sent.
    pub fn reasons(&self) -> Vec<String> {
        self.outcomes()
            .into_iter()
            .map(|(_, outcome)| outcome)
            .collect()
    }
}

/// The settings of a stack on this database, in a namespace of its own.
pub fn build_settings(
    database: &TestDatabase,
    overrides: &[(&'static str, String)],
) -> HashMap<String, String> {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let broker = std::env::var("TEST_AMQP_URL").expect("TEST_AMQP_URL is set by ./dev test");
    let usual = [
        ("DATABASE__URL", database.url.clone()),
        ("DATABASE__POOL_SIZE", "6".to_owned()),
        ("BROKER__URL", broker),
        (
            "BROKER__NAMESPACE",
            format!("test-{}-{number}", std::process::id()),
        ),
        ("GATEWAY__REQUESTS_PER_MINUTE_PER_KEY", "100000".to_owned()),
        (
            "GATEWAY__REQUESTS_PER_MINUTE_PER_SOURCE",
            "100000".to_owned(),
        ),
        (
            "GATEWAY__PUSH_REQUESTS_PER_MINUTE_PER_SOURCE",
            "100000".to_owned(),
        ),
        (
            "GATEWAY__FORMULA_REQUESTS_PER_MINUTE_PER_KEY",
            "100000".to_owned(),
        ),
        (
            "GATEWAY__FORMULA_REQUESTS_PER_MINUTE_PER_SOURCE",
            "100000".to_owned(),
        ),
        ("MAILER__JOB_INTERVAL_MS", "50".to_owned()),
        // What is sent prints at once.
        ("PRINT__CANCEL_MINUTES", "0".to_owned()),
        (
            "EMAIL__OUTBOX_FOLDER",
            std::env::temp_dir()
                .join("pillarbox-test-outbox")
                .display()
                .to_string(),
        ),
        (
            "STORAGE__FOLDER",
            std::env::temp_dir()
                .join("pillarbox-test-files")
                .display()
                .to_string(),
        ),
        ("DISPATCHER__SWEEP_INTERVAL_MS", "50".to_owned()),
        ("OUTBOUND__ALLOWED_NETWORKS", "127.0.0.0/8".to_owned()),
    ];
    let all = usual.into_iter().chain(overrides.iter().cloned());
    all.map(|(name, value)| (format!("PILLARBOX__{name}"), value))
        .collect()
}

impl TestStack {
    /// The usual stack: one gateway, one mailer, a team with money and one campaign without filters.
    pub async fn start() -> Self {
        let stack = Self::with_options(StackOptions::default()).await;
        stack.save_campaign(json!({})).await;
        stack
    }

    /// A stack with a team, without a campaign, on the tests' servers.
    pub async fn with_options(options: StackOptions) -> Self {
        let database = TestDatabase::new().await;
        let settings = build_settings(&database, &options.settings);
        Self::build(options, settings).await
    }

    /// A stack without a mailer on the servers that the settings name.
    pub async fn on_servers(settings: Vec<(&'static str, String)>) -> Self {
        let named = |(name, value)| (format!("PILLARBOX__{name}"), value);
        let settings = settings.into_iter().map(named).collect();
        Self::build(
            StackOptions {
                mailers: 0,
                ..StackOptions::default()
            },
            settings,
        )
        .await
    }

    async fn build(options: StackOptions, settings: HashMap<String, String>) -> Self {
        runtime::install_crypto();
        keep_logs_of_this_process();
        let database = settings["PILLARBOX__DATABASE__URL"].clone();
        let clock = Clock::system();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let mut stack = Self {
            url,
            clock,
            store: Store::new(&Config::with(settings.clone()).expect("settings").database)
                .expect("a store"),
            sql: connect(&database).await,
            settings,
            client: reqwest::Client::builder()
                .timeout(PATIENCE)
                .redirect(reqwest::redirect::Policy::none())
                .build()
                .expect("a client"),
            tokens: Vec::new(),
        };
        for _ in 0..options.mailers {
            stack.add_mailer(options.verifier.clone());
        }
        for _ in 0..options.syncers {
            stack.add_syncer();
        }
        for _ in 0..options.dispatchers {
            stack.add_dispatcher();
        }
        let process = stack.create_process("gateway");
        tokio::spawn(async {
            gateway::serve(process, listener)
                .await
                .expect("the gateway runs")
        });
        stack.apply_team(team_file(json!({}))).await;
        if options.mailers > 0 {
            stack.wait_until_ready(&stack.url).await;
        }
        stack
    }

    /// Another mailer on the same queue.
    pub fn add_mailer(&mut self, verifier: Option<Arc<dyn AddressVerifier>>) {
        let process = self.create_process("mailer");
        tokio::spawn(async move {
            match verifier {
                Some(verifier) => mailer::serve(process, verifier).await,
                None => mailer::run(process).await,
            }
            .expect("the mailer runs");
        });
    }

    /// Another syncer on the same queue.
    pub fn add_syncer(&mut self) {
        let process = self.create_process("syncer");
        tokio::spawn(async move { syncer::run(process).await.expect("the syncer runs") });
    }

    /// Another dispatcher on the same database and broker.
    pub fn add_dispatcher(&mut self) {
        let process = self.create_process("dispatcher");
        tokio::spawn(async { dispatcher::run(process).await.expect("the dispatcher runs") });
    }

    /// A console on the same database and broker; returns where it listens.
    pub async fn start_console(&mut self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        // Actions must come from pages of this address.
        self.settings
            .insert("PILLARBOX__CONSOLE__URL".to_owned(), url.clone());
        let process = self.create_process("console");
        tokio::spawn(async {
            console::serve(process, listener)
                .await
                .expect("the console runs")
        });
        url
    }

    /// Another gateway on the same database and broker; returns where it listens.
    pub async fn start_second_gateway(&mut self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let process = self.create_process("gateway");
        tokio::spawn(async {
            gateway::serve(process, listener)
                .await
                .expect("the gateway runs")
        });
        self.wait_until_ready(&url).await;
        url
    }

    /// Which hosts endpoints may be on: those of this machine too.
    pub fn target_policy(&self) -> TargetPolicy {
        let config = Config::with(self.settings.clone()).expect("settings");
        TargetPolicy::new(&config.outbound.allowed_networks)
    }

    fn create_process(&mut self, name: &str) -> Process {
        let config = Config::with(settings_for(name, &self.settings)).expect("settings");
        let token = CancellationToken::new();
        let process =
            Process::new(name, config, self.clock.clone(), token.clone()).expect("a process");
        self.tokens.push(token);
        self.tokens.push(process.background.clone());
        process
    }

    /// Until a worker answers: then there is no such campaign, instead of nobody to ask. Each look is of an hour of
    /// its own, far from now, so that asking uses up no rate limit; then the clock is set back.
    async fn wait_until_ready(&self, url: &str) {
        let body = json!({"campaign_id": "PA-NOBODY", "recipients": [{}]}).to_string();
        let looks = AtomicU32::new(0);
        wait_until("the gateway finds a mailer", async || {
            looks.fetch_add(1, Ordering::Relaxed);
            self.clock.advance(TimeDelta::hours(1));
            self.post_send_to(url, &[("x-api-key", KEY)], body.clone())
                .await
                .status
                == StatusCode::NOT_FOUND
        })
        .await;
        self.clock
            .advance(-TimeDelta::hours(looks.into_inner().into()));
    }

    /// Another session in the database, for what happens beside.
    pub async fn open_second_session(&self) -> tokio_postgres::Client {
        connect(&self.settings["PILLARBOX__DATABASE__URL"]).await
    }

    /// Provisions the team with these settings; see the file format of `pillarbox apply`.
    pub async fn apply_team(&self, file: Value) -> Value {
        let (now, folder, policy) = (
            self.clock.now(),
            std::path::Path::new("."),
            self.target_policy(),
        );
        let applied =
            pillarbox::apply::apply_text(&self.store, &file.to_string(), folder, &policy, now)
                .await;
        serde_json::to_value(applied.unwrap_or_else(|error| panic!("{error:#}"))).expect("JSON")
    }

    /// Makes or changes [`CAMPAIGN`]: a postcard without filters, with these settings over it.
    pub async fn save_campaign(&self, overrides: Value) {
        let mut campaign = json!({
            "id": CAMPAIGN,
            "name": "Test",
            "steps": [{"design": "Card", "postage": "standard"}],
        });
        merge_overrides(&mut campaign, overrides);
        self.apply_team(team_file(json!({"campaigns": [campaign]})))
            .await;
    }

    /// Posts recipients to [`CAMPAIGN`].
    pub async fn send_recipients(&self, recipients: &[Value]) -> ApiResponse {
        self.send_recipients_to(CAMPAIGN, recipients).await
    }

    /// Posts recipients to a campaign.
    pub async fn send_recipients_to(&self, campaign: &str, recipients: &[Value]) -> ApiResponse {
        self.post_send(&json!({"campaign_id": campaign, "recipients": recipients}))
            .await
    }

    /// Posts a body with [`KEY`].
    pub async fn post_send(&self, body: &Value) -> ApiResponse {
        self.post_send_with(
            &[("authorization", &format!("Bearer {KEY}"))],
            body.to_string(),
        )
        .await
    }

    /// Posts a body with these headers.
    pub async fn post_send_with(
        &self,
        headers: &[(&str, &str)],
        body: impl Into<reqwest::Body>,
    ) -> ApiResponse {
        self.post_send_to(&self.url, headers, body).await
    }

    /// Posts a body with these headers to another gateway.
    pub async fn post_send_to(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: impl Into<reqwest::Body>,
    ) -> ApiResponse {
        self.request(
            Method::POST,
            &format!("{url}/api/v1/recipients"),
            headers,
            body,
        )
        .await
    }

    /// Makes any request. The answer must be one that the description of the API allows.
    pub async fn request(
        &self,
        method: Method,
        url: &str,
        headers: &[(&str, &str)],
        body: impl Into<reqwest::Body>,
    ) -> ApiResponse {
        let mut request = self.client.request(method.clone(), url).body(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.send().await.expect("an answer");
        let answer = ApiResponse {
            status: response.status(),
            headers: response.headers().clone(),
            text: response.text().await.expect("a body"),
        };
        let fault = find_fault(&method, url, &answer);
        assert_eq!(
            fault, None,
            "{method} {url}: {} {}",
            answer.status, answer.text
        );
        answer
    }

    /// The first column of the first row, as a number.
    pub async fn query_count(&self, sql: &str) -> i64 {
        self.sql.query_one(sql, &[]).await.expect(sql).get(0)
    }

    /// Asserts that mailpieces, charges, budgets and the ledger agree.
    pub async fn assert_consistent(&self) {
        let found = self
            .store
            .check_consistency(self.clock.now(), 1, |_| {})
            .await
            .expect("the check runs");
        assert_eq!(found, []);
    }

    /// The same stack with a new connection for looking into the database: a killed server has closed the old one.
    pub async fn reconnect(mut self) -> Self {
        self.sql = connect(&self.settings["PILLARBOX__DATABASE__URL"]).await;
        self
    }

    /// The time of the stack.
    pub fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }
}

impl Drop for TestStack {
    fn drop(&mut self) {
        for token in &self.tokens {
            token.cancel();
        }
    }
}

/// The file of the tests' team, with these settings over it.
pub(crate) fn team_file(overrides: Value) -> Value {
    let mut team = json!({
        "name": "Test",
        "time_zone": "America/New_York",
        "keys": [{"kind": "full_access", "name": "Tests", "key": KEY}],
        "designs": [{"name": "Card", "document": {
            "product": "postcard_4x6",
            "front": {"elements": []},
            "back": {"elements": []},
        }}],
        "top_up": {"amount": "$100000.00", "reference": "first"},
    });
    merge_overrides(&mut team, overrides);
    json!({"teams": [team]})
}

fn merge_overrides(target: &mut Value, overrides: Value) {
    let (Some(target), Value::Object(overrides)) = (target.as_object_mut(), overrides) else {
        return;
    };
    target.extend(overrides);
}

/// Waits until `holds`; panics with `what` when it does not in a generous time.
pub async fn wait_until(what: &str, holds: impl AsyncFn() -> bool) {
    let begun = std::time::Instant::now();
    while !holds().await {
        assert!(
            begun.elapsed() < PATIENCE,
            "it did not come true that {what}"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
