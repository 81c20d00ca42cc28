//! People who are taken out of a campaign.

use chrono::{DateTime, Utc};
use model::id::{CampaignId, TeamId};
use store::{Actor, AddressRemoval, Result, Store, Transaction};
use uuid::Uuid;

/// Removes a recipient, with everybody else at its address: none of them is mailed again. False when it was removed before.
///
/// # Errors
/// [`store::StoreError::NotFound`] when the team has no such campaign, or the campaign no such recipient.
pub async fn remove_recipient(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    (campaign_id, entry_id): (&CampaignId, Uuid),
    now: DateTime<Utc>,
) -> Result<bool> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let Some(address) = transaction
        .remove_recipient(team_id, campaign_id, entry_id, now)
        .await?
    else {
        return Ok(false);
    };
    record_removal(&transaction, actor, team_id, (campaign_id, &address), now).await?;
    transaction.commit().await?;
    Ok(true)
}

/// Removes the recipients at an address, as [`remove_recipient`] does.
///
/// # Errors
/// [`store::StoreError::NotFound`] when the team has no such campaign.
pub async fn remove_recipients_at(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    (campaign_id, address_id): (&CampaignId, Uuid),
    now: DateTime<Utc>,
) -> Result<AddressRemoval> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let removal = transaction
        .remove_recipients_at(team_id, campaign_id, address_id, now)
        .await?;
    if let Some(address) = removal
        .address
        .as_ref()
        .filter(|_| removal.newly_removed > 0)
    {
        record_removal(&transaction, actor, team_id, (campaign_id, address), now).await?;
        transaction.commit().await?;
    }
    Ok(removal)
}

async fn record_removal(
    transaction: &Transaction<'_>,
    actor: Actor<'_>,
    team_id: TeamId,
    (campaign_id, address): (&CampaignId, &str),
    now: DateTime<Utc>,
) -> Result<()> {
    let name = transaction.find_campaign_name(team_id, campaign_id).await?;
    let subject = format!("{name}: {address}");
    transaction
        .record_activity(team_id, actor, "recipient.removed", &subject, now)
        .await
}
