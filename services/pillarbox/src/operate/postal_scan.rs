//! `scans` and `print handed-over`: what becomes of mailpieces in the mail.

use std::path::{Path, PathBuf};

use anyhow::Context;
use chrono::{DateTime, Utc};
use store::Store;
use tracking::{ImportedScans, hand_over_run, import_scans, read_mapping};

use crate::report::{CommandReport, build_table};
use crate::tracking_command::{HandedOverArgs, PostalScanCommand};

/// Broken rows that people are shown; programs get all that are kept.
const SHOWN_ROWS: usize = 10;

/// Does it.
///
/// # Errors
/// When a file or the mapping cannot be read, or the database fails.
pub(crate) async fn run_command(
    store: &Store,
    command: PostalScanCommand,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    let PostalScanCommand::Import {
        files,
        mapping,
        again,
    } = command;
    import_files(store, &files, mapping.as_deref(), again, now).await
}

async fn import_files(
    store: &Store,
    files: &[PathBuf],
    mapping: Option<&Path>,
    again: bool,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    let rules = read_mapping(mapping)?;
    let mut imported = Vec::new();
    for file in files {
        let name = file.display().to_string();
        let outcome = import_scans(store, file, &name, rules.clone(), again, now).await;
        imported.push(outcome.with_context(|| format!("importing {name}"))?);
    }
    CommandReport::new(
        &serde_json::json!({ "files": imported }),
        format_imports(&imported),
    )
}

fn format_imports(files: &[ImportedScans]) -> String {
    let mut table = build_table([
        "File",
        "Rows",
        "New",
        "Doubled",
        "Foreign",
        "Unmatched",
        "Unknown code",
        "Broken",
    ]);
    let mut notes = Vec::new();
    for file in files {
        let counts = &file.counts;
        table.add_row([
            file.file.clone(),
            counts.rows.to_string(),
            counts.new.to_string(),
            counts.doubled.to_string(),
            counts.foreign.to_string(),
            counts.unmatched.to_string(),
            counts.unknown.to_string(),
            counts.broken.to_string(),
        ]);
        if file.was_finished {
            notes.push(format!("{} was imported before.", file.file));
        } else if file.resumed_after > 0 {
            let after = file.resumed_after;
            notes.push(format!("{} went on behind row {after}.", file.file));
        }
        let unknown = counts.unknown_operations.iter();
        let unknown: Vec<String> = unknown
            .map(|(code, count)| format!("{code} ({count})"))
            .collect();
        if !unknown.is_empty() {
            notes.push(format!("Unknown operations: {}.", unknown.join(", ")));
        }
        for row in counts.broken_rows.iter().take(SHOWN_ROWS) {
            notes.push(format!("{}, line {}: {}", file.file, row.line, row.problem));
        }
    }
    let table = table.trim_fmt();
    if notes.is_empty() {
        table
    } else {
        format!("{table}\n\n{}", notes.join("\n"))
    }
}

/// Says that a run was handed over.
///
/// # Errors
/// When the run is not printed, was handed over at another moment, or the database fails.
pub(crate) async fn hand_over(
    store: &Store,
    args: &HandedOverArgs,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    let report = hand_over_run(store, args.run, args.at, now).await?;
    let text = format!(
        "Run {} was handed over at {}: {} mailpieces are entered that were not before.",
        report.run_id, report.handed_over_at, report.mailpieces
    );
    CommandReport::new(&report, text)
}
