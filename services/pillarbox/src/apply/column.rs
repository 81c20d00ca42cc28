//! The columns of a team's file.

use std::collections::HashMap;

use audience::{BuiltIn, ColumnType, Conditions, fold_name};
use chrono::{DateTime, Utc};
use contract::id::TeamId;
use formula::Definition;
use store::{ColumnKind, ColumnSource, Transaction};

use super::check::items;
use super::error::{ApplyError, At};
use super::file::Column;

type Result<T> = std::result::Result<T, ApplyError>;

/// Campaigns read at a time.
const CAMPAIGNS_READ: i64 = 100;

/// AI columns of a team: each is a call for every entry.
const AI_COLUMNS: usize = 10;

/// Makes or changes the columns. Formulas are checked together with those that stand already, which may build on them.
/// Returns the names.
pub(super) async fn save_columns(
    transaction: &Transaction<'_>,
    team_id: TeamId,
    place: &str,
    columns: &[Column],
    now: DateTime<Utc>,
) -> Result<Vec<String>> {
    let stored = transaction.column_list_locked(team_id).await.at(place)?;
    let wanted: Vec<store::Column> = columns.iter().map(wanted).collect();
    let before: HashMap<String, ColumnType> =
        stored.iter().map(|column| (column.name_key.clone(), column.column_type)).collect();
    let used = columns_used(transaction, team_id, place).await?;
    let all = merged(stored, &wanted);
    if all.iter().filter(|column| column.kind == ColumnKind::Ai).count() > AI_COLUMNS {
        return Err(ApplyError::refused(
            format!("{place}.columns"),
            format!("a team has at most {AI_COLUMNS} columns with a prompt"),
        ));
    }
    let types = formula_types(place, columns, &all)?;
    for ((place, _), mut column) in items(place, "columns", columns).zip(wanted) {
        column.column_type = types.get(&column.name_key).copied().unwrap_or(column.column_type);
        let changes = before.get(&column.name_key).is_some_and(|stored| *stored != column.column_type);
        if let Some(campaign) = used.get(&column.name_key).filter(|_| changes) {
            let reason = format!(
                "conditions of the campaign {campaign:?} use the column as it is: take them out first"
            );
            return Err(ApplyError::refused(format!("{place}.type"), reason));
        }
        transaction.column_save(team_id, &column, now).await.at(&place)?;
    }
    // Formulas that are not in the file may give another type since a column that they use does.
    for column in all.iter().filter(|column| column.kind == ColumnKind::Formula) {
        if let Some(column_type) = types.get(&column.name_key)
            && *column_type != column.column_type
        {
            transaction.column_retype(team_id, &column.name_key, *column_type).await.at(place)?;
        }
    }
    Ok(columns.iter().map(|column| column.name.0.clone()).collect())
}

/// The columns that stored conditions look at, each with the name of a campaign.
async fn columns_used(
    transaction: &Transaction<'_>,
    team_id: TeamId,
    place: &str,
) -> Result<HashMap<String, String>> {
    let (mut used, mut after) = (HashMap::new(), String::new());
    loop {
        let campaigns = transaction.campaign_conditions(team_id, &after, CAMPAIGNS_READ).await.at(place)?;
        let Some(last) = campaigns.last() else { return Ok(used) };
        after = last.campaign_id.as_str().to_owned();
        for campaign in &campaigns {
            // Only the names matter here, which are read whatever the types are.
            let read = Conditions::parse(&campaign.conditions, |_| None);
            let names = read.iter().flat_map(Conditions::columns);
            used.extend(names.map(|name| (name.to_owned(), campaign.name.clone())));
        }
    }
}

fn wanted(column: &Column) -> store::Column {
    let name = &column.name.0;
    match (&column.formula, &column.prompt) {
        // The type is found when the formulas are checked.
        (Some(formula), _) => store::Column::computed(name, ColumnType::Text, formula),
        (_, Some(prompt)) => store::Column::written(name, prompt),
        _ => {
            let column_type = column.column_type.unwrap_or(ColumnType::Text);
            store::Column::new(name, column_type, ColumnKind::Custom, ColumnSource::Owner)
        }
    }
}

/// The columns as they will be.
fn merged(stored: Vec<store::Column>, wanted: &[store::Column]) -> Vec<store::Column> {
    let is_kept = |column: &store::Column| wanted.iter().all(|one| one.name_key != column.name_key);
    stored.into_iter().filter(is_kept).chain(wanted.iter().cloned()).collect()
}

/// The types of all formula columns by folded name.
fn formula_types(
    place: &str,
    columns: &[Column],
    all: &[store::Column],
) -> Result<HashMap<String, ColumnType>> {
    let definition = |column: &store::Column| {
        let source = column.formula.clone()?;
        Some(Definition { name: column.name.clone(), column_type: column.column_type, source })
    };
    let definitions: Vec<Definition> = all.iter().filter_map(definition).collect();
    let built_in = BuiltIn::ALL.map(|column| (column.key().to_owned(), column.column_type()));
    let own = all.iter().map(|column| (column.name.clone(), column.column_type));
    let offered: Vec<formula::Column> = built_in
        .into_iter()
        .chain(own)
        .map(|(name, column_type)| formula::Column { name, column_type })
        .collect();
    let types =
        formula::check(&offered, &definitions).map_err(|problems| refused(place, columns, &problems))?;
    Ok(definitions.iter().map(|definition| fold_name(&definition.name)).zip(types).collect())
}

/// The first problem, at its column in the file. One of a column that is not there comes of a change to another.
fn refused(place: &str, columns: &[Column], problems: &[formula::ColumnProblem]) -> ApplyError {
    let Some(first) = problems.first() else {
        return ApplyError::refused(format!("{place}.columns"), "the formulas cannot be used");
    };
    let own = |column: &Column| fold_name(&column.name.0) == fold_name(&first.column);
    match items(place, "columns", columns).find(|(_, column)| own(column)) {
        Some((place, _)) => ApplyError::refused(format!("{place}.formula"), first.problem.to_string()),
        None => {
            let reason = format!("the formula of {} would break, {}", first.column, first.problem);
            ApplyError::refused(format!("{place}.columns"), reason)
        }
    }
}
