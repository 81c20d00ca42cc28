//! `key`.

use chrono::{DateTime, SecondsFormat, Utc};
use contract::id::ApiKeyId;
use contract::key::KeyKind;
use serde_json::json;
use store::{NewApiKey, Store};

use super::find_team;
use crate::command::KeyCommand;
use crate::report::{CommandReport, table};
use secret::KeyText;

/// Does one of the commands on keys.
pub(crate) async fn run(
    store: &Store,
    command: KeyCommand,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    match command {
        KeyCommand::Create { team, name, kind } => {
            create(store, &team, name.as_str(), kind.into(), now).await
        }
        KeyCommand::List { team } => list(store, &team).await,
        KeyCommand::Revoke { team, key_id } => revoke(store, &team, key_id, now).await,
    }
}

async fn create(
    store: &Store,
    team: &str,
    name: &str,
    kind: KeyKind,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    let team_id = find_team(store, team).await?.team_id;
    let key = KeyText::random(kind);
    let mut connection = store.connection().await?;
    let transaction = connection.begin().await?;
    let new = NewApiKey {
        team_id,
        kind,
        integration_id: None,
        name,
        key: &key.presented(),
    };
    let key_id = transaction.key_create(&new, now).await?.key_id;
    transaction.commit().await?;
    let text = format!(
        "{}\nThis is the only time that the key is shown. Its id is {key_id}.",
        key.reveal()
    );
    CommandReport::new(
        &json!({ "key_id": key_id, "kind": kind.as_str(), "name": name, "key": key }),
        text,
    )
}

async fn list(store: &Store, team: &str) -> anyhow::Result<CommandReport> {
    let keys = store
        .key_list(find_team(store, team).await?.team_id)
        .await?;
    let day = |time: DateTime<Utc>| time.to_rfc3339_opts(SecondsFormat::Secs, true);
    let mut rows = table(["Name", "Kind", "Key", "Id", "Made", "Revoked"]);
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

async fn revoke(
    store: &Store,
    team: &str,
    key_id: ApiKeyId,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    store
        .key_revoke(find_team(store, team).await?.team_id, key_id, now)
        .await?;
    CommandReport::new(
        &json!({ "key_id": key_id, "revoked": true }),
        format!("The key {key_id} opens nothing any more."),
    )
}
