//! Contacts of an integration, who may have no address and no card yet.

use askama::Template;
use audience::fold_name;
use contract::push::IntegrationField;
use model::id::{IntegrationId, TeamId};
use serde::Deserialize;
use store::{BookCursor, BookLine, Contact, Integration};

use crate::extract::{MemberContext, PagePath, PageQuery};
use crate::frame::PageFrame;
use crate::page_error::{PageError, PageResult};
use crate::paging::LINES;
use crate::render::render_page;

#[derive(Deserialize)]
pub(crate) struct ContactListQuery {
    #[serde(default)]
    after: i64,
}

#[derive(Deserialize)]
pub(crate) struct ContactQuery {
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
    fn built_in_value<'a>(contact: &'a BookLine, column: &str) -> &'a str {
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
async fn find_integration(
    context: &MemberContext,
    team_id: TeamId,
    integration_id: IntegrationId,
) -> Result<Integration, PageError> {
    let all = context.store().list_integrations(team_id).await?;
    all.into_iter()
        .find(|own| own.integration_id == integration_id)
        .ok_or(PageError::NotFound)
}

/// The list, in the order of arrival.
pub(crate) async fn list_contacts(
    context: MemberContext,
    PagePath(integration_id): PagePath<IntegrationId>,
    PageQuery(cursor): PageQuery<ContactListQuery>,
) -> PageResult {
    let team_id = context.team_id();
    let integration = find_integration(&context, team_id, integration_id).await?;
    let after = BookCursor::Contact(integration_id, cursor.after);
    let book = context
        .store()
        .list_address_book_page(team_id, after, LINES)
        .await?;
    let next = match book.next {
        Some(BookCursor::Contact(of, number)) if of == integration_id => Some(number),
        _ => None,
    };
    let frame = context.frame("/address-book");
    Ok(render_page(&ContactsPage {
        frame,
        integration,
        contacts: book.lines,
        next,
    }))
}

/// One contact, by the integration's own id.
pub(crate) async fn show_contact(
    context: MemberContext,
    PagePath(integration_id): PagePath<IntegrationId>,
    PageQuery(named): PageQuery<ContactQuery>,
) -> PageResult {
    let store = context.store();
    let integration = find_integration(&context, context.member.team_id, integration_id).await?;
    let id = named.id.trim().to_owned();
    let contact = if id.contains('\0') {
        None
    } else {
        store.find_contact(integration_id, &id).await?
    };
    let fields = store.list_fields(integration_id).await?;
    let values = contact
        .iter()
        .flat_map(|contact| pushed_values(contact, &fields))
        .collect();
    let frame = context.frame("/address-book");
    Ok(render_page(&ContactPage {
        frame,
        integration,
        id,
        contact,
        values,
    }))
}

/// What a contact's fields hold, and the columns that they fill.
fn pushed_values<'a>(
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
