//! Contacts of an integration, who may have no address and no card yet.

use askama::Template;
use audience::fold_name;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use contract::push::IntegrationField;
use model::id::{IntegrationId, TeamId};
use serde::Deserialize;
use store::{BookCursor, BookLine, Contact, Integration};

use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::answer::{PageFrame, page};
use crate::failure::PageError;
use crate::page::LINES;

#[derive(Deserialize)]
pub(super) struct ContactListQuery {
    #[serde(default)]
    after: i64,
}

#[derive(Deserialize)]
pub(super) struct ContactQuery {
    #[serde(default)]
    id: String,
}

#[derive(Template)]
#[template(path = "contacts.html")]
struct ContactsPage {
    frame: PageFrame,
    integration: Integration,
    contacts: Vec<BookLine>,
    next: Option<i64>,
}

impl ContactsPage {
    fn value<'a>(contact: &'a BookLine, column: &str) -> &'a str {
        contact.built_in.get(column).map_or("", String::as_str)
    }
}

/// A value that was pushed.
struct PushedValueRow {
    field: String,
    column: String,
    value: String,
}

#[derive(Template)]
#[template(path = "contact.html")]
struct ContactPage {
    frame: PageFrame,
    integration: Integration,
    id: String,
    contact: Option<Contact>,
    values: Vec<PushedValueRow>,
}

/// The integration, when it is the team's.
async fn owned(
    console: &ConsoleState,
    team_id: TeamId,
    integration_id: IntegrationId,
) -> Result<Integration, PageError> {
    let all = console.process.store.list_integrations(team_id).await?;
    all.into_iter()
        .find(|own| own.integration_id == integration_id)
        .ok_or(PageError::NotFound)
}

/// The list, in the order of arrival.
pub(super) async fn list(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: Result<Path<IntegrationId>, PathRejection>,
    cursor: Result<Query<ContactListQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let (Path(integration_id), Query(cursor)) = (path?, cursor?);
    let team_id = person.0.team_id;
    let integration = owned(&console, team_id, integration_id).await?;
    let after = BookCursor::Contact(integration_id, cursor.after);
    let book = console
        .process
        .store
        .list_address_book_page(team_id, after, LINES)
        .await?;
    let next = match book.next {
        Some(BookCursor::Contact(of, number)) if of == integration_id => Some(number),
        _ => None,
    };
    let frame = PageFrame::new(&person, "/address-book");
    Ok(page(&ContactsPage {
        frame,
        integration,
        contacts: book.lines,
        next,
    }))
}

/// One contact, by the integration's own id.
pub(super) async fn show(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: Result<Path<IntegrationId>, PathRejection>,
    named: Result<Query<ContactQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let (Path(integration_id), Query(named)) = (path?, named?);
    let store = &console.process.store;
    let integration = owned(&console, person.0.team_id, integration_id).await?;
    let id = named.id.trim().to_owned();
    let contact = if id.contains('\0') {
        None
    } else {
        store.find_contact(integration_id, &id).await?
    };
    let fields = store.list_fields(integration_id).await?;
    let values = contact
        .iter()
        .flat_map(|contact| pushed(contact, &fields))
        .collect();
    let frame = PageFrame::new(&person, "/address-book");
    Ok(page(&ContactPage {
        frame,
        integration,
        id,
        contact,
        values,
    }))
}

/// What a contact's fields hold, and the columns that they fill.
fn pushed<'a>(
    contact: &'a Contact,
    fields: &'a [IntegrationField],
) -> impl Iterator<Item = PushedValueRow> + 'a {
    contact
        .fields
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, value)| {
            let semantic = fields
                .iter()
                .find(|field| field.key == *key)
                .and_then(|field| field.semantic);
            let column =
                semantic.map_or_else(|| fold_name(key), |semantic| semantic.as_str().to_owned());
            PushedValueRow {
                field: key.clone(),
                column,
                value: value.clone(),
            }
        })
}
