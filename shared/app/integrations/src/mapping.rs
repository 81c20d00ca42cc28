//! Which declared fields fill the columns of contacts.

use std::collections::{BTreeMap, HashMap, HashSet};

use chrono::{DateTime, Utc};
use contract::push::{FieldSemantic, IntegrationField};
use store::{Actor, FieldMapping, Integration, Store, StoreError, describe_change};

/// The key of the field that fills each column, by the column's name. A column that nothing fills is not in it.
pub type ColumnSources = BTreeMap<&'static str, String>;

/// Why a field cannot fill a column.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MappingProblem {
    /// There is no such field.
    #[error("No field is declared with the key {0:?}.")]
    Undeclared(String),
    /// It fills another column.
    #[error("The field {key} fills {} already.", column.as_str())]
    Taken {
        /// The field.
        key: String,
        /// The other column.
        column: FieldSemantic,
    },
}

/// Why fields were not mapped.
#[derive(Debug, thiserror::Error)]
pub enum MapFieldsError {
    /// Another mapping stands than the one that the caller has seen. These are the declared fields.
    #[error("the fields were mapped meanwhile")]
    Overtaken(Vec<IntegrationField>),
    /// Some fields cannot fill the columns that they were to fill.
    #[error("some fields cannot fill their columns")]
    Unusable {
        /// The declared fields.
        fields: Vec<IntegrationField>,
        /// What is wrong with a column's field.
        problems: HashMap<FieldSemantic, MappingProblem>,
    },
    /// The integration was removed, or the database could not be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Fills each column with the field that `wanted` names for it, and all others with none. Declarations leave it so until
/// [`release_fields`]. `is_as_seen` says whether the mapping that stands is the one that the caller means to replace.
///
/// # Errors
/// [`MapFieldsError`]; nothing is changed then.
pub async fn map_fields(
    store: &Store,
    actor: Actor<'_>,
    integration: &Integration,
    wanted: &ColumnSources,
    is_as_seen: impl FnOnce(&ColumnSources) -> bool,
    now: DateTime<Utc>,
) -> Result<(), MapFieldsError> {
    let (team_id, integration_id) = (integration.team_id, integration.integration_id);
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let fields = transaction.lock_fields(integration_id).await?;
    let standing = column_sources(&fields);
    if !is_as_seen(&standing) {
        return Err(MapFieldsError::Overtaken(fields));
    }
    let changes = match plan_mapping_changes(&fields, wanted) {
        Ok(changes) => changes,
        Err(problems) => return Err(MapFieldsError::Unusable { fields, problems }),
    };
    if changes.is_empty() {
        return Ok(());
    }
    transaction.map_fields(integration_id, &changes).await?;
    let change = describe_change(&format_mapping(&standing), &format_mapping(wanted));
    let subject = format!("{}, {change}", integration.name);
    transaction
        .record_activity(team_id, actor, "integration.mapped", &subject, now)
        .await?;
    transaction.commit().await?;
    Ok(())
}

/// The mapping of declared fields that stands.
pub fn column_sources(fields: &[IntegrationField]) -> ColumnSources {
    fields
        .iter()
        .filter_map(|field| Some((field.semantic?.as_str(), field.key.clone())))
        .collect()
}

/// A mapping as people read it.
pub fn format_mapping(mapping: &ColumnSources) -> String {
    if mapping.is_empty() {
        return "no column is filled".to_owned();
    }
    let filled = mapping
        .iter()
        .map(|(column, key)| format!("{column} from {key}"));
    filled.collect::<Vec<_>>().join(", ")
}

/// Which fields get another column, or none.
fn plan_mapping_changes(
    fields: &[IntegrationField],
    wanted: &ColumnSources,
) -> Result<Vec<FieldMapping>, HashMap<FieldSemantic, MappingProblem>> {
    let declared: HashSet<&str> = fields.iter().map(|field| field.key.as_str()).collect();
    let mut columns: HashMap<&str, FieldSemantic> = HashMap::new();
    let mut problems = HashMap::new();
    for column in FieldSemantic::ALL {
        let Some(key) = wanted.get(column.as_str()) else {
            continue;
        };
        if !declared.contains(key.as_str()) {
            problems.insert(column, MappingProblem::Undeclared(key.clone()));
        } else if let Some(other) = columns.insert(key, column) {
            let key = key.clone();
            problems.insert(column, MappingProblem::Taken { key, column: other });
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let wanted_column = |field: &IntegrationField| columns.get(field.key.as_str()).copied();
    Ok(fields
        .iter()
        .filter(|field| field.semantic != wanted_column(field))
        .map(|field| FieldMapping {
            key: field.key.clone(),
            semantic: wanted_column(field),
        })
        .collect())
}

/// Leaves the mapping to declarations again.
///
/// # Errors
/// [`StoreError`] when the database cannot be asked.
pub async fn release_fields(
    store: &Store,
    actor: Actor<'_>,
    integration: &Integration,
    now: DateTime<Utc>,
) -> store::Result<()> {
    let (team_id, name) = (integration.team_id, &integration.name);
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    transaction
        .release_field_mapping(integration.integration_id)
        .await?;
    transaction
        .record_activity(team_id, actor, "integration.released", name, now)
        .await?;
    transaction.commit().await
}

#[cfg(test)]
mod tests {
    use contract::push::FieldType;

    use super::*;

    fn build_field(key: &str, semantic: Option<FieldSemantic>) -> IntegrationField {
        let (label, options) = (key.to_owned(), Vec::new());
        IntegrationField {
            key: key.to_owned(),
            label,
            field_type: FieldType::Text,
            options,
            semantic,
        }
    }

    fn wanted_sources(columns: &[(&'static str, &str)]) -> ColumnSources {
        columns
            .iter()
            .map(|(name, key)| (*name, (*key).to_owned()))
            .collect()
    }

    #[test]
    fn only_fields_whose_column_changes_are_mapped() {
        let fields = [
            build_field("plz", Some(FieldSemantic::Zip)),
            build_field("town", None),
            build_field("note", None),
        ];
        assert_eq!(
            plan_mapping_changes(&fields, &wanted_sources(&[("zip", "plz")])),
            Ok(Vec::new())
        );
        let mapping = |key: &str, semantic| FieldMapping {
            key: key.to_owned(),
            semantic,
        };
        assert_eq!(
            plan_mapping_changes(&fields, &wanted_sources(&[("city", "town")])),
            Ok(vec![
                mapping("plz", None),
                mapping("town", Some(FieldSemantic::City))
            ])
        );
    }

    #[test]
    fn a_column_takes_a_declared_field_and_a_field_fills_one_column() {
        let fields = [build_field("a", None)];
        let problems = plan_mapping_changes(
            &fields,
            &wanted_sources(&[("city", "a"), ("state", "a"), ("zip", "b")]),
        )
        .unwrap_err();
        assert_eq!(
            problems[&FieldSemantic::State].to_string(),
            "The field a fills city already."
        );
        assert_eq!(
            problems[&FieldSemantic::Zip].to_string(),
            "No field is declared with the key \"b\"."
        );
        assert!(!problems.contains_key(&FieldSemantic::City));
    }
}
