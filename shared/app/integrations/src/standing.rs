//! That there is an integration, and whether it takes requests.

use chrono::{DateTime, Utc};
use model::id::{IntegrationId, TeamId};
use model::name::DisplayName;
use store::{Actor, Integration, IntegrationAvailability, Result, Store};

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
