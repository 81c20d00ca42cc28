//! Real processes that can be told apart: each with its ports, stopped and started again as an orchestrator does.

use std::collections::HashMap;
use std::time::Duration;

use crate::processes::{Spawned, free_port};
use crate::stack::eventually;

/// A process of the fleet.
pub struct Member {
    /// Which program it runs.
    pub name: &'static str,
    /// Where it listens, for a gateway.
    pub port: u16,
    /// Where its health is.
    pub admin: u16,
    settings: HashMap<String, String>,
    process: Spawned,
}

impl Member {
    /// Starts one; it may not be ready yet.
    pub fn start(name: &'static str, settings: &HashMap<String, String>) -> Self {
        let (port, admin) = (free_port(), free_port());
        let mut settings = settings.clone();
        settings.insert("PILLARBOX__ADMIN__LISTEN".to_owned(), format!("127.0.0.1:{admin}"));
        settings.insert("PILLARBOX__GATEWAY__LISTEN".to_owned(), format!("127.0.0.1:{port}"));
        let process = Spawned::start(name, &settings, None);
        Self { name, port, admin, settings, process }
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
    pub async fn until_ready(&self) {
        let client = reqwest::Client::builder().timeout(Duration::from_secs(2)).build().expect("a client");
        let url = format!("http://127.0.0.1:{}/readyz", self.admin);
        eventually(&format!("{} is ready", self.name), async || {
            client.get(&url).send().await.is_ok_and(|answer| answer.status() == 200)
        })
        .await;
    }

    /// Stops it in order and starts it again at the same place. True when it ended well.
    pub async fn restart(&mut self) -> bool {
        let ended_well = tokio::task::block_in_place(|| self.process.terminate());
        self.process = Spawned::start(self.name, &self.settings, None);
        self.until_ready().await;
        ended_well
    }
}
