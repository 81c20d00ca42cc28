//! Where a client is in a list, as it is told and told back.
//!
//! A cursor is opaque: version, place and a checksum over both, the team, the list and its filters. So one that is broken, another
//! team's or of other filters is known as such; it is no secret, for the key alone says whose rows are read.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use model::id::TeamId;
use uuid::Uuid;

use crate::error::FollowError;

/// The form of the bytes.
const VERSION: u8 = 1;

/// Bytes of the checksum.
const CHECK_BYTES: usize = 8;

/// Bytes of version and place.
const PLACE_BYTES: usize = 1 + 8 + 16 + 16;

/// How much later than it was noted a change may get its place. Only cursors of before a restore from a backup, and those that
/// name a moment, are taken back by it.
const LATENESS: TimeDelta = TimeDelta::minutes(10);

/// A list that is read page by page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowedList {
    /// Mailpieces in the order in which they were paid.
    Charged,
    /// Mailpieces in the order in which they changed.
    Changed,
    /// Campaigns by id.
    Campaigns,
    /// Bookings of the ledger.
    Ledger,
}

/// What a cursor is good for.
#[derive(Debug, Clone, Copy)]
pub struct CursorScope<'a> {
    /// Whose list.
    pub team_id: TeamId,
    /// Which list.
    pub list: FollowedList,
    /// Its filters, in one way of writing them.
    pub filters: &'a str,
}

/// A place in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListPlace {
    /// In the feed; 0 is its begin.
    pub(crate) position: i64,
    /// How much of what is at the position was read: up to this place; [`ListPlace::ALL`] is all of it.
    pub(crate) within: u128,
    /// What is at the position was noted with this id, which shows that it still is the same: a database that was restored from a backup
    /// gives positions out a second time. One that is a time only says that nobody knew.
    pub(crate) noted: Uuid,
}

impl FollowedList {
    const fn as_byte(self) -> u8 {
        match self {
            Self::Charged => 1,
            Self::Changed => 2,
            Self::Campaigns => 3,
            Self::Ledger => 4,
        }
    }
}

impl ListPlace {
    /// All that is at a position.
    pub(crate) const ALL: u128 = u128::MAX;

    /// Behind a position, without knowing what is at it.
    pub(crate) fn behind(position: i64, now: DateTime<Utc>) -> Self {
        Self {
            position,
            within: Self::ALL,
            noted: first_id(now),
        }
    }

    /// Whether it was made with what is at the position.
    pub(crate) fn is_known(&self) -> bool {
        self.noted.get_version_num() != 0
    }

    /// The least id that what was noted behind it can have.
    pub(crate) fn least_id(&self) -> Uuid {
        let late = LATENESS.num_milliseconds().cast_unsigned();
        id_of_millis(((self.noted.as_u128() >> 80) as u64).saturating_sub(late))
    }
}

/// The least id that what changed since a moment can have been noted with.
pub(crate) fn least_id_since(moment: DateTime<Utc>) -> Uuid {
    ListPlace::behind(0, moment).least_id()
}

fn first_id(moment: DateTime<Utc>) -> Uuid {
    id_of_millis(moment.timestamp_millis().max(0).cast_unsigned())
}

fn id_of_millis(millis: u64) -> Uuid {
    Uuid::from_u128(u128::from(millis) << 80)
}

impl CursorScope<'_> {
    /// A place as it is told to a client.
    pub(crate) fn write_place(&self, place: ListPlace) -> String {
        let mut bytes = Vec::with_capacity(PLACE_BYTES + CHECK_BYTES);
        bytes.push(VERSION);
        bytes.extend(place.position.to_be_bytes());
        bytes.extend(place.within.to_be_bytes());
        bytes.extend(place.noted.into_bytes());
        bytes.extend(self.checksum(&bytes));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The place that a client tells.
    pub(crate) fn read_place(&self, text: &str) -> Result<ListPlace, FollowError> {
        let bytes = URL_SAFE_NO_PAD
            .decode(text)
            .map_err(|_| FollowError::InvalidCursor)?;
        let (place, check) = bytes
            .split_at_checked(PLACE_BYTES)
            .ok_or(FollowError::InvalidCursor)?;
        if check != self.checksum(place) {
            return Err(FollowError::InvalidCursor);
        }
        let invalid = |_| FollowError::InvalidCursor;
        let place = ListPlace {
            position: i64::from_be_bytes(place[1..9].try_into().map_err(invalid)?),
            within: u128::from_be_bytes(place[9..25].try_into().map_err(invalid)?),
            noted: Uuid::from_bytes(place[25..].try_into().map_err(invalid)?),
        };
        if bytes[0] == VERSION && place.position >= 0 {
            Ok(place)
        } else {
            Err(FollowError::InvalidCursor)
        }
    }

    fn checksum(&self, place: &[u8]) -> [u8; CHECK_BYTES] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(place);
        hasher.update(self.team_id.0.as_bytes());
        hasher.update(&[self.list.as_byte()]);
        hasher.update(self.filters.as_bytes());
        let mut check = [0; CHECK_BYTES];
        check.copy_from_slice(&hasher.finalize().as_bytes()[..CHECK_BYTES]);
        check
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scope(team_id: TeamId, list: FollowedList, filters: &str) -> CursorScope<'_> {
        CursorScope {
            team_id,
            list,
            filters,
        }
    }

    #[test]
    fn a_cursor_is_good_for_one_team_list_and_filters() {
        let (team_id, other) = (TeamId::new(), TeamId::new());
        let place = ListPlace::behind(7, Utc::now());
        let text = scope(team_id, FollowedList::Changed, "a").write_place(place);
        let read = |scope: CursorScope<'_>| scope.read_place(&text).ok();
        assert_eq!(
            read(scope(team_id, FollowedList::Changed, "a")),
            Some(place)
        );
        assert_eq!(read(scope(other, FollowedList::Changed, "a")), None);
        assert_eq!(read(scope(team_id, FollowedList::Charged, "a")), None);
        assert_eq!(read(scope(team_id, FollowedList::Changed, "b")), None);
    }

    #[test]
    fn a_place_that_was_noted_is_told_from_a_moment() {
        let now = Utc::now();
        let moment = ListPlace::behind(1, now);
        let noted = ListPlace {
            noted: Uuid::now_v7(),
            ..moment
        };
        assert_eq!((moment.is_known(), noted.is_known()), (false, true));
        assert!(noted.least_id() < noted.noted && moment.least_id() < moment.noted);
        assert_eq!(least_id_since(now), moment.least_id());
    }

    proptest! {
        #[test]
        fn a_cursor_is_read_as_it_was_written(position in 0_i64.., within in any::<u128>(), noted in any::<u128>()) {
            let scope = scope(TeamId::new(), FollowedList::Charged, "");
            let place = ListPlace { position, within, noted: Uuid::from_u128(noted) };
            prop_assert_eq!(scope.read_place(&scope.write_place(place)).ok(), Some(place));
        }

        #[test]
        fn a_cursor_that_was_changed_is_none(text in ".{0,80}", at in 0_usize..66, to in "[A-Za-z0-9_-]") {
            let scope = scope(TeamId::new(), FollowedList::Charged, "");
            prop_assert!(scope.read_place(&text).is_err());
            let whole = scope.write_place(ListPlace::behind(3, Utc::now()));
            let mut changed = whole.clone();
            changed.replace_range(at..=at, &to);
            prop_assert!(changed == whole || scope.read_place(&changed).is_err());
        }
    }
}
