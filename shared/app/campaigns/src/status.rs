//! Whether a campaign runs, and whether it is put away.

use chrono::{DateTime, Utc};
use model::id::{CampaignId, TeamId};
use store::{Actor, Result, Store};

/// From now on requests are taken and due steps mailed.
///
/// # Errors
/// [`store::StoreError::NotFound`] when the team has no such campaign; [`store::StoreError::Limit`] for a draft and an archived one.
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
/// As for [`activate_campaign`].
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

/// Puts a campaign away: it is out of lists, and takes no requests until it is restored and activated. Returns whether it was
/// not put away already.
///
/// # Errors
/// [`store::StoreError::NotFound`] when the team has no such campaign.
pub async fn archive_campaign(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    campaign_id: &CampaignId,
    now: DateTime<Utc>,
) -> Result<bool> {
    set_campaign_archived(store, actor, team_id, (campaign_id, true), now).await
}

/// Takes a campaign back that was put away: paused if it was launched, and else the draft that it was. Returns whether it was
/// put away.
///
/// # Errors
/// [`store::StoreError::NotFound`] when the team has no such campaign.
pub async fn restore_campaign(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    campaign_id: &CampaignId,
    now: DateTime<Utc>,
) -> Result<bool> {
    set_campaign_archived(store, actor, team_id, (campaign_id, false), now).await
}

async fn set_campaign_archived(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    (campaign_id, is_archived): (&CampaignId, bool),
    now: DateTime<Utc>,
) -> Result<bool> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let changed = transaction
        .set_campaign_archived(team_id, campaign_id, is_archived, now)
        .await?;
    let Some(name) = changed else {
        return Ok(false);
    };
    let action = if is_archived { ARCHIVED } else { RESTORED };
    transaction
        .record_activity(team_id, actor, action, &name, now)
        .await?;
    transaction.commit().await?;
    Ok(true)
}

/// What the log calls putting a campaign away.
const ARCHIVED: &str = "campaign.archived";

/// What the log calls taking one back.
pub(crate) const RESTORED: &str = "campaign.restored";

/// What the log calls the first activation.
pub(crate) const LAUNCHED: &str = "campaign.launched";

/// What the log calls it.
pub(crate) const fn status_action(is_active: bool) -> &'static str {
    if is_active {
        "campaign.activated"
    } else {
        "campaign.paused"
    }
}
