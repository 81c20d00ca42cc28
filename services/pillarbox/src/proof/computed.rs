//! Values of a team's formula columns for somebody who does not exist.

use std::collections::BTreeMap;

use audience::ValueLookup;
use chrono::{DateTime, Utc};
use columns::FormulaColumns;
use model::id::TeamId;
use store::{ColumnKind, Store, TeamColumn};

/// Values by folded name.
type SampleFields = BTreeMap<String, String>;

/// The given values, and those of the team's formula columns over them. A value that is given for a formula column stays:
/// it shows how another one would print.
pub(super) async fn with_formulas(
    store: &Store,
    team_id: TeamId,
    fields: SampleFields,
    now: DateTime<Utc>,
) -> store::Result<SampleFields> {
    let columns = store.list_columns(team_id).await?;
    let today = columns::team_today(&store.find_team(team_id).await?, now);
    Ok(add_formula_values(&columns, fields, today))
}

fn add_formula_values(
    columns: &[TeamColumn],
    fields: SampleFields,
    today: chrono::NaiveDate,
) -> SampleFields {
    let formulas = FormulaColumns::new(columns);
    let mut recipient = fields.clone();
    columns::standardize_address(&mut recipient);
    let over = formulas.for_recipient(&recipient, today);
    let keys = columns
        .iter()
        .filter(|column| column.kind == ColumnKind::Formula);
    let value = |column: &TeamColumn| {
        Some((
            column.name_key.clone(),
            over.value(&column.name_key)?.to_owned(),
        ))
    };
    let mut all: SampleFields = keys.filter_map(value).collect();
    all.extend(fields);
    all
}

#[cfg(test)]
mod tests {
    use audience::ColumnType;

    use super::*;

    #[test]
    fn formula_columns_are_computed_from_what_is_given_and_a_given_value_stays() {
        let columns = [
            TeamColumn::new_formula(
                "Tier",
                ColumnType::Text,
                "IF(first_name == \"Ada\", \"VIP\", \"new\")",
            ),
            TeamColumn::new_formula("Loud", ColumnType::Text, "UPPER(first_name)"),
        ];
        let given = |pairs: &[(&str, &str)]| -> SampleFields {
            pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect()
        };
        let all = add_formula_values(
            &columns,
            given(&[("first_name", "Ada"), ("loud", "Hey")]),
            chrono::NaiveDate::MIN,
        );
        assert_eq!(
            all,
            given(&[("first_name", "Ada"), ("loud", "Hey"), ("tier", "VIP")])
        );
    }
}
