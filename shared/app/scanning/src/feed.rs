//! From a cursor to the scans behind it.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use model::id::TeamId;
use store::{FeedItem, FeedKind, RecordedScan, Store, StoreError};
use uuid::Uuid;

use crate::cursor::{FeedCursor, FeedPosition, first_id_after, least_id_after};

/// Past every id.
const NO_ID: Uuid = Uuid::max();

/// Who follows a team's scans.
pub struct FeedReader<'a> {
    /// The database.
    pub store: &'a Store,
    /// Whose scans.
    pub team_id: TeamId,
    /// Scans of a page at the most.
    pub events: i64,
}

/// The scans behind a cursor.
pub struct ScanFeedPage {
    /// In the order of the feed.
    pub scans: Vec<RecordedScan>,
    /// Behind the last of them.
    pub next_after: FeedCursor,
}

impl FeedReader<'_> {
    /// Behind all that was recorded until now.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn end_cursor(&self, now: DateTime<Utc>) -> Result<FeedCursor, StoreError> {
        self.store
            .place_feed_items(self.team_id, FeedKind::Scans)
            .await?;
        let (position, item_id) = self
            .store
            .find_feed_end(self.team_id, FeedKind::Scans)
            .await?;
        Ok(FeedCursor::Position(match item_id {
            Some(item_id) => FeedPosition::after_item(FeedItem { position, item_id }),
            None => FeedPosition::after_position(position, now),
        }))
    }

    /// The next scans behind a cursor.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn next_page(
        &self,
        after: FeedCursor,
        now: DateTime<Utc>,
    ) -> Result<ScanFeedPage, StoreError> {
        self.store
            .place_feed_items(self.team_id, FeedKind::Scans)
            .await?;
        let id = match after {
            FeedCursor::Id(id) => id,
            FeedCursor::Position(place) => match self.page_after_position(place).await? {
                Some(page) => return Ok(page),
                // Its scan is no longer in the feed, or is another one: what remains of the cursor is its time.
                None => place.least_id(),
            },
        };
        self.page_after_id(id, now).await
    }

    /// The scans behind a place; `None` when it is not in the feed.
    async fn page_after_position(
        &self,
        place: FeedPosition,
    ) -> Result<Option<ScanFeedPage>, StoreError> {
        // With the item at the place itself, which shows that it is the same one.
        let items = self
            .store
            .list_feed_page(
                self.team_id,
                FeedKind::Scans,
                place.position,
                self.events + 1,
            )
            .await?;
        let is_known = match items.first() {
            Some(first) if first.position == place.position => place.is_after_item(*first),
            _ => {
                place.is_unknown()
                    && place.position
                        <= self
                            .store
                            .find_feed_end(self.team_id, FeedKind::Scans)
                            .await?
                            .0
            }
        };
        if !is_known {
            return Ok(None);
        }
        let behind = items
            .into_iter()
            .filter(|item| item.position > place.position);
        let most = usize::try_from(self.events).unwrap_or(0);
        Ok(Some(
            self.read_page(&behind.take(most).collect::<Vec<_>>(), place)
                .await?,
        ))
    }

    async fn read_page(
        &self,
        items: &[FeedItem],
        place: FeedPosition,
    ) -> Result<ScanFeedPage, StoreError> {
        let Some(last) = items.last() else {
            return Ok(ScanFeedPage {
                scans: Vec::new(),
                next_after: FeedCursor::Position(place),
            });
        };
        let ids: Vec<Uuid> = items.iter().map(|item| item.item_id).collect();
        let found = self.store.find_scans(self.team_id, &ids).await?;
        let mut by_id: HashMap<Uuid, RecordedScan> =
            found.into_iter().map(|scan| (scan.scan_id, scan)).collect();
        let scans = ids.iter().filter_map(|id| by_id.remove(id)).collect();
        Ok(ScanFeedPage {
            scans,
            next_after: FeedCursor::Position(FeedPosition::after_item(*last)),
        })
    }

    /// The scans behind an id: first those from before what the feed still has, then what is in the feed. Where the one
    /// passes into the other some may come a second time; none is left out.
    async fn page_after_id(
        &self,
        id: Uuid,
        now: DateTime<Utc>,
    ) -> Result<ScanFeedPage, StoreError> {
        let first = self
            .store
            .find_first_feed_id(self.team_id, FeedKind::Scans)
            .await?;
        let before = first.map_or(NO_ID, first_id_after);
        if id < before {
            let scans = self
                .store
                .list_scans_between(self.team_id, id, before, self.events)
                .await?;
            if let Some(last) = scans.last() {
                let next_after = FeedCursor::Id(last.scan_id);
                return Ok(ScanFeedPage { scans, next_after });
            }
        }
        let least = least_id_after(id);
        let position = self
            .store
            .find_feed_position_before(self.team_id, FeedKind::Scans, least)
            .await?;
        let item = self
            .store
            .list_feed_page(self.team_id, FeedKind::Scans, position, 1)
            .await?
            .into_iter()
            .next();
        let place = match item {
            Some(item) if item.position == position => FeedPosition::after_item(item),
            _ => FeedPosition::after_position(position, now),
        };
        Ok(self
            .page_after_position(place)
            .await?
            .unwrap_or(ScanFeedPage {
                scans: Vec::new(),
                next_after: FeedCursor::Position(place),
            }))
    }
}
