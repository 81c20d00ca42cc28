//! The keys of an integration: at most two, so that one can take the other's place.

use chrono::{DateTime, Utc};
use contract::id::ApiKeyId;
use contract::key::KeyKind;
use contract::name::DisplayName;
use secret::KeyText;
use store::{Actor, CreatedApiKey, Integration, NewApiKey, Result, Store, StoreError, Transaction};

/// A key that was asked for by its name.
#[derive(Debug)]
pub struct ProvidedKey {
    /// Its row.
    pub key_id: ApiKeyId,
    /// The key itself, only when it was made now.
    pub made: Option<KeyText>,
}

/// Makes this key of an integration. The same key again changes nothing.
async fn create_given_key(
    transaction: &Transaction<'_>,
    actor: Actor<'_>,
    integration: &Integration,
    (name, key): (&DisplayName, &KeyText),
    now: DateTime<Utc>,
) -> Result<CreatedApiKey> {
    let new = NewApiKey {
        team_id: integration.team_id,
        kind: KeyKind::Integration,
        integration_id: Some(integration.integration_id),
        name: name.as_str(),
        key: &key.presented(),
        key_id: None,
    };
    let created = transaction.key_create(&new, now).await?;
    if created.is_new {
        let subject = key_subject(name.as_str(), integration);
        transaction
            .activity_record(integration.team_id, actor, "key.created", &subject, now)
            .await?;
    }
    Ok(created)
}

/// The key of this name: the given one, or an active one that stands, or a new one.
///
/// # Errors
/// [`StoreError::Limit`] past the keys that an integration may hold; [`StoreError::NotFound`] when the integration was removed.
pub async fn provide_key_within(
    transaction: &Transaction<'_>,
    actor: Actor<'_>,
    integration: &Integration,
    (name, given): (&DisplayName, Option<&KeyText>),
    now: DateTime<Utc>,
) -> Result<ProvidedKey> {
    if given.is_none() {
        let (team_id, integration_id) = (integration.team_id, integration.integration_id);
        let standing = transaction
            .key_active(
                team_id,
                Some(integration_id),
                KeyKind::Integration,
                name.as_str(),
            )
            .await?;
        if let Some(key_id) = standing {
            return Ok(ProvidedKey { key_id, made: None });
        }
    }
    let key = given
        .cloned()
        .unwrap_or_else(|| KeyText::random(KeyKind::Integration));
    let created = create_given_key(transaction, actor, integration, (name, &key), now).await?;
    Ok(ProvidedKey {
        key_id: created.key_id,
        made: created.is_new.then_some(key),
    })
}

/// Revokes a key of an integration; from the next request on it opens nothing.
///
/// # Errors
/// [`StoreError::NotFound`] when the integration has no such key.
pub async fn revoke_key(
    store: &Store,
    actor: Actor<'_>,
    integration: &Integration,
    key_id: ApiKeyId,
    now: DateTime<Utc>,
) -> Result<()> {
    let (team_id, integration_id) = (integration.team_id, integration.integration_id);
    let keys = store
        .key_list_of_integration(team_id, integration_id)
        .await?;
    if !keys.iter().any(|key| key.key_id == key_id) {
        return Err(StoreError::NotFound(format!("the key {key_id}")));
    }
    let mut connection = store.connection().await?;
    let transaction = connection.begin().await?;
    let revoked = transaction.key_revoke(team_id, key_id, now).await?;
    if revoked.is_changed {
        let subject = key_subject(&revoked.name, integration);
        transaction
            .activity_record(team_id, actor, "key.revoked", &subject, now)
            .await?;
    }
    transaction.commit().await
}

fn key_subject(name: &str, integration: &Integration) -> String {
    format!("{name} of {}", integration.name)
}
