//! Logs, metrics and traces.

use anyhow::Context;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::{Context as LayerContext, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use crate::config::{LogSettings, TraceSettings};
use crate::export;
use crate::log::build_layer;
use crate::metric;

/// Bounds of duration histograms, in seconds.
const DURATION_BUCKETS: [f64; 13] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0,
];

/// Starts logs and, when an endpoint for them is configured, traces of the process `name`. Only the first call in a
/// process has an effect. What comes back sends the last spans when it is dropped.
pub(crate) fn start_logs_and_traces(
    name: &'static str,
    log: &LogSettings,
    traces: &TraceSettings,
) -> anyhow::Result<Option<export::TraceExporter>> {
    let filter = EnvFilter::try_new(&log.filter).context("log.filter")?;
    let exporter = export::TraceExporter::from_settings(name, traces)?;
    let spans = exporter.as_ref().map(export::TraceExporter::layer);
    let registry = tracing_subscriber::registry()
        .with(spans)
        .with(CountedLevels.with_filter(LevelFilter::WARN));
    let _ = registry
        .with(build_layer(name, log.format, filter, std::io::stdout))
        .try_init();
    Ok(exporter)
}

/// Counts what an operator should look at.
struct CountedLevels;

impl<S: Subscriber> Layer<S> for CountedLevels {
    fn on_event(&self, event: &Event<'_>, _: LayerContext<'_, S>) {
        let level = match *event.metadata().level() {
            Level::ERROR => "error",
            Level::WARN => "warn",
            _ => return,
        };
        metrics::counter!("pillarbox_log_events_total", "level" => level).increment(1);
    }
}

/// Starts collecting the metrics of the process `name`.
pub(crate) fn start_metrics(name: &str) -> anyhow::Result<PrometheusHandle> {
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &DURATION_BUCKETS)?
        .install_recorder()
        .context("metrics")?;
    metric::describe_metrics(name);
    metrics::gauge!("pillarbox_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1);
    crate::usage::describe_metrics();
    Ok(handle)
}
