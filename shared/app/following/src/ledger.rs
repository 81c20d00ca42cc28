//! The ledger page by page, in the order of the bookings' commits.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use contract::read::{LedgerAnswer, LedgerBooking, LedgerBookingKind};
use model::id::TeamId;
use store::{Booking, BookingKind, FeedItem, FeedKind, Store, StoreError};
use uuid::Uuid;

use crate::cursor::{CursorScope, FollowedList, ListPlace};
use crate::error::FollowError;
use crate::resume::FollowedFeed;

/// A page of a team's bookings, at most `limit`.
///
/// # Errors
/// [`FollowError::InvalidCursor`], or that the database cannot be asked.
pub async fn list_bookings(
    store: &Store,
    team_id: TeamId,
    cursor: Option<&str>,
    limit: usize,
    now: DateTime<Utc>,
) -> Result<LedgerAnswer, FollowError> {
    let scope = CursorScope {
        team_id,
        list: FollowedList::Ledger,
        filters: "",
    };
    let asked = cursor.map(|cursor| scope.read_place(cursor)).transpose()?;
    let start = asked.unwrap_or_else(|| ListPlace::behind(0, now));
    let is_all_placed = store.place_feed_items(team_id, FeedKind::Ledger).await?;
    let feed = FollowedFeed {
        store,
        team_id,
        feed: FeedKind::Ledger,
    };
    let (start, mut items) = list_items(feed, start, limit).await?;
    let has_more = items.len() > limit || !is_all_placed;
    items.truncate(limit);
    let end = items.last().map_or(start, |last| ListPlace {
        position: last.position,
        within: ListPlace::ALL,
        noted: last.item_id,
    });
    let ids: Vec<Uuid> = items.iter().map(|item| item.item_id).collect();
    let found = store.find_bookings(team_id, &ids).await?;
    let mut by_id: HashMap<Uuid, Booking> = found
        .into_iter()
        .map(|booking| (booking.booking_id, booking))
        .collect();
    Ok(LedgerAnswer {
        bookings: ids
            .iter()
            .filter_map(|id| by_id.remove(id))
            .map(build_booking)
            .collect(),
        next_cursor: scope.write_place(end),
        has_more,
    })
}

/// The items behind a place, one more than `limit` at the most; and the place, another one when it is no longer in the feed.
async fn list_items(
    feed: FollowedFeed<'_>,
    start: ListPlace,
    limit: usize,
) -> Result<(ListPlace, Vec<FeedItem>), StoreError> {
    // With the item at the place itself, which shows that it is the same one.
    let list_from = async |position: i64| {
        let limit = limit as i64 + 2;
        feed.store
            .list_feed_page(feed.team_id, feed.feed, position, limit)
            .await
    };
    let mut start = start;
    let mut items = list_from(start.position).await?;
    let first = items.first().map(|item| (item.position, item.item_id));
    if !feed.has_place(start, first).await? {
        start = feed.place_before(start.least_id()).await?;
        items = list_from(start.position).await?;
    }
    items.retain(|item| item.position > start.position);
    Ok((start, items))
}

fn build_booking(booking: Booking) -> LedgerBooking {
    LedgerBooking {
        id: booking.booking_id,
        kind: match booking.kind {
            BookingKind::TopUp => LedgerBookingKind::TopUp,
            BookingKind::Charge => LedgerBookingKind::Charge,
            BookingKind::Refund => LedgerBookingKind::Refund,
        },
        amount_cents: booking.amount_cents,
        balance_change_cents: booking.balance_change_cents,
        charge_id: booking.charge_id.map(|id| id.0),
        refund_id: booking.refund_id,
        campaign_id: booking.campaign_id,
        reference: booking.reference,
        created_at: booking.created_at,
    }
}
