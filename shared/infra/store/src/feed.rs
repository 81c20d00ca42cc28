//! Feeds: what happened to a team, each thing in its place once it was committed.
//!
//! The statement that writes an item notes it (`feed_batches`, by a trigger), without a position. Whoever reads gives
//! positions to what is noted, holding the feed's row, so that positions become visible in their order and a reader that
//! goes on behind one misses nothing that commits later.

use chrono::{DateTime, Utc};
use model::id::TeamId;
use uuid::Uuid;

use crate::error::{Result, StoreError};
use crate::pool::Store;

/// Batches that one transaction gives positions to.
const PLACED_ROWS: i64 = 5_000;

/// Transactions that a call makes at the most.
const PLACED_PORTIONS: usize = 20;

/// Batches that are looked at to find where a moment is in a feed.
const SEARCHED_ROWS: i64 = 10_000;

/// What a feed tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedKind {
    /// Scans of cards.
    Scans,
    /// Mailpieces that have changed.
    Mailpieces,
    /// Bookings in the ledger.
    Ledger,
}

/// Something that happened, at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeedItem {
    /// From 1, without gaps. What commits after somebody has read a position gets a later one; what was committed between two readings
    /// is in the order of its ids.
    pub position: i64,
    /// What it is: for a feed of scans, the scan's id; for one of bookings, the ledger transaction's; for one of mailpieces, what
    /// changed together (`mailpiece_feed.rs`).
    pub item_id: Uuid,
}

impl FeedKind {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Scans => "scans",
            Self::Mailpieces => "mailpieces",
            Self::Ledger => "ledger",
        }
    }

    fn from_name(name: &str) -> Result<Self> {
        match name {
            "scans" => Ok(Self::Scans),
            "mailpieces" => Ok(Self::Mailpieces),
            "ledger" => Ok(Self::Ledger),
            _ => Err(StoreError::Corrupt("the name of a feed".to_owned())),
        }
    }
}

// Holds the feed's row until the transaction ends.
const HOLD: &str = "
    INSERT INTO feeds AS stored (team_id, feed, position) VALUES ($1, $2, 0)
    ON CONFLICT (team_id, feed) DO UPDATE SET position = stored.position RETURNING position";

// A statement of its own, behind the other one: it must see what the holder before has committed.
const PLACE: &str = "
    WITH waiting AS MATERIALIZED (
        SELECT batch_id, cardinality(item_ids) AS items FROM feed_batches
        WHERE team_id = $1 AND feed = $2 AND position IS NULL ORDER BY batch_id LIMIT $3
    ), extended AS (
        UPDATE feeds SET position = position + (SELECT coalesce(sum(items), 0) FROM waiting)
        WHERE team_id = $1 AND feed = $2
    ), placed AS (
        UPDATE feed_batches batch SET position = placed.position
        FROM (
            SELECT batch_id, (SELECT position FROM feeds WHERE team_id = $1 AND feed = $2)
                + sum(items) OVER (ORDER BY batch_id) AS position
            FROM waiting) placed
        WHERE batch.team_id = $1 AND batch.feed = $2 AND batch.batch_id = placed.batch_id
    )
    SELECT count(*) FROM waiting";

// Each batch has one item at least that is wanted, so that as many batches as items are enough.
const PAGE: &str = "
    SELECT batch.position - cardinality(batch.item_ids) + item.number AS position, item.item_id
    FROM (
        SELECT position, item_ids FROM feed_batches
        WHERE team_id = $1 AND feed = $2 AND position >= $3 ORDER BY position LIMIT $4) batch
    CROSS JOIN LATERAL unnest(batch.item_ids) WITH ORDINALITY AS item (item_id, number)
    WHERE batch.position - cardinality(batch.item_ids) + item.number >= $3
    ORDER BY 1 LIMIT $4";

// From one feed to the next along the index of what waits.
const WAITING: &str = "
    WITH RECURSIVE waiting AS (
        (SELECT team_id, feed FROM feed_batches WHERE position IS NULL ORDER BY team_id, feed LIMIT 1)
        UNION ALL
        SELECT next.team_id, next.feed FROM waiting CROSS JOIN LATERAL (
            SELECT team_id, feed FROM feed_batches
            WHERE position IS NULL AND (team_id, feed) > (waiting.team_id, waiting.feed)
            ORDER BY team_id, feed LIMIT 1) next
    )
    SELECT team_id, feed FROM waiting LIMIT $1";

impl Store {
    /// Gives positions to all that was committed before, or to the oldest 100,000 batches of it. Returns whether it was all.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn place_feed_items(&self, team_id: TeamId, feed: FeedKind) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT FROM feed_batches WHERE team_id = $1 AND feed = $2 AND position IS NULL)";
        let has_waiting = self
            .query_row(sql, &[&team_id.0, &feed.as_str()])
            .await?
            .is_some_and(|row| row.get(0));
        if !has_waiting {
            return Ok(true);
        }
        for _ in 0..PLACED_PORTIONS {
            if self.place_feed_portion(team_id, feed).await? < PLACED_ROWS {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn place_feed_portion(&self, team_id: TeamId, feed: FeedKind) -> Result<i64> {
        let mut connection = self.connection().await?;
        let transaction = connection.begin_transaction().await?;
        let feed = feed.as_str();
        let rows = transaction
            .query_row_each(
                (HOLD, &[&team_id.0, &feed]),
                (PLACE, &[&team_id.0, &feed, &PLACED_ROWS]),
            )
            .await?;
        transaction.commit().await?;
        Ok(rows[1].as_ref().map_or(0, |row| row.get(0)))
    }

    /// Does the same for all feeds, `limit` of them at the most: those that nobody reads would otherwise leave it all to
    /// their first reader.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn place_all_feeds(&self, limit: i64) -> Result<()> {
        for row in self.query_rows(WAITING, &[&limit]).await? {
            self.place_feed_items(TeamId(row.get(0)), FeedKind::from_name(row.get(1))?)
                .await?;
        }
        Ok(())
    }

    /// The items from a position on, at most `limit` of them.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_feed_page(
        &self,
        team_id: TeamId,
        feed: FeedKind,
        from: i64,
        limit: i64,
    ) -> Result<Vec<FeedItem>> {
        let rows = self
            .query_rows(PAGE, &[&team_id.0, &feed.as_str(), &from, &limit])
            .await?;
        Ok(rows
            .iter()
            .map(|row| FeedItem {
                position: row.get(0),
                item_id: row.get(1),
            })
            .collect())
    }

    /// The position of the newest item, 0 when there was none; and the item, unless it is forgotten.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn find_feed_end(
        &self,
        team_id: TeamId,
        feed: FeedKind,
    ) -> Result<(i64, Option<Uuid>)> {
        let row = self
            .query_row(
                "SELECT feeds.position, batch.item_ids[cardinality(batch.item_ids)]
                 FROM feeds LEFT JOIN feed_batches batch USING (team_id, feed, position)
                 WHERE feeds.team_id = $1 AND feeds.feed = $2",
                &[&team_id.0, &feed.as_str()],
            )
            .await?;
        Ok(row.map_or((0, None), |row| (row.get(0), row.get(1))))
    }

    /// The least id in the feed; `None` while it is empty.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn find_first_feed_id(
        &self,
        team_id: TeamId,
        feed: FeedKind,
    ) -> Result<Option<Uuid>> {
        let sql = "SELECT batch_id FROM feed_batches WHERE team_id = $1 AND feed = $2 ORDER BY batch_id LIMIT 1";
        Ok(self
            .query_row(sql, &[&team_id.0, &feed.as_str()])
            .await?
            .map(|row| row.get(0)))
    }

    /// The position behind which all that is noted with ids from `id` on lies; the feed's end when there is none.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn find_feed_position_before(
        &self,
        team_id: TeamId,
        feed: FeedKind,
        id: Uuid,
    ) -> Result<i64> {
        let row = self
            .query_row(
                "SELECT coalesce(min(position - cardinality(item_ids)),
                     (SELECT position FROM feeds WHERE team_id = $1 AND feed = $2), 0)
                 FROM (
                     SELECT position, item_ids FROM feed_batches
                     WHERE team_id = $1 AND feed = $2 AND batch_id >= $3 ORDER BY batch_id LIMIT $4) batch",
                &[&team_id.0, &feed.as_str(), &id, &SEARCHED_ROWS],
            )
            .await?;
        Ok(row.map_or(0, |row| row.get(0)))
    }

    /// Forgets the scans that were noted before `before`, at most `limit` batches, but for the newest of each feed: by its last
    /// item a reader who has come to the end is known to be there. Mailpieces and bookings stay, as they do in their tables. Returns how many.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn purge_scan_feed(&self, before: DateTime<Utc>, limit: i64) -> Result<u64> {
        self.execute(
            "DELETE FROM feed_batches WHERE ctid = ANY (ARRAY(
                 SELECT found.ctid FROM feeds CROSS JOIN LATERAL (
                     SELECT ctid FROM feed_batches
                     WHERE feed_batches.team_id = feeds.team_id AND feed_batches.feed = feeds.feed
                         AND batch_id < first_id_of($1) AND feed_batches.position < feeds.position
                     ORDER BY batch_id LIMIT $2) found
                 WHERE feeds.feed = $3
                 LIMIT $2))",
            &[&before, &limit, &FeedKind::Scans.as_str()],
        )
        .await
    }
}
