//! The dispatcher's process.

use std::process::ExitCode;

fn main() -> ExitCode {
    runtime::run("dispatcher", dispatcher::run)
}
