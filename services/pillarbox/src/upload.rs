//! An upload that can be interrupted anywhere: rows go out in batches, and what came of each is kept before the next.
//!
//! A batch's bytes and its idempotency key follow from the file and the run, which the [`journal`] notes before
//! anything is sent. So whoever goes on after an interruption sends what was under way again as the same request, and
//! nobody is mailed twice.

mod batch;
mod journal;
mod progress;
mod results;

use std::path::PathBuf;

use anyhow::bail;
use serde_json::{Value, json};

pub(crate) use self::batch::{Batch, Envelope};
pub(crate) use self::journal::Tally;
use self::journal::{Header, Journal};
pub(crate) use self::progress::Progress;
use self::results::Results;
use crate::client::RequestError;
use crate::sender_command::Upload;
use crate::sheet::{Row, Sheet};

/// What is usually added to the file's name for the results.
pub(crate) const RESULTS_SUFFIX: &str = ".results.csv";

/// What came of one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowResult {
    /// The line in the results, without the number of the row's line.
    pub(crate) cells: Vec<String>,
    /// What it counts as.
    pub(crate) counts_as: String,
}

/// What an upload does with its rows.
pub(crate) trait Job {
    /// What it is called in the journal.
    const KIND: &'static str;
    /// The headings of [`RowResult::cells`].
    const HEADINGS: &'static [&'static str];

    /// A row as JSON.
    fn encode(&self, row: &Row) -> String;

    /// What is added to the file's name for the results, when nothing else was said.
    fn results_suffix(&self) -> &'static str {
        RESULTS_SUFFIX
    }

    /// What else must be the same when the upload goes on, besides the file.
    fn fingerprint(&self) -> Value;

    /// Sends a batch under this key; returns one result for each of its rows.
    async fn post(
        &mut self,
        batch: &Batch,
        key: String,
        progress: &Progress,
    ) -> anyhow::Result<Vec<RowResult>>;
}

/// An upload under way.
pub(crate) struct Run<'s> {
    sheet: &'s Sheet,
    envelope: Envelope,
    journal: Journal,
    results: Results,
    rows: u64,
}

/// What came of an upload.
#[derive(Debug)]
pub(crate) struct Uploaded {
    /// Rows by what they count as.
    pub(crate) tally: Tally,
    /// Rows of the file.
    pub(crate) rows: u64,
    /// Where the results are.
    pub(crate) results: PathBuf,
}

impl<'s> Run<'s> {
    /// Looks at every row of the file, then begins an upload or takes an interrupted one up.
    ///
    /// # Errors
    /// When a row cannot be sent, the results are there already, or the journal is another upload's.
    pub(crate) fn begin<J: Job>(
        job: &J,
        sheet: &'s Sheet,
        upload: &Upload,
        envelope: Envelope,
    ) -> anyhow::Result<Self> {
        let rows = sheet.examine(|row| envelope.check(job.encode(row).len()))?;
        let plan = json!([J::KIND, job.fingerprint(), envelope.describe()]);
        let header =
            Header::new(J::KIND, sheet.hash()?, blake3::hash(plan.to_string().as_bytes()).to_hex().as_str());
        let path = results_path(upload, job.results_suffix());
        let journal = Journal::open(&path, header)?;
        let results = Results::open(path, J::HEADINGS, journal.results_bytes())?;
        Ok(Self { sheet, envelope, journal, results, rows })
    }

    /// The key of a request that the run makes once.
    pub(crate) fn key(&self, name: impl std::fmt::Display) -> String {
        format!("pillarbox-{}-{name}", self.journal.run())
    }

    /// A bar that shows how far it is.
    pub(crate) fn progress(&self) -> Progress {
        Progress::new(self.rows, self.journal.rows())
    }

    /// Sends what was not sent yet. Stopped from outside, it can be taken up again.
    ///
    /// # Errors
    /// What the service says for good, or again and again; or a results file that cannot be written.
    pub(crate) async fn post_all<J: Job>(&mut self, job: &mut J, progress: &Progress) -> anyhow::Result<()> {
        let mut batches = self.envelope.clone().batches(self.sheet.rows()?);
        while let Some(batch) = batches.next(|row| job.encode(row))? {
            if batch.number < self.journal.batches() {
                continue;
            }
            let key = self.key(batch.number);
            let outcome = tokio::select! {
                outcome = job.post(&batch, key, progress) => outcome,
                _ = tokio::signal::ctrl_c() => bail!("stopped after {} of {} rows: {GO_ON}", self.journal.rows(), self.rows),
            };
            let results = outcome.map_err(|error| self.failed(error))?;
            same_length(batch.rows.len(), results.len())?;
            let bytes = self.results.append(&batch.rows, &results)?;
            self.journal.note(batch.rows.len() as u64, bytes, &results)?;
            progress.advance(batch.rows.len() as u64);
        }
        Ok(())
    }

    /// The upload is over; its journal goes.
    pub(crate) fn finish(self) -> anyhow::Result<Uploaded> {
        let (tally, rows, results) = (self.journal.tally().clone(), self.rows, self.results.path);
        self.journal.remove()?;
        Ok(Uploaded { tally, rows, results })
    }

    /// What to say of a failure. When the very first request of an upload was refused, nothing has happened, and
    /// nothing of the upload stays.
    pub(crate) fn failed(&self, error: anyhow::Error) -> anyhow::Error {
        let is_clean =
            matches!(error.downcast_ref(), Some(RequestError::Refused { after_lost_answer: false, .. }));
        if is_clean && self.journal.is_untouched() {
            self.journal.forget(&self.results.path);
            return error.context("nothing was sent");
        }
        error.context(format!("after {} of {} rows ({GO_ON})", self.journal.rows(), self.rows))
    }
}

/// How to take an upload up again.
const GO_ON: &str = "the same command goes on from there";

fn results_path(upload: &Upload, suffix: &str) -> PathBuf {
    upload.results.clone().unwrap_or_else(|| {
        let stem = upload.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        upload.file.with_file_name(stem + suffix)
    })
}

/// A result for each row, or the answer is of no use.
fn same_length(rows: usize, results: usize) -> anyhow::Result<()> {
    if rows != results {
        bail!("the service told of {results} of {rows} rows");
    }
    Ok(())
}
