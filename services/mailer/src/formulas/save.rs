//! `save_formula`.

use audience::{ColumnType, Conditions};
use contract::mcp::{FormulaError, SaveAnswer, SaveArguments, SaveOutcome};
use formula::name_problem;
use service::fail_point;
use store::{Column, NewFormulaChange, StoreError, Transaction, retry};

use super::book::{Book, Fitting, Named, source};
use super::uses::filtering_campaigns;
use super::{Asker, failed};

/// Why a save was not made.
enum Refused {
    /// The client is told why.
    Request(FormulaError),
    /// The database failed.
    Store(StoreError),
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<FormulaError> for Refused {
    fn from(error: FormulaError) -> Self {
        Self::Request(error)
    }
}

/// Makes a formula column or changes one. A call that is delivered again finds its change and gets the same answer.
pub(super) async fn save(asker: Asker<'_>, arguments: SaveArguments) -> Result<SaveAnswer, FormulaError> {
    let arguments = checked(arguments)?;
    let attempt = retry(|| async {
        match attempt(asker, &arguments).await {
            Err(Refused::Store(error)) => Err(error),
            Err(Refused::Request(error)) => Ok(Err(error)),
            Ok(answer) => Ok(Ok(answer)),
        }
    });
    attempt.await.map_err(failed)?
}

/// Trims, and refuses names that designs and formulas could not write.
fn checked(arguments: SaveArguments) -> Result<SaveArguments, FormulaError> {
    let (name, formula) = (arguments.name.trim().to_owned(), arguments.formula.trim().to_owned());
    let refuse = |why: String| Err(FormulaError::InvalidRequest(why));
    if let Some(problem) = name_problem(&name) {
        return refuse(format!("name {problem}."));
    }
    if formula.contains('\0') {
        return refuse("formula must not have the character U+0000 in it.".to_owned());
    }
    Ok(SaveArguments { name, formula })
}

async fn attempt(asker: Asker<'_>, arguments: &SaveArguments) -> Result<SaveAnswer, Refused> {
    let SaveArguments { name, formula } = arguments;
    let mut connection = asker.process.store.connection().await?;
    let transaction = connection.begin().await?;
    let book = Book::new(transaction.column_list_locked(asker.team_id).await?);
    let existing = book.place_for(name)?;
    let fitting = tokio::task::block_in_place(|| book.fit(formula, Some(name)))
        .map_err(FormulaError::InvalidFormula)?;
    let is_standing = |column: &&Column| {
        // Saved over other types it means something else: this save takes the types of today.
        source(column) == Some(formula)
            && column.formula_uses.as_ref().is_none_or(|uses| *uses == fitting.uses)
    };
    if let Some(column) = existing.filter(is_standing) {
        return standing(asker, &transaction, column).await;
    }
    let columns = changed_columns(name, formula, existing, &fitting);
    refuse_lost_conditions(asker, &transaction, &book, &columns).await?;
    let now = asker.process.clock.now();
    transaction.column_save(asker.team_id, &columns[0], now).await?;
    for column in &columns[1..] {
        let uses = column.formula_uses.as_ref();
        transaction.column_retype(asker.team_id, &column.name_key, column.column_type, uses).await?;
    }
    let previous_formula = existing.and_then(source);
    let change = NewFormulaChange {
        request_id: asker.request_id,
        name_key: &columns[0].name_key,
        key_id: asker.key_id,
        formula,
        previous_formula,
    };
    transaction.formula_change_add(asker.team_id, change, now).await?;
    let answer = SaveAnswer {
        name: columns[0].name.clone(),
        outcome: outcome(previous_formula),
        formula: formula.clone(),
        result_type: fitting.result_type,
        previous_formula: previous_formula.map(str::to_owned),
    };
    fail_point::pass("formula.saved");
    transaction.commit().await?;
    fail_point::pass("formula.committed");
    tracing::info!(team_id = %asker.team_id, key_id = %asker.key_id, "saved a formula");
    Ok(answer)
}

/// The answer when the column has this formula already: this request gave it, delivered before, or another did.
async fn standing(
    asker: Asker<'_>,
    transaction: &Transaction<'_>,
    column: &Column,
) -> Result<SaveAnswer, Refused> {
    let latest = transaction.formula_change_latest(asker.team_id, &column.name_key).await?;
    let own = latest.filter(|change| change.request_id == asker.request_id);
    Ok(SaveAnswer {
        name: column.name.clone(),
        outcome: own
            .as_ref()
            .map_or(SaveOutcome::Unchanged, |change| outcome(change.previous_formula.as_deref())),
        formula: source(column).unwrap_or_default().to_owned(),
        result_type: column.column_type,
        previous_formula: own.and_then(|change| change.previous_formula),
    })
}

const fn outcome(previous_formula: Option<&str>) -> SaveOutcome {
    match previous_formula {
        Some(_) => SaveOutcome::Changed,
        None => SaveOutcome::Created,
    }
}

/// The column itself first, then those that change with it.
fn changed_columns(name: &str, formula: &str, existing: Option<&Column>, fitting: &Fitting) -> Vec<Column> {
    let name = existing.map_or(name, |existing| existing.name.as_str());
    let own = Column {
        formula_uses: Some(fitting.uses.clone()),
        ..Column::computed(name, fitting.result_type, formula)
    };
    let retyped = fitting.retyped.iter().map(|other| Column {
        formula_uses: other.uses.clone(),
        ..Column::computed(&other.name, other.column_type, &other.source)
    });
    std::iter::once(own).chain(retyped).collect()
}

/// Refuses new types with which conditions that can be read now could not be read any more.
async fn refuse_lost_conditions(
    asker: Asker<'_>,
    transaction: &Transaction<'_>,
    book: &Book,
    columns: &[Column],
) -> Result<(), Refused> {
    for column in columns {
        let Named::Formula(current) = book.find(&column.name) else { continue };
        if current.column_type == column.column_type {
            continue;
        }
        let reads = |column_type: ColumnType, conditions: &serde_json::Value| {
            Conditions::parse(conditions, |name| (name == column.name_key).then_some(column_type)).is_ok()
        };
        let (campaigns, _) = filtering_campaigns(transaction, asker.team_id, &column.name_key).await?;
        let lost: Vec<String> = campaigns
            .iter()
            .filter(|campaign| reads(current.column_type, &campaign.conditions))
            .filter(|campaign| !reads(column.column_type, &campaign.conditions))
            .map(|campaign| campaign.campaign_id.to_string())
            .collect();
        if !lost.is_empty() {
            let current_name = current.name.clone();
            let (current, wanted) = (current.column_type.to_string(), column.column_type.to_string());
            let column = current_name;
            return Err(FormulaError::TypeInUse { column, current, wanted, campaigns: lost }.into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_designs_could_not_write_is_refused_and_outer_space_does_not_count() {
        let save = |name: &str| checked(SaveArguments { name: name.to_owned(), formula: " 1 ".to_owned() });
        let saved = save("  Größe M ").unwrap();
        assert_eq!((saved.name.as_str(), saved.formula.as_str()), ("Größe M", "1"));
        for wrong in ["", "  ", "a{b", "a}b", "a|b", "a\nb", "Reference", &"x".repeat(201)] {
            assert!(matches!(save(wrong), Err(FormulaError::InvalidRequest(_))), "{wrong}");
        }
        assert!(save(&"x".repeat(200)).is_ok());
    }
}
