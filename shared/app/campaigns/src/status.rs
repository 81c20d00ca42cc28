//! Whether a campaign runs.

use chrono::{DateTime, Utc};
use model::id::{CampaignId, TeamId};
use store::{Actor, Result, Store};

/// From now on requests are taken and due steps mailed.
///
/// # Errors
/// [`store::StoreError::NotFound`] when the team has no such campaign.
pub async fn activate_campaign(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    campaign_id: &CampaignId,
    now: DateTime<Utc>,
) -> Result<()> {
    set_campaign_active(store, actor, team_id, (campaign_id, true), now).await
}

/// From now on requests are refused, and due steps wait.
///
/// # Errors
/// [`store::StoreError::NotFound`] when the team has no such campaign.
pub async fn pause_campaign(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    campaign_id: &CampaignId,
    now: DateTime<Utc>,
) -> Result<()> {
    set_campaign_active(store, actor, team_id, (campaign_id, false), now).await
}

async fn set_campaign_active(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    (campaign_id, is_active): (&CampaignId, bool),
    now: DateTime<Utc>,
) -> Result<()> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let name = transaction
        .set_campaign_active(team_id, campaign_id, is_active, now)
        .await?;
    transaction
        .record_activity(team_id, actor, status_action(is_active), &name, now)
        .await?;
    transaction.commit().await
}

/// What the log calls it.
pub(crate) const fn status_action(is_active: bool) -> &'static str {
    if is_active {
        "campaign.activated"
    } else {
        "campaign.paused"
    }
}
