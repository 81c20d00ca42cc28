//! A process from its start to its stop.

use std::error::Error;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Context;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::config::Config;
use crate::process::Process;
use crate::{condition, health, http, report, task, telemetry};

/// Connections to the port of health and metrics, and of these from one source address.
const ADMIN_CONNECTIONS: usize = 64;
const ADMIN_CONNECTIONS_PER_SOURCE: usize = 32;

/// Time for a probe to send its request, and to read each piece of its answer.
const ADMIN_TIMEOUT: Duration = Duration::from_secs(10);

/// Time to give up the duty of reporting at the stop.
const LAST_REPORT_TIMEOUT: Duration = Duration::from_secs(1);

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
