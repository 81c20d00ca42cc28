//! Addresses from which a mailpiece came back.

use address::AddressListEntry;
use chrono::{DateTime, Utc};
use model::id::{CampaignId, TeamId};
use store::{Actor, Result, Store};

/// Lets a team's campaigns mail an address again from which a mailpiece came back. False when none had.
///
/// # Errors
/// [`store::StoreError`] when the database cannot be asked.
pub async fn remove_returned_address(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    listed: &AddressListEntry,
    now: DateTime<Utc>,
) -> Result<bool> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let address_id = listed.id.as_uuid();
    let was_there = transaction
        .delete_returned_address(team_id, address_id)
        .await?;
    if was_there {
        let action = "returned_address.removed";
        transaction
            .record_activity(team_id, actor, action, &listed.line, now)
            .await?;
    }
    transaction.commit().await?;
    Ok(was_there)
}

/// Has a campaign mail addresses from which a mailpiece came back, or not.
///
/// # Errors
/// [`store::StoreError::NotFound`] when the team has no such campaign.
pub async fn set_mails_returned(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    (campaign_id, mails_returned): (&CampaignId, bool),
    now: DateTime<Utc>,
) -> Result<()> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let name = transaction
        .set_campaign_mails_returned(team_id, campaign_id, mails_returned, now)
        .await?;
    let action = if mails_returned {
        "campaign.returns_mailed"
    } else {
        "campaign.returns_spared"
    };
    transaction
        .record_activity(team_id, actor, action, &name, now)
        .await?;
    transaction.commit().await
}
