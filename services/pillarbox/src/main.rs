//! Starts the operator's command line.

use std::process::ExitCode;

use clap::Parser;
use pillarbox::command::PillarboxArgs;

fn main() -> ExitCode {
    // A mistake in the command line itself ends here, with 2.
    pillarbox::run::run(PillarboxArgs::parse())
}
