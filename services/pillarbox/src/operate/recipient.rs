//! `recipient`.

use address::AddressListEntry;
use chrono::{DateTime, Utc};
use model::id::CampaignId;
use serde::Serialize;
use serde_json::json;
use store::{Actor, Store};

use crate::command::RecipientCommand;
use crate::report::{CommandReport, build_table};

/// What became of one address.
#[derive(Debug, Serialize)]
struct RemovedAddress {
    address: String,
    recipients: usize,
}

/// Does one of the commands on recipients.
pub(crate) async fn run_command(
    store: &Store,
    command: RecipientCommand,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    match command {
        RecipientCommand::Remove {
            campaign_id,
            addresses,
        } => remove_recipients(store, &campaign_id, &addresses, now).await,
    }
}

/// Removes the recipients at each address; the report is a failure when the campaign never received one of them.
async fn remove_recipients(
    store: &Store,
    campaign_id: &CampaignId,
    addresses: &[String],
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    // All are read before the first is removed: a slip in one leaves everything as it is.
    let addresses: Result<Vec<_>, String> = addresses
        .iter()
        .map(|text| AddressListEntry::from_line(text))
        .collect();
    let addresses = addresses.map_err(anyhow::Error::msg)?;
    let team_id = store.find_campaign_team(campaign_id).await?;
    let mut removals = Vec::new();
    for address in addresses {
        let removed = (campaign_id, address.id.as_uuid());
        let removal =
            campaigns::remove_recipients_at(store, Actor::Operator, team_id, removed, now).await?;
        removals.push(RemovedAddress {
            address: address.line,
            recipients: removal.recipients,
        });
    }
    let mut rows = build_table(["Address", "Recipients removed"]);
    for removal in &removals {
        let count = match removal.recipients {
            0 => "none was received".to_owned(),
            count => count.to_string(),
        };
        rows.add_row([&removal.address, &count]);
    }
    let report = CommandReport::new(
        &json!({ "campaign_id": campaign_id, "removals": removals }),
        rows.trim_fmt(),
    )?;
    Ok(report.failed_when(removals.iter().any(|removal| removal.recipients == 0)))
}
