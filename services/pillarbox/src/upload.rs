//! An upload that can be interrupted anywhere: rows go out in batches, and what came of each is kept before the next.
//!
//! A batch's bytes and its idempotency key follow from the file and the run, which the [`journal`] notes before
//! anything is sent. So whoever goes on after an interruption sends what was under way again as the same request, and
//! nobody is mailed twice.

mod batch;
mod interrupted;
mod journal;
mod progress;
mod results;

use std::path::PathBuf;

use anyhow::bail;
use serde_json::{Value, json};

pub(crate) use self::batch::{RowBatch, UploadEnvelope};
use self::interrupted::PendingRequest;
pub(crate) use self::interrupted::{NotKept, UploadInterruptedError};
use self::journal::{JournalHeader, UploadJournal};
pub(crate) use self::journal::{OutcomeTally, UploadCost};
pub(crate) use self::progress::UploadProgress;
use self::results::ResultsFile;
use crate::client::GatewayError;
use crate::sender_command::UploadArgs;
use crate::sheet::{TableFile, TableRow};

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

/// What came of a batch.
#[derive(Debug)]
pub(crate) struct BatchOutcome {
    /// One for each of its rows.
    pub(crate) results: Vec<RowResult>,
    /// What the batch has cost, in US cents; `None` when the service did not tell.
    pub(crate) cost_cents: Option<i64>,
    /// Whether the results are those of the request that was carried out first.
    pub(crate) is_replayed: bool,
    /// Whether a request of the batch before may have been carried out without our knowing.
    pub(crate) after_lost_answer: bool,
}

/// What a row counts as of which nobody knows what came of it.
pub(crate) const UNKNOWN: &str = "unknown";

impl BatchOutcome {
    /// Counts rows as unknown with which the service may mean what a lost request did.
    fn mark_unknown(&mut self, outcome: &str) {
        for result in self
            .results
            .iter_mut()
            .filter(|result| result.counts_as == outcome)
        {
            UNKNOWN.clone_into(&mut result.counts_as);
            self.cost_cents = None;
        }
    }
}

/// What an upload does with its rows.
pub(crate) trait UploadJob {
    /// What it is called in the journal.
    const KIND: &'static str;
    /// The headings of [`RowResult::cells`].
    const HEADINGS: &'static [&'static str];

    /// What may have come of rows whose answer never arrived, as a sentence's end.
    fn unknown_phrase(&self) -> &'static str;

    /// What rows count as that a request finds which came after the one that did them; `None` when it finds none.
    fn done_before(&self) -> Option<&'static str>;

    /// A row as JSON.
    fn encode_row(&self, row: &TableRow) -> String;

    /// What is added to the file's name for the results, when nothing else was said.
    fn results_suffix(&self) -> &'static str {
        RESULTS_SUFFIX
    }

    /// What else must be the same when the upload goes on, besides the file.
    fn fingerprint(&self) -> Value;

    /// Sends a batch under this key.
    async fn post_batch(
        &mut self,
        batch: &RowBatch,
        key: String,
        progress: &UploadProgress,
    ) -> anyhow::Result<BatchOutcome>;
}

/// An upload under way.
pub(crate) struct UploadRun<'s> {
    sheet: &'s TableFile,
    envelope: UploadEnvelope,
    journal: UploadJournal,
    results: ResultsFile,
    rows: u64,
    /// What was asked for last, until its answer is kept.
    under_way: PendingRequest,
}

/// What came of an upload.
#[derive(Debug)]
pub(crate) struct UploadSummary {
    /// Rows by what they count as.
    pub(crate) tally: OutcomeTally,
    /// Rows of the file.
    pub(crate) rows: u64,
    /// What they have cost.
    pub(crate) cost: UploadCost,
    /// Where the results are.
    pub(crate) results: PathBuf,
}

impl<'s> UploadRun<'s> {
    /// Looks at every row of the file, then begins an upload or takes an interrupted one up.
    ///
    /// # Errors
    /// When a row cannot be sent, the results are there already, or the journal is another upload's.
    pub(crate) fn start_or_resume<J: UploadJob>(
        job: &J,
        sheet: &'s TableFile,
        upload: &UploadArgs,
        envelope: UploadEnvelope,
    ) -> anyhow::Result<Self> {
        let rows = sheet.check_rows(|row| envelope.check_row_size(job.encode_row(row).len()))?;
        let plan = json!([J::KIND, job.fingerprint(), envelope.fingerprint()]);
        let header = JournalHeader::new(
            J::KIND,
            sheet.hash()?,
            blake3::hash(plan.to_string().as_bytes()).to_hex().as_str(),
        );
        let path = results_path(upload, job.results_suffix());
        let journal = UploadJournal::open(&path, header)?;
        let results = ResultsFile::open(path, J::HEADINGS, journal.results_bytes())?;
        Ok(Self {
            sheet,
            envelope,
            journal,
            results,
            rows,
            under_way: PendingRequest::Nothing,
        })
    }

    /// The key of a request that the run makes once.
    pub(crate) fn idempotency_key(&self, name: impl std::fmt::Display) -> String {
        format!("pillarbox-{}-{name}", self.journal.run_id())
    }

    /// A bar that shows how far it is.
    pub(crate) fn progress(&self) -> UploadProgress {
        UploadProgress::new(self.rows, self.journal.rows())
    }

    /// Does the work of an upload until Ctrl-C stops it, wherever it is. It can be taken up again then.
    ///
    /// # Errors
    /// Those of the work; [`UploadInterruptedError`] when it was stopped.
    pub(crate) async fn run_until_stopped<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut Self) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let outcome = tokio::select! {
            outcome = work(self) => Some(outcome),
            _ = tokio::signal::ctrl_c() => None,
        };
        outcome.unwrap_or_else(|| Err(self.interrupted_error().into()))
    }

    fn interrupted_error(&self) -> UploadInterruptedError {
        let Self {
            journal,
            results,
            rows,
            under_way,
            ..
        } = self;
        UploadInterruptedError {
            done: journal.rows(),
            rows: *rows,
            tally: journal.tally().clone(),
            results: results.path.clone(),
            under_way: under_way.clone(),
        }
    }

    /// Names a request that is not one of rows, before it is made.
    pub(crate) fn begin_step(&mut self, name: &'static str) {
        self.under_way = PendingRequest::Step(name);
    }

    /// Sends what was not sent yet.
    ///
    /// # Errors
    /// What the service says for good, or again and again; [`NotKept`] when its answer cannot be kept.
    pub(crate) async fn post_all<J: UploadJob>(
        &mut self,
        job: &mut J,
        progress: &UploadProgress,
    ) -> anyhow::Result<()> {
        let mut batches = self.envelope.clone().into_batches(self.sheet.rows()?);
        // Whoever was interrupted may have sent the first of what is left.
        let mut was_perhaps_sent = !self.journal.is_new();
        while let Some(batch) = batches.next(|row| job.encode_row(row))? {
            if batch.number < self.journal.batches() {
                continue;
            }
            let key = self.idempotency_key(batch.number);
            self.under_way = PendingRequest::for_batch(&batch, job.unknown_phrase());
            let mut posted = job
                .post_batch(&batch, key, progress)
                .await
                .map_err(|error| self.handle_failure(error))?;
            was_perhaps_sent |= posted.after_lost_answer;
            if let Some(outcome) = job
                .done_before()
                .filter(|_| was_perhaps_sent && !posted.is_replayed)
            {
                posted.mark_unknown(outcome);
            }
            was_perhaps_sent = false;
            self.record_batch(&batch, &posted)
                .map_err(|error| error.context(NotKept::for_batch(&batch, &posted)))?;
            self.under_way = PendingRequest::Nothing;
            progress.advance(batch.rows.len() as u64);
        }
        Ok(())
    }

    /// Writes what came of a batch where the next run finds it.
    fn record_batch(&mut self, batch: &RowBatch, posted: &BatchOutcome) -> anyhow::Result<()> {
        same_length(batch.rows.len(), posted.results.len())?;
        let bytes = self.results.append(&batch.rows, &posted.results)?;
        self.journal.record_batch(bytes, posted)
    }

    /// The upload is over; its journal goes.
    pub(crate) fn finish(self) -> anyhow::Result<UploadSummary> {
        let (tally, cost) = (self.journal.tally().clone(), self.journal.cost());
        let (rows, results) = (self.rows, self.results.path);
        self.journal.remove()?;
        Ok(UploadSummary {
            tally,
            rows,
            cost,
            results,
        })
    }

    /// What to say of a failure. When the very first request of an upload was refused, nothing has happened, and
    /// nothing of the upload stays.
    pub(crate) fn handle_failure(&self, error: anyhow::Error) -> anyhow::Error {
        let refusal: Option<&GatewayError> = error.downcast_ref();
        let is_clean = matches!(
            refusal,
            Some(GatewayError::Refused {
                after_lost_answer: false,
                ..
            })
        );
        if is_clean && self.journal.is_untouched() {
            self.journal.remove_with_results(&self.results.path);
            return error.context("nothing was sent");
        }
        let may_be_done = refusal.is_some_and(GatewayError::may_be_done);
        let error = error.context(format!(
            "after {} of {} rows ({GO_ON})",
            self.journal.rows(),
            self.rows
        ));
        match self.under_way.describe().filter(|_| may_be_done) {
            Some(sentence) => error.context(sentence),
            None => error,
        }
    }
}

/// How to take an upload up again.
const GO_ON: &str = "the same command goes on from there";

fn results_path(upload: &UploadArgs, suffix: &str) -> PathBuf {
    upload.results.clone().unwrap_or_else(|| {
        let stem = upload
            .file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
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
