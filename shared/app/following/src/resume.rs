//! Going on from a place in a feed.

use model::id::TeamId;
use store::{FeedKind, Store, StoreError};
use uuid::Uuid;

use crate::cursor::ListPlace;

/// A team's feed.
#[derive(Clone, Copy)]
pub(crate) struct FollowedFeed<'a> {
    pub(crate) store: &'a Store,
    pub(crate) team_id: TeamId,
    pub(crate) feed: FeedKind,
}

impl FollowedFeed<'_> {
    /// Whether a place is still where it was. `first` is what is found from its position on: its position, and the id that it was
    /// noted with.
    pub(crate) async fn has_place(
        &self,
        place: ListPlace,
        first: Option<(i64, Uuid)>,
    ) -> Result<bool, StoreError> {
        if place.is_known() {
            return Ok(first == Some((place.position, place.noted)));
        }
        if first.is_some() || place.position == 0 {
            return Ok(true);
        }
        let (end, _) = self.store.find_feed_end(self.team_id, self.feed).await?;
        Ok(place.position <= end)
    }

    /// A place behind which lies all that was noted with this id or a later one.
    pub(crate) async fn place_before(&self, least_id: Uuid) -> Result<ListPlace, StoreError> {
        let position = self
            .store
            .find_feed_position_before(self.team_id, self.feed, least_id)
            .await?;
        Ok(ListPlace {
            position,
            within: ListPlace::ALL,
            // With its time and no version: what is at the position is not known.
            noted: Uuid::from_u128(least_id.as_u128() >> 80 << 80),
        })
    }
}
