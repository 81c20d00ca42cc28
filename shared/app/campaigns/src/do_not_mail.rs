//! The do-not-mail list of a campaign.

use address::AddressListEntry;
use chrono::{DateTime, Utc};
use model::id::{CampaignId, TeamId};
use store::{Actor, Result, Store, StoreError, Transaction};
use uuid::Uuid;

/// Addresses that one statement takes.
const PORTION: usize = 5_000;

/// Puts addresses on a campaign's do-not-mail list; returns how many were not on it before.
///
/// # Errors
/// [`StoreError::NotFound`] when the team has no such campaign.
pub async fn add_do_not_mail(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    campaign_id: &CampaignId,
    addresses: &[AddressListEntry],
    now: DateTime<Utc>,
) -> Result<u64> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let added =
        add_do_not_mail_within(&transaction, actor, team_id, campaign_id, addresses, now).await?;
    transaction.commit().await?;
    Ok(added)
}

/// As [`add_do_not_mail`], within the caller's transaction.
///
/// # Errors
/// [`StoreError::NotFound`] when the team has no such campaign.
pub async fn add_do_not_mail_within(
    transaction: &Transaction<'_>,
    actor: Actor<'_>,
    team_id: TeamId,
    campaign_id: &CampaignId,
    addresses: &[AddressListEntry],
    now: DateTime<Utc>,
) -> Result<u64> {
    let name = transaction.find_campaign_name(team_id, campaign_id).await?;
    let mut added = 0;
    for portion in addresses.chunks(PORTION) {
        let rows: Vec<(Uuid, &str)> = portion
            .iter()
            .map(|listed| (listed.id.as_uuid(), listed.line.as_str()))
            .collect();
        added += transaction.add_do_not_mail(campaign_id, &rows, now).await?;
    }
    if added > 0 {
        let subject = match addresses {
            [one] => format!("{name}: {}", one.line),
            _ => format!("{name}: {added} addresses"),
        };
        transaction
            .record_activity(team_id, actor, "do_not_mail.added", &subject, now)
            .await?;
    }
    Ok(added)
}

/// Takes an address off a campaign's do-not-mail list; false when it was not on it.
///
/// # Errors
/// [`StoreError::NotFound`] when the team has no such campaign.
pub async fn remove_do_not_mail(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    (campaign_id, address_id): (&CampaignId, Uuid),
    now: DateTime<Utc>,
) -> Result<bool> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let name = transaction.find_campaign_name(team_id, campaign_id).await?;
    let address = match transaction
        .remove_do_not_mail(team_id, campaign_id, address_id)
        .await
    {
        Ok(address) => address,
        Err(StoreError::NotFound(_)) => return Ok(false),
        Err(error) => return Err(error),
    };
    let subject = format!("{name}: {address}");
    transaction
        .record_activity(team_id, actor, "do_not_mail.removed", &subject, now)
        .await?;
    transaction.commit().await?;
    Ok(true)
}
