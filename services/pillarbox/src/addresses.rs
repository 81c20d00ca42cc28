//! `addresses`: parsing and verifying on a pipe, taking address points in, overriding a verdict.

pub mod import;
mod line;
mod overrides;
mod pipe;
mod verify;

use std::io::{self, Write};

use address::parse_one_line;
use anyhow::Context;

use self::line::{AddressInputLine, AddressOutputLine};
pub(crate) use self::overrides::run_override;
pub(crate) use self::verify::verify_stdin;
use crate::report::CommandReport;

/// Reads one address a line from the standard input and writes its parts, one JSON object a line.
pub(crate) fn parse_stdin() -> anyhow::Result<CommandReport> {
    let output = io::BufWriter::new(io::stdout().lock());
    pipe::transform_blocks(io::stdin(), output, |block, out| {
        for line in block.lines() {
            match line.and_then(AddressInputLine::parse) {
                Ok(AddressInputLine::Line(text)) => {
                    write_line(out, &AddressOutputLine::from_parsed(&parse_one_line(text)))?
                }
                Ok(AddressInputLine::Parts(parts)) => write_line(
                    out,
                    &AddressOutputLine::from_parsed(&address::parse(parts.as_input())),
                )?,
                Err(reason) => write_line(out, &AddressOutputLine::unreadable(&reason))?,
            }
        }
        Ok(())
    })?;
    Ok(CommandReport::empty())
}

fn write_line(out: &mut Vec<u8>, answer: &AddressOutputLine<'_>) -> anyhow::Result<()> {
    serde_json::to_writer(&mut *out, answer).context("cannot write an answer")?;
    out.write_all(b"\n")?;
    Ok(())
}
