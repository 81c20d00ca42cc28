//! End to end: requests over HTTP through the gateway, RabbitMQ and the mailer into Postgres. Tests are named after
//! the rows of the API contract that they prove.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod addresses;
mod columns;
mod coverage;
mod crash;
mod deploy;
mod due;
mod errors;
mod formula_ai;
mod formula_columns;
mod limits;
mod mcp;
mod money;
mod neighborhood;
mod outcomes;
mod push;
mod replay;
mod response;
mod scans;
mod webhook_crash;
mod webhooks;
mod wire;
