//! What the processes expose is what the list of metrics says, and what dashboard and alerts ask for.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use pillarbox_tests::{tool_folder, wait_until};
use runtime::metric::{METRICS, Metric, MetricKind};
use serde_json::json;

use super::queries::{Query, queries, triggers};
use super::{Fleet, PROCESSES};

/// Series of one process that are more than its routes, codes and queues can make.
const SERIES: usize = 1_500;

/// One line of a process's metrics.
struct Sample {
    name: String,
    labels: BTreeMap<String, String>,
    value: f64,
}

fn samples(text: &str) -> Vec<Sample> {
    text.lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(sample)
        .collect()
}

fn sample(line: &str) -> Sample {
    let (series, value) = line.rsplit_once(' ').unwrap();
    let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
    let labels = labels
        .trim_end_matches('}')
        .split("\",")
        .filter(|label| !label.is_empty());
    let labels = labels.map(|label| {
        let (name, value) = label.split_once("=\"").unwrap_or_else(|| panic!("{line}"));
        (name.to_owned(), value.trim_end_matches('"').to_owned())
    });
    Sample {
        name: name.to_owned(),
        labels: labels.collect(),
        value: value.parse().unwrap(),
    }
}

fn metric_of(name: &str) -> Option<&'static Metric> {
    let is_of = |metric: &&Metric| match (metric.kind, name.strip_prefix(metric.name)) {
        (MetricKind::Histogram, Some(suffix)) => ["_bucket", "_sum", "_count"].contains(&suffix),
        (_, suffix) => suffix == Some(""),
    };
    METRICS.iter().find(is_of)
}

fn assert_listed(process: &str, sample: &Sample) {
    if sample.name.starts_with("process_") {
        return;
    }
    let metric =
        metric_of(&sample.name).unwrap_or_else(|| panic!("{} is not in the list", sample.name));
    assert!(
        metric.is_of(process),
        "{} is not the {process}'s",
        metric.name
    );
    for (name, value) in sample.labels.iter().filter(|(name, _)| *name != "le") {
        let label = metric.labels.iter().find(|label| label.name == name);
        let label = label.unwrap_or_else(|| panic!("{} has no label {name}", metric.name));
        assert!(
            label.values.is_empty() || label.values.contains(&value.as_str()),
            "{} has no {name}={value}",
            metric.name
        );
    }
}

fn assert_query(query: &Query, exposed: &BTreeSet<String>) {
    // Made by Prometheus for each process that it asks, and by the exporter that asks as clients do.
    if ["up", "probe_success"].contains(&query.metric.as_str()) {
        return;
    }
    assert!(
        exposed.contains(&query.metric),
        "{}: no process exposes {}",
        query.place,
        query.metric
    );
    let Some(metric) = metric_of(&query.metric) else {
        return;
    };
    for (name, value) in &query.labels {
        let Some(label) = metric.labels.iter().find(|label| label.name == name) else {
            assert!(
                ["le", "job", "instance"].contains(&name.as_str()),
                "{}: {} has no {name}",
                query.place,
                query.metric
            );
            continue;
        };
        let is_known = label.values.is_empty()
            || value
                .as_deref()
                .is_none_or(|value| label.values.contains(&value));
        assert!(
            is_known,
            "{}: {} never has {name}={value:?}",
            query.place, query.metric
        );
    }
}

/// The checker of Prometheus itself.
fn promtool(arguments: &[&str], input: &str) {
    let installed = tool_folder("promtool/usr/bin/promtool");
    let is_there = installed.exists();
    let program = if is_there {
        installed.as_path()
    } else {
        Path::new("promtool")
    };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("promtool: {error}; ./dev test installs it"));
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "promtool {arguments:?}: {said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_processes_expose_the_list_and_everything_that_is_asked_for() {
    let fleet = Fleet::start(Vec::new()).await;
    fleet.use_everything().await;
    wait_until("one process reports for all", async || {
        let mut reporters = 0.0;
        for process in PROCESSES {
            let all = samples(&fleet.scrape(process).await);
            reporters += all
                .iter()
                .find(|sample| sample.name == "pillarbox_reporter")
                .unwrap()
                .value;
        }
        reporters == 1.0
    })
    .await;
    let mut exposed = BTreeSet::new();
    for process in PROCESSES {
        let text = fleet.scrape(process).await;
        promtool(&["check", "metrics"], &text);
        let all = samples(&text);
        assert!(all.len() < SERIES, "the {process} has {} series", all.len());
        for sample in &all {
            assert_listed(process, sample);
            exposed.insert(sample.name.clone());
        }
    }
    let is_exposed = |metric: &Metric| {
        exposed
            .iter()
            .any(|name| metric_of(name).is_some_and(|of| of.name == metric.name))
    };
    let missing: Vec<&str> = METRICS
        .iter()
        .filter(|metric| !is_exposed(metric))
        .map(|metric| metric.name)
        .collect();
    assert_eq!(
        missing,
        Vec::<&str>::new(),
        "metrics of the list that nobody exposes"
    );
    for query in queries() {
        assert_query(&query, &exposed);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_counted_by_route_status_and_code() {
    let fleet = Fleet::start(Vec::new()).await;
    fleet.use_everything().await;
    let all = samples(&fleet.scrape("gateway").await);
    let count = |wanted: &[(&str, &str)]| -> f64 {
        let of = |sample: &&Sample| {
            sample.name == "pillarbox_http_requests_total"
                && wanted
                    .iter()
                    .all(|(name, value)| sample.labels.get(*name).is_some_and(|has| has == value))
        };
        all.iter().filter(of).map(|sample| sample.value).sum()
    };
    let recipients = ("route", "/api/v1/recipients");
    assert_eq!(
        count(&[
            recipients,
            ("method", "POST"),
            ("status", "200"),
            ("code", "ok")
        ]),
        1.0
    );
    assert_eq!(
        count(&[recipients, ("status", "401"), ("code", "invalid_api_key")]),
        1.0
    );
    assert_eq!(count(&[("route", "none"), ("status", "404")]), 1.0);
    assert_eq!(count(&[("route", "/q/{code}"), ("status", "302")]), 1.0);
    assert_eq!(
        count(&[
            ("route", "/api/integrations/push/v1/records"),
            ("status", "200")
        ]),
        1.0
    );
    let outcomes = samples(&fleet.scrape("mailer").await);
    let outcome = |wanted: &str| {
        let of = |sample: &&Sample| {
            sample.name == "pillarbox_recipients_total" && sample.labels["outcome"] == wanted
        };
        outcomes.iter().find(of).map_or(0.0, |sample| sample.value)
    };
    assert_eq!(
        ["mailed", "duplicate_recent", "invalid_address"].map(outcome),
        [1.0; 3]
    );
}

#[test]
fn the_checker_of_prometheus_takes_the_alerts_and_their_tests() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/prometheus");
    promtool(&["check", "rules", &format!("{folder}/alerts.yaml")], "");
    promtool(
        &["test", "rules", &format!("{folder}/alerts.test.yaml")],
        "",
    );
    promtool(
        &[
            "check",
            "config",
            "--syntax-only",
            &format!("{folder}/probes.yaml"),
        ],
        "",
    );
}

/// Ten of everything at a steady load: nothing waits at the broker, each has four calls or 400 attempts under way, and every
/// other worker keeps two calls waiting.
#[test]
fn workers_are_scaled_by_what_is_under_way_and_not_by_what_waits_alone() {
    let waiting = ["send", "formula", "push"]
        .map(|queue| (format!("queue_messages{{queue=\"{queue}\""), queue));
    let unknown = ["NaN"; 61].join(" ");
    let mut series = Vec::new();
    let mut add = |name: String, instance: usize, values: &str| {
        series.push(
            json!({"series": format!("pillarbox_{name}, instance=\"{instance}\"}}"), "values": values}),
        );
    };
    for (name, queue) in &waiting {
        // Only one process reports what waits.
        add(name.clone(), 0, "0x60");
        for instance in 1..=10 {
            add(name.clone(), instance, &unknown);
            add(format!("work_running{{queue=\"{queue}\""), instance, "4x60");
            // A series begins with the first call: half of the workers had none that had to wait.
            if instance % 2 == 0 {
                add(format!("work_waiting{{queue=\"{queue}\""), instance, "2x60");
            }
        }
    }
    add("backlog{kind=\"deliveries_due\"".to_owned(), 0, "0x60");
    for instance in 1..=10 {
        add(
            "backlog{kind=\"deliveries_due\"".to_owned(),
            instance,
            &unknown,
        );
        add(
            "webhook_attempt_duration_seconds_sum{job=\"d\"".to_owned(),
            instance,
            "0+6000x60",
        );
    }
    let expected = |name: &str| if name == "dispatcher" { 4000 } else { 50 };
    let queries: Vec<_> = triggers()
        .into_iter()
        .map(|(name, query)| {
            let sample = json!({"labels": "{}", "value": expected(&name)});
            json!({"expr": query, "eval_time": "10m", "exp_samples": [sample]})
        })
        .collect();
    assert_eq!(queries.len(), 4);
    let tests = json!({"tests": [{"interval": "15s", "input_series": series, "promql_expr_test": queries}]});
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), tests.to_string()).unwrap();
    promtool(&["test", "rules", file.path().to_str().unwrap()], "");
}
