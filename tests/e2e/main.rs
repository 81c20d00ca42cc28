//! End to end: requests over HTTP through the gateway, RabbitMQ and the mailer into Postgres. Tests are named after
//! the rows of the API contract that they prove.

#![allow(
    clippy::disallowed_methods,
    reason = "tests have their own time and tasks"
)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod activity;
mod addresses;
mod api;
mod broker_tls;
mod cancel;
mod clients;
mod columns;
mod console;
mod crash;
mod database_tls;
mod design_pictures;
mod design_return_address;
mod design_texts;
mod drills;
mod due;
mod earlier_schema;
mod edge;
mod encodings;
mod errors;
mod fairness;
mod following;
mod formula_ai;
mod formula_columns;
mod limits;
mod lists;
mod lost;
mod manifests;
mod mcp;
mod migrate;
mod money;
mod neighborhood;
mod operated;
mod operation;
mod outcomes;
mod parked;
mod plans;
mod pooler;
mod postal;
mod printing;
mod push;
mod replay;
mod response;
mod roles;
mod scan_feed;
mod scans;
mod sender;
mod webhooks;
mod wire;
