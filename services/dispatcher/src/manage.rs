//! What people can do with endpoints: the same calls for the command line, the console and provisioning.

use chrono::{DateTime, TimeDelta, Utc};
use contract::id::{CampaignId, DeliveryId, EndpointId, TeamId};
use contract::webhook::QrScanned;
use outbound::{InvalidTarget, Policy, Refusal, Target};
use store::{EndpointSaved, EndpointState, Store, StoreError};
use uuid::Uuid;

pub use crate::signature::SigningSecret;

/// Rows that one statement changes.
const ROWS: i64 = 5_000;

/// Why an endpoint cannot be changed so.
#[derive(Debug, thiserror::Error)]
pub enum ManageError {
    /// The URL is none.
    #[error("{0}")]
    Url(#[from] InvalidTarget),
    /// Its host may not be asked.
    #[error("{0}")]
    Host(#[from] Refusal),
    /// The database says no, or cannot be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The example event cannot be written.
    #[error("the test event cannot be written: {0}")]
    Event(#[from] serde_json::Error),
}

type Result<T> = std::result::Result<T, ManageError>;

/// Checks a URL as on every attempt: its form, and that its host is one that may be asked now. Returns the form in
/// which it is stored.
///
/// # Errors
/// [`ManageError::Url`] and [`ManageError::Host`].
pub async fn check_url(policy: &Policy, url: &str) -> Result<Target> {
    let target = Target::parse(url)?;
    policy.resolve(&target).await?;
    Ok(target)
}

/// Makes an active endpoint for these campaigns (`None`: all, later ones too), or gives the one with this URL another
/// scope.
///
/// # Errors
/// [`ManageError`].
pub async fn add(
    store: &Store,
    policy: &Policy,
    team_id: TeamId,
    url: &str,
    campaigns: Option<&[CampaignId]>,
    now: DateTime<Utc>,
) -> Result<EndpointSaved> {
    let target = check_url(policy, url).await?;
    let mut connection = store.connection().await?;
    let transaction = connection.begin().await?;
    let saved = transaction.endpoint_save(team_id, target.as_str(), campaigns, now).await?;
    transaction.commit().await?;
    Ok(saved)
}

/// Pauses an endpoint: scans are not queued for it, and what waits is cancelled.
///
/// # Errors
/// [`ManageError::Store`].
pub async fn pause(
    store: &Store,
    team_id: TeamId,
    endpoint_id: EndpointId,
    now: DateTime<Utc>,
) -> Result<()> {
    set_state(store, team_id, endpoint_id, EndpointState::Paused, now).await?;
    cancel(store, team_id, endpoint_id).await
}

/// Resumes a paused or disabled endpoint. What was meant for it before stays cancelled.
///
/// # Errors
/// [`ManageError::Store`].
pub async fn resume(
    store: &Store,
    team_id: TeamId,
    endpoint_id: EndpointId,
    now: DateTime<Utc>,
) -> Result<()> {
    if store.endpoint_get(team_id, endpoint_id).await?.state != EndpointState::Active {
        cancel(store, team_id, endpoint_id).await?;
    }
    set_state(store, team_id, endpoint_id, EndpointState::Active, now).await
}

/// Deletes an endpoint; what waits is cancelled.
///
/// # Errors
/// [`ManageError::Store`].
pub async fn delete(
    store: &Store,
    team_id: TeamId,
    endpoint_id: EndpointId,
    now: DateTime<Utc>,
) -> Result<()> {
    set_state(store, team_id, endpoint_id, EndpointState::Deleted, now).await?;
    cancel(store, team_id, endpoint_id).await
}

async fn set_state(
    store: &Store,
    team_id: TeamId,
    endpoint_id: EndpointId,
    state: EndpointState,
    now: DateTime<Utc>,
) -> Result<()> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin().await?;
    transaction.endpoint_set_state(team_id, endpoint_id, state, now).await?;
    Ok(transaction.commit().await?)
}

async fn cancel(store: &Store, team_id: TeamId, endpoint_id: EndpointId) -> Result<()> {
    while store.delivery_cancel(team_id, endpoint_id, ROWS).await? == ROWS.unsigned_abs() {}
    Ok(())
}

/// Sends an endpoint a test event: example data, never retried, never counted (contract: Delivery rules 5).
///
/// # Errors
/// [`ManageError`].
pub async fn send_test(
    store: &Store,
    team_id: TeamId,
    endpoint_id: EndpointId,
    now: DateTime<Utc>,
) -> Result<DeliveryId> {
    let event_id = Uuid::now_v7();
    let body = QrScanned::example(event_id, now).to_json()?;
    Ok(store.delivery_test(team_id, endpoint_id, event_id, &body, now).await?)
}

/// Sends a delivery's event again with the same id (contract: Delivery rules 4).
///
/// # Errors
/// [`ManageError::Store`].
pub async fn redeliver(
    store: &Store,
    team_id: TeamId,
    endpoint_id: EndpointId,
    delivery_id: DeliveryId,
    now: DateTime<Utc>,
) -> Result<DeliveryId> {
    Ok(store.delivery_redeliver(team_id, endpoint_id, delivery_id, now).await?)
}

/// Sends all events again whose delivery was made at `since` or later and has failed. Returns how many.
///
/// # Errors
/// [`ManageError::Store`].
pub async fn replay_failed(
    store: &Store,
    team_id: TeamId,
    endpoint_id: EndpointId,
    since: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<u64> {
    let mut replayed = 0;
    loop {
        let rows = store.delivery_replay_failed(team_id, endpoint_id, since, now, ROWS).await?;
        replayed += rows;
        if rows < ROWS.unsigned_abs() {
            return Ok(replayed);
        }
    }
}

/// Signs an endpoint's deliveries from now on, with a new key; the key before, if there was one, signs as well for
/// `earlier_for`. Returns the key, which cannot be shown again.
///
/// # Errors
/// [`ManageError::Store`].
pub async fn sign(
    store: &Store,
    team_id: TeamId,
    endpoint_id: EndpointId,
    earlier_for: TimeDelta,
    now: DateTime<Utc>,
) -> Result<SigningSecret> {
    let secret = SigningSecret::random();
    let mut connection = store.connection().await?;
    let transaction = connection.begin().await?;
    transaction.endpoint_set_secret(team_id, endpoint_id, secret.as_bytes(), now + earlier_for, now).await?;
    transaction.commit().await?;
    Ok(secret)
}

/// Ends the signing of an endpoint's deliveries.
///
/// # Errors
/// [`ManageError::Store`].
pub async fn stop_signing(
    store: &Store,
    team_id: TeamId,
    endpoint_id: EndpointId,
    now: DateTime<Utc>,
) -> Result<()> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin().await?;
    transaction.endpoint_clear_secret(team_id, endpoint_id, now).await?;
    Ok(transaction.commit().await?)
}
