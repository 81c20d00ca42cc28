//! Where a page of recipients begins, as its address says it.

use std::fmt;

use chrono::DateTime;
use store::{RecipientCursor, RecipientLine, RecipientSearchCursor};
use uuid::Uuid;

use crate::format::is_storable;

/// Behind a recipient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RecipientListCursor {
    /// In the order in which they were received.
    Received(RecipientCursor),
    /// In the order of what they were found by.
    Found(RecipientSearchCursor),
}

impl RecipientListCursor {
    /// Behind this one, in the order in which they were received.
    pub(super) const fn after_line(line: &RecipientLine) -> Self {
        Self::Received(RecipientCursor {
            received_at: line.received_at,
            entry_id: line.entry_id,
        })
    }

    /// The cursor in an address; `None` of what no page has written: it begins at the beginning.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_once('.')?;
        let (entry_id, at) = rest.split_once('.')?;
        let entry_id = Uuid::parse_str(entry_id).ok()?;
        match kind {
            "t" => {
                let received_at =
                    DateTime::from_timestamp_micros(at.parse().ok()?).filter(is_storable)?;
                Some(Self::Received(RecipientCursor {
                    received_at,
                    entry_id,
                }))
            }
            "k" => Some(Self::Found(RecipientSearchCursor {
                key: at.to_owned(),
                entry_id,
            })),
            _ => None,
        }
    }

    pub(super) fn received(self) -> Option<RecipientCursor> {
        match self {
            Self::Received(cursor) => Some(cursor),
            Self::Found(_) => None,
        }
    }

    pub(super) fn found(self) -> Option<RecipientSearchCursor> {
        match self {
            Self::Found(cursor) => Some(cursor),
            Self::Received(_) => None,
        }
    }
}

impl fmt::Display for RecipientListCursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Received(RecipientCursor {
                received_at,
                entry_id,
            }) => {
                write!(formatter, "t.{entry_id}.{}", received_at.timestamp_micros())
            }
            Self::Found(RecipientSearchCursor { key, entry_id }) => {
                write!(formatter, "k.{entry_id}.{key}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_as_it_was_written() {
        let (entry_id, key) = (Uuid::from_u128(7), "o. neill.ann".to_owned());
        let received_at = "2026-11-21T10:00:00.000001Z".parse().unwrap();
        for cursor in [
            RecipientListCursor::Found(RecipientSearchCursor { key, entry_id }),
            RecipientListCursor::Received(RecipientCursor {
                received_at,
                entry_id,
            }),
        ] {
            assert_eq!(
                RecipientListCursor::parse(&cursor.to_string()),
                Some(cursor)
            );
        }
        for text in [
            "",
            "t",
            "t.x.1",
            "k.7",
            "t.00000000-0000-0000-0000-000000000007.99999999999999999999",
        ] {
            assert_eq!(RecipientListCursor::parse(text), None, "{text}");
        }
    }
}
