//! How far an upload is: a small file beside its results.
//!
//! The first line says which upload it is; each further one, written when a batch's results are on disk, how far it is. A
//! last line that was cut off by a crash does not count.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::BatchOutcome;

/// Bytes of a journal at the most: hundreds of thousands of batches.
const JOURNAL_BYTES: u64 = 64 * 1024 * 1024;

/// Rows by what they count as.
pub(crate) type OutcomeTally = BTreeMap<String, u64>;

/// What an upload has cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UploadCost {
    /// US cents, of all rows of whose cost the service told.
    pub(crate) cents: i64,
    /// Rows of whose cost it did not: an answer that was lost is told again without it.
    pub(crate) unknown_rows: u64,
}

/// Which upload it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct JournalHeader {
    pillarbox: String,
    /// A hash of the file.
    file: String,
    /// A hash of where it goes and how it is read.
    plan: String,
    /// What the keys of its requests begin with.
    run: Uuid,
}

/// How far it is.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct JournalMark {
    batches: u64,
    rows: u64,
    results_bytes: u64,
    tally: OutcomeTally,
    #[serde(default)]
    cost: UploadCost,
}

/// The journal of an upload, locked against a second one.
pub(super) struct UploadJournal {
    path: PathBuf,
    file: File,
    header: JournalHeader,
    mark: JournalMark,
    was_there: bool,
}

impl JournalHeader {
    /// Of a new upload.
    pub(super) fn new(kind: &str, file: String, plan: &str) -> Self {
        Self {
            pillarbox: kind.to_owned(),
            file,
            plan: plan.to_owned(),
            run: Uuid::new_v4(),
        }
    }
}

impl UploadJournal {
    /// Makes the journal of these results, or takes up the one that is there.
    ///
    /// # Errors
    /// When there are results without a journal, the journal is of another upload, or somebody is at it.
    pub(super) fn open(results: &Path, header: JournalHeader) -> anyhow::Result<Self> {
        let path = journal_path(results);
        if results.exists() && !path.exists() {
            bail!(
                "{} is there already, from an upload that ended: remove it, or name another with --results",
                results.display()
            );
        }
        let open = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path);
        let file = open.with_context(|| format!("cannot write {}", path.display()))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                bail!("another upload into {} is under way", results.display())
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).context("cannot lock the journal");
            }
        }
        let mut journal = Self {
            path,
            file,
            header,
            mark: JournalMark::default(),
            was_there: false,
        };
        journal.load_or_start()?;
        Ok(journal)
    }

    /// Reads what is there, and cuts off what a crash left of a last line.
    fn load_or_start(&mut self) -> anyhow::Result<()> {
        let mut text = Vec::new();
        (&self.file).take(JOURNAL_BYTES).read_to_end(&mut text)?;
        let whole = text
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        let mut lines = text[..whole]
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        match lines.next() {
            None => {
                self.file.set_len(0)?;
                return self.write_line(&self.header.clone());
            }
            Some(line) => self.header = self.check_header(line)?,
        }
        self.was_there = true;
        if let Some(last) = lines.next_back() {
            self.mark = serde_json::from_slice(last).map_err(|error| self.damaged_error(&error))?;
        }
        self.file.set_len(whole as u64)?;
        self.file.seek(SeekFrom::End(0))?;
        Ok(())
    }

    fn check_header(&self, line: &[u8]) -> anyhow::Result<JournalHeader> {
        let found: JournalHeader =
            serde_json::from_slice(line).map_err(|error| self.damaged_error(&error))?;
        let difference = if found.pillarbox != self.header.pillarbox {
            "a different command"
        } else if found.file != self.header.file {
            "other contents of the file"
        } else if found.plan != self.header.plan {
            "other options, another address or other columns"
        } else {
            return Ok(found);
        };
        bail!(
            "{} is of an upload that was interrupted and had {difference}: run that one again to finish it, or remove the \
             journal and its results to begin anew",
            self.path.display()
        )
    }

    fn damaged_error(&self, error: &serde_json::Error) -> anyhow::Error {
        anyhow::anyhow!(
            "{} cannot be read ({error}): is it a journal?",
            self.path.display()
        )
    }

    fn write_line(&mut self, line: &impl Serialize) -> anyhow::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.file
            .write_all(&text)
            .and_then(|()| self.file.sync_data())
            .context("cannot write the journal")
    }

    /// What the keys of the upload's requests begin with.
    pub(super) const fn run_id(&self) -> Uuid {
        self.header.run
    }

    /// Batches whose results are kept.
    pub(super) const fn batches(&self) -> u64 {
        self.mark.batches
    }

    /// Rows whose results are kept.
    pub(super) const fn rows(&self) -> u64 {
        self.mark.rows
    }

    /// Rows by what they count as.
    pub(super) const fn tally(&self) -> &OutcomeTally {
        &self.mark.tally
    }

    /// What these rows have cost.
    pub(super) const fn cost(&self) -> UploadCost {
        self.mark.cost
    }

    /// How long the results are; `None` while there are none.
    pub(super) const fn results_bytes(&self) -> Option<u64> {
        if self.mark.batches == 0 {
            None
        } else {
            Some(self.mark.results_bytes)
        }
    }

    /// Whether the upload begins with this run.
    pub(super) const fn is_new(&self) -> bool {
        !self.was_there
    }

    /// Whether the upload is new and nothing of it is done.
    pub(super) const fn is_untouched(&self) -> bool {
        self.is_new() && self.mark.batches == 0
    }

    /// A batch's results are kept, up to this length of the file.
    pub(super) fn record_batch(
        &mut self,
        results_bytes: u64,
        posted: &BatchOutcome,
    ) -> anyhow::Result<()> {
        let rows = posted.results.len() as u64;
        self.mark.batches += 1;
        self.mark.rows += rows;
        self.mark.results_bytes = results_bytes;
        match posted.cost_cents {
            Some(cents) => self.mark.cost.cents = self.mark.cost.cents.saturating_add(cents),
            None => self.mark.cost.unknown_rows += rows,
        }
        for result in &posted.results {
            *self.mark.tally.entry(result.counts_as.clone()).or_default() += 1;
        }
        self.write_line(&self.mark.clone())
    }

    /// The upload is over.
    pub(super) fn remove(self) -> anyhow::Result<()> {
        std::fs::remove_file(&self.path)
            .with_context(|| format!("cannot remove {}", self.path.display()))
    }

    /// Nothing has happened: takes away what was made for the upload. What cannot be removed only asks for a hand.
    pub(super) fn remove_with_results(&self, results: &Path) {
        let _ = std::fs::remove_file(results);
        let _ = std::fs::remove_file(&self.path);
    }
}

fn journal_path(results: &Path) -> PathBuf {
    let mut name = results.as_os_str().to_owned();
    name.push(".journal");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upload::RowResult;

    fn build_header(file: &str, plan: &str) -> JournalHeader {
        JournalHeader::new("send", file.to_owned(), plan)
    }

    fn build_outcome(counts_as: &[&str], cost_cents: Option<i64>) -> BatchOutcome {
        let result = |counts_as: &&str| RowResult {
            cells: Vec::new(),
            counts_as: (*counts_as).to_owned(),
        };
        let results = counts_as.iter().map(result).collect();
        BatchOutcome {
            results,
            cost_cents,
            is_replayed: false,
            after_lost_answer: false,
        }
    }

    #[test]
    fn an_interrupted_upload_is_taken_up_with_its_run_and_without_a_torn_line() {
        let folder = tempfile::tempdir().unwrap();
        let results = folder.path().join("r.csv");
        let mut journal = UploadJournal::open(&results, build_header("f", "p")).unwrap();
        assert!(journal.is_untouched());
        let run = journal.run_id();
        journal
            .record_batch(100, &build_outcome(&["mailed", "do_not_mail"], Some(79)))
            .unwrap();
        let path = journal.path.clone();
        drop(journal);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(br#"{"batches":2,"rows"#).unwrap();
        let mut journal = UploadJournal::open(&results, build_header("f", "p")).unwrap();
        assert_eq!(
            (journal.run_id(), journal.batches(), journal.rows()),
            (run, 1, 2)
        );
        assert_eq!(
            (journal.results_bytes(), journal.tally()["mailed"]),
            (Some(100), 1)
        );
        assert!(!journal.is_untouched());
        journal
            .record_batch(150, &build_outcome(&["mailed"], None))
            .unwrap();
        drop(journal);
        let journal = UploadJournal::open(&results, build_header("f", "p")).unwrap();
        assert_eq!((journal.batches(), journal.tally()["mailed"]), (2, 2));
        assert_eq!(
            journal.cost(),
            UploadCost {
                cents: 79,
                unknown_rows: 1
            }
        );
    }

    #[test]
    fn the_journal_of_another_upload_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let results = folder.path().join("r.csv");
        drop(UploadJournal::open(&results, build_header("f", "p")).unwrap());
        for (other, expected) in [
            (build_header("g", "p"), "other contents"),
            (build_header("f", "q"), "other options"),
        ] {
            let error = UploadJournal::open(&results, other)
                .err()
                .unwrap()
                .to_string();
            assert!(error.contains(expected), "{error}");
        }
        let _held = UploadJournal::open(&results, build_header("f", "p")).unwrap();
        let error = UploadJournal::open(&results, build_header("f", "p"))
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains("is under way"), "{error}");
    }

    #[test]
    fn results_of_an_upload_that_ended_are_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let results = folder.path().join("r.csv");
        std::fs::write(&results, "line\n").unwrap();
        let error = UploadJournal::open(&results, build_header("f", "p"))
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains("is there already"), "{error}");
    }
}
