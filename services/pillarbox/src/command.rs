//! What can be typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use model::id::{ApiKeyId, CampaignId, TopUpRequestId};
use model::key::KeyKind;
use store::MemberRole;
use uuid::Uuid;

use crate::apply::{DisplayName, NormalizedEmail};
pub use crate::endpoint_command::{EndpointArgs, EndpointCommand};
pub use crate::integration_command::{IntegrationArgs, IntegrationCommand, SyncCommand};
use crate::money::Money;
pub use crate::print_command::{PrintArgs, ProofArgs};
use crate::sender_command::SenderCommand;
pub use crate::tracking_command::{
    HandedOverArgs, PostalScanCommand, PrintRunCommand, ReturnedCommand,
};

/// Runs Pillarbox: the database, teams and what belongs to them. Settings come from PILLARBOX_CONFIG and
/// PILLARBOX__SECTION__NAME, as those of the services do. send, push and listen need none: they are for the people whose
/// mail it is, and take PILLARBOX_URL and PILLARBOX_KEY.
#[derive(Debug, Parser)]
#[command(name = "pillarbox", version)]
pub struct PillarboxArgs {
    /// Answer with JSON for programs.
    #[arg(long, global = true)]
    pub json: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: CliCommand,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Bring the database's tables up to date, and give the processes' groups their privileges. Fails when a group is missing.
    Migrate {
        /// How many seconds to wait for the database and for the groups to be there.
        #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=86_400))]
        wait: u64,
        /// The processes connect as the owner of the tables: do without the groups.
        #[arg(long)]
        without_groups: bool,
    },
    /// Create or update the teams that a file describes, all or nothing; repeatable.
    Apply {
        /// YAML or JSON.
        file: PathBuf,
    },
    /// Teams.
    #[command(subcommand)]
    Team(TeamCommand),
    /// People of a team.
    #[command(subcommand)]
    User(MemberCommand),
    /// API keys of a team.
    #[command(subcommand)]
    Key(KeyCommand),
    /// Add to a team's prepaid balance. A reference counts once, so the same command can be repeated.
    TopUp {
        /// The team's name or id.
        team: String,
        /// Dollars, such as 250.00 or '$1,000'.
        amount: Money,
        /// What tells this top-up from others, such as the number of a bank transfer.
        #[arg(long)]
        reference: DisplayName,
    },
    /// List what teams have asked to be topped up with and nobody has booked yet, the oldest first. Book one with
    /// `top-up` and its reference when the money has arrived.
    TopUpRequests {
        /// After this one: its id.
        #[arg(long)]
        after: Option<TopUpRequestId>,
        /// How many at the most.
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..=1000))]
        limit: i64,
    },
    /// Show a team's prepaid balance.
    Balance {
        /// The team's name or id.
        team: String,
    },
    /// Campaigns.
    #[command(subcommand)]
    Campaign(CampaignCommand),
    /// Recipients of a campaign.
    #[command(subcommand)]
    Recipient(RecipientCommand),
    /// Addresses: parse, verify, import address points, override a verdict.
    #[command(subcommand)]
    Addresses(AddressesCommand),
    /// Integrations: the CRMs that push contacts.
    #[command(subcommand)]
    Integration(IntegrationCommand),
    /// Syncs of an integration.
    #[command(subcommand)]
    Sync(SyncCommand),
    /// Write a team's address book, one JSON object a line: those who were mailed, then the contacts of integrations.
    AddressBook {
        /// The team's name or id.
        team: String,
    },
    /// Webhook endpoints of a team.
    #[command(subcommand)]
    Endpoint(EndpointCommand),
    /// Print the queued cards whose time has come: one PDF for each product and run, with a manifest in CSV and JSON, into
    /// the configured store. What a killed run left is finished first.
    Print(PrintArgs),
    /// The post's own scans of mailpieces.
    #[command(subcommand)]
    Scans(PostalScanCommand),
    /// Addresses from which mailpieces came back.
    #[command(subcommand)]
    Returned(ReturnedCommand),
    /// Show how a card prints: a PNG of each surface, and the PDF.
    Proof(ProofArgs),
    /// Messages that no worker could finish or knows.
    #[command(subcommand)]
    Parked(ParkedCommand),
    /// Prove that cards, charges, budgets, the ledger and the duplicate guard agree.
    Check,
    /// Post a file of recipients and show what became of each.
    Demo(DemoArgs),
    /// What senders and integrators do.
    #[command(flatten)]
    Sender(SenderCommand),
    /// Say what a code of an answer, or an alert, means: what happened, whether anything was mailed or charged, and what to do.
    Explain {
        /// Such as campaign_not_found, -32601 or PillarboxSendsStuck; left out, all of them are listed.
        #[arg(allow_hyphen_values = true)]
        code: Option<String>,
    },
    /// Write a shell's completions to the standard output: `pillarbox completions bash > /etc/bash_completion.d/pillarbox`.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
}

/// Teams.
#[derive(Debug, Subcommand)]
pub enum TeamCommand {
    /// Make a team that pays from its prepaid balance.
    Create {
        /// Its name, of which there is one.
        name: DisplayName,
        /// IANA name of the zone that its days are counted in.
        #[arg(long, default_value = "America/New_York")]
        time_zone: chrono_tz::Tz,
    },
    /// List teams by name.
    List {
        /// Only names after this one.
        #[arg(long, default_value = "")]
        after: String,
        /// How many at the most.
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..=1000))]
        limit: i64,
    },
}

/// People of a team.
#[derive(Debug, Subcommand)]
pub enum MemberCommand {
    /// Make a person, or change the name and role of the one with that address. The password is set apart.
    Create {
        /// The team's name or id.
        team: String,
        /// The address that the person signs in with.
        email: NormalizedEmail,
        /// As the person writes it.
        #[arg(long)]
        name: DisplayName,
        /// What the person may do.
        #[arg(long, value_enum)]
        role: RoleArg,
    },
    /// List a team's people.
    List {
        /// The team's name or id.
        team: String,
    },
    /// Set a person's password, read from PILLARBOX_PASSWORD or the first line of standard input.
    SetPassword {
        /// The person's address.
        email: NormalizedEmail,
    },
}

/// API keys of a team.
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Make a key and show it, this once.
    Create {
        /// The team's name or id.
        team: String,
        /// What people call it.
        #[arg(long)]
        name: DisplayName,
        /// What it opens.
        #[arg(long, value_enum, default_value = "full_access")]
        kind: KeyKindArg,
    },
    /// List a team's keys, the newest first.
    List {
        /// The team's name or id.
        team: String,
    },
    /// Revoke a key; it opens nothing from the next request on.
    Revoke {
        /// The team's name or id.
        team: String,
        /// The key's id, as the list shows it.
        key_id: ApiKeyId,
    },
}

/// Messages that no worker could finish or knows. They are kept for a week at the most, for an operator to look at.
#[derive(Debug, Subcommand)]
pub enum ParkedCommand {
    /// List them, the oldest first, 200 at the most.
    List,
    /// Write a message's body to the standard output, as the client sent it. It is people's data.
    Show {
        /// The request's id, as the list shows it.
        request_id: Uuid,
    },
    /// Throw them all away. Whoever sent them had an error and can repeat the request.
    Drop,
}

/// Campaigns.
#[derive(Debug, Subcommand)]
pub enum CampaignCommand {
    /// List a team's campaigns.
    List {
        /// The team's name or id.
        team: String,
    },
    /// Show a campaign: budget, steps and what became of its recipients.
    Show {
        /// Such as PA-7K2M9Q.
        campaign_id: CampaignId,
    },
    /// Refuse new requests until it is activated.
    Pause {
        /// Such as PA-7K2M9Q.
        campaign_id: CampaignId,
    },
    /// Keep its queued mailpieces from the press until it is released.
    Hold {
        /// Such as PA-7K2M9Q.
        campaign_id: CampaignId,
    },
    /// Let its held mailpieces print.
    Release {
        /// Such as PA-7K2M9Q.
        campaign_id: CampaignId,
    },
    /// Take requests again.
    Activate {
        /// Such as PA-7K2M9Q.
        campaign_id: CampaignId,
    },
}

/// Recipients of a campaign.
#[derive(Debug, Subcommand)]
pub enum RecipientCommand {
    /// Never mail the recipients at these addresses for this campaign again. Cards queued already still go, unless the campaign cancels them.
    Remove {
        /// Such as PA-7K2M9Q.
        campaign_id: CampaignId,
        /// Each on one line, such as '123 N Main St Apt 4, Austin, TX 78701'.
        #[arg(required = true)]
        addresses: Vec<String>,
    },
}

/// Addresses.
#[derive(Debug, Subcommand)]
pub enum AddressesCommand {
    /// Read one address a line (one-line form, or a JSON object with a recipient's fields) and write its parts in the
    /// USPS form, one JSON object a line.
    Parse,
    /// The same, and how far the address is confirmed, with what was corrected and why it failed.
    Verify {
        /// How much must be confirmed; left out, the verifier asks for as much as it can know.
        #[arg(long, value_enum)]
        strictness: Option<StrictnessArg>,
    },
    /// Take address points in: OpenAddresses (CSV, GeoJSON lines), National Address Database text; plain or gzip.
    /// A killed import goes on where it stopped; a file that is in already is left alone.
    Import {
        /// Files.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Read files from their beginning, also those that are in already.
        #[arg(long)]
        again: bool,
    },
    /// Vouch for addresses that are refused wrongly.
    #[command(subcommand)]
    Override(OverrideCommand),
}

/// Overrides of "undeliverable".
#[derive(Debug, Subcommand)]
pub enum OverrideCommand {
    /// Mail this address, whatever the verifier says.
    Add {
        /// On one line, such as '123 N Main St Apt 4, Austin, TX 78701'.
        address: String,
        /// Why.
        #[arg(long, default_value = "")]
        note: String,
    },
    /// Verify this address like any other again.
    Remove {
        /// As it was added.
        address: String,
    },
    /// List them, the newest first.
    List,
}

/// How much of an address must be confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum StrictnessArg {
    /// City, state and ZIP agree.
    Zip,
    /// The street exists.
    Street,
    /// The house exists.
    DeliveryPoint,
}

impl From<StrictnessArg> for address::VerificationStrictness {
    fn from(name: StrictnessArg) -> Self {
        match name {
            StrictnessArg::Zip => Self::Zip,
            StrictnessArg::Street => Self::Street,
            StrictnessArg::DeliveryPoint => Self::DeliveryPoint,
        }
    }
}

/// Where to post what.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// A request body in JSON.
    pub file: PathBuf,
    /// Where the gateway is, such as http://127.0.0.1:8080.
    #[arg(long)]
    pub url: String,
    /// A Full access key.
    #[arg(long, env = "PILLARBOX_KEY", hide_env_values = true)]
    pub key: String,
}

/// What a person may do in a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum RoleArg {
    /// Everything.
    Owner,
    /// Everything but the team itself.
    Admin,
    /// Looking, and work that binds nobody.
    Member,
}

impl From<RoleArg> for MemberRole {
    fn from(name: RoleArg) -> Self {
        match name {
            RoleArg::Owner => Self::Owner,
            RoleArg::Admin => Self::Admin,
            RoleArg::Member => Self::Member,
        }
    }
}

/// What a key of a team opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum KeyKindArg {
    /// Sending recipients and the Formula server.
    FullAccess,
    /// The Formula server.
    Formulas,
}

impl From<KeyKindArg> for KeyKind {
    fn from(name: KeyKindArg) -> Self {
        match name {
            KeyKindArg::FullAccess => Self::FullAccess,
            KeyKindArg::Formulas => Self::Formulas,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parse_args(line: &str) -> Result<PillarboxArgs, clap::Error> {
        PillarboxArgs::try_parse_from(["pillarbox"].into_iter().chain(line.split_whitespace()))
    }

    #[test]
    fn the_command_line_is_well_formed() {
        PillarboxArgs::command().debug_assert();
    }

    #[test]
    fn every_command_takes_json_before_and_after_it() {
        for line in [
            "--json check",
            "check --json",
            "team list --json",
            "apply team.yaml --json",
        ] {
            assert!(parse_args(line).unwrap().json, "{line}");
        }
        assert!(!parse_args("migrate").unwrap().json);
    }

    #[test]
    fn arguments_are_read_into_their_types() {
        let line = parse_args("top-up Demo $1,000.50 --reference wire-7").unwrap();
        let CliCommand::TopUp {
            team,
            amount,
            reference,
        } = line.command
        else {
            panic!("{line:?}")
        };
        assert_eq!(
            (team.as_str(), amount.cents(), reference.as_str()),
            ("Demo", 100_050, "wire-7")
        );
    }

    #[test]
    fn a_usage_error_ends_with_2() {
        for line in [
            "",
            "no-such-command",
            "top-up Demo 0 --reference r",
            "top-up Demo 5",
            "campaign show PA-short",
            "recipient remove PA-7K2M9Q",
            "key revoke Demo not-an-id",
            "key create Demo --name a --kind integration",
            "user create Demo someone --name S --role owner",
            "team create Demo --time-zone Mars/Olympus",
            "team list --limit 0",
            "send PA-short people.csv --key k",
            "send PA-7K2M9Q people.csv --key k --type Visits=numbers",
            "send PA-7K2M9Q people.csv --key k --map nothing",
            "send PA-7K2M9Q people.csv --key k --batch 5001",
            "push contacts.csv --key k --delete --declare",
        ] {
            assert_eq!(parse_args(line).unwrap_err().exit_code(), 2, "{line}");
        }
    }
}
