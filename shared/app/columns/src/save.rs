//! A formula column is made or changed.

use audience::{ColumnType, FilterConditions};
use chrono::{DateTime, Utc};
use contract::mcp::{FormulaError, SaveAnswer, SaveOutcome};
use formula::name_problem;
use model::id::{RequestId, TeamId};
use store::{Actor, FormulaChangeAuthor, NewFormulaChange, StoreError, TeamColumn, Transaction};

use crate::book::{ColumnCatalog, FittedFormula, NamedColumn, formula_source};
use crate::uses::find_filtering_campaigns;

/// The action in the log.
pub(crate) const FORMULA_SAVED: &str = "formula.saved";

/// Why a save was not made.
#[derive(Debug)]
pub enum SaveColumnError {
    /// Who asked is told why.
    Request(FormulaError),
    /// The database failed.
    Store(StoreError),
}

impl From<StoreError> for SaveColumnError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<FormulaError> for SaveColumnError {
    fn from(error: FormulaError) -> Self {
        Self::Request(error)
    }
}

/// A formula that is to be saved.
#[derive(Debug, Clone, Copy)]
pub struct FormulaToSave<'a> {
    /// Names the request: delivered again, it finds its change.
    pub request_id: RequestId,
    /// The column's name, as [`check_name`] gives it.
    pub name: &'a str,
    /// The source, trimmed.
    pub formula: &'a str,
}

/// The name of a column, trimmed.
///
/// # Errors
/// `invalid_request` for names that designs and formulas could not write.
pub fn check_name(name: &str) -> Result<&str, FormulaError> {
    let name = name.trim();
    match name_problem(name) {
        Some(problem) => Err(FormulaError::InvalidRequest(format!("name {problem}."))),
        None => Ok(name),
    }
}

/// Makes a formula column or changes one, within the caller's transaction, with an entry in the team's activity log. A request that
/// comes again finds its change and gets the same answer; it adds no entry, and neither does a formula that stands already.
///
/// # Errors
/// [`SaveColumnError`]: `not_a_formula_column`, `too_many_formulas`, `invalid_formula`, `type_in_use`, or the database's.
pub async fn save_formula_within(
    transaction: &Transaction<'_>,
    actor: Actor<'_>,
    team_id: TeamId,
    save: FormulaToSave<'_>,
    now: DateTime<Utc>,
) -> Result<SaveAnswer, SaveColumnError> {
    let FormulaToSave {
        request_id,
        name,
        formula,
    } = save;
    if formula.contains('\0') {
        let why = "formula must not have the character U+0000 in it.".to_owned();
        return Err(FormulaError::InvalidRequest(why).into());
    }
    let book = ColumnCatalog::new(transaction.lock_columns(team_id).await?);
    let existing = book.find_save_target(name)?;
    let fitting = tokio::task::block_in_place(|| book.fit_formula(formula, Some(name)))
        .map_err(FormulaError::InvalidFormula)?;
    let is_standing = |column: &&TeamColumn| {
        // Saved over other types it means something else: this save takes the types of today.
        formula_source(column) == Some(formula)
            && column
                .formula_uses
                .as_ref()
                .is_none_or(|uses| *uses == fitting.uses)
    };
    if let Some(column) = existing.filter(is_standing) {
        return answer_unchanged(transaction, team_id, request_id, column).await;
    }
    let columns = changed_columns(name, formula, existing, &fitting);
    refuse_lost_conditions(transaction, team_id, &book, &columns).await?;
    transaction.save_column(team_id, &columns[0], now).await?;
    for column in &columns[1..] {
        let uses = column.formula_uses.as_ref();
        transaction
            .update_column_type(team_id, &column.name_key, column.column_type, uses)
            .await?;
    }
    let previous_formula = existing.and_then(formula_source);
    let name_key = &columns[0].name_key;
    let actor_name = actor.name();
    let by = match actor {
        Actor::KeyHolder { key_id, .. } => FormulaChangeAuthor::Key(key_id),
        Actor::Member(_) | Actor::SignedOut { .. } | Actor::Operator => {
            FormulaChangeAuthor::Person(&actor_name)
        }
    };
    let change = NewFormulaChange {
        request_id,
        name_key,
        by,
        formula,
        previous_formula,
    };
    transaction
        .insert_formula_change(team_id, change, now)
        .await?;
    let column = &columns[0].name;
    transaction
        .record_activity(team_id, actor, FORMULA_SAVED, column, now)
        .await?;
    Ok(SaveAnswer {
        name: columns[0].name.clone(),
        outcome: save_outcome(previous_formula),
        formula: formula.to_owned(),
        result_type: fitting.result_type,
        previous_formula: previous_formula.map(str::to_owned),
    })
}

/// The answer when the column has this formula already: this request gave it, delivered before, or another did.
async fn answer_unchanged(
    transaction: &Transaction<'_>,
    team_id: TeamId,
    request_id: RequestId,
    column: &TeamColumn,
) -> Result<SaveAnswer, SaveColumnError> {
    let latest = transaction
        .find_latest_formula_change(team_id, &column.name_key)
        .await?;
    let own = latest.filter(|change| change.request_id == request_id);
    Ok(SaveAnswer {
        name: column.name.clone(),
        outcome: own.as_ref().map_or(SaveOutcome::Unchanged, |change| {
            save_outcome(change.previous_formula.as_deref())
        }),
        formula: formula_source(column).unwrap_or_default().to_owned(),
        result_type: column.column_type,
        previous_formula: own.and_then(|change| change.previous_formula),
    })
}

const fn save_outcome(previous_formula: Option<&str>) -> SaveOutcome {
    match previous_formula {
        Some(_) => SaveOutcome::Changed,
        None => SaveOutcome::Created,
    }
}

/// The column itself first, then those that change with it.
fn changed_columns(
    name: &str,
    formula: &str,
    existing: Option<&TeamColumn>,
    fitting: &FittedFormula,
) -> Vec<TeamColumn> {
    let name = existing.map_or(name, |existing| existing.name.as_str());
    let own = TeamColumn {
        formula_uses: Some(fitting.uses.clone()),
        ..TeamColumn::new_formula(name, fitting.result_type, formula)
    };
    let retyped = fitting.retyped.iter().map(|other| TeamColumn {
        formula_uses: other.uses.clone(),
        ..TeamColumn::new_formula(&other.name, other.column_type, &other.source)
    });
    std::iter::once(own).chain(retyped).collect()
}

/// Refuses new types with which conditions that can be read now could not be read any more.
async fn refuse_lost_conditions(
    transaction: &Transaction<'_>,
    team_id: TeamId,
    book: &ColumnCatalog,
    columns: &[TeamColumn],
) -> Result<(), SaveColumnError> {
    for column in columns {
        let NamedColumn::Formula(current) = book.find(&column.name) else {
            continue;
        };
        if current.column_type == column.column_type {
            continue;
        }
        let reads = |column_type: ColumnType, conditions: &serde_json::Value| {
            FilterConditions::parse(conditions, |name| {
                (name == column.name_key).then_some(column_type)
            })
            .is_ok()
        };
        let (campaigns, _) =
            find_filtering_campaigns(transaction, team_id, &column.name_key).await?;
        let lost: Vec<String> = campaigns
            .iter()
            .filter(|campaign| reads(current.column_type, &campaign.conditions))
            .filter(|campaign| !reads(column.column_type, &campaign.conditions))
            .map(|campaign| campaign.campaign_id.to_string())
            .collect();
        if !lost.is_empty() {
            let name = current.name.clone();
            let (current, wanted) = (
                current.column_type.to_string(),
                column.column_type.to_string(),
            );
            return Err(FormulaError::TypeInUse {
                column: name,
                current,
                wanted,
                campaigns: lost,
            }
            .into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_designs_could_not_write_is_refused_and_outer_space_does_not_count() {
        assert_eq!(check_name("  Größe M "), Ok("Größe M"));
        for wrong in [
            "",
            "  ",
            "a{b",
            "a}b",
            "a|b",
            "a\nb",
            "Reference",
            &"x".repeat(201),
        ] {
            assert!(
                matches!(check_name(wrong), Err(FormulaError::InvalidRequest(_))),
                "{wrong}"
            );
        }
        assert!(check_name(&"x".repeat(200)).is_ok());
    }
}
