//! `addresses verify`.

use std::io;

use address::{
    AddressInput, AddressVerdict, ParsedAddress, VerificationStrictness, VerifiedAddress,
};
use anyhow::Context;
use runtime::{Clock, Config};
use store::{SchemaVersion, Store};
use verification::AddressVerifier;

use super::line::{AddressInputLine, AddressLineParts, AddressOutputLine, CorrectedField, FAILED};
use super::pipe::{self, LineBlock};
use super::write_line;
use crate::report::CommandReport;

/// Who verifies: the configured verifier, or, where no database answers, the ZIP data alone.
enum VerifierChoice {
    Configured(std::sync::Arc<dyn AddressVerifier>),
    ZipData,
}

/// Reads one address a line from the standard input and writes its verified form, one JSON object a line.
pub(crate) async fn verify_stdin(
    config: &Config,
    strictness: Option<VerificationStrictness>,
) -> anyhow::Result<CommandReport> {
    let store = Store::new(&config.database).context("database")?;
    let verifier = if store
        .find_schema_version()
        .await
        .is_ok_and(SchemaVersion::is_current)
    {
        VerifierChoice::Configured(verification::build_verifier(
            config,
            &store,
            &Clock::system(),
        )?)
    } else {
        eprintln!("pillarbox: no database with current tables answers: only the ZIP data is used");
        VerifierChoice::ZipData
    };
    let runtime = tokio::runtime::Handle::current();
    tokio::task::spawn_blocking(move || {
        let output = io::BufWriter::new(io::stdout().lock());
        pipe::transform_blocks(io::stdin(), output, |block, out| {
            runtime.block_on(verify_block(&verifier, strictness, block, out))
        })
    })
    .await
    .context("verifying failed")??;
    Ok(CommandReport::empty())
}

async fn verify_block(
    verifier: &VerifierChoice,
    strictness: Option<VerificationStrictness>,
    block: &LineBlock,
    out: &mut Vec<u8>,
) -> anyhow::Result<()> {
    let sent: Vec<Result<AddressLineParts<'_>, String>> = block
        .lines()
        .map(|line| match AddressInputLine::parse(line?)? {
            AddressInputLine::Line(text) => Ok(AddressLineParts::from_line(text)),
            AddressInputLine::Parts(parts) => Ok(parts),
        })
        .collect();
    let inputs: Vec<AddressInput<'_>> = sent
        .iter()
        .flatten()
        .map(AddressLineParts::as_input)
        .collect();
    let verdicts = match verifier {
        VerifierChoice::Configured(verifier) => verifier.verify(&inputs, strictness).await?,
        VerifierChoice::ZipData => inputs
            .iter()
            .map(|input| apply_strictness(address::verify_address(*input), strictness))
            .collect(),
    };
    let mut verdicts = inputs.iter().zip(&verdicts);
    for line in &sent {
        match line {
            Err(reason) => write_line(out, &AddressOutputLine::unreadable(reason))?,
            Ok(_) => {
                let (input, verdict) = verdicts.next().context("a verdict is missing")?;
                write_verdict(out, *input, verdict)?;
            }
        }
    }
    Ok(())
}

fn apply_strictness(
    verdict: AddressVerdict,
    strictness: Option<VerificationStrictness>,
) -> AddressVerdict {
    match verdict {
        AddressVerdict::Deliverable(verified) => {
            verified.into_verdict(strictness.unwrap_or(VerificationStrictness::Zip))
        }
        failed => failed,
    }
}

fn write_verdict(
    out: &mut Vec<u8>,
    input: AddressInput<'_>,
    verdict: &AddressVerdict,
) -> anyhow::Result<()> {
    match verdict {
        AddressVerdict::Deliverable(verified) => {
            let parsed = parts_of(verified);
            let mut answer =
                AddressOutputLine::from_parsed(&parsed).with_one_line(&verified.one_line);
            answer.level = verified.level.as_str();
            answer.corrections = verified
                .corrections
                .iter()
                .map(CorrectedField::from)
                .collect();
            answer.reason = verified
                .shortfall
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default()
                .into();
            (answer.latitude, answer.longitude) = (verified.latitude, verified.longitude);
            answer.residential = verified.residential;
            write_line(out, &answer)
        }
        AddressVerdict::Undeliverable(failure) => {
            let parsed = address::parse(input);
            let mut answer = AddressOutputLine::from_parsed(&parsed);
            answer.level = FAILED;
            answer.reason = failure.to_sentence().into();
            write_line(out, &answer)
        }
    }
}

/// A verified form is a standard form: reading it again gives its parts.
fn parts_of(verified: &VerifiedAddress) -> ParsedAddress {
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
