//! `sync`.

use chrono::{DateTime, SecondsFormat, Utc};
use runtime::Config;
use serde_json::json;
use store::{Actor, Store};

use super::find_integration;
use crate::command::{IntegrationArgs, SyncCommand};
use crate::report::{CommandReport, build_table};

/// Does one of the commands on syncs.
pub(crate) async fn run_command(
    store: &Store,
    command: SyncCommand,
    config: &Config,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    match command {
        SyncCommand::List { integration, limit } => {
            list_syncs(store, &integration, limit, now).await
        }
        SyncCommand::UndoRemoval(named) => {
            undo_removal(store, &named, config.syncer.removals_undone_since(now), now).await
        }
    }
}

async fn list_syncs(
    store: &Store,
    named: &IntegrationArgs,
    limit: i64,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    let integration_id = find_integration(store, named).await?.integration_id;
    let syncs = store.list_syncs(integration_id, None, limit, now).await?;
    let mut rows = build_table([
        "Begun", "Id", "Mode", "Status", "Upserted", "Deleted", "Rejected", "Removed",
    ]);
    for sync in &syncs {
        rows.add_row([
            sync.begun_at.to_rfc3339_opts(SecondsFormat::Secs, true),
            sync.id.to_string(),
            sync.mode.as_str().to_owned(),
            sync.status.as_str().to_owned(),
            sync.records_upserted.to_string(),
            sync.records_deleted.to_string(),
            sync.records_rejected.to_string(),
            sync.marked_removed.to_string(),
        ]);
    }
    CommandReport::new(&json!({ "syncs": syncs }), rows.trim_fmt())
}

async fn undo_removal(
    store: &Store,
    named: &IntegrationArgs,
    since: DateTime<Utc>,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    let integration = find_integration(store, named).await?;
    let operator = Actor::Operator;
    let restored = integrations::undo_removal(store, operator, &integration, since, now).await?;
    let text = format!(
        "{restored} contacts of {} are active again.",
        integration.name
    );
    CommandReport::new(&json!({ "restored": restored }), text)
}
