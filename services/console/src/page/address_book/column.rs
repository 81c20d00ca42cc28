//! The columns of the address book.

use askama::Template;
use audience::{BuiltInColumn, ColumnType};
use axum::Form;
use columns::{SaveColumnError, TypeUses};
use contract::mcp::FormulaError;
use serde::Deserialize;
use store::{ColumnSource, TeamColumn};

use crate::extract::{FormResult, MemberContext, PageQuery};
use crate::format::is_visible;
use crate::frame::PageFrame;
use crate::notice::{ActionNotice, redirect_with_notice};
use crate::page_error::{PageError, PageResult};
use crate::paging::{LINES, cut_page, url_query};
use crate::render::render_form;

/// Where the page is.
const ADDRESS: &str = "/address-book/columns";

#[derive(Deserialize)]
pub(crate) struct ColumnListQuery {
    #[serde(default)]
    after: String,
}

#[derive(Deserialize)]
pub(crate) struct NewColumnForm {
    name: String,
    #[serde(rename = "type")]
    column_type: ColumnType,
}

#[derive(Deserialize)]
pub(crate) struct ColumnLockForm {
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
        let query = url_query(&[("name", &column.name)]);
        format!("/address-book/formula?{query}")
    }
}

/// The page.
pub(crate) async fn show_columns(
    context: MemberContext,
    PageQuery(cursor): PageQuery<ColumnListQuery>,
) -> PageResult {
    columns_page(&context, &cursor.after, NewColumnInput::default()).await
}

async fn columns_page(context: &MemberContext, after: &str, typed: NewColumnInput) -> PageResult {
    let mut columns = context
        .store()
        .list_column_page(context.team_id(), after, LINES + 1)
        .await?;
    let next = cut_page(&mut columns).map(|last| url_query(&[("after", &last.name_key)]));
    let built_in = if after.is_empty() {
        BuiltInColumn::ALL.to_vec()
    } else {
        Vec::new()
    };
    let uses = column_uses(context).await?;
    let is_refused = typed.problem.is_some();
    let shown = ColumnsPage {
        frame: context.frame("/address-book"),
        built_in,
        columns,
        uses,
        next,
        typed,
    };
    Ok(render_form(&shown, is_refused))
}

/// What uses the team's columns.
async fn column_uses(context: &MemberContext) -> Result<TypeUses, PageError> {
    let (store, team_id) = (context.store(), context.team_id());
    let all = store.list_columns(team_id).await?;
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    Ok(TypeUses::load(&transaction, team_id, &all).await?)
}

/// Makes a column that senders fill.
pub(crate) async fn create_column(
    context: MemberContext,
    form: FormResult<NewColumnForm>,
) -> PageResult {
    let Form(NewColumnForm { name, column_type }) = form?;
    if !is_visible(&name) {
        let problem = Some("Give a name that can be seen.".to_owned());
        return columns_page(&context, "", NewColumnInput { name, problem }).await;
    }
    let (store, now) = (context.store(), context.now());
    let new = (name.as_str(), column_type);
    match columns::create_column(store, context.actor(), context.team_id(), new, now).await {
        Ok(_) => Ok(redirect_with_notice(ADDRESS, ActionNotice::ColumnSaved)),
        Err(reason) => {
            let problem = Some(formula_error(reason)?.to_string());
            columns_page(&context, "", NewColumnInput { name, problem }).await
        }
    }
}

/// What the person is told.
pub(super) fn formula_error(refused: SaveColumnError) -> Result<FormulaError, PageError> {
    match refused {
        SaveColumnError::Request(error) => Ok(error),
        SaveColumnError::Store(error) => Err(error.into()),
    }
}

/// Locks a column's type.
pub(crate) async fn lock_column(
    context: MemberContext,
    form: FormResult<ColumnLockForm>,
) -> PageResult {
    set_lock(&context, &form?.column, true).await?;
    Ok(redirect_with_notice(ADDRESS, ActionNotice::ColumnLocked))
}

/// Unlocks a column's type.
pub(crate) async fn unlock_column(
    context: MemberContext,
    form: FormResult<ColumnLockForm>,
) -> PageResult {
    set_lock(&context, &form?.column, false).await?;
    Ok(redirect_with_notice(ADDRESS, ActionNotice::ColumnUnlocked))
}

async fn set_lock(context: &MemberContext, column: &str, is_locked: bool) -> Result<(), PageError> {
    let (store, now) = (context.store(), context.now());
    let lock = (column, is_locked);
    columns::set_column_lock(store, context.actor(), context.team_id(), lock, now).await?;
    Ok(())
}
