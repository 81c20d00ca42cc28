//! Sending traces to a collector, over OTLP. Off unless an endpoint is configured; then spans are made that nobody
//! makes otherwise.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use opentelemetry::trace::{SpanContext, TraceContextExt, TracerProvider};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracerProvider, SpanLimits,
};
use tracing::{Level, Metadata, Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

use crate::config::TraceSettings;

/// Ended spans that wait to be sent; further ones are dropped. About a megabyte.
const WAITING_SPANS: usize = 2048;

/// Spans in one request to the collector.
const SPANS_PER_REQUEST: usize = 512;

/// The longest that an ended span waits.
const SENDING_INTERVAL: Duration = Duration::from_secs(2);

/// Attributes, events and links of a span.
const ATTRIBUTES: u32 = 32;

/// The last part of a collector's address for traces over HTTP.
const TRACES_PATH: &str = "/v1/traces";

/// Our crates: libraries' spans stay out.
const TARGETS: [&str; 20] = [
    "accounts",
    "campaigns",
    "columns",
    "console",
    "delivering",
    "designs",
    "dispatcher",
    "gateway",
    "integrations",
    "mailer",
    "pictures",
    "printing",
    "queue",
    "runtime",
    "scanning",
    "sending",
    "store",
    "syncer",
    "syncing",
    "verification",
];

static IS_ON: AtomicBool = AtomicBool::new(false);

/// Sends spans from a thread of its own. Dropped, it sends the last ones.
pub(crate) struct TraceExporter {
    provider: SdkTracerProvider,
    timeout: Duration,
}

impl TraceExporter {
    /// The exporter of the process `name`; `None` when no endpoint is configured.
    pub(crate) fn from_settings(
        name: &'static str,
        settings: &TraceSettings,
    ) -> anyhow::Result<Option<Self>> {
        if settings.endpoint.is_empty() {
            return Ok(None);
        }
        ensure!(
            (0.0..=100.0).contains(&settings.sample_percent),
            "traces.sample_percent is not 0 to 100"
        );
        let timeout = Duration::from_millis(settings.timeout_ms);
        // The client that sends has TLS of its own choice otherwise.
        crate::install_crypto();
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!(
                "{}{TRACES_PATH}",
                settings.endpoint.trim_end_matches('/')
            ))
            .with_headers(parse_headers(&settings.headers)?)
            .with_timeout(timeout)
            .build()
            .context("traces.endpoint")?;
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(WAITING_SPANS)
            .with_max_export_batch_size(SPANS_PER_REQUEST)
            .with_scheduled_delay(SENDING_INTERVAL)
            .build();
        let limits = SpanLimits {
            max_attributes_per_span: ATTRIBUTES,
            max_events_per_span: ATTRIBUTES,
            max_links_per_span: ATTRIBUTES,
            ..SpanLimits::default()
        };
        let resource = Resource::builder_empty()
            .with_service_name(name)
            .with_attributes([
                KeyValue::new("service.namespace", "pillarbox"),
                KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
            ])
            .build();
        let provider = SdkTracerProvider::builder()
            .with_span_processor(
                BatchSpanProcessor::builder(exporter)
                    .with_batch_config(batches)
                    .build(),
            )
            // By the trace's id, so that all processes choose the same traces; and not by what a client asks for.
            .with_sampler(Sampler::TraceIdRatioBased(settings.sample_percent / 100.0))
            .with_span_limits(limits)
            .with_resource(resource)
            .build();
        IS_ON.store(true, Ordering::Relaxed);
        Ok(Some(Self { provider, timeout }))
    }

    /// What makes spans of ours into spans to send.
    pub(crate) fn layer<S>(&self) -> impl Layer<S> + Send + Sync + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    {
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("pillarbox"))
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_filter(filter_fn(is_ours))
    }
}

impl Drop for TraceExporter {
    fn drop(&mut self) {
        // A collector that is away does not hold up the stop.
        let _ = self.provider.shutdown_with_timeout(self.timeout);
    }
}

/// Spans only: events are log lines, and stay there.
fn is_ours(metadata: &Metadata<'_>) -> bool {
    let first = metadata.target().split("::").next().unwrap_or_default();
    metadata.is_span() && *metadata.level() <= Level::DEBUG && TARGETS.contains(&first)
}

/// Headers as `name=value`, separated by commas.
fn parse_headers(text: &str) -> anyhow::Result<HashMap<String, String>> {
    let parts = text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let (name, value) = part
                .split_once('=')
                .context("traces.headers has a part without \"=\"")?;
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        })
        .collect()
}

/// Whether spans are sent.
pub(crate) fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// The place of the current span in its trace; `None` when it is in none.
pub(crate) fn current_span_context() -> Option<SpanContext> {
    if !is_on() {
        return None;
    }
    let context = Span::current().context().span().span_context().clone();
    context.is_valid().then_some(context)
}

/// Puts a span that has not begun below another process's.
pub(crate) fn set_remote_parent(span: &Span, parent: SpanContext) {
    // An error is a span that nobody records.
    let _ = span.set_parent(Context::new().with_remote_span_context(parent));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_names_and_values() {
        let read = parse_headers("authorization=Basic YTpi==, x-tenant=mail").unwrap();
        assert_eq!(read["authorization"], "Basic YTpi==");
        assert_eq!(read["x-tenant"], "mail");
        assert!(parse_headers("").unwrap().is_empty());
        assert!(parse_headers("authorization").is_err());
    }
}
