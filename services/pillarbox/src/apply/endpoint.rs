//! Webhook endpoints of a file.

use chrono::{DateTime, Utc};
use delivering::{EndpointSettings, save_endpoint_within};
use model::id::TeamId;
use outbound::TargetPolicy;
use store::{Actor, Transaction};

use super::applied::AppliedEndpoint;
use super::check::iter_items;
use super::error::{ApplyError, WithPlace};
use super::file::{ApplyFile, EndpointSpec, StatusSpec};

type Result<T> = std::result::Result<T, ApplyError>;

/// Checks that every endpoint's host may be asked now.
pub(super) async fn check_hosts(file: &ApplyFile, policy: &TargetPolicy) -> Result<()> {
    for (place, team) in iter_items("", "teams", &file.teams) {
        for (place, endpoint) in iter_items(&place, "endpoints", &team.endpoints) {
            let resolved = policy.resolve(&endpoint.url.0).await;
            resolved.map_err(|refusal| {
                ApplyError::refused(format!("{place}.url"), refusal.to_string())
            })?;
        }
    }
    Ok(())
}

/// Makes or changes a team's endpoints.
pub(super) async fn save_endpoints(
    transaction: &Transaction<'_>,
    team_id: TeamId,
    place: &str,
    endpoints: &[EndpointSpec],
    now: DateTime<Utc>,
) -> Result<Vec<AppliedEndpoint>> {
    let mut applied = Vec::new();
    for (place, endpoint) in iter_items(place, "endpoints", endpoints) {
        let events = endpoint.events.as_ref();
        let states: Option<Vec<_>> =
            events.map(|events| events.iter().map(|event| event.0).collect());
        let settings = EndpointSettings {
            team_id,
            url: &endpoint.url.0,
            campaigns: endpoint.campaigns.as_deref(),
            mailpiece_states: states.as_deref(),
            is_paused: endpoint.status == StatusSpec::Paused,
            is_signed: endpoint.signed,
        };
        let saved = save_endpoint_within(transaction, Actor::Operator, &settings, now)
            .await
            .with_place(&place)?;
        applied.push(AppliedEndpoint {
            endpoint_id: saved.endpoint_id,
            url: endpoint.url.0.as_str().to_owned(),
            secret: saved.secret.map(|secret| secret.reveal()),
        });
    }
    Ok(applied)
}
