//! The Integrations push API, row by row of the contract.

mod access;
mod fields;
mod idempotency;
mod model;
mod reading;
mod records;
mod removal;
mod syncs;

use serde_json::{Value, json};

/// A record with a first name.
fn record(id: &str, first: &str) -> Value {
    json!({"external_id": id, "fields": {"first": first}})
}

/// Records of these ids.
fn records(ids: &[&str]) -> Vec<Value> {
    ids.iter().map(|id| record(id, "Ann")).collect()
}
