//! A column that senders fill is made by the team itself.

use audience::{BuiltInColumn, ColumnType, fold_name};
use chrono::{DateTime, Utc};
use contract::id::TeamId;
use contract::mcp::FormulaError;
use store::{ColumnKind, ColumnSource, TeamColumn, Transaction};

use crate::save::{SaveColumnError, checked_name};

/// Columns of a team that the team itself made.
const OWN_COLUMNS: usize = 500;

/// The sender's own id of a recipient, which no column can hold.
const REFERENCE: &str = "reference";

/// Makes a locked column of this name, which people typed, and type; its name.
///
/// # Errors
/// [`SaveColumnError`] with a sentence when the name cannot be used, when it stands already, or when the team has too many.
pub async fn create(
    transaction: &Transaction<'_>,
    team_id: TeamId,
    name: &str,
    column_type: ColumnType,
    now: DateTime<Utc>,
) -> Result<String, SaveColumnError> {
    let name = checked_name(name)?;
    let stored = transaction.column_list_locked(team_id).await?;
    if let Some(why) = refusal(name, &stored) {
        return Err(FormulaError::InvalidRequest(why).into());
    }
    let column = TeamColumn::new(name, column_type, ColumnKind::Custom, ColumnSource::Owner);
    transaction
        .column_create(team_id, std::slice::from_ref(&column), now)
        .await?;
    Ok(column.name)
}

fn refusal(name: &str, stored: &[TeamColumn]) -> Option<String> {
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
            assert!(refusal(taken, &stored).is_some(), "{taken}");
        }
        assert_eq!(refusal("Pets", &stored), None);
        let many: Vec<TeamColumn> = (0..OWN_COLUMNS)
            .map(|number| own(&number.to_string()))
            .collect();
        assert!(refusal("Pet", &many).is_some());
    }
}
