//! What every process needs: configuration, logs, metrics, traces, health, the clock, an HTTP server with limits, and
//! an orderly stop.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests have their own time and tasks"
    )
)]

pub mod allowance;
mod arguments;
mod clock;
mod condition;
pub mod config;
mod export;
pub mod fail_point;
mod health;
pub mod housekeeping;
pub mod http;
pub mod log;
pub mod measure;
pub mod memory;
pub mod metric;
mod process;
pub mod purge;
mod report;
mod run;
pub mod source;
pub mod task;
mod telemetry;
pub mod trace;
mod usage;

pub use clock::Clock;
pub use config::Config;
pub use process::{Process, install_crypto};
pub use run::run;
