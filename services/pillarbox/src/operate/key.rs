//! `key`.

use accounts::{CreatedTeamKey, NewTeamKey, create_key, revoke_key};
use chrono::{DateTime, SecondsFormat, Utc};
use model::id::ApiKeyId;
use model::key::KeyKind;
use model::name::DisplayName;
use serde_json::json;
use store::{Actor, Store};

use super::find_team;
use crate::command::KeyCommand;
use crate::report::{CommandReport, build_table};

/// Does one of the commands on keys.
pub(crate) async fn run_command(
    store: &Store,
    command: KeyCommand,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    match command {
        KeyCommand::Create { team, name, kind } => {
            create_team_key(store, &team, &name, kind.into(), now).await
        }
        KeyCommand::List { team } => list_team_keys(store, &team).await,
        KeyCommand::Revoke { team, key_id } => revoke_team_key(store, &team, key_id, now).await,
    }
}

async fn create_team_key(
    store: &Store,
    team: &str,
    name: &DisplayName,
    kind: KeyKind,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    let team_id = find_team(store, team).await?.team_id;
    let new = NewTeamKey {
        team_id,
        kind,
        integration: None,
        name,
        chosen: None,
        key_id: None,
    };
    let CreatedTeamKey {
        key_id, text: key, ..
    } = create_key(store, Actor::Operator, &new, now).await?;
    let name = name.as_str();
    let text = format!(
        "{}\nThis is the only time that the key is shown. Its id is {key_id}.",
        key.reveal()
    );
    CommandReport::new(
        &json!({ "key_id": key_id, "kind": kind.as_str(), "name": name, "key": key }),
        text,
    )
}

async fn list_team_keys(store: &Store, team: &str) -> anyhow::Result<CommandReport> {
    let keys = store
        .list_api_keys(find_team(store, team).await?.team_id)
        .await?;
    let day = |time: DateTime<Utc>| time.to_rfc3339_opts(SecondsFormat::Secs, true);
    let mut rows = build_table(["Name", "Kind", "Key", "Id", "Made", "Revoked"]);
    for key in &keys {
        let revoked = key.revoked_at.map(day).unwrap_or_default();
        rows.add_row([
            &key.name,
            &key.kind,
            &key.display,
            &key.key_id.to_string(),
            &day(key.created_at),
            &revoked,
        ]);
    }
    CommandReport::new(&json!({ "keys": keys }), rows.trim_fmt())
}

async fn revoke_team_key(
    store: &Store,
    team: &str,
    key_id: ApiKeyId,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    let team_id = find_team(store, team).await?.team_id;
    revoke_key(store, Actor::Operator, team_id, key_id, now).await?;
    CommandReport::new(
        &json!({ "key_id": key_id, "revoked": true }),
        format!("The key {key_id} opens nothing any more."),
    )
}
