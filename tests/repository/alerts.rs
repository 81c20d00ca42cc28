//! The alerts of `deploy`, as Prometheus reads them.

use std::path::PathBuf;

use serde_json::Value;

/// The text of a file of the repository.
pub(crate) fn file(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn yaml(path: &str) -> Value {
    yaml_serde::from_str(&file(path)).unwrap()
}

/// Name and query of each alert.
pub(crate) fn alerts() -> Vec<Value> {
    let groups = yaml("deploy/prometheus/alerts.yaml")["groups"]
        .as_array()
        .unwrap()
        .clone();
    groups
        .iter()
        .flat_map(|group| group["rules"].as_array().unwrap().clone())
        .collect()
}
