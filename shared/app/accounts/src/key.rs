//! API keys: those of a team, and those of its integrations.

use chrono::{DateTime, Utc};
use model::id::{ApiKeyId, IntegrationId, TeamId};
use model::key::KeyKind;
use model::name::DisplayName;
use secret::KeyText;
use store::{Actor, Integration, NewApiKey, Result, Store, StoreError, Transaction};

/// A key that is to be made.
#[derive(Debug, Clone, Copy)]
pub struct NewTeamKey<'a> {
    /// Its owner.
    pub team_id: TeamId,
    /// What it opens.
    pub kind: KeyKind,
    /// The integration of an integration key; else `None`.
    pub integration: Option<&'a Integration>,
    /// What people call it.
    pub name: &'a DisplayName,
    /// The key itself, when somebody has chosen it; else a random one is made.
    pub chosen: Option<&'a KeyText>,
    /// The id that it gets, for who asks again for the same key and is to get no second one; else one is made.
    pub key_id: Option<ApiKeyId>,
}

impl NewTeamKey<'_> {
    fn integration_id(&self) -> Option<IntegrationId> {
        self.integration
            .map(|integration| integration.integration_id)
    }
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

/// A key that was asked for by its name.
#[derive(Debug)]
pub struct ProvidedKey {
    /// Its id.
    pub key_id: ApiKeyId,
    /// The key itself, only when it was made now.
    pub made: Option<KeyText>,
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
    let transaction = connection.begin_transaction().await?;
    let created = create_key_within(&transaction, actor, new, now).await?;
    transaction.commit().await?;
    Ok(created)
}

/// Makes a key. A chosen one that stands already changes nothing.
///
/// # Errors
/// [`StoreError::Limit`] past the keys that a team or an integration may hold, when the chosen key stands elsewhere or was
/// revoked, or when there is a key with the chosen id; [`StoreError::NotFound`] when the integration was removed.
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
        integration_id: new.integration_id(),
        name,
        key: &text.to_presented(),
        key_id: new.key_id,
    };
    let created = transaction.insert_api_key(&row, now).await?;
    if created.is_new {
        let subject = key_subject(name, new.integration.map(|of| of.name.as_str()));
        transaction
            .record_activity(new.team_id, actor, "key.created", &subject, now)
            .await?;
    }
    Ok(CreatedTeamKey {
        key_id: created.key_id,
        text,
        is_new: created.is_new,
    })
}

/// The key of this kind and name: the chosen one, or an active one that stands, or a new one.
///
/// # Errors
/// As [`create_key_within`].
pub async fn provide_key_within(
    transaction: &Transaction<'_>,
    actor: Actor<'_>,
    new: &NewTeamKey<'_>,
    now: DateTime<Utc>,
) -> Result<ProvidedKey> {
    if new.chosen.is_none() {
        let standing = transaction
            .find_active_api_key(
                new.team_id,
                new.integration_id(),
                new.kind,
                new.name.as_str(),
            )
            .await?;
        if let Some(key_id) = standing {
            return Ok(ProvidedKey { key_id, made: None });
        }
    }
    let created = create_key_within(transaction, actor, new, now).await?;
    Ok(ProvidedKey {
        key_id: created.key_id,
        made: created.is_new.then_some(created.text),
    })
}

/// As [`revoke_key`], of this integration alone.
///
/// # Errors
/// [`StoreError::NotFound`] when the integration has no such key.
pub async fn revoke_integration_key(
    store: &Store,
    actor: Actor<'_>,
    integration: &Integration,
    key_id: ApiKeyId,
    now: DateTime<Utc>,
) -> Result<()> {
    let team_id = integration.team_id;
    let keys = store
        .list_integration_api_keys(team_id, integration.integration_id)
        .await?;
    if !keys.iter().any(|key| key.key_id == key_id) {
        return Err(StoreError::NotFound(format!("the key {key_id}")));
    }
    revoke_key(store, actor, team_id, key_id, now).await
}

/// Revokes a key of the team or of one of its integrations; from the next request on it opens nothing. One that was revoked
/// before stays as it is.
///
/// # Errors
/// [`StoreError::NotFound`] when the team has no such key.
pub async fn revoke_key(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    key_id: ApiKeyId,
    now: DateTime<Utc>,
) -> Result<()> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let revoked = transaction.revoke_api_key(team_id, key_id, now).await?;
    if revoked.is_changed {
        let subject = key_subject(&revoked.name, revoked.integration.as_deref());
        transaction
            .record_activity(team_id, actor, "key.revoked", &subject, now)
            .await?;
    }
    transaction.commit().await
}

/// A key as the log calls it.
fn key_subject(name: &str, integration: Option<&str>) -> String {
    match integration {
        Some(integration) => format!("{name} of {integration}"),
        None => name.to_owned(),
    }
}
