//! The mailer's process.

use std::process::ExitCode;

fn main() -> ExitCode {
    runtime::run("mailer", mailer::run)
}
