//! A file of the post's scans into the database.
//!
//! The file is read in portions; each is one transaction that records its scans and notes how far the file is. An import that is
//! killed goes on behind its last portion. Two imports of one file at a time do no harm: the one that is behind stops.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::Path;
use std::thread;

use chrono::{DateTime, Utc};
use postal::{PostalFileError, PostalFileReader, PostalRow, ScanRules};
use runtime::fail_point;
use serde::Serialize;
use store::{PostalImport, PostalImportStep, Store, StoreError, retry_conflicts};
use tokio::sync::mpsc;

use crate::counts::ScanCounts;
use crate::portion::{KnownRuns, SortedPortion, sort_rows};

/// Rows of a portion.
pub const PORTION_ROWS: usize = 5_000;

/// Portions read ahead of the database.
const PORTIONS_AHEAD: usize = 4;

/// Why a file could not be taken in. What was recorded before stays.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It cannot be read.
    #[error("the file cannot be read")]
    Read(#[from] std::io::Error),
    /// It is no file of scans.
    #[error(transparent)]
    File(#[from] PostalFileError),
    /// The database failed.
    #[error(transparent)]
    Store(StoreError),
    /// Somebody else is at it.
    #[error("somebody else imports this file at the moment")]
    Contended,
    /// What is kept of an earlier import cannot be read.
    #[error("the counts of the import are not readable")]
    Counts(#[source] serde_json::Error),
    /// The reading thread has died.
    #[error("reading stopped before the file's end")]
    Stopped,
}

impl From<StoreError> for ImportError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::LeaseLost => Self::Contended,
            error => Self::Store(error),
        }
    }
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportedScans {
    /// Its name.
    pub file: String,
    /// Whether it was in already, so that nothing was read.
    pub was_finished: bool,
    /// Rows that an earlier import had taken in.
    pub resumed_after: u64,
    /// What became of its rows, those of earlier imports of it among them.
    #[serde(flatten)]
    pub counts: ScanCounts,
}

/// Rows that were read, and whether there are no more.
struct ReadPortion {
    rows: Vec<PostalRow>,
    is_last: bool,
}

/// Takes a file in, from where an earlier import stopped; `again` starts from its beginning.
///
/// # Errors
/// [`ImportError`].
pub async fn import_scans(
    store: &Store,
    path: &Path,
    name: &str,
    rules: ScanRules,
    again: bool,
    now: DateTime<Utc>,
) -> Result<ImportedScans, ImportError> {
    let opened = path.to_owned();
    let hashing = tokio::task::spawn_blocking(move || {
        let mut file = File::open(opened)?;
        let hash = hash_file(&mut file)?;
        file.seek(SeekFrom::Start(0))?;
        std::io::Result::Ok((file, hash))
    });
    let (file, hash) = hashing.await.map_err(|_| ImportError::Stopped)??;
    if again {
        store.delete_postal_import(&hash).await?;
    }
    let empty = serde_json::to_value(ScanCounts::default()).map_err(ImportError::Counts)?;
    let begun = store.begin_postal_import(&hash, name, &empty, now).await?;
    let mut imported = ImportedScans {
        file: name.to_owned(),
        was_finished: begun.is_finished,
        resumed_after: begun.rows_read.unsigned_abs(),
        counts: serde_json::from_value(begun.counts.clone()).map_err(ImportError::Counts)?,
    };
    if !begun.is_finished {
        let reader = PostalFileReader::new(file, rules)?;
        take_rows(store, reader, (&hash, &begun), &mut imported.counts, now).await?;
    }
    Ok(imported)
}

fn hash_file(file: &mut File) -> std::io::Result<[u8; 32]> {
    let mut hasher = blake3::Hasher::new();
    std::io::copy(file, &mut hasher)?;
    Ok(*hasher.finalize().as_bytes())
}

/// Reads in a thread of its own, and records here.
async fn take_rows(
    store: &Store,
    reader: PostalFileReader<File>,
    (hash, begun): (&[u8; 32], &PostalImport),
    counts: &mut ScanCounts,
    now: DateTime<Utc>,
) -> Result<(), ImportError> {
    let (sender, mut portions) = mpsc::channel(PORTIONS_AHEAD);
    let skipped = begun.rows_read;
    let reading = thread::spawn(move || read_portions(reader, skipped, &sender));
    let mut known = KnownRuns::open(store).await?;
    let (mut from_rows, mut is_whole) = (begun.rows_read, false);
    while let Some(portion) = portions.recv().await {
        let ReadPortion { rows, is_last } = portion?;
        let to_rows = from_rows + i64::try_from(rows.len()).unwrap_or(i64::MAX);
        let sorted = sort_rows(store, &mut known, rows, now).await?;
        let place = (hash, from_rows, to_rows, is_last);
        *counts = record_portion(store, &sorted, place, counts, now).await?;
        fail_point::fail_if_chosen("scans.recorded");
        from_rows = to_rows;
        is_whole = is_last;
    }
    drop(reading);
    if is_whole {
        Ok(())
    } else {
        Err(ImportError::Stopped)
    }
}

/// One transaction: the scans, and how far the file is. Returns what became of all rows until there.
async fn record_portion(
    store: &Store,
    sorted: &SortedPortion,
    (content_hash, from_rows, to_rows, is_last): (&[u8; 32], i64, i64, bool),
    before: &ScanCounts,
    now: DateTime<Utc>,
) -> Result<ScanCounts, ImportError> {
    let recorded = retry_conflicts(|| async {
        let mut connection = store.connection().await?;
        let transaction = connection.begin_transaction().await?;
        let mut counts = before.clone();
        counts.add(sorted.record_scans(&transaction, now).await?);
        let step = PostalImportStep {
            content_hash,
            from_rows,
            to_rows,
            counts: &serde_json::to_value(&counts)?,
            is_last,
        };
        transaction.advance_postal_import(step, now).await?;
        fail_point::fail_if_chosen("scans.recording");
        transaction.commit().await?;
        Ok(counts)
    });
    Ok(recorded.await?)
}

fn read_portions(
    mut reader: PostalFileReader<File>,
    skipped: i64,
    sender: &mpsc::Sender<Result<ReadPortion, std::io::Error>>,
) {
    let mut skip = || {
        for _ in 0..skipped {
            if !reader.skip_row()? {
                break;
            }
        }
        Ok(())
    };
    if let Err(error) = skip() {
        // Nobody listens any more when this fails.
        let _ = sender.blocking_send(Err(error));
        return;
    }
    loop {
        let portion = read_portion(&mut reader);
        let is_last = portion.as_ref().map_or(true, |portion| portion.is_last);
        if sender.blocking_send(portion).is_err() || is_last {
            return;
        }
    }
}

fn read_portion(reader: &mut PostalFileReader<File>) -> std::io::Result<ReadPortion> {
    let mut rows = Vec::with_capacity(PORTION_ROWS);
    while rows.len() < PORTION_ROWS {
        match reader.next_row()? {
            Some(row) => rows.push(row),
            None => {
                return Ok(ReadPortion {
                    rows,
                    is_last: true,
                });
            }
        }
    }
    Ok(ReadPortion {
        rows,
        is_last: false,
    })
}
