//! What operators see: metrics, traces, logs, and that dashboard, alerts, runbook and documentation fit them.

#[path = "../../repository/alerts.rs"]
mod alerts;
mod logs;
mod metrics;
mod misfit;
mod queries;
mod retention;
mod traces;

use std::collections::HashMap;
use std::sync::Mutex;

use pillarbox_tests::{
    ApiResponse, INTEGRATION_KEY, KEY, KeptLog, SpawnedProcess, StackOptions, TestStack,
    WebhookSink, build_recipient, find_free_port, list_codes, wait_until, with_qr_codes,
};
use reqwest::Method;
use serde_json::{Value, json};
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, ResponseTemplate};

/// The processes that stay, by the names of their binaries.
const PROCESSES: [&str; 5] = ["gateway", "mailer", "syncer", "dispatcher", "console"];

/// Every process as it is run for real, and what they need around them.
struct Fleet {
    stack: TestStack,
    sink: WebhookSink,
    gateway: String,
    console: String,
    /// Operational ports by process.
    ports: HashMap<&'static str, u16>,
    logs: HashMap<&'static str, KeptLog>,
    _processes: Vec<SpawnedProcess>,
    _model: MockServer,
}

impl Fleet {
    async fn start(settings: Vec<(&'static str, String)>) -> Self {
        let model = MockServer::start().await;
        let choice = json!({"message": {"role": "assistant", "content": "Dear reader"}, "finish_reason": "stop"});
        let answer = ResponseTemplate::new(200).set_body_json(json!({"choices": [choice]}));
        Mock::given(method("POST"))
            .respond_with(answer)
            .mount(&model)
            .await;
        let usual = [
            ("LANGUAGE_MODEL__URL", model.uri()),
            ("LANGUAGE_MODEL__MODEL", "test".to_owned()),
            ("CONSOLE__SECURE_COOKIES", "false".to_owned()),
        ];
        let settings = usual.into_iter().chain(settings).collect();
        let (stack, sink) = with_qr_codes(StackOptions {
            mailers: 0,
            settings,
            ..StackOptions::default()
        })
        .await;
        provide(&stack).await;
        // Real processes have real clocks.
        stack.clock.advance(chrono::Utc::now() - stack.now());
        let (gateway, console) = (find_free_port(), find_free_port());
        let (mut ports, mut logs, mut processes) = (HashMap::new(), HashMap::new(), Vec::new());
        for name in PROCESSES {
            let port = find_free_port();
            let mut settings = stack.settings.clone();
            let listens = [("ADMIN", port), ("GATEWAY", gateway), ("CONSOLE", console)];
            for (part, port) in listens {
                settings.insert(
                    format!("PILLARBOX__{part}__LISTEN"),
                    format!("127.0.0.1:{port}"),
                );
            }
            let (process, log) = SpawnedProcess::start_logged(name, &settings);
            processes.push(process);
            logs.insert(name, log);
            ports.insert(name, port);
        }
        let local = |port| format!("http://127.0.0.1:{port}");
        let fleet = Self {
            stack,
            sink,
            gateway: local(gateway),
            console: local(console),
            ports,
            logs,
            _processes: processes,
            _model: model,
        };
        wait_until("all processes are ready", async || fleet.is_ready().await).await;
        fleet
    }

    async fn is_ready(&self) -> bool {
        for port in self.ports.values() {
            let answer = reqwest::get(format!("http://127.0.0.1:{port}/readyz")).await;
            if !answer.is_ok_and(|answer| answer.status().is_success()) {
                return false;
            }
        }
        true
    }

    /// What a process says at `/metrics`.
    async fn scrape(&self, process: &str) -> String {
        let url = format!("http://127.0.0.1:{}/metrics", self.ports[process]);
        reqwest::get(url).await.unwrap().text().await.unwrap()
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> (u16, String) {
        let answer = self.answer(method, path, headers, body).await;
        (answer.status.as_u16(), answer.text)
    }

    async fn answer(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> ApiResponse {
        let url = format!("{}{path}", self.gateway);
        self.stack
            .request(method, &url, headers, body.to_string())
            .await
    }

    /// Sends this until a mailer answers with this status; returns the request's id.
    async fn send(&self, recipients: Value, status: u16) -> String {
        let body = json!({"campaign_id": pillarbox_tests::CAMPAIGN, "recipients": recipients});
        let (headers, id) = ([("x-api-key", KEY)], Mutex::new(String::new()));
        wait_until("the send is answered", async || {
            let answer = self
                .answer(Method::POST, "/api/v1/recipients", &headers, &body)
                .await;
            *id.lock().unwrap() = answer.headers["x-request-id"].to_str().unwrap().to_owned();
            answer.status == status
        })
        .await;
        id.into_inner().unwrap()
    }

    /// A bit of everything that clients do: what succeeds, and what is refused.
    async fn use_everything(&self) {
        let key = ("authorization", format!("Bearer {KEY}"));
        let key = [(key.0, key.1.as_str())];
        let recipients = json!({"campaign_id": pillarbox_tests::CAMPAIGN, "recipients": [build_recipient(1), build_recipient(1), {}]});
        wait_until("the send is answered", async || {
            self.ask(Method::POST, "/api/v1/recipients", &key, &recipients)
                .await
                .0
                == 200
        })
        .await;
        let (status, _) = self
            .ask(Method::POST, "/api/v1/recipients", &[], &recipients)
            .await;
        assert_eq!(status, 401);
        assert_eq!(
            self.ask(Method::GET, "/nowhere", &[], &json!({})).await.0,
            404
        );
        self.push_contacts().await;
        let tools = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "list_columns", "arguments": {}}});
        let headers = [key[0], ("content-type", "application/json")];
        wait_until("the tool answers", async || {
            let (status, text) = self
                .ask(Method::POST, "/api/formulas/v1/mcp", &headers, &tools)
                .await;
            status == 200 && text.contains("\"result\"")
        })
        .await;
        let code = list_codes(&self.stack).await.remove(0);
        let phone = [("user-agent", "Mozilla/5.0 (iPhone) Safari/604.1")];
        assert_eq!(
            self.ask(Method::GET, &format!("/q/{code}"), &phone, &json!({}))
                .await
                .0,
            302
        );
        assert!(
            reqwest::get(format!("{}/sign-in", self.console))
                .await
                .unwrap()
                .status()
                .is_success()
        );
        wait_until("the scan is delivered", async || {
            self.sink.count_received() == 1
        })
        .await;
        let written = "SELECT count(*) FROM ai_cells WHERE state = 'written'";
        wait_until("the AI value is written", async || {
            self.stack.query_count(written).await > 0
        })
        .await;
    }

    async fn push_contacts(&self) {
        let call = async |method, path: &str, body: &Value| {
            let key = format!("Bearer {INTEGRATION_KEY}");
            let id = uuid::Uuid::new_v4().to_string();
            let headers = [
                ("authorization", key.as_str()),
                ("idempotency-key", id.as_str()),
            ];
            self.ask(
                method,
                &format!("/api/integrations/push/v1{path}"),
                &headers,
                body,
            )
            .await
        };
        let fields = json!({"fields": [{"key": "first", "semantic": "first_name"}]});
        wait_until("a syncer takes calls", async || {
            call(Method::POST, "/schema", &fields).await.0 == 200
        })
        .await;
        let (status, text) = call(Method::POST, "/sync", &json!({"mode": "full"})).await;
        assert_eq!(status, 200, "{text}");
        let records = json!({"records": [{"external_id": "1", "fields": {"first": "Pat"}}]});
        let (status, text) = call(Method::POST, "/records", &records).await;
        assert_eq!(status, 200, "{text}");
    }
}

/// An integration and an AI column.
async fn provide(stack: &TestStack) {
    let keys = json!([{"name": "Tests", "key": INTEGRATION_KEY}]);
    let team = json!({"name": "Test", "integrations": [{"name": "CRM", "keys": keys}],
        "columns": [{"name": "Greeting", "prompt": "Greet {{first_name}} {{last_name}}."}]});
    stack.apply_team(json!({"teams": [team]})).await;
}
