//! What can be typed about mailpieces in the mail.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use uuid::Uuid;

/// The post's own scans of mailpieces.
#[derive(Debug, Subcommand)]
pub enum PostalScanCommand {
    /// Take files of the post's scans in: Informed Visibility's CSV or JSON, or the five columns of the former Confirm service. A
    /// killed import goes on where it stopped; a file that is in already is left alone, and a scan counts once in whichever
    /// file it comes.
    Import {
        /// Files.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// YAML or JSON with what differs from the defaults: names of columns, what operations mean, how times are written.
        #[arg(long)]
        mapping: Option<PathBuf>,
        /// Read files from their beginning, also those that are in already: for another mapping.
        #[arg(long)]
        again: bool,
    },
}

/// What is done with finished print runs.
#[derive(Debug, Subcommand)]
pub enum PrintRunCommand {
    /// Say that a run was handed to the post: its mailpieces are entered. It can be told again.
    HandedOver(HandedOverArgs),
}

/// A run that was handed over.
#[derive(Debug, Args)]
pub struct HandedOverArgs {
    /// The run's id, as printing shows it and its files' names have it.
    pub run: Uuid,
    /// When, such as 2026-11-23T16:00:00-06:00; left out, now.
    #[arg(long)]
    pub at: Option<DateTime<Utc>>,
}
