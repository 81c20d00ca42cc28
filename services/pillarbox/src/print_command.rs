//! What can be typed about paper.

use std::path::PathBuf;

use chrono::NaiveDate;
use clap::Args;
use contract::id::CampaignId;
use contract::scan::CardCode;
use design::Product;

/// Prints.
#[derive(Debug, Args)]
pub struct PrintCommand {
    /// Only this product, such as postcard_4x6.
    #[arg(long)]
    pub product: Option<Product>,
    /// Cards that mail by this day (YYYY-MM-DD) instead of those whose time has come.
    #[arg(long)]
    pub mail_by: Option<NaiveDate>,
    /// Try the cards again that could not print.
    #[arg(long)]
    pub retry: bool,
}

/// Shows what prints.
#[derive(Debug, Args)]
pub struct ProofCommand {
    /// Of what.
    #[command(flatten)]
    pub subject: ProofSubject,
    /// The campaign's step.
    #[arg(long, default_value_t = 1)]
    pub step: i16,
    /// A field's sample value, NAME=VALUE; repeatable.
    #[arg(long = "field", value_parser = pair)]
    pub fields: Vec<(String, String)>,
    /// The picture at a link, LINK=FILE, instead of what is there; repeatable.
    #[arg(long = "picture", value_parser = pair)]
    pub pictures: Vec<(String, String)>,
    /// Where the proofs are written: NAME-front.png, NAME-back.png and NAME.pdf.
    #[arg(long, default_value = ".")]
    pub folder: PathBuf,
    /// NAME in the files' names.
    #[arg(long, default_value = "proof")]
    pub name: String,
    /// Dots per inch.
    #[arg(long, default_value_t = 150, value_parser = clap::value_parser!(u32).range(1..=600))]
    pub resolution: u32,
    /// Show what is cut off, too.
    #[arg(long)]
    pub bleed: bool,
}

/// Of what a proof is made.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct ProofSubject {
    /// A card as it prints, by the code in its QR code's address.
    #[arg(long, value_parser = card_code)]
    pub card: Option<CardCode>,
    /// A campaign's design with sample values, such as PA-7K2M9Q.
    #[arg(long)]
    pub campaign: Option<CampaignId>,
    /// A design document in a JSON or YAML file with sample values.
    #[arg(long)]
    pub design: Option<PathBuf>,
}

fn pair(text: &str) -> Result<(String, String), String> {
    // Links have "=" in them, names of fields and files hardly.
    let split = if text.contains("://") { text.rsplit_once('=') } else { text.split_once('=') };
    let (name, value) = split.ok_or("it must be NAME=VALUE")?;
    Ok((name.trim().to_owned(), value.to_owned()))
}

fn card_code(text: &str) -> Result<CardCode, String> {
    CardCode::parse(text).ok_or_else(|| "a code is ten letters and digits".to_owned())
}
