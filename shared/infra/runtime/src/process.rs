//! What a process works with.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use chrono::TimeDelta;
use queue::Broker;
use store::{Store, StoreError};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::clock::Clock;
use crate::condition::{HealthSnapshot, ProcessHealth};
use crate::config::Config;
use crate::task;

/// Of the time after the stop, one in so many parts is for the last answers to go out.
const LAST_ANSWERS_PART: u32 = 5;

/// What a process works with.
#[derive(Clone)]
pub struct Process {
    /// What it holds duties with.
    pub id: Uuid,
    /// Its settings.
    pub config: Arc<Config>,
    /// The time.
    pub clock: Clock,
    /// Postgres.
    pub store: Store,
    /// RabbitMQ.
    pub broker: Broker,
    /// True while the process takes work.
    pub is_working: Arc<AtomicBool>,
    /// True from the moment at which the process is told to stop.
    pub is_leaving: Arc<AtomicBool>,
    /// What it has found out about itself and its database.
    pub(crate) condition: Arc<ProcessHealth>,
    /// Cancelled when the process is to stop: take nothing new, finish what has begun.
    pub shutdown: CancellationToken,
    /// Cancelled when those who still wait have to be answered.
    last_moment: CancellationToken,
    /// Cancelled when all work has ended: the broker's connection and what else work needs to finish.
    pub background: CancellationToken,
}

impl Process {
    /// Puts the parts together; connections open as they are needed.
    ///
    /// # Errors
    /// When the settings cannot be used.
    pub fn new(
        name: &str,
        config: Config,
        clock: Clock,
        shutdown: CancellationToken,
    ) -> anyhow::Result<Self> {
        install_crypto();
        let store = Store::new(&config.database).context("database")?;
        let background = CancellationToken::new();
        let broker = Broker::start(&config.broker, name, background.clone());
        let (is_working, is_leaving) = (Arc::default(), Arc::default());
        let (id, config) = (Uuid::now_v7(), Arc::new(config));
        let condition = Arc::default();
        let last_moment = CancellationToken::new();
        let process = Self {
            id,
            config,
            clock,
            store,
            broker,
            is_working,
            is_leaving,
            condition,
            shutdown,
            last_moment,
            background,
        };
        process.note_last_moment();
        Ok(process)
    }

    /// Takes or keeps a duty: work that one process does for all, and another one when it has been silent for `lease`.
    /// True while it is this process's.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot say; then it is nobody's.
    pub async fn has_duty(&self, duty: &'static str, lease: TimeDelta) -> Result<bool, StoreError> {
        let now = self.clock.now();
        self.store.claim_duty(duty, self.id, now, now + lease).await
    }

    /// How it stands with the process at the moment.
    pub(crate) fn health_snapshot(&self) -> HealthSnapshot {
        let (is_working, is_leaving) = (
            self.is_working.load(Ordering::Relaxed),
            self.is_leaving.load(Ordering::Relaxed),
        );
        self.condition
            .snapshot(is_working, is_leaving, self.broker.is_connected())
    }

    /// How long what has begun may take after the stop.
    pub fn grace_period(&self) -> Duration {
        Duration::from_millis(self.config.shutdown.grace_ms)
    }

    /// Ends at the last moment after the stop at which a request that waits for somebody can still be answered.
    pub async fn last_moment(&self) {
        self.last_moment.cancelled().await;
    }

    /// The time runs from the stop, for those who begin to wait after it, too.
    fn note_last_moment(&self) {
        let (shutdown, last_moment, grace) = (
            self.shutdown.clone(),
            self.last_moment.clone(),
            self.grace_period(),
        );
        task::spawn(async move {
            shutdown.cancelled().await;
            tokio::time::sleep(grace - grace / LAST_ANSWERS_PART).await;
            last_moment.cancel();
        });
    }
}

/// Chooses the one implementation of cryptography for TLS. Whoever makes an HTTP client without a [`Process`] calls it
/// before; calling it again changes nothing.
pub fn install_crypto() {
    // An error means that one is chosen already, and there is only this one.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
