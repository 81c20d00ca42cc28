//! What senders and integrators type: commands that need a key and no settings.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use model::id::CampaignId;

use crate::sheet::ColumnMapping;

/// What senders and integrators do.
#[derive(Debug, Clone, Subcommand)]
pub enum SenderCommand {
    /// Mail the people in a file: every row becomes a recipient of the campaign, is verified, mailed and charged. An
    /// interrupted command goes on when it is run again; nobody is mailed twice.
    Send(SendArgs),
    /// Push the contacts in a file into an integration, as one sync. An interrupted command goes on when it is run again.
    Push(PushArgs),
    /// Show scans of the team's mail as they come, and forward them to an address on this machine, as a webhook would.
    Listen(ListenArgs),
}

/// Which service, and the key to it.
#[derive(Debug, Clone, Args)]
pub struct ServiceArgs {
    /// Where the service is, such as https://mail.example.com.
    #[arg(long, env = "PILLARBOX_URL", default_value = "http://127.0.0.1:8080")]
    pub url: String,
    /// The API key; better given in the environment, where no list of processes shows it.
    #[arg(long, env = "PILLARBOX_KEY", hide_env_values = true)]
    pub key: String,
    /// Attempts at a request that fails, before the command gives up. It can be run again then.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub tries: u32,
    /// Milliseconds of the pause after the first failure; each further pause is twice as long.
    #[arg(long, default_value_t = 1_000, hide = true)]
    pub pause_ms: u64,
}

/// A file to upload, and where it is noted what came of it.
#[derive(Debug, Clone, Args)]
pub struct UploadArgs {
    /// CSV in UTF-8 with one line of headings; commas, semicolons or tabs.
    pub file: PathBuf,
    /// What a column is, by its heading: `--map 'Zip Code=zip'`; `--map 'Notes='` leaves a column out. Repeatable.
    #[arg(long = "map", value_name = "COLUMN=FIELD")]
    pub mappings: Vec<ColumnMapping>,
    /// Where to write one line for each row [default: FILE.results.csv without the file's own .csv].
    #[arg(long)]
    pub results: Option<PathBuf>,
    /// Check the file and show how its columns are read; send nothing.
    #[arg(long)]
    pub dry_run: bool,
}

/// A file of people for a campaign.
#[derive(Debug, Clone, Args)]
pub struct SendArgs {
    /// Such as PA-7K2M9Q.
    pub campaign_id: CampaignId,
    /// The file.
    #[command(flatten)]
    pub upload: UploadArgs,
    /// Type of a custom column: `--type 'Visits=number'`; text, number, date or yes_no. Repeatable.
    #[arg(long = "type", value_name = "FIELD=TYPE", value_parser = field_type)]
    pub types: Vec<(String, String)>,
    /// Make the columns of the address book that the file has and the team does not. Without it the command asks, or sends
    /// nothing where nobody can be asked.
    #[arg(long)]
    pub new_columns: bool,
    /// Ask the service what would come of each row, batch by batch: mails nobody, charges nothing, keeps nothing.
    #[arg(long, conflicts_with = "dry_run")]
    pub validate: bool,
    /// Do not mail a recipient whose variable image cannot be used.
    #[arg(long)]
    pub require_variable_images: bool,
    /// Mail only if the cards cost so much together, in US cents, as a run with --validate told; for a file that is one request.
    #[arg(long, value_name = "CENTS", value_parser = clap::value_parser!(i64).range(0..))]
    pub expect_total: Option<i64>,
    /// Mail on this day, as YYYY-MM-DD, up to 180 days ahead by the team's time zone.
    #[arg(long, value_name = "DAY")]
    pub send_on: Option<chrono::NaiveDate>,
    /// Rows of a request; a Neighborhood Mail campaign takes 250 at the most.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u16).range(1..=5_000))]
    pub batch: u16,
    /// The service.
    #[command(flatten)]
    pub service: ServiceArgs,
}

/// A file of contacts for an integration.
#[derive(Debug, Clone, Args)]
pub struct PushArgs {
    /// The file.
    #[command(flatten)]
    pub upload: UploadArgs,
    /// `delta` changes the contacts of the file; `full` also marks every contact that is not in it as removed.
    #[arg(long, value_enum, default_value = "delta")]
    pub mode: SyncModeArg,
    /// The rows are contacts to delete; only their external ids are read.
    #[arg(long)]
    pub delete: bool,
    /// Declare columns that the integration does not know yet, as text.
    #[arg(long, conflicts_with = "delete")]
    pub declare: bool,
    /// The service.
    #[command(flatten)]
    pub service: ServiceArgs,
}

/// Which scans, and where to.
#[derive(Debug, Clone, Args)]
pub struct ListenArgs {
    /// Where to post each scan, such as http://localhost:3000/scans.
    #[arg(long, value_name = "URL")]
    pub forward: Option<String>,
    /// Only scans of this campaign.
    #[arg(long)]
    pub campaign: Option<CampaignId>,
    /// End after so many scans.
    #[arg(long)]
    pub count: Option<u64>,
    /// The service.
    #[command(flatten)]
    pub service: ServiceArgs,
}

/// What a sync does with contacts that it does not receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SyncModeArg {
    /// Leaves them.
    Delta,
    /// Marks them as removed.
    Full,
}

impl SyncModeArg {
    /// The name on the wire.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Delta => "delta",
            Self::Full => "full",
        }
    }
}

fn field_type(text: &str) -> Result<(String, String), String> {
    const TYPES: [&str; 4] = ["text", "number", "date", "yes_no"];
    let (field, name) = text.rsplit_once('=').ok_or("write FIELD=TYPE")?;
    if field.trim().is_empty() || !TYPES.contains(&name) {
        return Err(format!(
            "write FIELD=TYPE with one of the types {}",
            TYPES.join(", ")
        ));
    }
    Ok((field.trim().to_owned(), name.to_owned()))
}
