//! API keys: those of a team, and those of its integrations.

use chrono::{DateTime, Utc};
use contract::id::{ApiKeyId, IntegrationId, TeamId};
use contract::key::KeyKind;
use contract::name::DisplayName;
use secret::KeyText;
use store::{Actor, NewApiKey, Result, Store, Transaction};

/// A key that is to be made.
#[derive(Debug, Clone, Copy)]
pub struct NewTeamKey<'a> {
    /// Its owner.
    pub team_id: TeamId,
    /// What it opens.
    pub kind: KeyKind,
    /// The integration of an integration key; else `None`.
    pub integration: Option<KeyIntegration<'a>>,
    /// What people call it.
    pub name: &'a DisplayName,
    /// The key itself, when somebody has chosen it; else a random one is made.
    pub chosen: Option<&'a KeyText>,
    /// The id that it gets, for who asks again for the same key and is to get no second one; else one is made.
    pub key_id: Option<ApiKeyId>,
}

/// The integration that a key opens.
#[derive(Debug, Clone, Copy)]
pub struct KeyIntegration<'a> {
    /// Its id.
    pub integration_id: IntegrationId,
    /// Its name, for the log.
    pub name: &'a str,
}

/// A key that stands now.
#[derive(Debug)]
pub struct CreatedTeamKey {
    /// Its id.
    pub key_id: ApiKeyId,
    /// The key itself. It cannot be shown again.
    pub text: KeyText,
    /// False when the chosen key stood there already.
    pub is_new: bool,
}

/// Makes a key.
///
/// # Errors
/// As [`create_key_within`].
pub async fn create_key(
    store: &Store,
    actor: Actor<'_>,
    new: &NewTeamKey<'_>,
    now: DateTime<Utc>,
) -> Result<CreatedTeamKey> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin().await?;
    let created = create_key_within(&transaction, actor, new, now).await?;
    transaction.commit().await?;
    Ok(created)
}

/// Makes a key. A chosen one that stands already changes nothing.
///
/// # Errors
/// [`store::StoreError::Limit`] past the keys that a team or an integration may hold, when the chosen key stands elsewhere or was
/// revoked, or when there is a key with the chosen id; [`store::StoreError::NotFound`] when the integration was removed.
pub async fn create_key_within(
    transaction: &Transaction<'_>,
    actor: Actor<'_>,
    new: &NewTeamKey<'_>,
    now: DateTime<Utc>,
) -> Result<CreatedTeamKey> {
    let text = new
        .chosen
        .cloned()
        .unwrap_or_else(|| KeyText::random(new.kind));
    let name = new.name.as_str();
    let row = NewApiKey {
        team_id: new.team_id,
        kind: new.kind,
        integration_id: new
            .integration
            .map(|integration| integration.integration_id),
        name,
        key: &text.presented(),
        key_id: new.key_id,
    };
    let created = transaction.key_create(&row, now).await?;
    if created.is_new {
        let subject = subject(name, new.integration.map(|integration| integration.name));
        transaction
            .activity_record(new.team_id, actor, "key.created", &subject, now)
            .await?;
    }
    Ok(CreatedTeamKey {
        key_id: created.key_id,
        text,
        is_new: created.is_new,
    })
}

/// Revokes a key of the team or of one of its integrations; from the next request on it opens nothing. One that was revoked
/// before stays as it is.
///
/// # Errors
/// [`store::StoreError::NotFound`] when the team has no such key.
pub async fn revoke_key(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    key_id: ApiKeyId,
    now: DateTime<Utc>,
) -> Result<()> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin().await?;
    let revoked = transaction.key_revoke(team_id, key_id, now).await?;
    if revoked.is_changed {
        let subject = subject(&revoked.name, revoked.integration.as_deref());
        transaction
            .activity_record(team_id, actor, "key.revoked", &subject, now)
            .await?;
    }
    transaction.commit().await
}

/// A key as the log calls it.
fn subject(name: &str, integration: Option<&str>) -> String {
    match integration {
        Some(integration) => format!("{name} of {integration}"),
        None => name.to_owned(),
    }
}
