//! What dashboard, alerts and scaling ask Prometheus for.

use promql_parser::label::MatchOp;
use promql_parser::parser::{Expr, VectorSelector, parse};
use promql_parser::util::{ExprVisitor, walk_expr};
use serde_json::Value;

use super::alerts::{alerts, file};

/// A use of a metric in a query.
pub(super) struct Query {
    /// Which alert or panel.
    pub(super) place: String,
    pub(super) metric: String,
    /// Labels that it asks for; with the value where it asks for one.
    pub(super) labels: Vec<(String, Option<String>)>,
}

struct Selectors<'a> {
    place: &'a str,
    found: Vec<Query>,
}

impl Selectors<'_> {
    fn note(&mut self, selector: &VectorSelector) {
        let labels = selector.matchers.matchers.iter().map(|matcher| {
            let value = matches!(matcher.op, MatchOp::Equal).then(|| matcher.value.clone());
            (matcher.name.clone(), value)
        });
        self.found.push(Query {
            place: self.place.to_owned(),
            metric: selector
                .name
                .clone()
                .unwrap_or_else(|| panic!("{}: a selector without a name", self.place)),
            labels: labels.collect(),
        });
    }
}

impl ExprVisitor for Selectors<'_> {
    type Error = std::convert::Infallible;

    fn pre_visit(&mut self, expression: &Expr) -> Result<bool, Self::Error> {
        match expression {
            Expr::VectorSelector(selector) => self.note(selector),
            Expr::MatrixSelector(matrix) => self.note(&matrix.vs),
            _ => {}
        }
        Ok(true)
    }
}

/// Title and query of each panel's target.
fn panels() -> Vec<(String, String)> {
    let dashboard: Value = serde_json::from_str(&file("deploy/grafana/dashboard.json")).unwrap();
    let targets = |panel: &Value| {
        let title = panel["title"].as_str().unwrap().to_owned();
        let targets = panel["targets"].as_array().cloned().unwrap_or_default();
        targets
            .into_iter()
            .map(move |target| (title.clone(), target["expr"].as_str().unwrap().to_owned()))
    };
    dashboard["panels"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(targets)
        .collect()
}

/// Name and query of each trigger by which workers are scaled.
pub(super) fn triggers() -> Vec<(String, String)> {
    let text = file("deploy/kubernetes/base/autoscaling.yaml");
    let documents = yaml_serde::Deserializer::from_str(&text);
    let scaled: Vec<Value> = documents
        .map(|document| serde::Deserialize::deserialize(document).unwrap())
        .collect();
    let triggers = |scaled: &Value| {
        let name = scaled["metadata"]["name"].as_str().unwrap().to_owned();
        let triggers = scaled["spec"]["triggers"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        triggers.into_iter().map(move |trigger| {
            (
                name.clone(),
                trigger["metadata"]["query"].as_str().unwrap().to_owned(),
            )
        })
    };
    scaled.iter().flat_map(triggers).collect()
}

/// Every use of a metric in dashboard, alerts and triggers.
pub(super) fn queries() -> Vec<Query> {
    let of_alerts = alerts().into_iter().map(|alert| {
        (
            alert["alert"].as_str().unwrap().to_owned(),
            alert["expr"].as_str().unwrap().to_owned(),
        )
    });
    let mut all = Vec::new();
    for (place, text) in of_alerts.chain(panels()).chain(triggers()) {
        let text = text.replace("$__rate_interval", "5m");
        let expression = parse(&text).unwrap_or_else(|error| panic!("{place}: {error}"));
        let mut selectors = Selectors {
            place: &place,
            found: Vec::new(),
        };
        walk_expr(&mut selectors, &expression).unwrap();
        assert!(!selectors.found.is_empty(), "{place} asks for nothing");
        all.extend(selectors.found);
    }
    all
}
