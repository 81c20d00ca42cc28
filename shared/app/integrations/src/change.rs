//! That there is an integration, whether it takes requests, its removal guard and what that let through, and an integration as a
//! file has it.

use chrono::{DateTime, Utc};
use model::id::{IntegrationId, TeamId};
use model::name::DisplayName;
use store::{
    Actor, Integration, IntegrationAvailability, Result, Store, StoreError, Transaction,
    describe_change,
};

/// Makes an integration.
///
/// # Errors
/// [`store::StoreError::Limit`] when the team has one of this name, or as many as it may hold.
pub async fn create_integration(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    name: &DisplayName,
    now: DateTime<Utc>,
) -> Result<IntegrationId> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let integration_id = transaction
        .insert_integration(team_id, name.as_str(), now)
        .await?;
    transaction
        .record_activity(team_id, actor, "integration.created", name.as_str(), now)
        .await?;
    transaction.commit().await?;
    Ok(integration_id)
}

/// Pauses, disconnects or resumes an integration; from the next request on it holds.
///
/// # Errors
/// [`store::StoreError::NotFound`] when it was removed.
pub async fn set_integration_availability(
    store: &Store,
    actor: Actor<'_>,
    integration: &Integration,
    availability: IntegrationAvailability,
    now: DateTime<Utc>,
) -> Result<()> {
    let (team_id, name) = (integration.team_id, &integration.name);
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    transaction
        .set_integration_availability(team_id, integration.integration_id, availability)
        .await?;
    let action = availability_action(availability);
    transaction
        .record_activity(team_id, actor, action, name, now)
        .await?;
    transaction.commit().await
}

/// What the log calls it.
pub(crate) const fn availability_action(availability: IntegrationAvailability) -> &'static str {
    match availability {
        IntegrationAvailability::Active => "integration.resumed",
        IntegrationAvailability::Paused => "integration.paused",
        IntegrationAvailability::Disconnected => "integration.disconnected",
    }
}

/// Removes an integration: its keys are revoked, its open sync ends and removes nothing, and whoever lists a team's integrations
/// or contacts finds it no more. What was begun before goes through first, for which it waits 20 seconds at the most.
///
/// # Errors
/// [`store::StoreError::NotFound`] when it was removed before; [`store::StoreError::Busy`] when its requests take longer. Nothing
/// is changed then.
pub async fn remove_integration(
    store: &Store,
    actor: Actor<'_>,
    integration: &Integration,
    now: DateTime<Utc>,
) -> Result<()> {
    let (team_id, name) = (integration.team_id, &integration.name);
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    transaction.remove_integration(integration, now).await?;
    transaction
        .record_activity(team_id, actor, "integration.removed", name, now)
        .await?;
    transaction.commit().await
}

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
) -> std::result::Result<(), SetGuardError> {
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

/// What an owner sets of an integration.
#[derive(Debug, Clone, Copy)]
pub struct IntegrationSettings<'a> {
    /// Its name, by which the team's integration is found.
    pub name: &'a str,
    /// Whether it takes requests.
    pub availability: IntegrationAvailability,
    /// The removal guard; `None` leaves the one that stands, and gives a new integration the usual one.
    pub removal_guard_percent: Option<i16>,
}

/// Makes an integration or gives the team's one of this name these settings, with an entry in the log for each thing that changes.
///
/// # Errors
/// [`StoreError`] when the database cannot be asked.
pub async fn save_integration_within(
    transaction: &Transaction<'_>,
    actor: Actor<'_>,
    team_id: TeamId,
    wanted: IntegrationSettings<'_>,
    now: DateTime<Utc>,
) -> Result<Integration> {
    let IntegrationSettings {
        name,
        availability,
        removal_guard_percent,
    } = wanted;
    let standing = match transaction.find_integration_by_name(team_id, name).await {
        Ok(standing) => Some(standing),
        Err(StoreError::NotFound(_)) => None,
        Err(error) => return Err(error),
    };
    let entries = match &standing {
        None => vec![("integration.created", name.to_owned())],
        Some(standing) => list_changes(standing, wanted),
    };
    if let Some(standing) = standing.filter(|_| entries.is_empty()) {
        return Ok(standing);
    }
    transaction
        .save_integration(team_id, name, availability, removal_guard_percent, now)
        .await?;
    for (action, subject) in entries {
        transaction
            .record_activity(team_id, actor, action, &subject, now)
            .await?;
    }
    transaction.find_integration_by_name(team_id, name).await
}

/// What changes, as the log has it: actions and what they are done to.
fn list_changes(
    standing: &Integration,
    wanted: IntegrationSettings<'_>,
) -> Vec<(&'static str, String)> {
    let name = wanted.name;
    let mut entries = Vec::new();
    if standing.availability != wanted.availability {
        entries.push((availability_action(wanted.availability), name.to_owned()));
    }
    // A guard that somebody sets asks however few contacts there are.
    let before = (
        standing.removal_guard_percent,
        standing.removal_guard_minimum,
    );
    let guard = wanted.removal_guard_percent;
    if guard.is_some() && before != (guard, 0) {
        let subject = guard_subject(name, before.0, guard);
        entries.push((guard_action(guard), subject));
    }
    entries
}

#[cfg(test)]
mod tests {
    use model::id::IntegrationId;

    use super::*;

    #[test]
    fn only_what_changes_is_an_entry() {
        let standing = Integration {
            integration_id: IntegrationId::new(),
            team_id: TeamId::new(),
            name: "CRM".to_owned(),
            availability: IntegrationAvailability::Active,
            removal_guard_percent: Some(50),
            removal_guard_minimum: 100,
            has_completed: false,
        };
        let wanted = IntegrationSettings {
            name: "CRM",
            availability: IntegrationAvailability::Active,
            removal_guard_percent: None,
        };
        assert_eq!(list_changes(&standing, wanted), []);
        let guarded = IntegrationSettings {
            availability: IntegrationAvailability::Paused,
            removal_guard_percent: Some(50),
            ..wanted
        };
        let entries = [
            ("integration.paused", "CRM".to_owned()),
            (
                "integration.guarded",
                "CRM, before: 50 %; now: 50 %".to_owned(),
            ),
        ];
        assert_eq!(list_changes(&standing, guarded), entries);
        let as_set = Integration {
            availability: IntegrationAvailability::Paused,
            removal_guard_minimum: 0,
            ..standing
        };
        assert_eq!(list_changes(&as_set, guarded), []);
    }
}
