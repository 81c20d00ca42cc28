//! `addresses override`: the operator vouches for an address that a verifier refuses.

use address::{AddressInput, CheckedAddress};
use chrono::{DateTime, Utc};
use serde_json::json;
use store::Store;

use super::line::AddressLineParts;
use crate::command::OverrideCommand;
use crate::report::{CommandReport, table};

/// Overrides shown at the most.
const LISTED: i64 = 1_000;

/// Does one of the commands on overrides.
pub(crate) async fn overrides(
    store: &Store,
    command: OverrideCommand,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    match command {
        OverrideCommand::Add { address, note } => {
            let reading = read(&address)?;
            let line = &reading.parsed().one_line;
            let is_new = store
                .address_override_add(reading.id(), line, &note, now)
                .await?;
            CommandReport::new(
                &json!({ "address": line, "is_new": is_new }),
                format!("{line} is mailed from now on."),
            )
        }
        OverrideCommand::Remove { address } => {
            let reading = read(&address)?;
            let line = &reading.parsed().one_line;
            let was_there = store.address_override_remove(reading.id()).await?;
            let text = if was_there {
                "is verified like any other again"
            } else {
                "had no override"
            };
            let answer = json!({ "address": line, "removed": was_there });
            Ok(CommandReport::new(&answer, format!("{line} {text}."))?.failed_when(!was_there))
        }
        OverrideCommand::List => {
            let overrides = store.address_override_list(LISTED).await?;
            let mut rows = table(["Address", "Note", "Since"]);
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
fn read(line: &str) -> anyhow::Result<CheckedAddress> {
    let parts = AddressLineParts::of_line(line);
    let AddressInput {
        address_1,
        city,
        state,
        zip,
        ..
    } = parts.input();
    anyhow::ensure!(
        [address_1, city, state, zip]
            .iter()
            .all(|part| !part.is_empty()),
        "{line:?} lacks its street, city, state or ZIP"
    );
    Ok(CheckedAddress::of(parts.input()))
}
