//! Real processes that can be told apart: each with its ports, stopped and started again as an orchestrator does.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::Value;

use crate::logs::KeptLog;
use crate::processes::{SpawnedProcess, find_free_port};
use crate::stack::wait_until;

/// A process of the fleet.
pub struct FleetProcess {
    /// Which program it runs.
    pub name: &'static str,
    /// Where it listens, for a gateway or console.
    pub port: u16,
    /// Where its health is.
    pub admin: u16,
    settings: HashMap<String, String>,
    process: SpawnedProcess,
    log: KeptLog,
}

impl FleetProcess {
    /// Starts one; it may not be ready yet.
    pub fn start(name: &'static str, settings: &HashMap<String, String>) -> Self {
        let (port, admin) = (find_free_port(), find_free_port());
        let mut settings = settings.clone();
        settings.insert(
            "PILLARBOX__ADMIN__LISTEN".to_owned(),
            format!("127.0.0.1:{admin}"),
        );
        for part in ["GATEWAY", "CONSOLE"] {
            settings.insert(
                format!("PILLARBOX__{part}__LISTEN"),
                format!("127.0.0.1:{port}"),
            );
        }
        settings.insert(
            "PILLARBOX__CONSOLE__URL".to_owned(),
            format!("http://127.0.0.1:{port}"),
        );
        let (process, log) = SpawnedProcess::start_logged(name, &settings);
        Self {
            name,
            port,
            admin,
            settings,
            process,
            log,
        }
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Waits until it says that it is ready.
    pub async fn wait_until_ready(&self) {
        wait_until(&format!("{} is ready", self.name), async || {
            self.get_readiness().await.0 == 200
        })
        .await;
    }

    /// What it says of its readiness: the status, 0 when it does not answer, and the body.
    pub async fn get_readiness(&self) -> (u16, Value) {
        match self.get_admin("readyz").await {
            Ok(answer) => (
                answer.status().as_u16(),
                answer.json().await.unwrap_or_default(),
            ),
            Err(_) => (0, Value::Null),
        }
    }

    /// One of its metrics, which has no labels.
    pub async fn read_metric(&self, name: &str) -> f64 {
        let text = self
            .get_admin("metrics")
            .await
            .expect("an answer")
            .text()
            .await
            .expect("metrics");
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|value| value.parse().ok())
            .unwrap_or_else(|| panic!("{name} is not in {text}"))
    }

    async fn get_admin(&self, path: &str) -> reqwest::Result<reqwest::Response> {
        let client = reqwest::Client::builder()
            .timeout(Duration::from_secs(2))
            .build()?;
        client
            .get(format!("http://127.0.0.1:{}/{path}", self.admin))
            .send()
            .await
    }

    /// What it has written to its log since its last start.
    pub fn log_text(&self) -> String {
        self.log.text()
    }

    /// Kills it, and starts it again at the same place.
    pub fn crash(&mut self) {
        tokio::task::block_in_place(|| self.process.kill());
        (self.process, self.log) = SpawnedProcess::start_logged(self.name, &self.settings);
    }

    /// Stops it in order and starts it again at the same place. True when it ended well.
    pub fn restart_without_waiting(&mut self) -> bool {
        let ended_well = tokio::task::block_in_place(|| self.process.terminate());
        (self.process, self.log) = SpawnedProcess::start_logged(self.name, &self.settings);
        ended_well
    }

    /// The same, and waits until it is ready.
    pub async fn restart(&mut self) -> bool {
        let ended_well = self.restart_without_waiting();
        self.wait_until_ready().await;
        ended_well
    }
}
