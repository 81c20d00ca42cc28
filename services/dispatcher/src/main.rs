//! The dispatcher's process.

use std::process::ExitCode;

fn main() -> ExitCode {
    service::run("dispatcher", dispatcher::run)
}
