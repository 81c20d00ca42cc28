//! The files in `deploy` and `docs` that speak of metrics.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use runtime::metric::{METRICS, MetricKind};

use super::alerts::{alerts, file};

/// Where the pages with a section for each alert are.
const RUNBOOK: &str = "docs/operate/runbook";

/// The runbook's pages: their file's name and their text.
fn runbook_pages() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(RUNBOOK);
    folder
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .map(|name| {
            let text = file(&format!("{RUNBOOK}/{name}"));
            (name, text)
        })
        .collect()
}

#[test]
fn each_alert_has_its_section_in_the_runbook_and_each_section_its_alert() {
    let sections: Vec<(String, String)> = runbook_pages()
        .into_iter()
        .flat_map(|(page, text)| {
            let names: Vec<String> = text
                .lines()
                .filter_map(|line| line.strip_prefix("### "))
                .filter(|name| name.starts_with("Pillarbox"))
                .map(str::to_owned)
                .collect();
            names.into_iter().map(move |name| (name, page.clone()))
        })
        .collect();
    let pages: BTreeMap<&str, &str> = sections
        .iter()
        .map(|(name, page)| (name.as_str(), page.as_str()))
        .collect();
    assert_eq!(pages.len(), sections.len(), "an alert has two sections");
    let alerts = alerts();
    for alert in &alerts {
        let name = alert["alert"].as_str().unwrap();
        let page = pages
            .get(name)
            .unwrap_or_else(|| panic!("{name} has no section in {RUNBOOK}"));
        let link = format!("{RUNBOOK}/{page}#{}", name.to_lowercase());
        assert_eq!(alert["annotations"]["runbook_url"], link.as_str());
        assert!(
            ["page", "ticket"].contains(&alert["labels"]["severity"].as_str().unwrap()),
            "{name}"
        );
        assert!(
            alert["annotations"]["summary"]
                .as_str()
                .is_some_and(|text| !text.is_empty()),
            "{name}"
        );
    }
    let names: BTreeSet<&str> = alerts
        .iter()
        .map(|alert| alert["alert"].as_str().unwrap())
        .collect();
    let sections: BTreeSet<&str> = pages.into_keys().collect();
    assert_eq!(names, sections);
}

#[test]
fn each_section_of_the_runbook_says_what_it_means_what_to_look_at_and_what_to_do() {
    for (_, runbook) in runbook_pages() {
        for section in runbook
            .split("\n### ")
            .skip(1)
            .filter(|section| section.starts_with("Pillarbox"))
        {
            let (name, text) = section.split_once('\n').unwrap();
            for part in ["**Means.**", "**Look.**", "**Do.**"] {
                assert!(text.contains(part), "{name} lacks {part}");
            }
        }
    }
}

#[test]
fn the_documentation_has_every_metric_with_its_labels() {
    let page = file("docs/reference/metrics.md");
    let listed: Vec<Vec<&str>> = page
        .lines()
        .filter(|line| line.starts_with("| `pillarbox_"))
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect();
    let expected: Vec<Vec<String>> = METRICS
        .iter()
        .map(|metric| {
            let kind = match metric.kind {
                MetricKind::Counter => "counter",
                MetricKind::Gauge => "gauge",
                MetricKind::Histogram => "histogram",
            };
            let labels: Vec<String> = metric
                .labels
                .iter()
                .map(|label| format!("`{}`", label.name))
                .collect();
            let by = if metric.by.is_empty() {
                "all".to_owned()
            } else {
                metric.by.join(", ")
            };
            [
                format!("`{}`", metric.name),
                kind.to_owned(),
                labels.join(", "),
                by,
                metric.help.to_owned(),
            ]
            .to_vec()
        })
        .collect();
    assert_eq!(listed, expected);
}

/// Each use of a macro that logs in the product's code, with its file.
fn log_macros() -> Vec<(PathBuf, String)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders = vec![root.join("services"), root.join("shared")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|end| end == "rs") {
                let text = std::fs::read_to_string(&entry).unwrap();
                let uses = text.split("tracing::").skip(1).filter(|part| {
                    ["error!(", "warn!(", "info!(", "debug!("]
                        .iter()
                        .any(|name| part.starts_with(name))
                });
                found.extend(uses.map(|part| (entry.clone(), statement(part).to_owned())));
            }
        }
    }
    found
}

/// A macro's use up to the bracket that closes it. Brackets in texts come in pairs.
fn statement(text: &str) -> &str {
    let mut depth = 0;
    let end = text.find(|letter| {
        depth += match letter {
            '(' => 1,
            ')' => -1,
            _ => return false,
        };
        depth == 0
    });
    &text[..end.unwrap_or(text.len())]
}

#[test]
fn errors_are_logged_whole() {
    // An error's own text may quote a value, and has none of its causes: what writes the lines knows both.
    let bare = regex::Regex::new(
        r#"[%?]&?(error|err|why|failure)\b|\{(error|err)[:}]|\b(error|err)\.to_string"#,
    )
    .unwrap();
    let macros = log_macros();
    assert!(macros.len() > 50, "only {} uses were found", macros.len());
    for (file, text) in macros {
        assert!(
            !bare.is_match(&text),
            "{}: {text}\nuse `error = &error as &dyn Error`",
            file.display()
        );
    }
    for text in [
        "error!(%error, \"it failed\")",
        "warn!(error = ?err)",
        "info!(\"it failed: {error}\")",
    ] {
        assert!(bare.is_match(text), "{text}");
    }
}
