//! The command line: for operators the schema, teams and what belongs to them, the proof of the ledger; for senders and
//! integrators uploads and scans, over HTTP with a key.
//!
//! [`command`] says what can be typed, [`run`](mod@run) does it, and every command answers with a [`report::CommandReport`].

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

pub mod addresses;
pub mod apply;
mod client;
pub mod command;
pub mod demo;
mod endpoint_command;
pub mod explain;
mod integration_command;
mod listen;
mod migrate;
mod operate;
pub mod print;
pub mod print_command;
mod proof;
mod push;
pub mod report;
pub mod run;
mod send;
pub mod sender_command;
mod sheet;
mod text_file;
pub mod tracking_command;
mod upload;

pub use model::money;
