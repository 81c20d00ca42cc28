//! `returned`: addresses from which a mailpiece came back.

use address::AddressListEntry;
use chrono::{DateTime, Utc};
use serde_json::json;
use store::{Actor, Store};

use super::find_team;
use crate::report::{CommandReport, build_table};
use crate::tracking_command::ReturnedCommand;

/// Does it.
///
/// # Errors
/// When there is no such team or campaign, an address cannot be read, or the database fails.
pub(crate) async fn run_command(
    store: &Store,
    command: ReturnedCommand,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    match command {
        ReturnedCommand::List { team, after, limit } => {
            let team_id = find_team(store, &team).await?.team_id;
            let after = after.unwrap_or_default();
            let listed = store.list_returned_addresses(team_id, after, limit).await?;
            let mut table = build_table(["Id", "Address", "Came back", "Campaign"]);
            for line in &listed {
                table.add_row([
                    line.address_id.to_string(),
                    line.address.clone(),
                    line.returned_at.date_naive().to_string(),
                    line.campaign_id.clone(),
                ]);
            }
            CommandReport::new(&json!({ "addresses": listed }), table.trim_fmt())
        }
        ReturnedCommand::Remove { team, addresses } => {
            remove_addresses(store, &team, &addresses, now).await
        }
        ReturnedCommand::Mail { campaign_id, off } => {
            let team_id = store.find_campaign_team(&campaign_id).await?;
            let wanted = (&campaign_id, !off);
            campaigns::set_mails_returned(store, Actor::Operator, team_id, wanted, now).await?;
            let report = json!({"campaign_id": campaign_id, "mails_returned": !off});
            let negation = if off { "does not mail" } else { "mails" };
            let text =
                format!("{campaign_id} {negation} addresses from which mailpieces came back.");
            CommandReport::new(&report, text)
        }
    }
}

/// The report is a failure when no mailpiece came back from one of the addresses.
async fn remove_addresses(
    store: &Store,
    team: &str,
    addresses: &[String],
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    let team_id = find_team(store, team).await?.team_id;
    // All are read before the first is removed.
    let addresses: Result<Vec<_>, String> = addresses
        .iter()
        .map(|text| AddressListEntry::from_line(text))
        .collect();
    let mut table = build_table(["Address", "Is mailed again"]);
    let (mut removed, mut has_failed) = (Vec::new(), false);
    for listed in addresses.map_err(anyhow::Error::msg)? {
        let was_there =
            campaigns::remove_returned_address(store, Actor::Operator, team_id, &listed, now)
                .await?;
        let answer = if was_there {
            "yes"
        } else {
            "nothing came back"
        };
        table.add_row([listed.line.as_str(), answer]);
        has_failed |= !was_there;
        removed.push(json!({"address": listed.line, "was_returned": was_there}));
    }
    let report = CommandReport::new(&json!({ "addresses": removed }), table.trim_fmt())?;
    Ok(report.failed_when(has_failed))
}
