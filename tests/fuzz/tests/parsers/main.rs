//! Every parser that reads what a stranger, a team or a team's systems send. Those that only one process knows are in that
//! process: `fuzz_` begins the name of each.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod addresses;
mod designs;
mod filters;
mod formulas;
mod headers;
mod links;
mod postal_files;
mod push;
mod rpc;
mod sends;
