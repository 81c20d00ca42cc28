use super::*;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

mod matching;
mod reading;

/// A team with one custom column of every type.
fn custom_column_type(column: &str) -> Option<ColumnType> {
    match column {
        "loyalty" => Some(ColumnType::Text),
        "spent" => Some(ColumnType::Number),
        "joined" => Some(ColumnType::Date),
        "member" => Some(ColumnType::YesNo),
        _ => None,
    }
}

fn fixed_today() -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 3, 10).unwrap()
}

fn condition_json(column: &str, operator: &str, value: &Json) -> Json {
    match value {
        Json::Null => json!({ "column": column, "operator": operator }),
        value => json!({ "column": column, "operator": operator, "value": value }),
    }
}

fn parse(document: &Json) -> Result<FilterConditions, ConditionError> {
    FilterConditions::parse(document, custom_column_type)
}

/// Whether a recipient with the given values matches.
fn recipient_matches(document: &Json, values: &[(&str, &str)]) -> bool {
    let recipient: BTreeMap<String, String> = values
        .iter()
        .map(|(column, value)| ((*column).to_owned(), (*value).to_owned()))
        .collect();
    parse(document).unwrap().matches(&recipient, fixed_today())
}

/// A value that the operator takes on the column.
fn sample_operand(column: &str, operator: Operator) -> Json {
    let one = match column {
        "spent" => json!(5),
        "joined" => json!("2026-01-31"),
        "member" => json!(true),
        "birthday" => json!("1/31"),
        _ => json!("gold"),
    };
    match operator {
        Operator::IsEmpty | Operator::IsNotEmpty | Operator::AnniversaryToday => Json::Null,
        Operator::Between => json!([one, one]),
        Operator::IsOneOf => json!([one]),
        Operator::InLastDays
        | Operator::InNextDays
        | Operator::AnniversaryInNextDays
        | Operator::AnniversaryInMonth => json!(7),
        _ => one,
    }
}

/// A column of every kind.
const COLUMNS: [&str; 6] = ["loyalty", "zip", "spent", "joined", "member", "birthday"];

fn column_operators(column: &str) -> &'static [Operator] {
    operators_for(
        column,
        custom_column_type(column).unwrap_or(ColumnType::Text),
    )
}
