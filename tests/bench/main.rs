//! `bench [NAME] [--json]`: what a release build does, measured on real processes and servers, each figure beside the
//! bound that it is to keep. `./dev bench` builds, starts the servers and runs it.

mod addresses;
mod database;
mod figures;
mod fleet;
mod formulas;
mod load;
mod machine;
mod push;
mod samples;
mod send;
mod webhooks;

use std::process::ExitCode;

use anyhow::bail;
use futures_util::future::BoxFuture;

use crate::figures::{Figure, Report};

/// A benchmark: its name, and what measures it.
type Bench = (&'static str, fn() -> BoxFuture<'static, anyhow::Result<Vec<Figure>>>);

/// All of them. Each is a file of its own.
const BENCHES: &[Bench] = &[
    ("send", || Box::pin(send::run())),
    ("push", || Box::pin(push::run())),
    ("addresses", || Box::pin(addresses::run())),
    ("formulas", || Box::pin(formulas::run())),
    ("webhooks", || Box::pin(webhooks::run())),
];

/// What the command line asks for.
struct Arguments {
    benches: Vec<Bench>,
    is_json: bool,
}

impl Arguments {
    fn parse(arguments: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut parsed = Self { benches: Vec::new(), is_json: false };
        for argument in arguments {
            if argument == "--json" {
                parsed.is_json = true;
            } else if let Some(bench) = BENCHES.iter().find(|(name, _)| *name == argument) {
                parsed.benches.push(*bench);
            } else {
                let known: Vec<_> = BENCHES.iter().map(|(name, _)| *name).collect();
                bail!("there is no benchmark {argument:?}; there are: {}", known.join(", "));
            }
        }
        if parsed.benches.is_empty() {
            parsed.benches.extend(BENCHES);
        }
        Ok(parsed)
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> anyhow::Result<()> {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    service::install_crypto();
    for (name, measure) in arguments.benches {
        let machine = machine::describe();
        let report = Report { bench: name, machine, figures: measure().await? };
        report.print(arguments.is_json)?;
    }
    Ok(())
}

/// Tells how far the run is: on the standard error, so that the figures can be piped.
fn step(text: &str) {
    eprintln!("  {text}");
}
