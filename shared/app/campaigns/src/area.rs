//! The map area that a campaign mails in.

use audience::{AreaError, GeoArea};
use chrono::{DateTime, Utc};
use model::id::{CampaignId, TeamId};
use store::{Actor, Store, StoreError};

/// Why a map area was not set.
#[derive(Debug, thiserror::Error)]
pub enum SetAreaError {
    /// It is no area, or one that nobody can mean.
    #[error(transparent)]
    Area(#[from] AreaError),
    /// The team has no such campaign, or the database could not be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Gives a campaign this map area, written as GeoJSON.
///
/// # Errors
/// [`SetAreaError`] when it is no area, and when the team has no such campaign.
pub async fn set_campaign_area(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    (campaign_id, geojson): (&CampaignId, &str),
    now: DateTime<Utc>,
) -> Result<(), SetAreaError> {
    let area = GeoArea::parse(geojson)?;
    // An area of the largest size keeps a processor busy for a while.
    tokio::task::block_in_place(|| area.validate())?;
    let area = Some(geojson);
    write_area(store, actor, team_id, (campaign_id, area), now).await?;
    Ok(())
}

/// Lets a campaign mail everywhere.
///
/// # Errors
/// [`StoreError::NotFound`] when the team has no such campaign.
pub async fn remove_campaign_area(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    campaign_id: &CampaignId,
    now: DateTime<Utc>,
) -> store::Result<()> {
    write_area(store, actor, team_id, (campaign_id, None), now).await
}

async fn write_area(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    (campaign_id, area): (&CampaignId, Option<&str>),
    now: DateTime<Utc>,
) -> store::Result<()> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let name = transaction
        .set_campaign_area(team_id, campaign_id, area, now)
        .await?;
    transaction
        .record_activity(team_id, actor, area_action(area), &name, now)
        .await?;
    transaction.commit().await
}

/// What the log calls it.
pub(crate) const fn area_action(area: Option<&str>) -> &'static str {
    match area {
        Some(_) => "campaign_area.changed",
        None => "campaign_area.removed",
    }
}
