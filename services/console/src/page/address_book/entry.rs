//! People who were sent to: the list in the order of names, and one of them.

use askama::Template;
use audience::{BuiltInColumn, ValueLookup};
use serde::Deserialize;
use store::{
    BookEntry, BookEntryCursor, BookEntryLine, ColumnKind, ColumnSource, Integration, TeamColumn,
};
use uuid::Uuid;

use super::person_values;
use crate::extract::{MemberContext, PagePath, PageQuery};
use crate::frame::PageFrame;
use crate::page_error::PageResult;
use crate::paging::{LINES, cut_page, url_query};
use crate::render::render_page;

#[derive(Deserialize)]
pub(crate) struct BookEntrySearchQuery {
    #[serde(default)]
    search: String,
    #[serde(default)]
    after: String,
    after_id: Option<Uuid>,
}

#[derive(Template)]
#[template(path = "entries.html")]
struct BookEntriesPage {
    frame: PageFrame,
    entries: Vec<BookEntryLine>,
    integrations: Vec<Integration>,
    search: String,
    /// What the address of the next page asks for.
    next: Option<String>,
    public_url: String,
}

/// A value of an entry, and where it came from.
struct BookEntryValueRow {
    column: String,
    value: String,
    origin: String,
}

#[derive(Template)]
#[template(path = "entry.html")]
struct BookEntryPage {
    frame: PageFrame,
    name: String,
    entry: BookEntry,
    known: Vec<BookEntryValueRow>,
}

/// The list.
pub(crate) async fn list_entries(
    context: MemberContext,
    PageQuery(asked): PageQuery<BookEntrySearchQuery>,
) -> PageResult {
    let (store, team_id) = (context.store(), context.team_id());
    let after = BookEntryCursor {
        name_key: asked.after,
        entry_id: asked.after_id.unwrap_or_default(),
    };
    let mut entries = store
        .list_entries_by_name(team_id, &name_beginning(&asked.search), &after, LINES + 1)
        .await?;
    let next = cut_page(&mut entries).map(|last| next_query(&asked.search, last));
    let integrations = store.list_integrations(team_id).await?;
    Ok(render_page(&BookEntriesPage {
        frame: context.frame("/address-book"),
        entries,
        integrations,
        search: asked.search,
        next,
        public_url: context.public_url(),
    }))
}

fn next_query(search: &str, last: &BookEntryLine) -> String {
    url_query(&[
        ("search", search),
        ("after", &last.name_key),
        ("after_id", &last.entry_id.to_string()),
    ])
}

/// What people type, as names are kept: `Miles, Ada` is `Miles Ada`.
pub(crate) fn name_beginning(search: &str) -> String {
    search
        .split([' ', ','])
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// One entry.
pub(crate) async fn show_entry(
    context: MemberContext,
    PagePath(entry_id): PagePath<Uuid>,
) -> PageResult {
    let (store, team_id) = (context.store(), context.team_id());
    let entry = store.find_entry(team_id, entry_id).await?;
    let columns = store.list_columns(team_id).await?;
    let values = person_values(&entry);
    let formulas = columns::FormulaColumns::new(&columns);
    let computed = formulas.for_recipient(&values, context.today());
    let mut known = built_in_values(&entry, &values);
    known.extend(
        columns
            .iter()
            .filter_map(|column| own_value(column, &computed)),
    );
    let name = format!("{} {}", entry.address.first_name, entry.address.last_name)
        .trim()
        .to_owned();
    let name = if name.is_empty() {
        "Without a name".to_owned()
    } else {
        name
    };
    Ok(render_page(&BookEntryPage {
        frame: context.frame("/address-book"),
        name,
        entry,
        known,
    }))
}

fn built_in_values(entry: &BookEntry, values: &dyn ValueLookup) -> Vec<BookEntryValueRow> {
    use BuiltInColumn::{Address1, Address2, City, State, Zip};
    let origin = |column| match column {
        Address1 | Address2 | City | State | Zip => {
            format!(
                "Sent, then verified: {}",
                entry.address.verification.replace('_', " ")
            )
        }
        _ => "Sent".to_owned(),
    };
    let known = |column: BuiltInColumn| {
        let value = values.value(column.key())?.to_owned();
        Some(BookEntryValueRow {
            column: column.key().to_owned(),
            value,
            origin: origin(column),
        })
    };
    BuiltInColumn::ALL.into_iter().filter_map(known).collect()
}

/// A value in a column of the team's. Of computed ones a blank is shown too.
fn own_value(column: &TeamColumn, computed: &dyn ValueLookup) -> Option<BookEntryValueRow> {
    let value = computed
        .value(&column.name_key)
        .unwrap_or_default()
        .to_owned();
    let origin = match (column.kind, column.source) {
        (ColumnKind::Custom, _) if value.is_empty() => return None,
        (ColumnKind::Custom, ColumnSource::Owner) => "Sent; your team made the column".to_owned(),
        (ColumnKind::Custom, ColumnSource::Api) => "Sent; a request made the column".to_owned(),
        (ColumnKind::Custom, ColumnSource::Integration) => {
            "Sent; an integration made the column".to_owned()
        }
        (ColumnKind::Formula, _) => format!(
            "Computed: {}",
            column.formula.as_deref().unwrap_or_default()
        ),
        (ColumnKind::Ai, _) if value.is_empty() => {
            "Not written by the language model yet".to_owned()
        }
        (ColumnKind::Ai, _) => "Written by a language model".to_owned(),
    };
    Some(BookEntryValueRow {
        column: column.name.clone(),
        value,
        origin,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_between_last_and_first_name_is_as_good_as_a_space() {
        assert_eq!(name_beginning(" Miles,  Ada "), "Miles Ada");
        assert_eq!(name_beginning(""), "");
    }
}
