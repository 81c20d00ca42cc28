//! Webhook endpoints of a file.

use chrono::{DateTime, Utc};
use contract::id::{EndpointId, TeamId};
use dispatcher::manage::SigningSecret;
use outbound::TargetPolicy;
use store::{EndpointState, Transaction};

use super::applied::AppliedEndpoint;
use super::check::items;
use super::error::{ApplyError, WithPlace};
use super::file::{ApplyFile, EndpointSpec, StatusSpec};

type Result<T> = std::result::Result<T, ApplyError>;

/// Checks that every endpoint's host may be asked now.
pub(super) async fn check_hosts(file: &ApplyFile, policy: &TargetPolicy) -> Result<()> {
    for (place, team) in items("", "teams", &file.teams) {
        for (place, endpoint) in items(&place, "endpoints", &team.endpoints) {
            let resolved = policy.resolve(&endpoint.url.0).await;
            resolved.map_err(|refusal| {
                ApplyError::refused(format!("{place}.url"), refusal.to_string())
            })?;
        }
    }
    Ok(())
}

/// Makes or changes a team's endpoints. What waits for one that is paused by it is cancelled by the dispatchers.
pub(super) async fn save_endpoints(
    transaction: &Transaction<'_>,
    team_id: TeamId,
    place: &str,
    endpoints: &[EndpointSpec],
    now: DateTime<Utc>,
) -> Result<Vec<AppliedEndpoint>> {
    let mut applied = Vec::new();
    for (place, endpoint) in items(place, "endpoints", endpoints) {
        let url = endpoint.url.0.as_str();
        let campaigns = endpoint.campaigns.as_deref();
        let saved = transaction
            .endpoint_save(team_id, url, campaigns, now)
            .await
            .at(&place)?;
        let stored = transaction
            .endpoint_get(team_id, saved.endpoint_id)
            .await
            .at(&place)?;
        let wanted = match endpoint.status {
            StatusSpec::Active => EndpointState::Active,
            StatusSpec::Paused => EndpointState::Paused,
        };
        if stored.state != wanted && stored.state != EndpointState::Disabled {
            transaction
                .endpoint_set_state(team_id, saved.endpoint_id, wanted, now)
                .await
                .at(&place)?;
        }
        let is_signed = (stored.is_signed, endpoint.signed);
        let secret = sign(transaction, team_id, saved.endpoint_id, is_signed, now)
            .await
            .at(&place)?;
        applied.push(AppliedEndpoint {
            endpoint_id: saved.endpoint_id,
            url: url.to_owned(),
            secret,
        });
    }
    Ok(applied)
}

/// Starts or ends the signing, where it is not as wanted. Returns a key that was made.
async fn sign(
    transaction: &Transaction<'_>,
    team_id: TeamId,
    endpoint_id: EndpointId,
    (is_signed, is_wanted): (bool, bool),
    now: DateTime<Utc>,
) -> store::Result<Option<String>> {
    match (is_signed, is_wanted) {
        (false, true) => {
            let secret = SigningSecret::random();
            transaction
                .endpoint_set_secret(team_id, endpoint_id, secret.as_bytes(), now, now)
                .await?;
            Ok(Some(secret.reveal()))
        }
        (true, false) => transaction
            .endpoint_clear_secret(team_id, endpoint_id, now)
            .await
            .map(|()| None),
        (true, true) | (false, false) => Ok(None),
    }
}
