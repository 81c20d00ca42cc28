//! A formula column: written, looked at with people of the address book, and saved.

use std::time::Instant;

use askama::Template;
use axum::Form;
use axum::extract::rejection::{FormRejection, QueryRejection};
use axum::extract::{Query, State};
use axum::response::Response;
use columns::{ColumnsContext, FormulaToSave, SaveColumnError};
use contract::mcp::{FormulaError, FormulaProblem, PreviewAnswer, PreviewArguments};
use model::id::RequestId;
use serde::Deserialize;
use store::{ColumnKind, FormulaChange, TeamColumn};

use super::column::told;
use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::answer::{self, ActionNotice, PageFrame, done, page};
use crate::failure::PageError;
use crate::page::COMPUTING_TIME;
use crate::seen::fingerprint;
use crate::show::is_visible;

/// People that a preview shows.
const PEOPLE: usize = 5;

/// Changes of a formula that are shown.
const CHANGES: i64 = 5;

#[derive(Deserialize)]
pub(super) struct FormulaQuery {
    /// The column; empty for a new one.
    #[serde(default)]
    name: String,
}

/// What a person typed.
#[derive(Deserialize)]
pub(super) struct FormulaForm {
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
pub(super) async fn show(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    named: Result<Query<FormulaQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let Query(FormulaQuery { name }) = named?;
    if name.is_empty() {
        let written = FormulaForm {
            name,
            formula: String::new(),
            seen: String::new(),
        };
        return Ok(page(&empty(&person, written)));
    }
    let name_key = audience::fold_name(&name);
    let column = console
        .process
        .store
        .find_column(person.0.team_id, &name_key)
        .await?;
    if column.kind != ColumnKind::Formula {
        return Err(PageError::NotFound);
    }
    let seen = fingerprint(&column.formula);
    let written = FormulaForm {
        name: column.name,
        formula: column.formula.unwrap_or_default(),
        seen,
    };
    let changes = console
        .process
        .store
        .list_formula_changes(person.0.team_id, &name_key, CHANGES)
        .await?;
    Ok(page(&FormulaPage {
        changes,
        ..previewed(&console, &person, written).await?
    }))
}

fn empty(person: &CurrentMember, written: FormulaForm) -> FormulaPage {
    FormulaPage {
        frame: PageFrame::new(person, "/address-book"),
        written,
        problem: None,
        problems: Vec::new(),
        preview: None,
        changes: Vec::new(),
    }
}

/// The page with what the formula gives; nothing is saved.
pub(super) async fn preview(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    form: Result<Form<FormulaForm>, FormRejection>,
) -> Result<Response, PageError> {
    let Form(written) = form?;
    Ok(page(&previewed(&console, &person, written).await?))
}

async fn previewed(
    console: &ConsoleState,
    person: &CurrentMember,
    written: FormulaForm,
) -> Result<FormulaPage, PageError> {
    if written.formula.trim().is_empty() {
        return Ok(empty(person, written));
    }
    let name = written.name.trim();
    let arguments = PreviewArguments {
        formula: Some(written.formula.trim().to_owned()),
        name: (!name.is_empty()).then(|| name.to_owned()),
        rows: None,
        limit: Some(PEOPLE),
    };
    let asker = asker(console, person);
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
        ..refused(person, written, error)
    })
}

/// The page with what is wrong.
fn refused(
    person: &CurrentMember,
    written: FormulaForm,
    error: Option<FormulaError>,
) -> FormulaPage {
    let page = empty(person, written);
    match error {
        None => page,
        Some(FormulaError::InvalidFormula(problems)) => FormulaPage { problems, ..page },
        Some(other) => FormulaPage {
            problem: Some(other.to_string()),
            ..page
        },
    }
}

fn asker<'a>(console: &'a ConsoleState, person: &CurrentMember) -> ColumnsContext<'a> {
    let now = console.process.clock.now();
    ColumnsContext {
        store: &console.process.store,
        team_id: person.0.team_id,
        now,
    }
}

/// Makes the column or gives it another formula.
pub(super) async fn save(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    form: Result<Form<FormulaForm>, FormRejection>,
) -> Result<Response, PageError> {
    let Form(written) = form?;
    match attempt(&console, &person, &written).await {
        Ok(None) => Ok(done("/address-book/columns", ActionNotice::ColumnSaved)),
        Ok(Some(FormulaConflict { problem, seen })) => {
            let written = FormulaForm { seen, ..written };
            Ok(answer::refused(&FormulaPage {
                problem: Some(problem),
                ..empty(&person, written)
            }))
        }
        Err(error) => {
            let error = told(error)?;
            Ok(answer::refused(&refused(&person, written, Some(error))))
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
fn overtaken(columns: &[TeamColumn], written: &FormulaForm) -> Option<FormulaConflict> {
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
        Some(column) if fingerprint(&column.formula) == seen => return None,
        Some(TeamColumn { formula, .. }) => {
            let stands = formula.as_deref().unwrap_or("no formula");
            let problem = format!(
                "Nothing was saved: somebody changed this formula since you opened the page. What stands now: {stands} Save \
                 again to put yours in its place."
            );
            return Some(FormulaConflict {
                problem,
                seen: fingerprint(formula),
            });
        }
    };
    Some(FormulaConflict { problem, seen })
}

async fn attempt(
    console: &ConsoleState,
    person: &CurrentMember,
    written: &FormulaForm,
) -> Result<Option<FormulaConflict>, SaveColumnError> {
    let asker = asker(console, person);
    let mut connection = asker.store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let save = FormulaToSave {
        request_id: RequestId::new(),
        name: columns::check_name(&written.name)?,
        formula: written.formula.trim(),
    };
    let columns = transaction.lock_columns(asker.team_id).await?;
    if let Some(overtaken) = overtaken(&columns, written) {
        return Ok(Some(overtaken));
    }
    columns::save_formula_within(&transaction, person.actor(), asker.team_id, save, asker.now)
        .await?;
    transaction.commit().await?;
    Ok(None)
}
