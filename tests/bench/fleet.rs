//! A gateway and workers as processes of their own, over one database and one broker.

use std::collections::HashMap;
use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use pillarbox_tests::{KEY, SpawnedProcess};
use reqwest::StatusCode;

use crate::database::Database;
use crate::machine;

/// How long a process may take to be ready.
const READY_TIMEOUT: Duration = Duration::from_secs(30);

/// Pause between two looks.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// A rate that no benchmark reaches: they are not about being refused.
const REQUESTS_PER_MINUTE: &str = "1000000";

/// An endpoint that hangs is to go on hanging.
const NEVER: &str = "1000000";

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// One process.
pub struct Node {
    process: SpawnedProcess,
    admin: String,
}

/// The processes of one stack.
pub struct Fleet {
    /// Where the gateway listens.
    pub url: String,
    /// The gateway.
    pub gateway: Node,
    /// The mailers.
    pub mailers: Vec<Node>,
    /// The syncers.
    pub syncers: Vec<Node>,
    /// The dispatchers.
    pub dispatchers: Vec<Node>,
    /// The consoles.
    pub consoles: Vec<Node>,
    settings: HashMap<String, String>,
}

impl Node {
    async fn start(name: &str, settings: &HashMap<String, String>) -> anyhow::Result<Self> {
        let admin = free_address()?;
        let mut settings = settings.clone();
        settings.insert("PILLARBOX__ADMIN__LISTEN".to_owned(), admin.clone());
        let mut node = Self {
            process: SpawnedProcess::start(name, &settings, None),
            admin,
        };
        node.until_ready()
            .await
            .with_context(|| format!("{name} did not become ready"))?;
        Ok(node)
    }

    async fn until_ready(&mut self) -> anyhow::Result<()> {
        let begun = Instant::now();
        let url = format!("http://{}/readyz", self.admin);
        while !reqwest::get(&url)
            .await
            .is_ok_and(|answer| answer.status().is_success())
        {
            ensure!(!self.process.has_ended(), "it ended");
            ensure!(
                begun.elapsed() < READY_TIMEOUT,
                "it took longer than {READY_TIMEOUT:?}"
            );
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
        Ok(())
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// The most memory that it ever held resident, in bytes.
    pub fn peak_memory_bytes(&self) -> anyhow::Result<u64> {
        let status = format!("/proc/{}/status", self.process.id());
        let peak = machine::field(&status, "VmHWM").context("the kernel tells no VmHWM")?;
        let kib = peak
            .split_whitespace()
            .next()
            .and_then(|kib| kib.parse::<u64>().ok());
        Ok(kib.context("VmHWM is no number")? * 1024)
    }

    /// The sum of a histogram of durations, over all its labels.
    pub async fn metric_seconds(&self, name: &str) -> anyhow::Result<f64> {
        let text = reqwest::get(format!("http://{}/metrics", self.admin))
            .await?
            .text()
            .await?;
        let sums = text.lines().filter_map(|line| {
            let labels_and_value = line.strip_prefix(name)?.strip_prefix("_sum")?;
            labels_and_value.rsplit_once(' ')?.1.parse::<f64>().ok()
        });
        Ok(sums.sum())
    }

    /// Kills it with SIGKILL.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Tells it to stop, and waits until it has.
    pub fn terminate(mut self) -> anyhow::Result<()> {
        ensure!(self.process.terminate(), "a process did not end well");
        Ok(())
    }
}

impl Fleet {
    /// A gateway and so many mailers, ready.
    pub async fn start(database: &Database, mailers: usize) -> anyhow::Result<Self> {
        let broker =
            std::env::var("TEST_AMQP_URL").context("TEST_AMQP_URL is set by ./dev bench")?;
        let listen = free_address()?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let files = std::env::temp_dir()
            .join("pillarbox-bench-files")
            .display()
            .to_string();
        let namespace = format!("bench-{}-{number}", std::process::id());
        let settings = HashMap::from(
            [
                ("DATABASE__URL", database.url.as_str()),
                ("BROKER__URL", &broker),
                ("BROKER__NAMESPACE", &namespace),
                ("GATEWAY__LISTEN", &listen),
                ("GATEWAY__REQUESTS_PER_MINUTE_PER_KEY", REQUESTS_PER_MINUTE),
                (
                    "GATEWAY__REQUESTS_PER_MINUTE_PER_SOURCE",
                    REQUESTS_PER_MINUTE,
                ),
                (
                    "GATEWAY__PUSH_REQUESTS_PER_MINUTE_PER_SOURCE",
                    REQUESTS_PER_MINUTE,
                ),
                ("OUTBOUND__ALLOWED_NETWORKS", "127.0.0.0/8"),
                ("STORAGE__FOLDER", &files),
                ("DISPATCHER__DISABLE_AFTER", NEVER),
            ]
            .map(|(name, value)| (format!("PILLARBOX__{name}"), value.to_owned())),
        );
        let gateway = Node::start("gateway", &settings).await?;
        let url = format!("http://{listen}");
        let mut fleet = Self {
            url,
            gateway,
            mailers: Vec::new(),
            syncers: Vec::new(),
            dispatchers: Vec::new(),
            consoles: Vec::new(),
            settings,
        };
        for _ in 0..mailers {
            fleet.add_mailer().await?;
        }
        if mailers > 0 {
            fleet.until_served().await?;
        }
        Ok(fleet)
    }

    /// Until a mailer answers the gateway: then there is no such campaign, instead of nobody to ask.
    async fn until_served(&self) -> anyhow::Result<()> {
        let begun = Instant::now();
        let nobody =
            serde_json::json!({"campaign_id": "PA-NOBODY", "recipients": [{}]}).to_string();
        let request = reqwest::Client::new()
            .post(format!("{}/api/v1/recipients", self.url))
            .bearer_auth(KEY)
            .body(nobody);
        loop {
            let again = request
                .try_clone()
                .context("a request with a text as its body")?;
            if again.send().await?.status() == StatusCode::NOT_FOUND {
                return Ok(());
            }
            ensure!(
                begun.elapsed() < READY_TIMEOUT,
                "no mailer answered in {READY_TIMEOUT:?}"
            );
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
    }

    /// Another mailer on the same queue, ready.
    pub async fn add_mailer(&mut self) -> anyhow::Result<()> {
        self.mailers
            .push(Node::start("mailer", &self.settings).await?);
        Ok(())
    }

    /// Another syncer on the same queue, ready.
    pub async fn add_syncer(&mut self) -> anyhow::Result<()> {
        self.syncers
            .push(Node::start("syncer", &self.settings).await?);
        Ok(())
    }

    /// A dispatcher, ready.
    pub async fn add_dispatcher(&mut self) -> anyhow::Result<()> {
        self.dispatchers
            .push(Node::start("dispatcher", &self.settings).await?);
        Ok(())
    }

    /// A console, ready; where it listens.
    pub async fn add_console(&mut self) -> anyhow::Result<String> {
        let listen = free_address()?;
        let mut settings = self.settings.clone();
        let own = [
            ("CONSOLE__LISTEN", listen.as_str()),
            ("CONSOLE__SECURE_COOKIES", "false"),
        ];
        settings.extend(own.map(|(name, value)| (format!("PILLARBOX__{name}"), value.to_owned())));
        self.consoles.push(Node::start("console", &settings).await?);
        Ok(format!("http://{listen}"))
    }

    /// Seconds that all processes together have waited for the database.
    pub async fn store_seconds(&self) -> anyhow::Result<f64> {
        let mut seconds = 0.0;
        for node in std::iter::once(&self.gateway).chain(&self.mailers) {
            seconds += node
                .metric_seconds("pillarbox_database_busy_seconds")
                .await?;
        }
        Ok(seconds)
    }
}

/// An address of this machine that nobody listens on.
fn free_address() -> anyhow::Result<String> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string())
}
