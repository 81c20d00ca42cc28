//! The columns of a team's file.

use std::collections::{HashMap, HashSet};

use audience::{BuiltInColumn, ColumnType, fold_name};
use chrono::{DateTime, Utc};
use columns::TypeUses;
use design::TextTemplate;
use formula::CheckedColumn;
use formula::limits::MAX_FORMULA_COLUMNS;
use model::id::TeamId;
use store::{Actor, ColumnKind, ColumnSource, Transaction};

use super::check::iter_items;
use super::error::{ApplyError, WithPlace};
use super::file::ColumnSpec;

type Result<T> = std::result::Result<T, ApplyError>;

/// AI columns of a team: each is a call for every entry.
const AI_COLUMNS: usize = 10;

/// Makes or changes the columns. Formulas are checked together with those that stand already, which may build on them.
/// Returns the names.
pub(super) async fn save_columns(
    transaction: &Transaction<'_>,
    team_id: TeamId,
    place: &str,
    columns: &[ColumnSpec],
    now: DateTime<Utc>,
) -> Result<Vec<String>> {
    let stored = transaction.lock_columns(team_id).await.with_place(place)?;
    let wanted: Vec<store::TeamColumn> = columns.iter().map(build_column).collect();
    let standing: HashMap<String, store::TeamColumn> = stored
        .iter()
        .map(|column| (column.name_key.clone(), column.clone()))
        .collect();
    let before: HashMap<String, ColumnType> = stored
        .iter()
        .map(|column| (column.name_key.clone(), column.column_type))
        .collect();
    let uses = TypeUses::load(transaction, team_id, &stored)
        .await
        .with_place(place)?;
    let all = merge_columns(stored, &wanted);
    check_column_count(place, &all)?;
    check_fields(place, columns, &all)?;
    let checked = checked_formulas(place, columns, &all)?;
    let refuse_filtered = |place: &str, column: &store::TeamColumn| {
        let changes = before
            .get(&column.name_key)
            .is_some_and(|stored| *stored != column.column_type);
        let Some(campaign) = uses
            .filtering_campaign(&column.name_key)
            .filter(|_| changes)
        else {
            return Ok(());
        };
        let reason = format!(
            "conditions of the campaign {campaign:?} use the column {:?} as it is: take them out first",
            column.name
        );
        Err(ApplyError::refused(place.to_owned(), reason))
    };
    for ((place, _), mut column) in iter_items(place, "columns", columns).zip(wanted) {
        if let Some(found) = checked.get(&column.name_key) {
            (column.column_type, column.formula_uses) = (found.column_type, found.uses.clone());
        }
        refuse_filtered(&format!("{place}.type"), &column)?;
        let change = (standing.get(&column.name_key), &column);
        columns::declare_column_within(transaction, Actor::Operator, team_id, change, now)
            .await
            .with_place(&place)?;
    }
    // Formulas that are not in the file may give another type since a column that they use does.
    let in_file: HashSet<String> = columns
        .iter()
        .map(|column| fold_name(&column.name.0))
        .collect();
    for column in all
        .iter()
        .filter(|column| !in_file.contains(&column.name_key))
    {
        let Some(found) = checked.get(&column.name_key) else {
            continue;
        };
        if found.column_type == column.column_type && found.uses == column.formula_uses {
            continue;
        }
        let retyped = store::TeamColumn {
            column_type: found.column_type,
            ..column.clone()
        };
        refuse_filtered(&format!("{place}.columns"), &retyped)?;
        let uses = found.uses.as_ref();
        transaction
            .update_column_type(team_id, &column.name_key, found.column_type, uses)
            .await
            .with_place(place)?;
    }
    refuse_other_types(place, columns, &before, &all, &checked)?;
    Ok(columns.iter().map(|column| column.name.0.clone()).collect())
}

/// Refuses more computed columns than a team may have.
fn check_column_count(place: &str, all: &[store::TeamColumn]) -> Result<()> {
    for (kind, most, what) in [
        (ColumnKind::Ai, AI_COLUMNS, "columns with a prompt"),
        (ColumnKind::Formula, MAX_FORMULA_COLUMNS, "formula columns"),
    ] {
        if all.iter().filter(|column| column.kind == kind).count() > most {
            let reason = format!("a team has at most {most} {what}");
            return Err(ApplyError::refused(format!("{place}.columns"), reason));
        }
    }
    Ok(())
}

/// Refuses a prompt with a field that is no column: it would be blank for everybody.
fn check_fields(place: &str, columns: &[ColumnSpec], all: &[store::TeamColumn]) -> Result<()> {
    let is_known = |field: &str| {
        BuiltInColumn::from_name(field).is_some()
            || all.iter().any(|column| column.name_key == fold_name(field))
    };
    for (place, column) in iter_items(place, "columns", columns) {
        let Some(Ok(template)) = column.prompt.as_deref().map(TextTemplate::parse) else {
            continue;
        };
        if let Some(unknown) = template.field_names().find(|field| !is_known(field)) {
            let reason = format!("the team has no column {unknown:?}: declare it under `columns`");
            return Err(ApplyError::refused(format!("{place}.prompt"), reason));
        }
    }
    Ok(())
}

fn build_column(column: &ColumnSpec) -> store::TeamColumn {
    let name = &column.name.0;
    match (&column.formula, &column.prompt) {
        // The type is found when the formulas are checked.
        (Some(formula), _) => store::TeamColumn::new_formula(name, ColumnType::Text, formula),
        (_, Some(prompt)) => store::TeamColumn::new_ai(name, prompt),
        _ => {
            let column_type = column.column_type.unwrap_or(ColumnType::Text);
            store::TeamColumn::new(name, column_type, ColumnKind::Custom, ColumnSource::Owner)
        }
    }
}

/// The columns as they will be.
fn merge_columns(
    stored: Vec<store::TeamColumn>,
    wanted: &[store::TeamColumn],
) -> Vec<store::TeamColumn> {
    let is_kept =
        |column: &store::TeamColumn| wanted.iter().all(|one| one.name_key != column.name_key);
    stored
        .into_iter()
        .filter(is_kept)
        .chain(wanted.iter().cloned())
        .collect()
}

/// What all formula columns are found to be, by folded name.
fn checked_formulas(
    place: &str,
    columns: &[ColumnSpec],
    all: &[store::TeamColumn],
) -> Result<HashMap<String, CheckedColumn>> {
    let retyped: HashMap<String, ColumnType> = columns
        .iter()
        .filter_map(|column| Some((fold_name(&column.name.0), column.column_type?)))
        .collect();
    let mut definitions = columns::list_formula_columns(all);
    // The owner who gives a column another type means the formulas over it to go on.
    for (key, column_type) in definitions
        .iter_mut()
        .flat_map(|definition| definition.uses.iter_mut().flatten())
    {
        *column_type = retyped.get(key).copied().unwrap_or(*column_type);
    }
    let offered: Vec<formula::InputColumn> = columns::list_input_columns(all).collect();
    let checked = formula::check_columns(&offered, &definitions, &columns::parse_prompts(all))
        .map_err(|problems| formula_error(place, columns, &problems))?;
    Ok(definitions
        .iter()
        .map(|definition| fold_name(&definition.name))
        .zip(checked)
        .collect())
}

/// Refuses a formula of the file that gives another type than its column has while formulas use it that are not in the file:
/// they would mean something else.
fn refuse_other_types(
    place: &str,
    columns: &[ColumnSpec],
    before: &HashMap<String, ColumnType>,
    all: &[store::TeamColumn],
    checked: &HashMap<String, CheckedColumn>,
) -> Result<()> {
    let in_file: HashSet<String> = columns
        .iter()
        .map(|column| fold_name(&column.name.0))
        .collect();
    for (place, column) in
        iter_items(place, "columns", columns).filter(|(_, column)| column.formula.is_some())
    {
        let key = fold_name(&column.name.0);
        let (Some(was), Some(is)) = (before.get(&key), checked.get(&key)) else {
            continue;
        };
        if *was == is.column_type {
            continue;
        }
        let uses = |other: &&store::TeamColumn| {
            let saved = other.formula_uses.as_ref().and_then(|uses| uses.get(&key));
            !in_file.contains(&other.name_key)
                && saved.map_or_else(
                    || other.formula_uses.is_none() && uses_now(checked, other, &key),
                    |saved| *saved != is.column_type,
                )
        };
        let users: Vec<&str> = all
            .iter()
            .filter(uses)
            .map(|other| other.name.as_str())
            .collect();
        if !users.is_empty() {
            let reason = format!(
                "other formula columns use this one as {was}, and would mean something else when it is {}: {}; put them into the file too",
                is.column_type,
                users.join(", ")
            );
            return Err(ApplyError::refused(format!("{place}.formula"), reason));
        }
    }
    Ok(())
}

fn uses_now(
    checked: &HashMap<String, CheckedColumn>,
    column: &store::TeamColumn,
    key: &str,
) -> bool {
    checked
        .get(&column.name_key)
        .and_then(|found| found.uses.as_ref())
        .is_some_and(|uses| uses.contains_key(key))
}

/// The first problem, at its column in the file. One of a column that is not there comes of a change to another.
fn formula_error(
    place: &str,
    columns: &[ColumnSpec],
    problems: &[formula::ColumnDiagnostic],
) -> ApplyError {
    let Some(first) = problems.first() else {
        return ApplyError::refused(format!("{place}.columns"), "the formulas cannot be used");
    };
    let own = |column: &ColumnSpec| fold_name(&column.name.0) == fold_name(&first.column);
    match iter_items(place, "columns", columns).find(|(_, column)| own(column)) {
        Some((place, column)) if column.prompt.is_some() => {
            ApplyError::refused(format!("{place}.prompt"), first.problem.message.clone())
        }
        Some((place, _)) => {
            ApplyError::refused(format!("{place}.formula"), first.problem.to_string())
        }
        None => {
            let reason = format!(
                "the formula of {} would break, {}",
                first.column, first.problem
            );
            ApplyError::refused(format!("{place}.columns"), reason)
        }
    }
}
