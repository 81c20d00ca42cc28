//! What needs no server: the code, the documents and the files that are deployed fit each other, and the contract counts
//! its own coverage.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod alerts;
mod circles;
mod clients;
mod codes;
mod contract;
mod coverage;
mod deploy;
mod facts;
mod layout;
mod links;
mod mcp_coverage;
mod push_coverage;
mod rules;
mod walks;
mod webhooks_coverage;
