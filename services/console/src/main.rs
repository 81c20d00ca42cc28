//! The console's process.

use std::process::ExitCode;

fn main() -> ExitCode {
    service::run("console", console::run)
}
