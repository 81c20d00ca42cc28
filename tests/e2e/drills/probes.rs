//! The probes that look with clients' eyes, as they are deployed.

use reqwest::{Method, Url};
use serde_json::Value;

const MODULES: &str = include_str!("../../../deploy/prometheus/blackbox.yaml");
const TARGETS: &str = include_str!("../../../deploy/prometheus/probes.yaml");

/// One question, and the statuses that are right.
pub(super) struct Probe {
    pub(super) name: String,
    pub(super) host: String,
    pub(super) path: String,
    pub(super) method: Method,
    pub(super) body: String,
    pub(super) statuses: Vec<u16>,
}

/// All of them, in the order of the file.
pub(super) fn probes() -> Vec<Probe> {
    let modules: Value = yaml_serde::from_str(MODULES).unwrap();
    let targets: Value = yaml_serde::from_str(TARGETS).unwrap();
    let groups = targets["scrape_configs"][0]["static_configs"]
        .as_array()
        .unwrap()
        .clone();
    groups
        .iter()
        .map(|group| probe(group, &modules["modules"]))
        .collect()
}

fn probe(group: &Value, modules: &Value) -> Probe {
    let name = group["labels"]["__param_module"]
        .as_str()
        .unwrap()
        .to_owned();
    let url: Url = group["targets"][0].as_str().unwrap().parse().unwrap();
    let http = &modules[&name]["http"];
    let statuses = http["valid_status_codes"]
        .as_array()
        .unwrap_or_else(|| panic!("no module {name}"));
    Probe {
        host: url.host_str().unwrap().to_owned(),
        path: url.path().to_owned(),
        method: http["method"].as_str().unwrap_or("GET").parse().unwrap(),
        body: http["body"].as_str().unwrap_or_default().to_owned(),
        statuses: statuses
            .iter()
            .map(|status| u16::try_from(status.as_u64().unwrap()).unwrap())
            .collect(),
        name,
    }
}

impl Probe {
    /// Asks as the exporter does, at this address.
    pub(super) async fn succeeds(&self, base: &str) -> bool {
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        let request = client.request(self.method.clone(), format!("{base}{}", self.path));
        let answer = request.body(self.body.clone()).send().await;
        answer.is_ok_and(|answer| self.statuses.contains(&answer.status().as_u16()))
    }
}
