//! `/livez`, `/readyz` and `/metrics`, on a port of their own.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use metrics_exporter_prometheus::PrometheusHandle;
use queue::Broker;
use serde::Serialize;
use store::Store;

/// Time for the database to answer a probe.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Clone)]
struct Health {
    store: Store,
    broker: Broker,
    metrics: PrometheusHandle,
}

/// What a process can reach.
#[derive(Serialize)]
struct Readiness {
    database: bool,
    broker: bool,
}

pub(crate) fn router(store: Store, broker: Broker, metrics: PrometheusHandle) -> Router {
    Router::new()
        .route("/livez", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(render))
        .with_state(Health { store, broker, metrics })
}

async fn ready(State(health): State<Health>) -> (StatusCode, Json<Readiness>) {
    let database =
        matches!(tokio::time::timeout(PROBE_TIMEOUT, health.store.schema_is_current()).await, Ok(Ok(true)));
    let readiness = Readiness { database, broker: health.broker.is_connected() };
    let status =
        if readiness.database && readiness.broker { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(readiness))
}

async fn render(State(health): State<Health>) -> String {
    health.metrics.run_upkeep();
    health.metrics.render()
}
