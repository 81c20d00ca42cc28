//! `addresses verify`.

use std::io;

use address::{AddressInput, Parsed, Strictness, Verdict, Verified};
use anyhow::Context;
use service::{Clock, Config};
use store::{SchemaVersion, Store};
use verification::Verify;

use super::line::{Answer, Corrected, FAILED, Parts, Sent};
use super::pipe::{self, Block};
use super::write_line;
use crate::report::Report;

/// Who verifies: the configured verifier, or, where no database answers, the ZIP data alone.
enum Verifier {
    Configured(std::sync::Arc<dyn Verify>),
    ZipData,
}

/// Reads one address a line from the standard input and writes its verified form, one JSON object a line.
pub(crate) async fn verify(config: &Config, strictness: Option<Strictness>) -> anyhow::Result<Report> {
    let store = Store::new(&config.database).context("database")?;
    let verifier = if store.schema_version().await.is_ok_and(SchemaVersion::is_current) {
        Verifier::Configured(verification::configured(config, &store, &Clock::system())?)
    } else {
        eprintln!("pillarbox: no database with current tables answers: only the ZIP data is used");
        Verifier::ZipData
    };
    let runtime = tokio::runtime::Handle::current();
    tokio::task::spawn_blocking(move || {
        let output = io::BufWriter::new(io::stdout().lock());
        pipe::pipe(io::stdin(), output, |block, out| {
            runtime.block_on(verify_block(&verifier, strictness, block, out))
        })
    })
    .await
    .context("verifying failed")??;
    Ok(Report::nothing())
}

async fn verify_block(
    verifier: &Verifier,
    strictness: Option<Strictness>,
    block: &Block,
    out: &mut Vec<u8>,
) -> anyhow::Result<()> {
    let sent: Vec<Result<Parts<'_>, String>> = block
        .lines()
        .map(|line| match Sent::read(line?)? {
            Sent::Line(text) => Ok(Parts::of_line(text)),
            Sent::Parts(parts) => Ok(parts),
        })
        .collect();
    let inputs: Vec<AddressInput<'_>> = sent.iter().flatten().map(Parts::input).collect();
    let verdicts = match verifier {
        Verifier::Configured(verifier) => verifier.verify(&inputs, strictness).await?,
        Verifier::ZipData => inputs.iter().map(|input| demand(address::verify(*input), strictness)).collect(),
    };
    let mut verdicts = inputs.iter().zip(&verdicts);
    for line in &sent {
        match line {
            Err(reason) => write_line(out, &Answer::unreadable(reason))?,
            Ok(_) => {
                let (input, verdict) = verdicts.next().context("a verdict is missing")?;
                write_verdict(out, *input, verdict)?;
            }
        }
    }
    Ok(())
}

fn demand(verdict: Verdict, strictness: Option<Strictness>) -> Verdict {
    match verdict {
        Verdict::Deliverable(verified) => verified.demand(strictness.unwrap_or(Strictness::Zip)),
        failed => failed,
    }
}

fn write_verdict(out: &mut Vec<u8>, input: AddressInput<'_>, verdict: &Verdict) -> anyhow::Result<()> {
    match verdict {
        Verdict::Deliverable(verified) => {
            let parsed = parts_of(verified);
            let mut answer = Answer::of(&parsed).with_one_line(&verified.one_line);
            answer.level = verified.level.as_str();
            answer.corrections = verified.corrections.iter().map(Corrected::from).collect();
            answer.reason = verified.shortfall.as_ref().map(ToString::to_string).unwrap_or_default().into();
            (answer.latitude, answer.longitude) = (verified.latitude, verified.longitude);
            answer.residential = verified.residential;
            write_line(out, &answer)
        }
        Verdict::Undeliverable(failure) => {
            let parsed = address::parse(input);
            let mut answer = Answer::of(&parsed);
            answer.level = FAILED;
            answer.reason = failure.detail().into();
            write_line(out, &answer)
        }
    }
}

/// A verified form is a standard form: reading it again gives its parts.
fn parts_of(verified: &Verified) -> Parsed {
    let zip = match &verified.plus4 {
        Some(plus4) => format!("{}-{plus4}", verified.zip),
        None => verified.zip.clone(),
    };
    address::parse(AddressInput {
        address_1: &verified.line1,
        address_2: &verified.line2,
        city: &verified.city,
        state: &verified.state,
        zip: &zip,
    })
}
