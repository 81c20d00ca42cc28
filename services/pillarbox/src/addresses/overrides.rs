//! `addresses override`: the operator vouches for an address that a verifier refuses.

use address::{AddressInput, CheckedAddress};
use chrono::{DateTime, Utc};
use serde_json::json;
use store::Store;

use super::line::AddressLineParts;
use crate::command::OverrideCommand;
use crate::report::{CommandReport, build_table};

/// Overrides shown at the most.
const LISTED: i64 = 1_000;

/// Does one of the commands on overrides.
pub(crate) async fn run_override(
    store: &Store,
    command: OverrideCommand,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    match command {
        OverrideCommand::Add { address, note } => {
            let reading = parse_address(&address)?;
            let line = &reading.parsed().one_line;
            let is_new = store
                .save_address_override(reading.id(), line, &note, now)
                .await?;
            CommandReport::new(
                &json!({ "address": line, "is_new": is_new }),
                format!("{line} is mailed from now on."),
            )
        }
        OverrideCommand::Remove { address } => {
            let reading = parse_address(&address)?;
            let line = &reading.parsed().one_line;
            let was_there = store.delete_address_override(reading.id()).await?;
            let text = if was_there {
                "is verified like any other again"
            } else {
                "had no override"
            };
            let answer = json!({ "address": line, "removed": was_there });
            Ok(CommandReport::new(&answer, format!("{line} {text}."))?.failed_when(!was_there))
        }
        OverrideCommand::List => {
            let overrides = store.list_address_overrides(LISTED).await?;
            let mut rows = build_table(["Address", "Note", "Since"]);
            for one in &overrides {
                rows.add_row([
                    &one.address,
                    &one.note,
                    &one.added_at.date_naive().to_string(),
                ]);
            }
            CommandReport::new(&json!({ "overrides": overrides }), rows.trim_fmt())
        }
    }
}

/// Reads an address from one line. It must have all parts, else it would be another one than is sent.
fn parse_address(line: &str) -> anyhow::Result<CheckedAddress> {
    let parts = AddressLineParts::from_line(line);
    let AddressInput {
        address_1,
        city,
        state,
        zip,
        ..
    } = parts.as_input();
    anyhow::ensure!(
        [address_1, city, state, zip]
            .iter()
            .all(|part| !part.is_empty()),
        "{line:?} lacks its street, city, state or ZIP"
    );
    Ok(CheckedAddress::from_input(parts.as_input()))
}
