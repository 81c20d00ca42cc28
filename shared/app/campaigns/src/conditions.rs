//! The filter conditions of a campaign.

use audience::{ColumnType, ConditionError, FilterConditions, fold_name};
use chrono::{DateTime, Utc};
use model::id::{CampaignId, TeamId};
use serde_json::Value;
use store::{Actor, Store, StoreError, TeamColumn, describe_change};

use crate::sentence::format_conditions;

/// The action in the log.
pub(crate) const CONDITIONS_CHANGED: &str = "campaign_conditions.changed";

/// Why conditions cannot be used with a team's columns.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConditionsProblem {
    /// They are no conditions, or not on columns of these types.
    #[error(transparent)]
    Condition(#[from] ConditionError),
    /// The team has no column of this name, which is folded.
    #[error("the team has no column {0:?}")]
    UnknownColumn(String),
}

/// Why conditions were not set.
#[derive(Debug, thiserror::Error)]
pub enum SetConditionsError {
    /// They do not fit the team's columns, which are these.
    #[error("{problem}")]
    Unusable {
        /// The columns.
        columns: Vec<TeamColumn>,
        /// The first problem.
        problem: ConditionsProblem,
    },
    /// Others stand than those that the caller has seen.
    #[error("the conditions were changed meanwhile")]
    Overtaken {
        /// The team's columns.
        columns: Vec<TeamColumn>,
        /// The conditions that stand.
        standing: Option<Value>,
    },
    /// The team has no such campaign, or the database could not be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Reads conditions as a send reads them. `types` gives the type of a team's column by its name.
///
/// # Errors
/// [`ConditionsProblem`]: what keeps them from being used.
pub fn check_conditions(
    document: &Value,
    types: impl Fn(&str) -> Option<ColumnType>,
) -> Result<FilterConditions, ConditionsProblem> {
    let conditions = FilterConditions::parse(document, &types)?;
    match conditions.unknown_column(types) {
        Some(name) => Err(ConditionsProblem::UnknownColumn(name.to_owned())),
        None => Ok(conditions),
    }
}

/// Gives a campaign the conditions that `write` makes for the team's columns, or none. The columns stay locked meanwhile: none
/// changes its type. `is_as_seen` says whether the conditions that stand are those that the caller means to replace.
///
/// # Errors
/// [`SetConditionsError`]; nothing is changed then.
pub async fn set_campaign_conditions(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    campaign_id: &CampaignId,
    is_as_seen: impl FnOnce(&Option<Value>) -> bool,
    write: impl FnOnce(&[TeamColumn]) -> Option<Value>,
    now: DateTime<Utc>,
) -> Result<(), SetConditionsError> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let columns = transaction.lock_columns(team_id).await?;
    let wanted = write(&columns);
    let checked = wanted
        .as_ref()
        .map(|document| check_conditions(document, |name| column_type(&columns, name)));
    if let Some(Err(problem)) = checked {
        return Err(SetConditionsError::Unusable { columns, problem });
    }
    let standing = transaction
        .lock_campaign_conditions(team_id, campaign_id)
        .await?;
    if !is_as_seen(&standing) {
        return Err(SetConditionsError::Overtaken { columns, standing });
    }
    let name = transaction
        .set_campaign_conditions(team_id, campaign_id, wanted.as_ref(), now)
        .await?;
    let subject = conditions_subject(&name, standing.as_ref(), wanted.as_ref());
    transaction
        .record_activity(team_id, actor, CONDITIONS_CHANGED, &subject, now)
        .await?;
    transaction.commit().await?;
    Ok(())
}

/// What the log says of a change: the campaign, and the conditions before and since.
pub(crate) fn conditions_subject(
    name: &str,
    before: Option<&Value>,
    now: Option<&Value>,
) -> String {
    let change = describe_change(&format_conditions(before), &format_conditions(now));
    format!("{name}, {change}")
}

/// The type of a column of the team's by its name, whatever its case.
fn column_type(columns: &[TeamColumn], name: &str) -> Option<ColumnType> {
    let key = fold_name(name);
    columns
        .iter()
        .find(|column| column.name_key == key)
        .map(|column| column.column_type)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn conditions_on_a_column_that_the_team_does_not_have_are_refused() {
        let conditions = json!({ "column": "Pets", "operator": "is", "value": "Rex" });
        let types = |name: &str| (fold_name(name) == "pet").then_some(ColumnType::Text);
        assert_eq!(
            check_conditions(&conditions, types).unwrap_err(),
            ConditionsProblem::UnknownColumn("pets".to_owned())
        );
        let conditions = json!({ "column": "Pet", "operator": "is", "value": "Rex" });
        assert!(check_conditions(&conditions, types).is_ok());
    }
}
