//! `addresses import`: files of address points into the database.
//!
//! A file is read in rows ([`source`], [`records`]), each row becomes the columns that matter ([`columns`], [`row`]) and those a
//! point ([`point`]); chunks of points are merged set-wise, each in one transaction with how far the file is. A
//! killed import goes on behind its last chunk; a file that is in already is left alone.

mod columns;
mod geojson;
mod point;
mod records;
mod row;
mod source;

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use chrono::{DateTime, Utc};
use runtime::fail_point;
use serde::Serialize;
use store::{AddressPointRow, ImportProgress, Store, retry_conflicts};
use tokio::sync::mpsc;

use self::point::PointSkipReason;
use self::row::SourceFormat;
use self::source::{AddressPointSource, SourceChunk};
use crate::report::{CommandReport, build_table};

/// Chunks read or turned into points ahead of the database.
const CHUNKS_AHEAD: usize = 2;

/// How often progress is shown.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// What became of a file.
#[derive(Debug, Clone, Serialize)]
pub struct ImportedFile {
    /// Its path as given.
    pub file: String,
    /// Whether it was in already, so that nothing was read.
    pub was_finished: bool,
    /// Rows read, of all runs.
    pub rows_read: u64,
    /// Rows that were points.
    pub rows_kept: u64,
    /// Points that were not known before this run.
    pub points_added: u64,
    /// Rows left out, by reason.
    pub skipped: BTreeMap<String, u64>,
}

/// Takes files in, one after the other.
///
/// # Errors
/// When a file cannot be read or the database fails; what was merged before stays, and the next run goes on there.
pub async fn import_files(
    store: &Store,
    files: &[PathBuf],
    again: bool,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    let mut imported = Vec::new();
    for file in files {
        let outcome = import_file(store, file, again, now).await;
        imported.push(outcome.with_context(|| format!("importing {}", file.display()))?);
    }
    store.analyze_address_points().await?;
    CommandReport::new(
        &serde_json::json!({ "files": imported }),
        format_report(&imported),
    )
}

/// Takes one file in, from where an earlier run stopped; `again` starts from the beginning.
///
/// # Errors
/// As [`import_files`].
pub async fn import_file(
    store: &Store,
    file: &Path,
    again: bool,
    now: DateTime<Utc>,
) -> anyhow::Result<ImportedFile> {
    let source = AddressPointSource::open(file)?;
    if again {
        store.delete_address_import(&source.hash).await?;
    }
    let mut progress = store.find_address_import(&source.hash).await?;
    let was_finished = progress.is_finished;
    let mut points_added = 0;
    if !was_finished {
        let (shape, start) = source.detect_format()?;
        progress.position = progress.position.max(start);
        points_added = merge_chunks(store, source, shape, &mut progress, now).await?;
    }
    let ImportProgress {
        rows_read,
        rows_kept,
        skipped,
        ..
    } = progress;
    let file = file.display().to_string();
    Ok(ImportedFile {
        file,
        was_finished,
        rows_read,
        rows_kept,
        points_added,
        skipped,
    })
}

/// Points of a chunk and what was left out.
#[derive(Default)]
struct ChunkPoints {
    rows: Vec<AddressPointRow>,
    rows_read: u64,
    rows_kept: u64,
    skipped: BTreeMap<PointSkipReason, u64>,
    /// Where the file goes on behind the chunk.
    position: u64,
}

/// Three stages at a time: reading, making points, merging. Returns how many points are new.
async fn merge_chunks(
    store: &Store,
    source: AddressPointSource,
    shape: SourceFormat,
    progress: &mut ImportProgress,
    now: DateTime<Utc>,
) -> anyhow::Result<u64> {
    let (hash, name) = (source.hash, source.name.clone());
    let size = source.size;
    let mut read = ImportPipeline::start(source, shape, progress.position);
    let (mut added, begun) = (0, Instant::now());
    let mut shown = begun;
    while let Some(points) = read.points.recv().await {
        let points = points?;
        let (bytes, rows) = (points.1, points.0);
        update_progress(progress, &rows);
        added += merge_points(store, &hash, &name, &rows.rows, progress, now).await?;
        fail_point::fail_if_chosen("import.merged");
        if std::io::stderr().is_terminal() && shown.elapsed() >= PROGRESS_INTERVAL {
            shown = Instant::now();
            let percent = bytes * 100 / size.max(1);
            eprint!(
                "\r{name}: {percent} %, {} rows, {} s ",
                progress.rows_read,
                begun.elapsed().as_secs()
            );
        }
    }
    progress.is_finished = true;
    added += merge_points(store, &hash, &name, &[], progress, now).await?;
    if std::io::stderr().is_terminal() {
        eprintln!();
    }
    Ok(added)
}

/// The stages before the database, each in a thread of its own.
struct ImportPipeline {
    /// Points of each chunk, with the bytes of the file that were read by then.
    points: mpsc::Receiver<anyhow::Result<(ChunkPoints, u64)>>,
}

impl ImportPipeline {
    fn start(source: AddressPointSource, shape: SourceFormat, position: u64) -> Self {
        let (chunks, chunk_queue) = std::sync::mpsc::sync_channel(CHUNKS_AHEAD);
        let (sender, points) = mpsc::channel(CHUNKS_AHEAD);
        let separator = shape.separator();
        thread::spawn(move || source.stream_chunks(position, separator, &chunks));
        thread::spawn(move || {
            for chunk in chunk_queue {
                let points =
                    chunk.map(|chunk: SourceChunk| (points_of(&chunk, &shape), chunk.bytes_read));
                // An error: the import has stopped.
                if sender.blocking_send(points).is_err() {
                    return;
                }
            }
        });
        Self { points }
    }
}

/// The points of a chunk, worked out by all cores, each address once, in the order of the key.
fn points_of(chunk: &SourceChunk, shape: &SourceFormat) -> ChunkPoints {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let records = records::split_records(&chunk.text, shape.separator());
    let share = records.len().div_ceil(cores).max(1);
    let mut all = ChunkPoints {
        position: chunk.position,
        rows_read: records.len() as u64,
        ..ChunkPoints::default()
    };
    thread::scope(|scope| {
        let workers: Vec<_> = records
            .chunks(share)
            .map(|records| scope.spawn(|| points_of_records(records, shape)))
            .collect();
        for worker in workers {
            let (rows, skipped) = worker.join().expect("reading a point does not panic");
            all.rows.extend(rows);
            for (reason, count) in skipped {
                *all.skipped.entry(reason).or_default() += count;
            }
        }
    });
    all.rows_kept = all.rows.len() as u64;
    all.rows = point::merge_duplicates(std::mem::take(&mut all.rows));
    all
}

fn points_of_records(
    records: &[&[u8]],
    shape: &SourceFormat,
) -> (Vec<AddressPointRow>, BTreeMap<PointSkipReason, u64>) {
    let (mut rows, mut skipped) = (Vec::with_capacity(records.len()), BTreeMap::new());
    for record in records {
        match shape
            .parse_row(record)
            .and_then(|row| point::parse_point(&row))
        {
            Ok(point) => rows.push(point),
            Err(reason) => *skipped.entry(reason).or_default() += 1,
        }
    }
    (rows, skipped)
}

fn update_progress(progress: &mut ImportProgress, points: &ChunkPoints) {
    progress.position = points.position;
    progress.rows_read += points.rows_read;
    progress.rows_kept += points.rows_kept;
    for (reason, count) in &points.skipped {
        *progress
            .skipped
            .entry(reason.as_str().to_owned())
            .or_default() += count;
    }
}

/// One transaction: the points and how far the file is.
async fn merge_points(
    store: &Store,
    hash: &[u8; 32],
    name: &str,
    rows: &[AddressPointRow],
    progress: &ImportProgress,
    now: DateTime<Utc>,
) -> anyhow::Result<u64> {
    let added = retry_conflicts(|| async {
        let mut connection = store.connection().await?;
        let transaction = connection.begin_transaction().await?;
        let added = if rows.is_empty() {
            0
        } else {
            transaction.merge_address_points(rows).await?
        };
        transaction
            .save_address_import(hash, name, progress, now)
            .await?;
        transaction.commit().await?;
        Ok(added)
    });
    Ok(added.await?)
}

fn format_report(files: &[ImportedFile]) -> String {
    let mut rows = build_table(["File", "Rows", "Points", "New", "Skipped"]);
    for file in files {
        let skipped: Vec<String> = file
            .skipped
            .iter()
            .map(|(reason, count)| format!("{count} {reason}"))
            .collect();
        let added = if file.was_finished {
            "imported before".to_owned()
        } else {
            file.points_added.to_string()
        };
        rows.add_row([
            &file.file,
            &file.rows_read.to_string(),
            &file.rows_kept.to_string(),
            &added,
            &skipped.join(", "),
        ]);
    }
    rows.trim_fmt()
}
