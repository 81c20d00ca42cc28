//! The gateway's process.

use std::process::ExitCode;

fn main() -> ExitCode {
    service::run("gateway", gateway::run)
}
