//! The syncer's process.

use std::process::ExitCode;

fn main() -> ExitCode {
    service::run("syncer", syncer::run)
}
