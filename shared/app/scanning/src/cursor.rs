//! Where a client is in the feed of scans, as it is told and told back.
//!
//! A UUID of version 8: the time of the scan in milliseconds (48 bits, where version 7 has it), its position in the feed (44)
//! and the end of its id (30). The position says where to go on. The id's end shows whether it still is the same scan: a
//! database that was restored from a backup gives positions out a second time. The time comes first because earlier gateways
//! took the id of a scan for a cursor: beside each other in an upgrade they understand these as well.

use chrono::{DateTime, TimeDelta, Utc};
use store::FeedItem;
use uuid::Uuid;

/// How much later than its id was made a scan may be recorded. Only cursors that name a moment instead of a position are
/// taken back by it.
const LATENESS: TimeDelta = TimeDelta::minutes(10);

const POSITION_LOW_BITS: u32 = 32;
const POSITION_MASK: u64 = (1 << 44) - 1;
const CHECK_MASK: u32 = (1 << 30) - 1;

/// A place in the feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedCursor {
    /// Behind this position.
    Position(FeedPosition),
    /// Behind the scan with this id, among those that were recorded before there was a feed, or are no longer in it; and before
    /// everything else.
    Id(Uuid),
}

/// Behind a scan in the feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeedPosition {
    /// 0 is the begin of the feed.
    pub(crate) position: i64,
    /// When the scan was made.
    at_ms: u64,
    /// The end of its id.
    check: u32,
}

impl FeedCursor {
    /// From what a client brings.
    pub fn from_uuid(given: Uuid) -> Self {
        if given.get_version_num() != 8 {
            return Self::Id(given);
        }
        let bits = given.as_u128();
        let high = (bits >> 64) as u64 & 0xfff;
        let low = (bits >> 30) as u64 & u64::from(u32::MAX);
        Self::Position(FeedPosition {
            // 44 bits.
            position: ((high << POSITION_LOW_BITS) | low).cast_signed(),
            at_ms: id_millis(given),
            check: check_bits(given),
        })
    }

    /// As it is given to a client.
    pub fn to_uuid(self) -> Uuid {
        match self {
            Self::Id(id) => id,
            Self::Position(FeedPosition {
                position,
                at_ms,
                check,
            }) => {
                let position = position.cast_unsigned() & POSITION_MASK;
                let (high, low) = (
                    position >> POSITION_LOW_BITS,
                    position & u64::from(u32::MAX),
                );
                let fields = [
                    (at_ms, 80),
                    (8, 76),
                    (high, 64),
                    (0b10, 62),
                    (low, 30),
                    (check.into(), 0),
                ];
                Uuid::from_u128(
                    fields
                        .iter()
                        .fold(0, |bits, (value, shift)| bits | u128::from(*value) << shift),
                )
            }
        }
    }
}

impl FeedPosition {
    /// Behind this item.
    pub(crate) fn after_item(item: FeedItem) -> Self {
        Self {
            position: item.position,
            at_ms: id_millis(item.item_id),
            check: check_bits(item.item_id),
        }
    }

    /// Behind a position whose scan is not known.
    pub(crate) fn after_position(position: i64, now: DateTime<Utc>) -> Self {
        Self {
            position,
            at_ms: now.timestamp_millis().max(0).cast_unsigned(),
            check: 0,
        }
    }

    /// Whether it was made without knowing the scan: at the begin of the feed, or where the scan was forgotten.
    pub(crate) fn is_unknown(&self) -> bool {
        self.check == 0
    }

    /// Whether this item is the one behind which it is.
    pub(crate) fn is_after_item(&self, item: FeedItem) -> bool {
        Self::after_item(item).check == self.check && item.position == self.position
    }

    /// The least id that what was recorded behind it can have.
    pub(crate) fn least_id(&self) -> Uuid {
        first_id(self.at_ms.saturating_sub(lateness_ms()))
    }
}

/// The least id that what was recorded after the scan with this id can have.
pub(crate) fn least_id_after(id: Uuid) -> Uuid {
    first_id(id_millis(id).saturating_sub(lateness_ms()))
}

/// Past the ids of all that was recorded before the scan with this id.
pub(crate) fn first_id_after(id: Uuid) -> Uuid {
    first_id(id_millis(id) + lateness_ms())
}

fn lateness_ms() -> u64 {
    LATENESS.num_milliseconds().cast_unsigned()
}

/// The time in an id of version 7.
fn id_millis(id: Uuid) -> u64 {
    (id.as_u128() >> 80) as u64
}

/// The last bits of an id, which are random in both versions.
fn check_bits(id: Uuid) -> u32 {
    id.as_u128() as u32 & CHECK_MASK
}

fn first_id(at_ms: u64) -> Uuid {
    Uuid::from_u128(u128::from(at_ms) << 80)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_id_of_a_scan_is_a_cursor_as_it_was_before_there_were_positions() {
        let id = Uuid::now_v7();
        assert_eq!(FeedCursor::from_uuid(id), FeedCursor::Id(id));
        assert_eq!(FeedCursor::Id(id).to_uuid(), id);
    }

    proptest! {
        #[test]
        fn a_cursor_is_read_as_it_was_written(position in 0_i64..1 << 44, item in any::<u128>()) {
            let item = FeedItem { position, item_id: Uuid::from_u128(item) };
            let cursor = FeedCursor::Position(FeedPosition::after_item(item));
            let written = cursor.to_uuid();
            prop_assert_eq!(written.get_version_num(), 8);
            prop_assert_eq!(written.get_variant(), uuid::Variant::RFC4122);
            prop_assert_eq!(FeedCursor::from_uuid(written), cursor);
            let FeedCursor::Position(place) = FeedCursor::from_uuid(written) else { panic!("a position") };
            prop_assert!(place.is_after_item(item));
            prop_assert!(place.least_id() <= item.item_id);
        }

        #[test]
        fn a_gateway_that_takes_it_for_an_id_goes_on_behind_its_scan(
            position in 0_i64..1 << 44, at_ms in 0_u64..1 << 48, rest in any::<[u8; 10]>(),
        ) {
            let id = uuid::Builder::from_unix_timestamp_millis(at_ms, &rest);
            let item = FeedItem { position, item_id: id.into_uuid() };
            prop_assert!(FeedCursor::Position(FeedPosition::after_item(item)).to_uuid() > item.item_id);
        }
    }
}
