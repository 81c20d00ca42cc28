//! An endpoint as it is to be, whatever it was before.

use chrono::{DateTime, Utc};
use contract::webhook::MailpieceEventState;
use model::id::{CampaignId, EndpointId, TeamId};
use outbound::TargetUrl;
use secret::SigningSecret;
use store::{Actor, Endpoint, EndpointState, Result, Transaction};

use crate::manage::save_action;

/// What an endpoint is to be. It is known by its URL.
#[derive(Debug, Clone, Copy)]
pub struct EndpointSettings<'a> {
    /// The team.
    pub team_id: TeamId,
    /// Where events go; whether its host may be asked is the caller's to check, before the transaction.
    pub url: &'a TargetUrl,
    /// The campaigns whose scans it hears of; `None` is all, later ones too.
    pub campaigns: Option<&'a [CampaignId]>,
    /// States of mailpieces that it hears of besides scans; `None` leaves that as it is.
    pub mailpiece_states: Option<&'a [MailpieceEventState]>,
    /// Whether it gets no events for the time being.
    pub is_paused: bool,
    /// Whether its deliveries are signed.
    pub is_signed: bool,
}

/// An endpoint that is as it was to be.
#[derive(Debug)]
pub struct ReconciledEndpoint {
    /// Its id.
    pub endpoint_id: EndpointId,
    /// The key that signs its deliveries from now on, if one was made. It cannot be shown again.
    pub secret: Option<SigningSecret>,
}

/// What is done to an endpoint within a transaction.
struct EndpointChange<'a> {
    transaction: &'a Transaction<'a>,
    team_id: TeamId,
    actor: Actor<'a>,
    url: &'a str,
    now: DateTime<Utc>,
}

/// Makes an endpoint or changes what is not as it is to be; each change has its entry in the activity log. One that was disabled
/// stays so. What waits for one that this pauses is cancelled by the dispatchers.
///
/// # Errors
/// [`store::StoreError::Limit`] past the endpoints that a team may hold; [`store::StoreError::NotFound`] for a campaign that is
/// not the team's.
pub async fn save_endpoint_within(
    transaction: &Transaction<'_>,
    actor: Actor<'_>,
    settings: &EndpointSettings<'_>,
    now: DateTime<Utc>,
) -> Result<ReconciledEndpoint> {
    let (team_id, url) = (settings.team_id, settings.url.as_str());
    let change = EndpointChange {
        transaction,
        team_id,
        actor,
        url,
        now,
    };
    let saved = transaction
        .save_endpoint(team_id, url, settings.campaigns, now)
        .await?;
    if let Some(action) = save_action(saved) {
        change.record(action).await?;
    }
    let stored = transaction
        .find_endpoint(team_id, saved.endpoint_id)
        .await?;
    if let Some(states) = settings.mailpiece_states {
        change.set_events(saved.endpoint_id, states).await?;
    }
    change.set_paused(&stored, settings.is_paused).await?;
    let secret = change.set_signed(&stored, settings.is_signed).await?;
    Ok(ReconciledEndpoint {
        endpoint_id: saved.endpoint_id,
        secret,
    })
}

impl EndpointChange<'_> {
    async fn set_events(
        &self,
        endpoint_id: EndpointId,
        states: &[MailpieceEventState],
    ) -> Result<()> {
        let names: Vec<&str> = states.iter().map(|state| state.as_str()).collect();
        let is_changed = self
            .transaction
            .set_endpoint_event_types(self.team_id, endpoint_id, &names, self.now)
            .await?;
        if is_changed {
            self.record("endpoint.events_changed").await?;
        }
        Ok(())
    }

    async fn set_paused(&self, stored: &Endpoint, is_paused: bool) -> Result<()> {
        let (wanted, action) = if is_paused {
            (EndpointState::Paused, "endpoint.paused")
        } else {
            (EndpointState::Active, "endpoint.resumed")
        };
        if stored.state == wanted || stored.state == EndpointState::Disabled {
            return Ok(());
        }
        self.transaction
            .set_endpoint_state(self.team_id, stored.endpoint_id, wanted, self.now)
            .await?;
        self.record(action).await
    }

    /// Starts or ends the signing. Returns a key that was made.
    async fn set_signed(
        &self,
        stored: &Endpoint,
        is_signed: bool,
    ) -> Result<Option<SigningSecret>> {
        let (transaction, endpoint_id, now) = (self.transaction, stored.endpoint_id, self.now);
        match (stored.is_signed, is_signed) {
            (false, true) => {
                let secret = SigningSecret::random();
                transaction
                    .set_endpoint_secret(self.team_id, endpoint_id, secret.as_bytes(), now, now)
                    .await?;
                self.record("endpoint.signed").await?;
                Ok(Some(secret))
            }
            (true, false) => {
                transaction
                    .clear_endpoint_secret(self.team_id, endpoint_id, now)
                    .await?;
                self.record("endpoint.unsigned").await?;
                Ok(None)
            }
            (true, true) | (false, false) => Ok(None),
        }
    }

    async fn record(&self, action: &str) -> Result<()> {
        self.transaction
            .record_activity(self.team_id, self.actor, action, self.url, self.now)
            .await
    }
}
