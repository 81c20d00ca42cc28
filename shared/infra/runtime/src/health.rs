//! `/livez`, `/readyz` and `/metrics`, on a port of their own.

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use metrics_exporter_prometheus::PrometheusHandle;
use serde::Serialize;

use crate::condition::{DatabaseState, Readiness};
use crate::process::Process;

#[derive(Clone)]
struct HealthEndpoints {
    process: Process,
    metrics: PrometheusHandle,
}

/// What `/readyz` says: the status is for load balancers, the rest for whoever looks after them.
#[derive(Serialize)]
struct ReadinessAnswer {
    ready: bool,
    leaving: bool,
    working: bool,
    broker: bool,
    database: bool,
    /// Why it is of less use than it could be.
    troubles: Vec<String>,
}

pub(crate) fn build_router(process: &Process, metrics: PrometheusHandle) -> Router {
    Router::new()
        .route("/livez", get(|| async { "ok\n" }))
        .route("/readyz", get(get_readiness))
        .route("/metrics", get(render_metrics))
        .with_state(HealthEndpoints {
            process: process.clone(),
            metrics,
        })
}

/// Asks nobody, so that it is answered as quickly when all else is slow.
async fn get_readiness(
    State(health): State<HealthEndpoints>,
) -> (StatusCode, Json<ReadinessAnswer>) {
    let facts = health.process.health_snapshot();
    let readiness = facts.readiness();
    let answer = ReadinessAnswer {
        ready: readiness == Readiness::Ready,
        leaving: facts.is_leaving,
        working: facts.is_working,
        broker: facts.has_broker,
        database: facts.database == DatabaseState::Fits,
        troubles: facts
            .troubles()
            .into_iter()
            .map(|trouble| trouble.text)
            .collect(),
    };
    let status = match readiness {
        Readiness::Ready => StatusCode::OK,
        Readiness::Starting | Readiness::Unfit => StatusCode::SERVICE_UNAVAILABLE,
        // What load balancers take for "nothing new, and no failure either".
        Readiness::Leaving => StatusCode::NOT_FOUND,
    };
    (status, Json(answer))
}

async fn render_metrics(State(health): State<HealthEndpoints>) -> String {
    update_gauges(&health);
    health.metrics.run_upkeep();
    health.metrics.render()
}

/// What is so at the moment.
fn update_gauges(health: &HealthEndpoints) {
    let flag = |is_so: bool| if is_so { 1.0 } else { 0.0 };
    let (process, facts) = (&health.process, health.process.health_snapshot());
    let pool = process.store.pool_status();
    let gauges = [
        ("pillarbox_working", flag(facts.is_working)),
        (
            "pillarbox_ready",
            flag(facts.readiness() == Readiness::Ready),
        ),
        ("pillarbox_broker_connected", flag(facts.has_broker)),
        (
            "pillarbox_broker_blocked",
            flag(process.broker.is_blocked()),
        ),
        (
            "pillarbox_database_usable",
            flag(facts.database == DatabaseState::Fits),
        ),
        ("pillarbox_database_connections_limit", pool.limit as f64),
        ("pillarbox_database_waiting", pool.waiting as f64),
    ];
    for (name, value) in gauges {
        metrics::gauge!(name).set(value);
    }
    for (state, connections) in [("busy", pool.busy), ("idle", pool.idle)] {
        metrics::gauge!("pillarbox_database_connections", "state" => state).set(connections as f64);
    }
    crate::usage::collect_metrics();
}
