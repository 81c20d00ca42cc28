//! Every metric that our processes expose. The names stand where something is counted, too; a test holds them, this
//! list, the documentation, the dashboard and the alerts together.

mod list;

pub use list::METRICS;
pub(crate) use list::QUEUES;

/// What a metric measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// Only grows while the process lives.
    Counter,
    /// Is what it is at the moment.
    Gauge,
    /// Durations in seconds, counted by how long they are.
    Histogram,
}

/// A label and the values that it can have.
#[derive(Debug, Clone, Copy)]
pub struct MetricLabel {
    /// Its name.
    pub name: &'static str,
    /// Its values; empty when the program's code bounds them: routes, the API's codes, tools.
    pub values: &'static [&'static str],
}

/// A metric.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// What it measures.
    pub kind: MetricKind,
    /// The processes that expose it; empty is all of them.
    pub by: &'static [&'static str],
    /// Its labels.
    pub labels: &'static [MetricLabel],
    /// One sentence.
    pub help: &'static str,
}

impl Metric {
    /// Whether a process of this name exposes it.
    pub fn is_of(&self, process: &str) -> bool {
        self.by.is_empty() || self.by.contains(&process)
    }

    /// Every combination of its labels' values; none when the code bounds one of them.
    fn label_combinations(&self) -> Vec<Vec<metrics::Label>> {
        self.labels
            .iter()
            .fold(vec![Vec::new()], |combinations, label| {
                let with = |value: &&'static str| {
                    let label = metrics::Label::from_static_parts(label.name, value);
                    combinations
                        .iter()
                        .map(move |before| [&before[..], std::slice::from_ref(&label)].concat())
                };
                label.values.iter().flat_map(with).collect()
            })
    }
}

/// Tells the collector about the metrics of the process `name`. Counters begin at zero, so that the first event is
/// an increase.
pub(crate) fn describe_metrics(name: &str) {
    for metric in METRICS.iter().filter(|metric| metric.is_of(name)) {
        match metric.kind {
            MetricKind::Counter => {
                metrics::describe_counter!(metric.name, metric.help);
                for labels in metric.label_combinations() {
                    metrics::counter!(metric.name, labels).increment(0);
                }
            }
            MetricKind::Gauge => {
                metrics::describe_gauge!(metric.name, metric.help);
                if metric.labels.is_empty() {
                    metrics::gauge!(metric.name).set(0);
                }
            }
            MetricKind::Histogram => metrics::describe_histogram!(metric.name, metric.help),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_conventions() {
        for Metric {
            name, kind, help, ..
        } in METRICS
        {
            let stem = name.strip_prefix("pillarbox_").unwrap();
            assert!(
                stem.bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte == b'_'),
                "{name}"
            );
            assert_eq!(
                *kind == MetricKind::Counter,
                name.ends_with("_total"),
                "{name}"
            );
            assert!(
                *kind != MetricKind::Histogram || name.ends_with("_seconds"),
                "{name}"
            );
            assert!(help.ends_with('.'), "{name}");
        }
    }

    #[test]
    fn a_counter_with_known_values_has_every_combination_of_them() {
        let combinations = |name| {
            METRICS
                .iter()
                .find(|metric| metric.name == name)
                .unwrap()
                .label_combinations()
        };
        assert_eq!(combinations("pillarbox_broker_connections_total").len(), 1);
        assert_eq!(combinations("pillarbox_charges_total").len(), 6);
        assert_eq!(combinations("pillarbox_http_requests_total").len(), 0);
    }
}
