//! The columns of the address book.

use askama::Template;
use audience::{BuiltInColumn, ColumnType};
use axum::Form;
use axum::extract::rejection::{FormRejection, QueryRejection};
use axum::extract::{Query, State};
use axum::response::Response;
use columns::{SaveColumnError, TypeUses};
use contract::mcp::FormulaError;
use serde::Deserialize;
use store::{ColumnSource, TeamColumn};

use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::answer::{ActionNotice, NoticeQuery, PageFrame, done, page, refused};
use crate::failure::PageError;
use crate::page::LINES;
use crate::show::is_visible;

/// Where the page is.
const ADDRESS: &str = "/address-book/columns";

#[derive(Deserialize)]
pub(super) struct ColumnListQuery {
    #[serde(default)]
    after: String,
}

#[derive(Deserialize)]
pub(super) struct NewColumnForm {
    name: String,
    #[serde(rename = "type")]
    column_type: ColumnType,
}

#[derive(Deserialize)]
pub(super) struct ColumnLockForm {
    /// Its folded name.
    column: String,
}

/// What a person typed that cannot be made.
#[derive(Default)]
struct NewColumnInput {
    name: String,
    problem: Option<String>,
}

#[derive(Template)]
#[template(path = "columns.html")]
struct ColumnsPage {
    frame: PageFrame,
    /// On the first page.
    built_in: Vec<BuiltInColumn>,
    columns: Vec<TeamColumn>,
    uses: TypeUses,
    next: Option<String>,
    typed: NewColumnInput,
}

impl ColumnsPage {
    const fn source_name(column: &TeamColumn) -> &'static str {
        match column.source {
            ColumnSource::Owner => "Your team",
            ColumnSource::Api => "A request",
            ColumnSource::Integration => "An integration",
        }
    }

    /// Why an unlocked column keeps its type anyway.
    fn use_of(&self, column: &TeamColumn) -> Option<String> {
        if let Some(campaign) = self.uses.filtering_campaign(&column.name_key) {
            return Some(format!(
                "Campaigns filter on it, such as {campaign}: no integration can change its type."
            ));
        }
        self.uses
            .is_computed_with(&column.name_key)
            .then(|| "Formulas use it: no integration can change its type.".to_owned())
    }

    fn formula_address(column: &TeamColumn) -> String {
        let name = url::form_urlencoded::byte_serialize(column.name.as_bytes()).collect::<String>();
        format!("/address-book/formula?name={name}")
    }
}

/// The page.
pub(super) async fn show(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    cursor: Result<Query<ColumnListQuery>, QueryRejection>,
    noticed: Result<Query<NoticeQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let (Query(cursor), Query(noticed)) = (cursor?, noticed?);
    let frame = PageFrame::new(&person, "/address-book").with_notice(noticed.notice);
    columns_page(
        &console,
        &person,
        frame,
        &cursor.after,
        NewColumnInput::default(),
    )
    .await
}

async fn columns_page(
    console: &ConsoleState,
    person: &CurrentMember,
    frame: PageFrame,
    after: &str,
    typed: NewColumnInput,
) -> Result<Response, PageError> {
    let mut columns = console
        .process
        .store
        .list_column_page(person.0.team_id, after, LINES + 1)
        .await?;
    let is_more = columns.len() as i64 > LINES;
    columns.truncate(LINES as usize);
    let encoded =
        |name: &str| url::form_urlencoded::byte_serialize(name.as_bytes()).collect::<String>();
    let next = columns
        .last()
        .filter(|_| is_more)
        .map(|last| encoded(&last.name_key));
    let built_in = if after.is_empty() {
        BuiltInColumn::ALL.to_vec()
    } else {
        Vec::new()
    };
    let uses = uses(console, person).await?;
    let is_refused = typed.problem.is_some();
    let shown = ColumnsPage {
        frame,
        built_in,
        columns,
        uses,
        next,
        typed,
    };
    Ok(if is_refused {
        refused(&shown)
    } else {
        page(&shown)
    })
}

/// What uses the team's columns.
async fn uses(console: &ConsoleState, person: &CurrentMember) -> Result<TypeUses, PageError> {
    let (store, team_id) = (&console.process.store, person.0.team_id);
    let all = store.list_columns(team_id).await?;
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    Ok(TypeUses::load(&transaction, team_id, &all).await?)
}

/// Makes a column that senders fill.
pub(super) async fn create(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    form: Result<Form<NewColumnForm>, FormRejection>,
) -> Result<Response, PageError> {
    let Form(NewColumnForm { name, column_type }) = form?;
    if !is_visible(&name) {
        let problem = Some("Give a name that can be seen.".to_owned());
        let frame = PageFrame::new(&person, "/address-book");
        return columns_page(
            &console,
            &person,
            frame,
            "",
            NewColumnInput { name, problem },
        )
        .await;
    }
    let (store, now) = (&console.process.store, console.process.clock.now());
    let new = (name.as_str(), column_type);
    match columns::create_column(store, person.actor(), person.0.team_id, new, now).await {
        Ok(_) => Ok(done(ADDRESS, ActionNotice::ColumnSaved)),
        Err(reason) => {
            let problem = Some(told(reason)?.to_string());
            let frame = PageFrame::new(&person, "/address-book");
            columns_page(
                &console,
                &person,
                frame,
                "",
                NewColumnInput { name, problem },
            )
            .await
        }
    }
}

/// What the person is told.
pub(super) fn told(refused: SaveColumnError) -> Result<FormulaError, PageError> {
    match refused {
        SaveColumnError::Request(error) => Ok(error),
        SaveColumnError::Store(error) => Err(error.into()),
    }
}

/// Locks a column's type.
pub(super) async fn lock(
    console: State<ConsoleState>,
    person: CurrentMember,
    form: Result<Form<ColumnLockForm>, FormRejection>,
) -> Result<Response, PageError> {
    set_lock(&console, &person, &form?.column, true).await?;
    Ok(done(ADDRESS, ActionNotice::ColumnLocked))
}

/// Unlocks a column's type.
pub(super) async fn unlock(
    console: State<ConsoleState>,
    person: CurrentMember,
    form: Result<Form<ColumnLockForm>, FormRejection>,
) -> Result<Response, PageError> {
    set_lock(&console, &person, &form?.column, false).await?;
    Ok(done(ADDRESS, ActionNotice::ColumnUnlocked))
}

async fn set_lock(
    console: &ConsoleState,
    person: &CurrentMember,
    column: &str,
    is_locked: bool,
) -> Result<(), PageError> {
    let (store, now) = (&console.process.store, console.process.clock.now());
    let lock = (column, is_locked);
    columns::set_column_lock(store, person.actor(), person.0.team_id, lock, now).await?;
    Ok(())
}
