//! `bench [NAME[/PART]] [--json]`: what a release build does, measured on real processes and servers, each figure beside
//! the bound that it is to keep. `./dev bench` builds, starts the servers and runs it.

#![allow(
    clippy::disallowed_methods,
    reason = "tests have their own time and tasks"
)]

mod addresses;
mod console;
mod cpu;
mod database;
mod designs;
mod designs_print;
mod figures;
mod fleet;
mod formulas;
mod load;
mod machine;
mod push;
mod samples;
mod send;
mod webhooks;

use std::io::Write;
use std::process::ExitCode;

use anyhow::bail;
use futures_util::future::BoxFuture;

use crate::figures::{Figure, Report};

/// A benchmark. Each is a file of its own.
struct Bench {
    name: &'static str,
    /// What can be measured alone.
    parts: &'static [&'static str],
    /// Measures these parts.
    measure: fn(Vec<&'static str>) -> BoxFuture<'static, anyhow::Result<Vec<Figure>>>,
}

/// All of them.
const BENCHES: &[Bench] = &[
    Bench {
        name: "send",
        parts: &send::PARTS,
        measure: |parts| Box::pin(send::run(parts)),
    },
    Bench {
        name: "push",
        parts: &[],
        measure: |_| Box::pin(push::run()),
    },
    Bench {
        name: "push-large",
        parts: &[],
        measure: |_| Box::pin(push::run_large()),
    },
    Bench {
        name: "addresses",
        parts: &[],
        measure: |_| Box::pin(addresses::run()),
    },
    Bench {
        name: "webhooks",
        parts: &webhooks::PARTS,
        measure: |parts| Box::pin(webhooks::run(parts)),
    },
    Bench {
        name: "designs",
        parts: &[],
        measure: |_| Box::pin(designs()),
    },
    Bench {
        name: "console",
        parts: &[],
        measure: |_| Box::pin(console::run()),
    },
    Bench {
        name: "formulas",
        parts: &[],
        measure: |_| Box::pin(formulas::run()),
    },
];

/// What becomes of a design: the checks of a send, and paper.
async fn designs() -> anyhow::Result<Vec<Figure>> {
    let mut figures = designs::run().await?;
    figures.extend(designs_print::run().await?);
    Ok(figures)
}

/// What the command line asks for.
enum Asked {
    Measure(Arguments),
    Help,
}

/// What is to be measured, and how it is told.
struct Arguments {
    /// Benchmarks, each with the parts to measure.
    benches: Vec<(&'static Bench, Vec<&'static str>)>,
    is_json: bool,
}

impl Arguments {
    fn parse(arguments: impl Iterator<Item = String>) -> anyhow::Result<Asked> {
        let mut parsed = Self {
            benches: Vec::new(),
            is_json: false,
        };
        for argument in arguments {
            if ["-h", "--help"].contains(&argument.as_str()) {
                return Ok(Asked::Help);
            }
            if argument == "--json" {
                parsed.is_json = true;
            } else if let Some(found) = find(&argument) {
                parsed.benches.push(found);
            } else {
                bail!("there is no benchmark {argument:?}\n\n{}", help());
            }
        }
        if parsed.benches.is_empty() {
            parsed
                .benches
                .extend(BENCHES.iter().map(|bench| (bench, bench.parts.to_vec())));
        }
        Ok(Asked::Measure(parsed))
    }
}

fn help() -> String {
    let names = BENCHES.iter().map(|bench| {
        let parts = if bench.parts.is_empty() {
            String::new()
        } else {
            format!("  ({})", bench.parts.join(", "))
        };
        format!("  {}{parts}", bench.name)
    });
    let names: Vec<String> = names.collect();
    format!(
        "usage: bench [NAME[/PART]]... [--json]\n\nMeasures on the servers that TEST_DATABASE_URL and TEST_AMQP_URL name; \
         `./dev bench` builds and starts them.\nAll benchmarks when none is named; there are, with their parts:\n\n{}",
        names.join("\n")
    )
}

/// The benchmark of this name with all its parts, or, for `NAME/PART`, with one of them.
fn find(wanted: &str) -> Option<(&'static Bench, Vec<&'static str>)> {
    let (name, part) = match wanted.split_once('/') {
        Some((name, part)) => (name, Some(part)),
        None => (wanted, None),
    };
    let bench = BENCHES.iter().find(|bench| bench.name == name)?;
    match part {
        None => Some((bench, bench.parts.to_vec())),
        Some(part) => bench
            .parts
            .iter()
            .find(|known| **known == part)
            .map(|part| (bench, vec![*part])),
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
    let arguments = match Arguments::parse(std::env::args().skip(1))? {
        Asked::Measure(arguments) => arguments,
        Asked::Help => return Ok(writeln!(std::io::stdout(), "{}", help())?),
    };
    runtime::install_crypto();
    for (bench, parts) in arguments.benches {
        let machine = machine::describe();
        let report = Report {
            bench: bench.name,
            machine,
            figures: (bench.measure)(parts).await?,
        };
        report.print(arguments.is_json)?;
    }
    Ok(())
}

/// Tells how far the run is: on the standard error, so that the figures can be piped.
fn step(text: &str) {
    eprintln!("  {text}");
}

/// Tells figures as soon as they are known: what comes later may fail.
fn tell(figures: Vec<Figure>) -> Vec<Figure> {
    for figure in &figures {
        step(&format!("  {figure}"));
    }
    figures
}
