//! What every process needs: configuration, logs, metrics, health, the clock, an HTTP server with limits, and
//! an orderly stop.

mod clock;
pub mod config;
pub mod fail_point;
mod health;
pub mod http;
mod process;
pub mod source;
mod telemetry;
pub mod trace;

pub use clock::Clock;
pub use config::Config;
pub use process::{Process, install_crypto, run};
