//! Whether a campaign's queued mailpieces print. Pausing a campaign keeps new ones from being made; holding it keeps those that are made
//! from the press.

use chrono::{DateTime, Utc};
use model::id::{CampaignId, TeamId};
use store::{Actor, CampaignHold, Result, Store, Transaction};

/// From now on none of the campaign's queued mailpieces is claimed for the press.
///
/// # Errors
/// [`store::StoreError::NotFound`] when the team has no such campaign.
pub async fn hold_campaign(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    campaign_id: &CampaignId,
    now: DateTime<Utc>,
) -> Result<CampaignHold> {
    set_campaign_held(store, actor, team_id, (campaign_id, true), now).await
}

/// The campaign's held mailpieces go back to the queue.
///
/// # Errors
/// [`store::StoreError::NotFound`] when the team has no such campaign.
pub async fn release_campaign(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    campaign_id: &CampaignId,
    now: DateTime<Utc>,
) -> Result<CampaignHold> {
    set_campaign_held(store, actor, team_id, (campaign_id, false), now).await
}

async fn set_campaign_held(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    change: (&CampaignId, bool),
    now: DateTime<Utc>,
) -> Result<CampaignHold> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let hold = set_campaign_held_within(&transaction, actor, team_id, change, now).await?;
    transaction.commit().await?;
    Ok(hold)
}

/// As [`hold_campaign`] and [`release_campaign`], within the caller's transaction. What is so already is no change, and no entry.
///
/// # Errors
/// [`store::StoreError::NotFound`] when the team has no such campaign.
pub async fn set_campaign_held_within(
    transaction: &Transaction<'_>,
    actor: Actor<'_>,
    team_id: TeamId,
    (campaign_id, is_held): (&CampaignId, bool),
    now: DateTime<Utc>,
) -> Result<CampaignHold> {
    let hold = transaction
        .set_campaign_held(team_id, campaign_id, is_held, actor.source(), now)
        .await?;
    if hold.is_new {
        let action = if is_held {
            "campaign.held"
        } else {
            "campaign.released"
        };
        transaction
            .record_activity(team_id, actor, action, &hold.name, now)
            .await?;
    }
    Ok(hold)
}
