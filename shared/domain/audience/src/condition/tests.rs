use super::*;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

mod matching;
mod reading;

/// A team with one custom column of every type.
fn team(column: &str) -> Option<ColumnType> {
    match column {
        "loyalty" => Some(ColumnType::Text),
        "spent" => Some(ColumnType::Number),
        "joined" => Some(ColumnType::Date),
        "member" => Some(ColumnType::YesNo),
        _ => None,
    }
}

fn today() -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 3, 10).unwrap()
}

fn condition(column: &str, operator: &str, value: &Json) -> Json {
    match value {
        Json::Null => json!({ "column": column, "operator": operator }),
        value => json!({ "column": column, "operator": operator, "value": value }),
    }
}

fn parse(document: &Json) -> Result<FilterConditions, ConditionError> {
    FilterConditions::parse(document, team)
}

/// Whether a recipient with the given values matches.
fn matches(document: &Json, values: &[(&str, &str)]) -> bool {
    let recipient: BTreeMap<String, String> = values
        .iter()
        .map(|(column, value)| ((*column).to_owned(), (*value).to_owned()))
        .collect();
    parse(document).unwrap().matches(&recipient, today())
}

/// A value that the operator takes on the column.
fn operand(column: &str, operator: Operator) -> Json {
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

fn operators(column: &str) -> &'static [Operator] {
    operators_for(column, team(column).unwrap_or(ColumnType::Text))
}
