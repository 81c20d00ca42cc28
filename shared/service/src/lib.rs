//! What every process needs: configuration, logs, metrics, health, the clock, an HTTP server with limits, and
//! an orderly stop.

mod clock;
pub mod config;
pub mod fail_point;
mod health;
pub mod http;
mod process;
mod telemetry;
pub mod trace;

/// Requests come and go by megabytes on several threads; the system's allocator keeps what they leave behind.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub use clock::Clock;
pub use config::Config;
pub use process::{Process, install_crypto, run};
