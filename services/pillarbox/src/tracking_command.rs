//! What can be typed about mailpieces in the mail.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use model::id::CampaignId;
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

/// Addresses from which mailpieces came back: a team's campaigns do not mail them.
#[derive(Debug, Subcommand)]
pub enum ReturnedCommand {
    /// List a team's.
    List {
        /// The team's name or id.
        team: String,
        /// After the address with this id.
        #[arg(long)]
        after: Option<Uuid>,
        /// How many at the most.
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..=1000))]
        limit: i64,
    },
    /// Let the team's campaigns mail addresses again.
    Remove {
        /// The team's name or id.
        team: String,
        /// Each on one line, such as '123 N Main St Apt 4, Austin, TX 78701'.
        #[arg(required = true)]
        addresses: Vec<String>,
    },
    /// Have one campaign mail them all the same.
    Mail {
        /// Such as PA-7K2M9Q.
        campaign_id: CampaignId,
        /// Have it spare them again.
        #[arg(long)]
        off: bool,
    },
}
