//! `/livez`, `/readyz` and `/metrics`, on a port of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use metrics_exporter_prometheus::PrometheusHandle;
use queue::Broker;
use serde::Serialize;
use store::Store;

use crate::process::Process;

/// Time for the database to answer a probe.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Clone)]
struct Health {
    store: Store,
    broker: Broker,
    is_working: Arc<AtomicBool>,
    is_leaving: Arc<AtomicBool>,
    metrics: PrometheusHandle,
}

/// What a process can reach, and whether it takes work.
#[derive(Serialize)]
struct Readiness {
    database: bool,
    broker: bool,
    working: bool,
}

pub(crate) fn router(process: &Process, metrics: PrometheusHandle) -> Router {
    let Process { store, broker, is_working, is_leaving, .. } = process.clone();
    Router::new()
        .route("/livez", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(render))
        .with_state(Health { store, broker, is_working, is_leaving, metrics })
}

async fn ready(State(health): State<Health>) -> (StatusCode, Json<Readiness>) {
    let database =
        matches!(tokio::time::timeout(PROBE_TIMEOUT, health.store.schema_is_current()).await, Ok(Ok(true)));
    let readiness = Readiness {
        database,
        broker: health.broker.is_connected(),
        working: health.is_working.load(Ordering::Relaxed) && !health.is_leaving.load(Ordering::Relaxed),
    };
    let is_ready = readiness.database && readiness.broker && readiness.working;
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(readiness))
}

async fn render(State(health): State<Health>) -> String {
    observe(&health);
    health.metrics.run_upkeep();
    health.metrics.render()
}

/// What is so at the moment.
fn observe(health: &Health) {
    let flag = |is_so: bool| if is_so { 1.0 } else { 0.0 };
    let pool = health.store.pool_status();
    let gauges = [
        ("pillarbox_working", flag(health.is_working.load(Ordering::Relaxed))),
        ("pillarbox_broker_connected", flag(health.broker.is_connected())),
        ("pillarbox_broker_blocked", flag(health.broker.is_blocked())),
        ("pillarbox_database_connections_limit", pool.limit as f64),
        ("pillarbox_database_waiting", pool.waiting as f64),
    ];
    for (name, value) in gauges {
        metrics::gauge!(name).set(value);
    }
    for (state, connections) in [("busy", pool.busy), ("idle", pool.idle)] {
        metrics::gauge!("pillarbox_database_connections", "state" => state).set(connections as f64);
    }
    metrics_process::Collector::default().collect();
}
