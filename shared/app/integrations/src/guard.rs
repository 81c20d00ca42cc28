//! What keeps a full sync from removing too much, and taking a removal back.

use chrono::{DateTime, Utc};
use store::{Actor, Integration, Store, StoreError, describe_change};

/// Why a removal guard was not set.
#[derive(Debug, thiserror::Error)]
pub enum SetGuardError {
    /// Another guard stands than the one that the caller has seen: this one.
    #[error("the guard was set meanwhile")]
    Overtaken(Option<i16>),
    /// The integration was removed, or the database could not be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Sets the share of contacts, in percent, that a full sync removes without asking; `None` never asks. `is_as_seen` says whether
/// the guard that stands is the one that the caller means to replace.
///
/// # Errors
/// [`SetGuardError`]; nothing is changed then.
pub async fn set_removal_guard(
    store: &Store,
    actor: Actor<'_>,
    integration: &Integration,
    percent: Option<i16>,
    is_as_seen: impl FnOnce(Option<i16>) -> bool,
    now: DateTime<Utc>,
) -> Result<(), SetGuardError> {
    let (team_id, integration_id) = (integration.team_id, integration.integration_id);
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let standing = transaction
        .lock_integration_guard(team_id, integration_id)
        .await?;
    if !is_as_seen(standing) {
        return Err(SetGuardError::Overtaken(standing));
    }
    transaction
        .set_integration_guard(team_id, integration_id, percent)
        .await?;
    let subject = guard_subject(&integration.name, standing, percent);
    transaction
        .record_activity(team_id, actor, guard_action(percent), &subject, now)
        .await?;
    transaction.commit().await?;
    Ok(())
}

/// What the log calls it.
pub(crate) const fn guard_action(percent: Option<i16>) -> &'static str {
    match percent {
        Some(_) => "integration.guarded",
        None => "integration.unguarded",
    }
}

/// What the log says of a change: the integration, and the guard before and since.
pub(crate) fn guard_subject(name: &str, before: Option<i16>, now: Option<i16>) -> String {
    let change = describe_change(&format_guard(before), &format_guard(now));
    format!("{name}, {change}")
}

/// A removal guard as people read it.
pub fn format_guard(percent: Option<i16>) -> String {
    percent.map_or_else(|| "off".to_owned(), |percent| format!("{percent} %"))
}

/// Restores the contacts that the last removal removed, unless it was before `since`; returns how many.
///
/// # Errors
/// [`StoreError::NotFound`] when there is no removal to take back.
pub async fn undo_removal(
    store: &Store,
    actor: Actor<'_>,
    integration: &Integration,
    since: DateTime<Utc>,
    now: DateTime<Utc>,
) -> store::Result<i64> {
    let (team_id, name) = (integration.team_id, &integration.name);
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let restored = transaction
        .undo_last_removal(integration.integration_id, since, now)
        .await?;
    transaction
        .record_activity(team_id, actor, "integration.removal_undone", name, now)
        .await?;
    transaction.commit().await?;
    Ok(restored)
}
