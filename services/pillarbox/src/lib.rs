//! The operator's command line: the schema, teams and what belongs to them, the proof of the ledger.
//!
//! [`command`] says what can be typed, [`run`](mod@run) does it, and every command answers with a [`report::Report`].

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

pub mod addresses;
pub mod apply;
pub mod command;
pub mod demo;
mod endpoint_command;
mod integration_command;
mod operate;
pub mod print;
pub mod print_command;
mod proof;
pub mod report;
pub mod run;
mod text_file;

pub use contract::money;
