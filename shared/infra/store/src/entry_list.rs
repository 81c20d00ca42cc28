//! Entries of the address book, for people to look at: in the order of their names.

use chrono::{DateTime, Utc};
use model::id::TeamId;
use uuid::Uuid;

use crate::entry::BookEntryValues;
use crate::error::{Result, StoreError};
use crate::pool::Store;
use crate::recipient::{BookEntryAddress, book_recipient_from_row};

/// An entry in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookEntryLine {
    /// Its id.
    pub entry_id: Uuid,
    /// As sent.
    pub first_name: String,
    /// As sent.
    pub last_name: String,
    /// The verified delivery line, with the unit.
    pub street: String,
    /// City, state and ZIP.
    pub place: String,
    /// Where the line stands in the order of names.
    pub name_key: String,
}

/// Behind which line a page begins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BookEntryCursor {
    /// The [`BookEntryLine::name_key`] of that line; empty for the beginning.
    pub name_key: String,
    /// Its id; nil for the beginning.
    pub entry_id: Uuid,
}

/// All of an entry.
#[derive(Debug, Clone)]
pub struct BookEntry {
    /// Name and address.
    pub address: BookEntryAddress,
    /// The other values.
    pub values: BookEntryValues,
    /// When a send first brought it.
    pub created_at: DateTime<Utc>,
    /// When a send last changed it.
    pub updated_at: DateTime<Utc>,
}

impl Store {
    /// A team's entries in the order of their names, those whose names begin so, after `after`; at most `limit`. A name is
    /// `last first`, in any case. An entry is here a few seconds after its first send, see [`Store::fill_recipient_search`].
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_entries_by_name(
        &self,
        team_id: TeamId,
        beginning: &str,
        after: &BookEntryCursor,
        limit: i64,
    ) -> Result<Vec<BookEntryLine>> {
        let rows = self
            .query_rows(
                LIST,
                &[
                    &team_id.0,
                    &after.name_key,
                    &after.entry_id,
                    &beginning,
                    &limit,
                ],
            )
            .await?;
        Ok(rows
            .iter()
            .map(|row| BookEntryLine {
                entry_id: row.get(0),
                first_name: row.get(1),
                last_name: row.get(2),
                street: row.get(3),
                place: row.get(4),
                name_key: row.get(5),
            })
            .collect())
    }

    /// All of an entry.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has none of this id.
    pub async fn find_entry(&self, team_id: TeamId, entry_id: Uuid) -> Result<BookEntry> {
        let row = self
            .query_row(
                "SELECT entry_id, address_id, first_name, last_name, address_1, address_2, unit_apart, city, state, zip,
                     plus4, verification, latitude, longitude, email, phone, organization, birthday, custom,
                     created_at, updated_at
                 FROM address_entries WHERE team_id = $1 AND entry_id = $2",
                &[&team_id.0, &entry_id],
            )
            .await?
            .ok_or_else(|| StoreError::NotFound("the entry".to_owned()))?;
        let entry = book_recipient_from_row(&row);
        Ok(BookEntry {
            address: entry.entry,
            values: entry.values,
            created_at: row.get("created_at"),
            updated_at: row.get("updated_at"),
        })
    }
}

/// Behind all names that begin so stands the beginning with the greatest character.
const LIST: &str = "
    SELECT entry_id, first_name, last_name, concat_ws(' ', address_1, nullif(address_2, '')),
        city || ', ' || state || ' ' || zip, key
    FROM entry_search found
    CROSS JOIN LATERAL (SELECT first_name, last_name, address_1, address_2, city, state, zip FROM address_entries
        WHERE team_id = $1 AND address_entries.entry_id = found.entry_id LIMIT 1) AS entry
    WHERE team_id = $1
        AND (key, entry_id) > (greatest($2, lower($4)) COLLATE \"C\", $3)
        AND key < lower($4) || chr(1114111)
    ORDER BY key, entry_id
    LIMIT $5";
