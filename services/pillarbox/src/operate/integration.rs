//! `integration`.

use chrono::{DateTime, Utc};
use serde_json::json;
use store::{Actor, IntegrationAvailability, Store};

use super::{find_integration, find_team};
use crate::command::{IntegrationArgs, IntegrationCommand};
use crate::report::{CommandReport, build_table};

/// Does one of the commands on integrations.
pub(crate) async fn run_command(
    store: &Store,
    command: IntegrationCommand,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    match command {
        IntegrationCommand::List { team } => list_integrations(store, &team).await,
        IntegrationCommand::Pause(named) => {
            set_availability(store, &named, IntegrationAvailability::Paused, now).await
        }
        IntegrationCommand::Disconnect(named) => {
            set_availability(store, &named, IntegrationAvailability::Disconnected, now).await
        }
        IntegrationCommand::Remove(named) => remove_integration(store, &named, now).await,
        IntegrationCommand::Resume(named) => {
            set_availability(store, &named, IntegrationAvailability::Active, now).await
        }
    }
}

async fn list_integrations(store: &Store, team: &str) -> anyhow::Result<CommandReport> {
    let integrations = store
        .list_integrations(find_team(store, team).await?.team_id)
        .await?;
    let mut rows = build_table(["Name", "Id", "Availability", "Removal guard"]);
    for integration in &integrations {
        let guard = match (
            integration.removal_guard_percent,
            integration.removal_guard_minimum,
        ) {
            (None, _) => "off".to_owned(),
            (Some(percent), 0) => format!("{percent} %"),
            (Some(percent), minimum) => format!("{percent} %, from {minimum} contacts"),
        };
        rows.add_row([
            &integration.name,
            &integration.integration_id.to_string(),
            integration.availability.as_str(),
            &guard,
        ]);
    }
    CommandReport::new(&json!({ "integrations": integrations }), rows.trim_fmt())
}

async fn set_availability(
    store: &Store,
    named: &IntegrationArgs,
    availability: IntegrationAvailability,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    let integration = find_integration(store, named).await?;
    let operator = Actor::Operator;
    integrations::set_integration_availability(store, operator, &integration, availability, now)
        .await?;
    let text = format!("{} is {}.", integration.name, availability.as_str());
    CommandReport::new(
        &json!({ "integration_id": integration.integration_id, "availability": availability }),
        text,
    )
}

async fn remove_integration(
    store: &Store,
    named: &IntegrationArgs,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    let integration = find_integration(store, named).await?;
    integrations::remove_integration(store, Actor::Operator, &integration, now).await?;
    let text = format!(
        "{} is removed: its keys open nothing, and its contacts count no more.",
        integration.name
    );
    CommandReport::new(
        &json!({ "integration_id": integration.integration_id, "removed_at": now }),
        text,
    )
}
