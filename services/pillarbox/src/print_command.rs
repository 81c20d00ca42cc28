//! What can be typed about paper.

use std::path::PathBuf;

use chrono::NaiveDate;
use clap::Args;
use design::Product;
use model::id::CampaignId;
use model::scan::{MailpieceCode, SCAN_PATH, ScanTarget};

use crate::tracking_command::PrintRunCommand;

/// Prints.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct PrintArgs {
    /// What is done with runs that were printed; left out, due cards are printed.
    #[command(subcommand)]
    pub command: Option<PrintRunCommand>,
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
pub struct ProofArgs {
    /// Of what.
    #[command(flatten)]
    pub subject: ProofSubjectArgs,
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
pub struct ProofSubjectArgs {
    /// A card as it prints, by its QR code's address, or the code in it.
    #[arg(long, value_parser = card_code)]
    pub card: Option<MailpieceCode>,
    /// A campaign's design with sample values, such as PA-7K2M9Q.
    #[arg(long)]
    pub campaign: Option<CampaignId>,
    /// A design document in a JSON or YAML file with sample values.
    #[arg(long)]
    pub design: Option<PathBuf>,
}

fn pair(text: &str) -> Result<(String, String), String> {
    // Links have "=" in them, names of fields and files hardly.
    let split = if text.contains("://") {
        text.rsplit_once('=')
    } else {
        text.split_once('=')
    };
    let (name, value) = split.ok_or("it must be NAME=VALUE")?;
    Ok((name.trim().to_owned(), value.to_owned()))
}

fn card_code(text: &str) -> Result<MailpieceCode, String> {
    // As it was scanned, or as it was copied from there.
    let scanned = text.rsplit_once(SCAN_PATH).map_or(text, |(_, code)| code);
    let scanned = scanned.split(['?', '#']).next().unwrap_or_default();
    let target = ScanTarget::parse(scanned.trim());
    target
        .map(|target| target.code)
        .ok_or_else(|| "a code is ten letters and digits".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_named_by_its_code_or_by_what_was_scanned() {
        let scanned = [
            "aZ09aZ09aZ",
            "aZ09aZ09aZ-2",
            "https://mail.example.com/q/aZ09aZ09aZ",
            " https://mail.example.com/q/aZ09aZ09aZ-3?from=phone#top",
        ];
        for text in scanned {
            assert_eq!(
                card_code(text).map(|code| code.as_str().to_owned()),
                Ok("aZ09aZ09aZ".to_owned()),
                "{text}"
            );
        }
        for text in [
            "",
            "aZ09",
            "https://mail.example.com/aZ09aZ09aZ",
            "aZ09aZ09aZ-1",
        ] {
            assert!(card_code(text).is_err(), "{text}");
        }
    }
}
