//! The gateway's process.

use std::process::ExitCode;

fn main() -> ExitCode {
    runtime::run("gateway", gateway::run)
}
