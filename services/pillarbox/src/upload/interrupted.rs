//! What to say when an upload is stopped: what is known, what is not, and how to go on.

use std::fmt;
use std::path::PathBuf;

use super::{BatchOutcome, OutcomeTally, RowBatch};
use crate::sheet::TableRow;

/// A request whose answer is not kept yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PendingRequest {
    /// None.
    Nothing,
    /// One of rows.
    Rows {
        rows: usize,
        /// The lines of the first and the last one.
        first_line: u64,
        last_line: u64,
        /// What may have come of them.
        unknown: &'static str,
    },
    /// Another one, by what it does.
    Step(&'static str),
}

impl PendingRequest {
    pub(super) fn for_batch(batch: &RowBatch, unknown: &'static str) -> Self {
        let line = |row: Option<&TableRow>| row.map_or(0, |row| row.line);
        let (first_line, last_line) = (line(batch.rows.first()), line(batch.rows.last()));
        Self::Rows {
            rows: batch.rows.len(),
            first_line,
            last_line,
            unknown,
        }
    }

    /// What is not known; `None` when all is.
    pub(super) fn describe(&self) -> Option<String> {
        match self {
            Self::Nothing => None,
            Self::Rows {
                rows: 1,
                first_line,
                unknown,
                ..
            } => Some(format!(
                "the row of line {first_line}, whose answer is not known, {unknown}"
            )),
            Self::Rows {
                rows,
                first_line,
                last_line,
                unknown,
            } => Some(format!(
                "the {rows} rows of lines {first_line} to {last_line}, whose answer is not known, {unknown}"
            )),
            Self::Step(name) => Some(format!("whether {name} is not known")),
        }
    }
}

/// What came of a batch is known, and could not be kept.
#[derive(Debug, thiserror::Error)]
#[error(
    "the service has answered the {rows} rows from line {first_line} on ({}), and that could not be kept; with room to write, \
     the same command goes on from there",
    format_tally(.tally)
)]
pub(crate) struct NotKept {
    rows: usize,
    first_line: u64,
    tally: OutcomeTally,
}

impl NotKept {
    pub(super) fn for_batch(batch: &RowBatch, posted: &BatchOutcome) -> Self {
        let mut tally = OutcomeTally::new();
        for result in &posted.results {
            *tally.entry(result.counts_as.clone()).or_default() += 1;
        }
        let first_line = batch.rows.first().map_or(0, |row| row.line);
        Self {
            rows: batch.rows.len(),
            first_line,
            tally,
        }
    }
}

fn format_tally(tally: &OutcomeTally) -> String {
    let outcomes: Vec<String> = tally
        .iter()
        .map(|(outcome, count)| format!("{count} {outcome}"))
        .collect();
    outcomes.join(", ")
}

/// An upload was stopped with Ctrl-C.
#[derive(Debug, thiserror::Error)]
pub(crate) struct UploadInterruptedError {
    /// Rows whose results are kept.
    pub(super) done: u64,
    /// Rows of the file.
    pub(super) rows: u64,
    /// The done ones by what they count as.
    pub(super) tally: OutcomeTally,
    pub(super) results: PathBuf,
    pub(super) under_way: PendingRequest,
}

impl fmt::Display for UploadInterruptedError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            done,
            rows,
            tally,
            results,
            under_way,
        } = self;
        write!(formatter, "stopped; {done} of {rows} rows are done")?;
        if !tally.is_empty() {
            write!(
                formatter,
                " ({}; each row's outcome is in {})",
                format_tally(tally),
                results.display()
            )?;
        }
        if let Some(sentence) = under_way.describe() {
            write!(formatter, "; {sentence}")?;
        }
        write!(
            formatter,
            "; run the same command again to go on: nothing is done twice"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_and_what_is_not_are_told_apart() {
        let mut stopped = UploadInterruptedError {
            done: 2,
            rows: 5,
            tally: [("do_not_mail".to_owned(), 1), ("mailed".to_owned(), 1)].into(),
            results: "r.csv".into(),
            under_way: PendingRequest::Rows {
                rows: 2,
                first_line: 4,
                last_line: 6,
                unknown: "may have been mailed",
            },
        };
        let said = stopped.to_string();
        let expected = "stopped; 2 of 5 rows are done (1 do_not_mail, 1 mailed; each row's outcome is in r.csv); the 2 rows \
                        of lines 4 to 6, whose answer is not known, may have been mailed; run the same command again";
        assert!(said.starts_with(expected), "{said}");
        (stopped.done, stopped.tally, stopped.under_way) =
            (0, OutcomeTally::new(), PendingRequest::Nothing);
        let said = stopped.to_string();
        assert!(
            said.starts_with("stopped; 0 of 5 rows are done; run the same command again"),
            "{said}"
        );
    }
}
