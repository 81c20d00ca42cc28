//! Columns that a team makes and changes itself.

use audience::{BuiltInColumn, ColumnType, fold_name};
use chrono::{DateTime, Utc};
use contract::mcp::FormulaError;
use model::id::TeamId;
use store::{Actor, ColumnKind, ColumnSource, Store, TeamColumn, Transaction};

use crate::save::{FORMULA_SAVED, SaveColumnError, check_name};

/// The action in the log.
const COLUMN_CREATED: &str = "column.created";

/// Columns of a team that the team itself made.
const OWN_COLUMNS: usize = 500;

/// The sender's own id of a recipient, which no column can hold.
const REFERENCE: &str = "reference";

/// Makes a locked column of this name, which people typed, and type; its name.
///
/// # Errors
/// [`SaveColumnError`] with a sentence when the name cannot be used, when it stands already, or when the team has too many.
pub async fn create_column(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    (name, column_type): (&str, ColumnType),
    now: DateTime<Utc>,
) -> Result<String, SaveColumnError> {
    let name = check_name(name)?;
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let stored = transaction.lock_columns(team_id).await?;
    if let Some(why) = find_create_refusal(name, &stored) {
        return Err(FormulaError::InvalidRequest(why).into());
    }
    let column = TeamColumn::new(name, column_type, ColumnKind::Custom, ColumnSource::Owner);
    transaction
        .insert_columns(team_id, std::slice::from_ref(&column), now)
        .await?;
    transaction
        .record_activity(team_id, actor, COLUMN_CREATED, &column.name, now)
        .await?;
    transaction.commit().await?;
    Ok(column.name)
}

/// Locks the type of a column that senders fill, or unlocks it: a locked one keeps its type whatever an integration declares.
///
/// # Errors
/// [`store::StoreError::NotFound`] when the team has no such column.
pub async fn set_column_lock(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    (name_key, is_locked): (&str, bool),
    now: DateTime<Utc>,
) -> store::Result<()> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let name = transaction
        .set_column_lock(team_id, name_key, is_locked)
        .await?;
    let action = if is_locked {
        "column.locked"
    } else {
        "column.unlocked"
    };
    transaction
        .record_activity(team_id, actor, action, &name, now)
        .await?;
    transaction.commit().await
}

/// Makes a column or gives the one that stands in its place this type and content, within the caller's transaction, with an entry in
/// the log unless it is so already. The caller has checked that it fits the team's columns, which are locked.
///
/// # Errors
/// [`store::StoreError`] when the database cannot be asked.
pub async fn declare_column_within(
    transaction: &Transaction<'_>,
    actor: Actor<'_>,
    team_id: TeamId,
    (standing, wanted): (Option<&TeamColumn>, &TeamColumn),
    now: DateTime<Utc>,
) -> store::Result<()> {
    if standing == Some(wanted) {
        return Ok(());
    }
    let formula = standing.and_then(|standing| standing.formula.as_ref());
    let action = if wanted.formula.is_some() && formula != wanted.formula.as_ref() {
        FORMULA_SAVED
    } else if standing.is_some() {
        "column.changed"
    } else {
        COLUMN_CREATED
    };
    transaction.save_column(team_id, wanted, now).await?;
    transaction
        .record_activity(team_id, actor, action, &wanted.name, now)
        .await
}

fn find_create_refusal(name: &str, stored: &[TeamColumn]) -> Option<String> {
    let folded = fold_name(name);
    if BuiltInColumn::from_key(&folded).is_some() {
        return Some(format!(
            "{name} is a built-in column, which every team has."
        ));
    }
    if folded == REFERENCE {
        return Some(format!(
            "{name} is the sender's own id of a recipient, which no column can hold."
        ));
    }
    if stored.iter().any(|column| column.name_key == folded) {
        return Some("There is a column of this name already.".to_owned());
    }
    let own = stored
        .iter()
        .filter(|column| column.source == ColumnSource::Owner)
        .count();
    (own >= OWN_COLUMNS).then(|| format!("A team makes at most {OWN_COLUMNS} columns itself."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_taken_or_means_something_else_is_refused() {
        let own = |name: &str| {
            TeamColumn::new(
                name,
                ColumnType::Text,
                ColumnKind::Custom,
                ColumnSource::Owner,
            )
        };
        let stored = vec![own("Pet")];
        for taken in ["First_Name", "REFERENCE", " pet"] {
            assert!(find_create_refusal(taken, &stored).is_some(), "{taken}");
        }
        assert_eq!(find_create_refusal("Pets", &stored), None);
        let many: Vec<TeamColumn> = (0..OWN_COLUMNS)
            .map(|number| own(&number.to_string()))
            .collect();
        assert!(find_create_refusal("Pet", &many).is_some());
    }
}
