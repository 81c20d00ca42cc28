//! The do-not-mail list of a campaign.

use address::AddressListEntry;
use chrono::{DateTime, Utc};
use contract::id::{CampaignId, TeamId};
use store::{Actor, Result, Store, StoreError, Transaction};
use uuid::Uuid;

/// Addresses that one statement takes.
const PORTION: usize = 5_000;

/// Puts addresses on a campaign's do-not-mail list; returns how many were not on it before.
///
/// # Errors
/// [`StoreError::NotFound`] when the team has no such campaign.
pub async fn list_addresses(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    campaign_id: &CampaignId,
    addresses: &[AddressListEntry],
    now: DateTime<Utc>,
) -> Result<u64> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin().await?;
    let added =
        list_addresses_within(&transaction, actor, team_id, campaign_id, addresses, now).await?;
    transaction.commit().await?;
    Ok(added)
}

/// As [`list_addresses`], within the caller's transaction.
///
/// # Errors
/// [`StoreError::NotFound`] when the team has no such campaign.
pub async fn list_addresses_within(
    transaction: &Transaction<'_>,
    actor: Actor<'_>,
    team_id: TeamId,
    campaign_id: &CampaignId,
    addresses: &[AddressListEntry],
    now: DateTime<Utc>,
) -> Result<u64> {
    let name = transaction.campaign_name(team_id, campaign_id).await?;
    let mut added = 0;
    for portion in addresses.chunks(PORTION) {
        let rows: Vec<(Uuid, &str)> = portion
            .iter()
            .map(|listed| (listed.id.as_uuid(), listed.line.as_str()))
            .collect();
        added += transaction.do_not_mail_add(campaign_id, &rows, now).await?;
    }
    if added > 0 {
        let subject = match addresses {
            [one] => format!("{name}: {}", one.line),
            _ => format!("{name}: {added} addresses"),
        };
        transaction
            .activity_record(team_id, actor, "do_not_mail.added", &subject, now)
            .await?;
    }
    Ok(added)
}

/// Takes an address off a campaign's do-not-mail list; false when it was not on it.
///
/// # Errors
/// [`StoreError::NotFound`] when the team has no such campaign.
pub async fn unlist_address(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    (campaign_id, address_id): (&CampaignId, Uuid),
    now: DateTime<Utc>,
) -> Result<bool> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin().await?;
    let name = transaction.campaign_name(team_id, campaign_id).await?;
    let address = match transaction
        .do_not_mail_remove(team_id, campaign_id, address_id)
        .await
    {
        Ok(address) => address,
        Err(StoreError::NotFound(_)) => return Ok(false),
        Err(error) => return Err(error),
    };
    let subject = format!("{name}: {address}");
    transaction
        .activity_record(team_id, actor, "do_not_mail.removed", &subject, now)
        .await?;
    transaction.commit().await?;
    Ok(true)
}
