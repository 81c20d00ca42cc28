//! The syncer's process.

use std::process::ExitCode;

fn main() -> ExitCode {
    runtime::run("syncer", syncer::run)
}
