//! The mailer's process.

use std::process::ExitCode;

fn main() -> ExitCode {
    service::run("mailer", mailer::run)
}
