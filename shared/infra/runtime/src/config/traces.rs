//! Settings of traces.

use serde::Deserialize;

/// Traces.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceSettings {
    /// The collector's address; empty sends nothing.
    pub endpoint: String,
    /// Headers of each request to it: `name=value`, separated by commas.
    pub headers: String,
    /// Of 100 traces, so many are sent.
    pub sample_percent: f64,
    /// Milliseconds for one request to the collector.
    pub timeout_ms: u64,
}

impl std::fmt::Debug for TraceSettings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Headers hold the collector's key.
        formatter
            .debug_struct("Traces")
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}
