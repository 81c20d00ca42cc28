//! Changes of endpoints, one at a time.

use chrono::{DateTime, TimeDelta, Utc};
use contract::webhook::{MailpieceEventState, QrScanned};
use model::id::{CampaignId, DeliveryId, EndpointId, TeamId};
use outbound::{TargetPolicy, TargetPolicyError, TargetUrl, TargetUrlError};
use secret::SigningSecret;
use store::{
    Actor, Endpoint, EndpointState, FeedKind, SavedEndpoint, Store, StoreConnection, StoreError,
    Transaction,
};
use uuid::Uuid;

use crate::cancel::cancel_deliveries;

/// Deliveries that one statement sends again.
const ROWS: i64 = 5_000;

/// Why an endpoint cannot be changed so.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// The URL is none.
    #[error("{0}")]
    Url(#[from] TargetUrlError),
    /// Its host may not be asked.
    #[error("{0}")]
    Host(#[from] TargetPolicyError),
    /// The team has an endpoint with this URL.
    #[error("your team has an endpoint with this URL already")]
    Taken,
    /// Nothing can have failed yet.
    #[error("that time is in the future")]
    Future,
    /// The database says no, or cannot be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It is no longer as whoever asks saw it.
    #[error("it was changed meanwhile")]
    Overtaken,
    /// The example event cannot be written.
    #[error("the test event cannot be written: {0}")]
    Event(#[from] serde_json::Error),
}

type EndpointResult<T> = std::result::Result<T, EndpointError>;

/// Somebody who manages a team's endpoints, at a moment.
#[derive(Clone, Copy)]
pub struct EndpointManager<'a> {
    store: &'a Store,
    team_id: TeamId,
    actor: Actor<'a>,
    now: DateTime<Utc>,
}

/// An endpoint that was made.
#[derive(Debug)]
pub struct NewEndpoint {
    /// Its id.
    pub endpoint_id: EndpointId,
    /// The key that signs its deliveries, if they are to be signed. It cannot be shown again.
    pub secret: Option<SigningSecret>,
}

/// Checks a URL as on every attempt: its form, and that its host is one that may be asked now. Returns the form in
/// which it is stored.
///
/// # Errors
/// [`EndpointError::Url`] and [`EndpointError::Host`].
pub async fn check_url(policy: &TargetPolicy, url: &str) -> EndpointResult<TargetUrl> {
    let target = TargetUrl::parse(url)?;
    policy.resolve(&target).await?;
    Ok(target)
}

impl<'a> EndpointManager<'a> {
    /// Whoever acts, if a member, is one of this team who may do this.
    pub fn new(store: &'a Store, team_id: TeamId, actor: Actor<'a>, now: DateTime<Utc>) -> Self {
        Self {
            store,
            team_id,
            actor,
            now,
        }
    }

    /// Makes an active endpoint for these campaigns (`None`: all, later ones too), or gives the one with this URL
    /// another scope.
    ///
    /// # Errors
    /// [`EndpointError`].
    pub async fn add(
        &self,
        policy: &TargetPolicy,
        url: &str,
        campaigns: Option<&[CampaignId]>,
    ) -> EndpointResult<SavedEndpoint> {
        let target = check_url(policy, url).await?;
        let mut connection = self.store.connection().await?;
        let transaction = connection.begin_transaction().await?;
        let saved = transaction
            .save_endpoint(self.team_id, target.as_str(), campaigns, self.now)
            .await?;
        if let Some(action) = save_action(saved) {
            self.record(&transaction, action, saved.endpoint_id).await?;
        }
        transaction.commit().await?;
        Ok(saved)
    }

    /// Makes an active endpoint for these campaigns (`None`: all, later ones too), with a key that signs its deliveries
    /// or without.
    ///
    /// # Errors
    /// [`EndpointError::Taken`] when the team has one with this URL, and the others.
    pub async fn create(
        &self,
        policy: &TargetPolicy,
        url: &str,
        campaigns: Option<&[CampaignId]>,
        secret: Option<SigningSecret>,
    ) -> EndpointResult<NewEndpoint> {
        let target = check_url(policy, url).await?;
        let mut connection = self.store.connection().await?;
        let transaction = connection.begin_transaction().await?;
        let SavedEndpoint {
            endpoint_id,
            is_new,
            ..
        } = transaction
            .save_endpoint(self.team_id, target.as_str(), campaigns, self.now)
            .await?;
        if !is_new {
            return Err(EndpointError::Taken);
        }
        if let Some(secret) = &secret {
            let bytes = secret.as_bytes();
            transaction
                .set_endpoint_secret(self.team_id, endpoint_id, bytes, self.now, self.now)
                .await?;
        }
        self.record(&transaction, "endpoint.created", endpoint_id)
            .await?;
        transaction.commit().await?;
        Ok(NewEndpoint {
            endpoint_id,
            secret,
        })
    }

    /// Gives an endpoint another scope: these campaigns, or all with `None`, later ones too. `is_as_seen` says whether the
    /// endpoint stands as it did when whoever asks looked at it.
    ///
    /// # Errors
    /// [`EndpointError::Overtaken`] when it does not; [`EndpointError::Store`].
    pub async fn set_scope(
        &self,
        endpoint_id: EndpointId,
        campaigns: Option<&[CampaignId]>,
        is_as_seen: impl FnOnce(&Endpoint) -> bool,
    ) -> EndpointResult<()> {
        let mut connection = self.store.connection().await?;
        let transaction = connection.begin_transaction().await?;
        let endpoint = transaction.lock_endpoint(self.team_id, endpoint_id).await?;
        if !is_as_seen(&endpoint) {
            return Err(EndpointError::Overtaken);
        }
        let saved = transaction
            .save_endpoint(self.team_id, &endpoint.url, campaigns, self.now)
            .await?;
        if let Some(action) = save_action(saved) {
            self.record(&transaction, action, endpoint_id).await?;
        }
        Ok(transaction.commit().await?)
    }

    /// Has an endpoint hear of mailpieces that come to these states, from now on, besides scans; of no others.
    ///
    /// # Errors
    /// [`EndpointError::Store`].
    pub async fn set_events(
        &self,
        endpoint_id: EndpointId,
        states: &[MailpieceEventState],
    ) -> EndpointResult<()> {
        let names: Vec<&str> = states.iter().map(|state| state.as_str()).collect();
        // What happened until now gets its place before those of what is told.
        self.store
            .place_feed_items(self.team_id, FeedKind::Mailpieces)
            .await?;
        let mut connection = self.store.connection().await?;
        let transaction = connection.begin_transaction().await?;
        transaction.lock_endpoint(self.team_id, endpoint_id).await?;
        let is_changed = transaction
            .set_endpoint_event_types(self.team_id, endpoint_id, &names, self.now)
            .await?;
        if is_changed {
            self.record(&transaction, "endpoint.events_changed", endpoint_id)
                .await?;
        }
        Ok(transaction.commit().await?)
    }

    /// Pauses an endpoint: scans are not queued for it, and what waits is cancelled.
    ///
    /// # Errors
    /// [`EndpointError::Store`].
    pub async fn pause(&self, endpoint_id: EndpointId) -> EndpointResult<()> {
        self.set_state(endpoint_id, EndpointState::Paused, "endpoint.paused")
            .await?;
        Ok(cancel_deliveries(self.store, self.team_id, endpoint_id).await?)
    }

    /// Resumes a paused or disabled endpoint. What was meant for it before stays cancelled.
    ///
    /// # Errors
    /// [`EndpointError::Store`].
    pub async fn resume(&self, endpoint_id: EndpointId) -> EndpointResult<()> {
        if self
            .store
            .find_endpoint(self.team_id, endpoint_id)
            .await?
            .state
            != EndpointState::Active
        {
            cancel_deliveries(self.store, self.team_id, endpoint_id).await?;
        }
        self.set_state(endpoint_id, EndpointState::Active, "endpoint.resumed")
            .await
    }

    /// Deletes an endpoint; what waits is cancelled.
    ///
    /// # Errors
    /// [`EndpointError::Store`].
    pub async fn delete(&self, endpoint_id: EndpointId) -> EndpointResult<()> {
        self.set_state(endpoint_id, EndpointState::Deleted, "endpoint.deleted")
            .await?;
        Ok(cancel_deliveries(self.store, self.team_id, endpoint_id).await?)
    }

    async fn set_state(
        &self,
        endpoint_id: EndpointId,
        state: EndpointState,
        action: &str,
    ) -> EndpointResult<()> {
        let mut connection = self.store.connection().await?;
        let transaction = connection.begin_transaction().await?;
        // Before the change: a deleted endpoint is not found any more, and the entry refers to the team's row, which whoever
        // changes its endpoints locks first.
        self.record(&transaction, action, endpoint_id).await?;
        transaction
            .set_endpoint_state(self.team_id, endpoint_id, state, self.now)
            .await?;
        Ok(transaction.commit().await?)
    }

    /// Sends an endpoint a test event: example data, never retried, never counted (contract: Delivery rules 5).
    ///
    /// # Errors
    /// [`EndpointError`].
    pub async fn send_test(&self, endpoint_id: EndpointId) -> EndpointResult<DeliveryId> {
        let event_id = Uuid::now_v7();
        let body = QrScanned::example(event_id, self.now).to_json()?;
        let mut connection = self.store.connection().await?;
        let transaction = connection.begin_transaction().await?;
        let delivery_id = transaction
            .insert_test_delivery(self.team_id, endpoint_id, event_id, &body, self.now)
            .await?;
        self.record(&transaction, "endpoint.tested", endpoint_id)
            .await?;
        transaction.commit().await?;
        Ok(delivery_id)
    }

    /// Sends a delivery's event again with the same id (contract: Delivery rules 4).
    ///
    /// # Errors
    /// [`EndpointError::Store`].
    pub async fn redeliver(
        &self,
        endpoint_id: EndpointId,
        delivery_id: DeliveryId,
    ) -> EndpointResult<DeliveryId> {
        let mut connection = self.store.connection().await?;
        let transaction = connection.begin_transaction().await?;
        let new_id = transaction
            .redeliver_event(self.team_id, endpoint_id, delivery_id, self.now)
            .await?;
        self.record(&transaction, "endpoint.redelivered", endpoint_id)
            .await?;
        transaction.commit().await?;
        Ok(new_id)
    }

    /// Sends all events again whose delivery was made at `since` or later and has failed, or was cancelled after a failed
    /// attempt, as those that waited when the endpoint was disabled. Returns how many.
    ///
    /// # Errors
    /// [`EndpointError::Future`]; [`EndpointError::Store`].
    pub async fn replay_failed(
        &self,
        endpoint_id: EndpointId,
        since: DateTime<Utc>,
    ) -> EndpointResult<u64> {
        if since > self.now {
            return Err(EndpointError::Future);
        }
        // Any time before there was anything means the same; the database holds fewer years than people can type.
        let since = since.max(DateTime::UNIX_EPOCH);
        let mut connection = self.store.connection().await?;
        let mut replayed = 0;
        loop {
            let is_first = replayed == 0;
            let rows = self
                .replay_some(&mut connection, endpoint_id, since, is_first)
                .await?;
            replayed += rows;
            if rows < ROWS.unsigned_abs() {
                return Ok(replayed);
            }
        }
    }

    async fn replay_some(
        &self,
        connection: &mut StoreConnection,
        endpoint_id: EndpointId,
        since: DateTime<Utc>,
        is_first: bool,
    ) -> EndpointResult<u64> {
        let transaction = connection.begin_transaction().await?;
        let (team_id, now) = (self.team_id, self.now);
        let rows = transaction
            .replay_failed_deliveries(team_id, endpoint_id, since, now, ROWS)
            .await?;
        if is_first {
            self.record(&transaction, "endpoint.replayed", endpoint_id)
                .await?;
        }
        transaction.commit().await?;
        Ok(rows)
    }

    /// Signs an endpoint's deliveries from now on, with this new key; the key before, if there was one, signs as well for
    /// `earlier_for`. `is_as_seen` says whether the endpoint stands as it did when whoever asks looked at it.
    ///
    /// # Errors
    /// [`EndpointError::Overtaken`] when it does not; [`EndpointError::Store`], also while an earlier key still signs.
    pub async fn sign(
        &self,
        endpoint_id: EndpointId,
        secret: &SigningSecret,
        earlier_for: TimeDelta,
        is_as_seen: impl FnOnce(&Endpoint) -> bool,
    ) -> EndpointResult<()> {
        let (bytes, until) = (secret.as_bytes(), self.now + earlier_for);
        let mut connection = self.store.connection().await?;
        let transaction = connection.begin_transaction().await?;
        let endpoint = transaction.lock_endpoint(self.team_id, endpoint_id).await?;
        if !is_as_seen(&endpoint) {
            return Err(EndpointError::Overtaken);
        }
        self.record(&transaction, "endpoint.signed", endpoint_id)
            .await?;
        transaction
            .set_endpoint_secret(self.team_id, endpoint_id, bytes, until, self.now)
            .await?;
        Ok(transaction.commit().await?)
    }

    /// Ends the signing of an endpoint's deliveries.
    ///
    /// # Errors
    /// [`EndpointError::Store`].
    pub async fn stop_signing(&self, endpoint_id: EndpointId) -> EndpointResult<()> {
        let mut connection = self.store.connection().await?;
        let transaction = connection.begin_transaction().await?;
        self.record(&transaction, "endpoint.unsigned", endpoint_id)
            .await?;
        transaction
            .clear_endpoint_secret(self.team_id, endpoint_id, self.now)
            .await?;
        Ok(transaction.commit().await?)
    }

    /// Records what is done to an endpoint, which is known by its URL.
    async fn record(
        &self,
        transaction: &Transaction<'_>,
        action: &str,
        endpoint_id: EndpointId,
    ) -> store::Result<()> {
        let endpoint = transaction.find_endpoint(self.team_id, endpoint_id).await?;
        transaction
            .record_activity(self.team_id, self.actor, action, &endpoint.url, self.now)
            .await
    }
}

/// What saving an endpoint was, if it was a change.
pub(crate) fn save_action(saved: SavedEndpoint) -> Option<&'static str> {
    if saved.is_new {
        Some("endpoint.created")
    } else {
        saved.is_changed.then_some("endpoint.changed")
    }
}
