//! The console's process.

use std::process::ExitCode;

fn main() -> ExitCode {
    runtime::run("console", console::run)
}
