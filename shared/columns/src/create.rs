//! A column that senders fill is made by the team itself.

use audience::{BuiltIn, ColumnType, fold_name};
use chrono::{DateTime, Utc};
use contract::id::TeamId;
use contract::mcp::FormulaError;
use store::{Column, ColumnKind, ColumnSource, Transaction};

use crate::save::{Refused, checked_name};

/// Columns of a team that the team itself made.
const OWN_COLUMNS: usize = 500;

/// The sender's own id of a recipient, which no column can hold.
const REFERENCE: &str = "reference";

/// Makes a locked column of this name, which people typed, and type; its name.
///
/// # Errors
/// [`Refused`] with a sentence when the name cannot be used, when it stands already, or when the team has too many.
pub async fn create(
    transaction: &Transaction<'_>,
    team_id: TeamId,
    name: &str,
    column_type: ColumnType,
    now: DateTime<Utc>,
) -> Result<String, Refused> {
    let name = checked_name(name)?;
    let stored = transaction.column_list_locked(team_id).await?;
    if let Some(why) = refusal(name, &stored) {
        return Err(FormulaError::InvalidRequest(why).into());
    }
    let column = Column::new(name, column_type, ColumnKind::Custom, ColumnSource::Owner);
    transaction.column_create(team_id, std::slice::from_ref(&column), now).await?;
    Ok(column.name)
}

fn refusal(name: &str, stored: &[Column]) -> Option<String> {
    let folded = fold_name(name);
    if BuiltIn::from_key(&folded).is_some() {
        return Some(format!("{name} is a built-in column, which every team has."));
    }
    if folded == REFERENCE {
        return Some(format!("{name} is the sender's own id of a recipient, which no column can hold."));
    }
    if stored.iter().any(|column| column.name_key == folded) {
        return Some("There is a column of this name already.".to_owned());
    }
    let own = stored.iter().filter(|column| column.source == ColumnSource::Owner).count();
    (own >= OWN_COLUMNS).then(|| format!("A team makes at most {OWN_COLUMNS} columns itself."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_taken_or_means_something_else_is_refused() {
        let own = |name: &str| Column::new(name, ColumnType::Text, ColumnKind::Custom, ColumnSource::Owner);
        let stored = vec![own("Pet")];
        for taken in ["First_Name", "REFERENCE", " pet"] {
            assert!(refusal(taken, &stored).is_some(), "{taken}");
        }
        assert_eq!(refusal("Pets", &stored), None);
        let many: Vec<Column> = (0..OWN_COLUMNS).map(|number| own(&number.to_string())).collect();
        assert!(refusal("Pet", &many).is_some());
    }
}
