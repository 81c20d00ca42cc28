//! People who were sent to: the list in the order of names, and one of them.

use askama::Template;
use audience::{BuiltIn, Lookup};
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use serde::Deserialize;
use store::{Column, ColumnKind, ColumnSource, EntryCursor, EntryLine, FullEntry, Integration};
use uuid::Uuid;

use super::person_values;
use crate::Console;
use crate::access::Person;
use crate::answer::{Frame, page};
use crate::failure::Failure;
use crate::page::LINES;

#[derive(Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    search: String,
    #[serde(default)]
    after: String,
    after_id: Option<Uuid>,
}

#[derive(Template)]
#[template(path = "entries.html")]
struct EntriesPage {
    frame: Frame,
    entries: Vec<EntryLine>,
    integrations: Vec<Integration>,
    search: String,
    /// What the address of the next page asks for.
    next: Option<String>,
    public_url: String,
}

/// A value of an entry, and where it came from.
struct Known {
    column: String,
    value: String,
    origin: String,
}

#[derive(Template)]
#[template(path = "entry.html")]
struct EntryPage {
    frame: Frame,
    name: String,
    entry: FullEntry,
    known: Vec<Known>,
}

/// The list.
pub(super) async fn list(
    State(console): State<Console>,
    person: Person,
    asked: Result<Query<Asked>, QueryRejection>,
) -> Result<Response, Failure> {
    let Query(asked) = asked?;
    let (store, team_id) = (&console.process.store, person.0.team_id);
    let after = EntryCursor { name_key: asked.after, entry_id: asked.after_id.unwrap_or_default() };
    let mut entries = store.entry_name_list(team_id, &beginning(&asked.search), &after, LINES + 1).await?;
    let is_more = entries.len() as i64 > LINES;
    entries.truncate(LINES as usize);
    let next = entries.last().filter(|_| is_more).map(|last| next(&asked.search, last));
    let integrations = store.integration_list(team_id).await?;
    Ok(page(&EntriesPage {
        frame: Frame::new(&person, "/address-book"),
        entries,
        integrations,
        search: asked.search,
        next,
        public_url: console.process.config.console.public_url.clone(),
    }))
}

fn next(search: &str, last: &EntryLine) -> String {
    url::form_urlencoded::Serializer::new(String::new())
        .append_pair("search", search)
        .append_pair("after", &last.name_key)
        .append_pair("after_id", &last.entry_id.to_string())
        .finish()
}

/// What people type, as names are kept: `Miles, Ada` is `Miles Ada`.
fn beginning(search: &str) -> String {
    search.split([' ', ',']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// One entry.
pub(super) async fn show(
    State(console): State<Console>,
    person: Person,
    path: Result<Path<Uuid>, PathRejection>,
) -> Result<Response, Failure> {
    let Path(entry_id) = path?;
    let (store, team_id) = (&console.process.store, person.0.team_id);
    let entry = store.entry_get(team_id, entry_id).await?;
    let columns = store.column_list(team_id).await?;
    let asker = columns::Asker { store, team_id, now: console.process.clock.now() };
    let today = asker.today().await.map_err(|error| Failure::Internal(error.into()))?;
    let values = person_values(&entry);
    let formulas = computed::FormulaColumns::new(&columns);
    let computed = formulas.over(&values, today);
    let mut known = built_in(&entry, &values);
    known.extend(columns.iter().filter_map(|column| own(column, &computed)));
    let name = format!("{} {}", entry.address.first_name, entry.address.last_name).trim().to_owned();
    let name = if name.is_empty() { "Without a name".to_owned() } else { name };
    Ok(page(&EntryPage { frame: Frame::new(&person, "/address-book"), name, entry, known }))
}

fn built_in(entry: &FullEntry, values: &dyn Lookup) -> Vec<Known> {
    use BuiltIn::{Address1, Address2, City, State, Zip};
    let origin = |column| match column {
        Address1 | Address2 | City | State | Zip => {
            format!("Sent, then verified: {}", entry.address.verification.replace('_', " "))
        }
        _ => "Sent".to_owned(),
    };
    let known = |column: BuiltIn| {
        let value = values.value(column.key())?.to_owned();
        Some(Known { column: column.key().to_owned(), value, origin: origin(column) })
    };
    BuiltIn::ALL.into_iter().filter_map(known).collect()
}

/// A value in a column of the team's. Of computed ones a blank is shown too.
fn own(column: &Column, computed: &dyn Lookup) -> Option<Known> {
    let value = computed.value(&column.name_key).unwrap_or_default().to_owned();
    let origin = match (column.kind, column.source) {
        (ColumnKind::Custom, _) if value.is_empty() => return None,
        (ColumnKind::Custom, ColumnSource::Owner) => "Sent; your team made the column".to_owned(),
        (ColumnKind::Custom, ColumnSource::Api) => "Sent; a request made the column".to_owned(),
        (ColumnKind::Custom, ColumnSource::Integration) => "Sent; an integration made the column".to_owned(),
        (ColumnKind::Formula, _) => format!("Computed: {}", column.formula.as_deref().unwrap_or_default()),
        (ColumnKind::Ai, _) if value.is_empty() => "Not written by the language model yet".to_owned(),
        (ColumnKind::Ai, _) => "Written by a language model".to_owned(),
    };
    Some(Known { column: column.name.clone(), value, origin })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_between_last_and_first_name_is_as_good_as_a_space() {
        assert_eq!(beginning(" Miles,  Ada "), "Miles Ada");
        assert_eq!(beginning(""), "");
    }
}
