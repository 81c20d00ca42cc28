//! The life of a process: start, serve, stop.

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use chrono::TimeDelta;
use metrics_exporter_prometheus::PrometheusHandle;
use queue::Broker;
use store::{Store, StoreError};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::clock::Clock;
use crate::condition::{self, HealthSnapshot, ProcessHealth};
use crate::config::Config;
use crate::{health, http, report, task, telemetry};

/// Connections to the port of health and metrics, and of these from one source address.
const ADMIN_CONNECTIONS: usize = 64;
const ADMIN_CONNECTIONS_PER_SOURCE: usize = 32;

/// Time for a probe to send its request, and to read each piece of its answer.
const ADMIN_TIMEOUT: Duration = Duration::from_secs(10);

/// Of the time after the stop, one in so many parts is for the last answers to go out.
const LAST_ANSWERS_PART: u32 = 5;

/// Time to give up the duty of reporting at the stop.
const LAST_REPORT_TIMEOUT: Duration = Duration::from_secs(1);

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

/// Runs a process named `name`: reads the configuration, starts logs, metrics and health, does `work` until it
/// ends, and stops on SIGTERM or SIGINT. `work` sees the stop as a cancelled [`Process::shutdown`] and returns when
/// it has finished or handed back what was in flight. With `--help`, or an argument that nobody knows, it only says what
/// there is.
pub fn run<F>(name: &'static str, work: impl FnOnce(Process) -> F) -> ExitCode
where
    F: Future<Output = anyhow::Result<()>>,
{
    if let Some(answered) = crate::arguments::handle_arguments(name, std::env::args().skip(1)) {
        return answered;
    }
    match start_process(name, work) {
        Ok(code) => code,
        Err(error) => {
            // Before the logs are up there is only this way to say it.
            eprintln!("{name}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn start_process<F>(name: &'static str, work: impl FnOnce(Process) -> F) -> anyhow::Result<ExitCode>
where
    F: Future<Output = anyhow::Result<()>>,
{
    let config = Config::load().context("configuration")?;
    // Held to the end: it sends the last spans.
    let _exporter = telemetry::start_logs_and_traces(name, &config.log, &config.traces)?;
    let metrics = telemetry::start_metrics(name)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    Ok(
        match runtime.block_on(run_until_stopped(name, config, metrics, work)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                tracing::error!(error = &*error as &dyn Error, "failed");
                ExitCode::FAILURE
            }
        },
    )
}

async fn run_until_stopped<F>(
    name: &'static str,
    config: Config,
    metrics: PrometheusHandle,
    work: impl FnOnce(Process) -> F,
) -> anyhow::Result<()>
where
    F: Future<Output = anyhow::Result<()>>,
{
    let shutdown = CancellationToken::new();
    let process = Process::new(name, config, Clock::system(), shutdown.clone())?;
    task::spawn(stop_on_signal(&process)?);
    serve_admin(&process, metrics).await?;
    task::spawn(condition::watch_database(process.clone()));
    let reporter = task::spawn(report::run(process.clone()));
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "started");
    let background = process.background.clone();
    work(process).await?;
    let _ = tokio::time::timeout(LAST_REPORT_TIMEOUT, reporter).await;
    background.cancel();
    tracing::info!("stopped");
    Ok(())
}

/// Stops the process when it is told to: first it only says that it is not ready, for as long as load balancers need to
/// hear it, then it takes nothing new.
fn stop_on_signal(process: &Process) -> anyhow::Result<impl Future<Output = ()> + use<>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let (shutdown, is_leaving) = (process.shutdown.clone(), process.is_leaving.clone());
    let drain = Duration::from_millis(process.config.shutdown.drain_ms);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping");
        is_leaving.store(true, Ordering::Relaxed);
        tokio::time::sleep(drain).await;
        shutdown.cancel();
    })
}

async fn serve_admin(process: &Process, metrics: PrometheusHandle) -> anyhow::Result<()> {
    let listen = &process.config.admin.listen;
    let listener = TcpListener::bind(listen)
        .await
        .with_context(|| format!("cannot listen on {listen}"))?;
    let router = health::build_router(process, metrics);
    let limits = http::ServerLimits {
        max_connections: ADMIN_CONNECTIONS,
        connections_per_source: ADMIN_CONNECTIONS_PER_SOURCE,
        trusted_proxies: Vec::new(),
        first_header_timeout: ADMIN_TIMEOUT,
        header_timeout: ADMIN_TIMEOUT,
        write_timeout: ADMIN_TIMEOUT,
        grace: Duration::ZERO,
    };
    task::spawn(http::serve_router(
        listener,
        router,
        limits,
        process.shutdown.clone(),
    ));
    Ok(())
}
