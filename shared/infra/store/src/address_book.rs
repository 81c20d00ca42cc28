//! The address book as people see it: entries that were mailed or sent, then the contacts of integrations.
//!
//! An entry is keyed by its verified address. A contact has none yet: it may lack an address or change it at any
//! sync. So the two are kept apart and listed together; a card that is sent to a contact makes its entry.

use std::collections::{BTreeMap, HashSet};

use contract::push::{FieldSemantic, IntegrationField};
use model::id::{IntegrationId, TeamId};
use serde::Serialize;
use uuid::Uuid;

use crate::column::ColumnKind;
use crate::contact::Contact;
use crate::error::Result;
use crate::pool::Store;

/// Where a page begins: after this line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BookCursor {
    /// After this entry; nil for the beginning.
    Entry(Uuid),
    /// After this contact; number 0 for the integration's beginning.
    Contact(IntegrationId, i64),
}

/// One line of the book.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BookLine {
    /// The entry; `None` of a contact.
    #[serde(skip)]
    pub entry_id: Option<Uuid>,
    /// The integration that a contact came from; `None` of an entry.
    pub integration_id: Option<IntegrationId>,
    /// The CRM's id of a contact; `None` of an entry.
    pub external_id: Option<String>,
    /// Values of the built-in columns that are not blank, by name.
    pub built_in: BTreeMap<String, String>,
    /// Values of the team's own columns, by folded name.
    pub custom: BTreeMap<String, String>,
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookPage {
    /// At most as many as were asked for; fewer do not mean the end.
    pub lines: Vec<BookLine>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<BookCursor>,
}

impl BookCursor {
    /// The first page's.
    pub const START: Self = Self::Entry(Uuid::nil());
}

impl Store {
    /// A page of a team's address book, at most `limit` lines.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn list_address_book_page(
        &self,
        team_id: TeamId,
        after: BookCursor,
        limit: i64,
    ) -> Result<BookPage> {
        match after {
            BookCursor::Entry(entry_id) => self.list_entry_page(team_id, entry_id, limit).await,
            BookCursor::Contact(integration_id, number) => {
                self.list_contact_page(team_id, integration_id, number, limit)
                    .await
            }
        }
    }

    async fn list_entry_page(&self, team_id: TeamId, after: Uuid, limit: i64) -> Result<BookPage> {
        let rows = self
            .query_rows(
                "SELECT entry_id, custom, jsonb_build_object('first_name', first_name, 'last_name', last_name,
                     'address_1', address_1, 'address_2', address_2, 'city', city, 'state', state, 'zip', zip,
                     'email', email, 'phone', phone, 'organization', organization, 'birthday', birthday)
                 FROM address_entries WHERE team_id = $1 AND entry_id > $2 ORDER BY entry_id LIMIT $3",
                &[&team_id.0, &after, &limit],
            )
            .await?;
        let lines = rows
            .iter()
            .map(|row| {
                let built_in: BTreeMap<String, String> = serde_json::from_value(row.get(2))?;
                Ok(BookLine {
                    entry_id: Some(row.get(0)),
                    integration_id: None,
                    external_id: None,
                    built_in: without_blanks(built_in),
                    custom: serde_json::from_value(row.get(1))?,
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let next = match rows.last() {
            Some(last) if is_full_page(rows.len(), limit) => Some(BookCursor::Entry(last.get(0))),
            _ => self.find_next_integration(team_id, Uuid::nil()).await?,
        };
        Ok(BookPage { lines, next })
    }

    async fn list_contact_page(
        &self,
        team_id: TeamId,
        integration_id: IntegrationId,
        after: i64,
        limit: i64,
    ) -> Result<BookPage> {
        // The owner comes first: another team's integration has no contacts here.
        let is_owned = self
            .list_integrations(team_id)
            .await?
            .iter()
            .any(|own| own.integration_id == integration_id);
        if !is_owned {
            return Ok(BookPage {
                lines: Vec::new(),
                next: None,
            });
        }
        let fields = self.list_fields(integration_id).await?;
        let columns = self.list_columns(team_id).await?;
        let computed: HashSet<&str> = columns
            .iter()
            .filter(|column| column.kind != ColumnKind::Custom)
            .map(|column| column.name_key.as_str())
            .collect();
        let contacts = self.list_contacts(integration_id, after, limit).await?;
        let next = match contacts.last() {
            Some(last) if is_full_page(contacts.len(), limit) => {
                Some(BookCursor::Contact(integration_id, last.contact_number))
            }
            _ => {
                self.find_next_integration(team_id, integration_id.0)
                    .await?
            }
        };
        let lines = contacts.into_iter().map(|contact| {
            let mut line = build_contact_line(integration_id, contact, &fields);
            // What an integration sends for a formula or AI column is never seen.
            line.custom
                .retain(|name, _| !computed.contains(name.as_str()));
            line
        });
        Ok(BookPage {
            lines: lines.collect(),
            next,
        })
    }

    async fn find_next_integration(
        &self,
        team_id: TeamId,
        after: Uuid,
    ) -> Result<Option<BookCursor>> {
        let row = self
            .query_row(
                "SELECT integration_id FROM integrations
                 WHERE team_id = $1 AND integration_id > $2 AND removed_at IS NULL
                 ORDER BY integration_id LIMIT 1",
                &[&team_id.0, &after],
            )
            .await?;
        Ok(row.map(|row| BookCursor::Contact(IntegrationId(row.get(0)), 0)))
    }
}

fn is_full_page(lines: usize, limit: i64) -> bool {
    i64::try_from(lines).is_ok_and(|lines| lines >= limit)
}

/// A contact under the columns that its fields fill now: the built-in ones by semantic, the others by key. Values are cut
/// to what a column holds.
fn build_contact_line(
    integration_id: IntegrationId,
    contact: Contact,
    fields: &[IntegrationField],
) -> BookLine {
    let semantics: BTreeMap<&str, FieldSemantic> = fields
        .iter()
        .filter_map(|field| Some((field.key.as_str(), field.semantic?)))
        .collect();
    let (mut built_in, mut custom) = (BTreeMap::new(), BTreeMap::new());
    for (key, value) in contact.fields {
        let value = audience::column::cut_value(&value).to_owned();
        match semantics.get(key.as_str()) {
            Some(semantic) => built_in.insert(semantic.as_str().to_owned(), value),
            None => custom.insert(audience::fold_name(&key), value),
        };
    }
    BookLine {
        entry_id: None,

        integration_id: Some(integration_id),
        external_id: Some(contact.external_id),
        built_in: without_blanks(built_in),
        custom,
    }
}

fn without_blanks(mut values: BTreeMap<String, String>) -> BTreeMap<String, String> {
    values.retain(|_, value| !value.is_empty());
    values
}
