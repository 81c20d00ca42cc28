//! A formula column: written, looked at with people of the address book, and saved.

use std::time::Instant;

use askama::Template;
use axum::Form;
use columns::{ColumnsContext, FormulaToSave, SaveColumnError};
use contract::mcp::{FormulaError, FormulaProblem, PreviewAnswer, PreviewArguments};
use model::id::RequestId;
use serde::Deserialize;
use store::{ColumnKind, FormulaChange, TeamColumn};

use super::column::formula_error;
use crate::extract::{FormResult, MemberContext, PageQuery};
use crate::fingerprint::fingerprint_of;
use crate::format::is_visible;
use crate::frame::PageFrame;
use crate::notice::{ActionNotice, redirect_with_notice};
use crate::page::COMPUTING_TIME;
use crate::page_error::{PageError, PageResult};
use crate::render::{render_page, render_refusal};

/// People that a preview shows.
const PEOPLE: usize = 5;

/// Changes of a formula that are shown.
const CHANGES: i64 = 5;

#[derive(Deserialize)]
pub(crate) struct FormulaQuery {
    /// The column; empty for a new one.
    #[serde(default)]
    name: String,
}

/// What a person typed.
#[derive(Deserialize)]
pub(crate) struct FormulaForm {
    name: String,
    formula: String,
    /// A fingerprint of the formula that stood there when the form was made; empty for a new column.
    #[serde(default)]
    seen: String,
}

#[derive(Template)]
#[template(path = "formula.html")]
struct FormulaPage {
    frame: PageFrame,
    written: FormulaForm,
    /// Why it cannot be saved, when that is not in the formula.
    problem: Option<String>,
    /// What is wrong with the formula.
    problems: Vec<FormulaProblem>,
    preview: Option<PreviewAnswer>,
    changes: Vec<FormulaChange>,
}

/// The page, with the formula as it stands.
pub(crate) async fn show_formula(
    context: MemberContext,
    PageQuery(FormulaQuery { name }): PageQuery<FormulaQuery>,
) -> PageResult {
    if name.is_empty() {
        let written = FormulaForm {
            name,
            formula: String::new(),
            seen: String::new(),
        };
        return Ok(render_page(&empty_page(&context, written)));
    }
    let name_key = audience::fold_name(&name);
    let column = context
        .store()
        .find_column(context.team_id(), &name_key)
        .await?;
    if column.kind != ColumnKind::Formula {
        return Err(PageError::NotFound);
    }
    let seen = fingerprint_of(&column.formula);
    let written = FormulaForm {
        name: column.name,
        formula: column.formula.unwrap_or_default(),
        seen,
    };
    let changes = context
        .store()
        .list_formula_changes(context.team_id(), &name_key, CHANGES)
        .await?;
    Ok(render_page(&FormulaPage {
        changes,
        ..preview_page(&context, written).await?
    }))
}

fn empty_page(context: &MemberContext, written: FormulaForm) -> FormulaPage {
    FormulaPage {
        frame: context.frame("/address-book"),
        written,
        problem: None,
        problems: Vec::new(),
        preview: None,
        changes: Vec::new(),
    }
}

/// The page with what the formula gives; nothing is saved.
pub(crate) async fn preview_formula(
    context: MemberContext,
    form: FormResult<FormulaForm>,
) -> PageResult {
    let Form(written) = form?;
    Ok(render_page(&preview_page(&context, written).await?))
}

async fn preview_page(
    context: &MemberContext,
    written: FormulaForm,
) -> Result<FormulaPage, PageError> {
    if written.formula.trim().is_empty() {
        return Ok(empty_page(context, written));
    }
    let name = written.name.trim();
    let arguments = PreviewArguments {
        formula: Some(written.formula.trim().to_owned()),
        name: (!name.is_empty()).then(|| name.to_owned()),
        rows: None,
        limit: Some(PEOPLE),
    };
    let asker = columns_context(context);
    let begun = Instant::now();
    let is_too_late = || begun.elapsed() > COMPUTING_TIME;
    let (preview, error) = match columns::preview_formula(
        asker,
        arguments,
        columns::PeopleMasking::Shown,
        &is_too_late,
    )
    .await
    {
        Ok(answer) => (Some(answer), None),
        Err(error) => (None, Some(error)),
    };
    Ok(FormulaPage {
        preview,
        ..error_page(context, written, error)
    })
}

/// The page with what is wrong.
fn error_page(
    context: &MemberContext,
    written: FormulaForm,
    error: Option<FormulaError>,
) -> FormulaPage {
    let page = empty_page(context, written);
    match error {
        None => page,
        Some(FormulaError::InvalidFormula(problems)) => FormulaPage { problems, ..page },
        Some(other) => FormulaPage {
            problem: Some(other.to_string()),
            ..page
        },
    }
}

fn columns_context<'a>(context: &'a MemberContext) -> ColumnsContext<'a> {
    let now = context.now();
    ColumnsContext {
        store: context.store(),
        team_id: context.team_id(),
        now,
    }
}

/// Makes the column or gives it another formula.
pub(crate) async fn save_formula(
    context: MemberContext,
    form: FormResult<FormulaForm>,
) -> PageResult {
    let Form(written) = form?;
    match try_save(&context, &written).await {
        Ok(None) => Ok(redirect_with_notice(
            "/address-book/columns",
            ActionNotice::ColumnSaved,
        )),
        Ok(Some(FormulaConflict { problem, seen })) => {
            let written = FormulaForm { seen, ..written };
            Ok(render_refusal(&FormulaPage {
                problem: Some(problem),
                ..empty_page(&context, written)
            }))
        }
        Err(error) => {
            let error = formula_error(error)?;
            Ok(render_refusal(&error_page(&context, written, Some(error))))
        }
    }
}

/// The column is not what the form was made from.
struct FormulaConflict {
    problem: String,
    /// The fingerprint of what stands now, for who saves again.
    seen: String,
}

/// Compares the column that stands with the one that the form was made from; `None` when it is that one.
fn find_conflict(columns: &[TeamColumn], written: &FormulaForm) -> Option<FormulaConflict> {
    let (name_key, seen) = (
        audience::fold_name(written.name.trim()),
        written.seen.clone(),
    );
    let column = columns.iter().find(|column| column.name_key == name_key);
    let problem = match column {
        None if !is_visible(&written.name) => "Give a name that can be seen.".to_owned(),
        None if seen.is_empty() => return None,
        None => "Your team has no column of this name: begin with New formula column.".to_owned(),
        Some(TeamColumn { name, .. }) if seen.is_empty() => format!(
            "Your team has a column named {name} already. Choose another name; a formula is changed on its column's own page."
        ),
        Some(column) if fingerprint_of(&column.formula) == seen => return None,
        Some(TeamColumn { formula, .. }) => {
            let stands = formula.as_deref().unwrap_or("no formula");
            let problem = format!(
                "Nothing was saved: somebody changed this formula since you opened the page. What stands now: {stands} Save \
                 again to put yours in its place."
            );
            return Some(FormulaConflict {
                problem,
                seen: fingerprint_of(formula),
            });
        }
    };
    Some(FormulaConflict { problem, seen })
}

async fn try_save(
    context: &MemberContext,
    written: &FormulaForm,
) -> Result<Option<FormulaConflict>, SaveColumnError> {
    let asker = columns_context(context);
    let mut connection = asker.store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let save = FormulaToSave {
        request_id: RequestId::new(),
        name: columns::check_name(&written.name)?,
        formula: written.formula.trim(),
    };
    let columns = transaction.lock_columns(asker.team_id).await?;
    if let Some(conflict) = find_conflict(&columns, written) {
        return Ok(Some(conflict));
    }
    columns::save_formula_within(
        &transaction,
        context.actor(),
        asker.team_id,
        save,
        asker.now,
    )
    .await?;
    transaction.commit().await?;
    Ok(None)
}
