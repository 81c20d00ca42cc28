//! A team's columns and a row of them.
#![allow(
    dead_code,
    missing_docs,
    clippy::unwrap_used,
    reason = "each test file uses its part"
)]

use std::collections::HashMap;

use audience::ColumnType;
use chrono::NaiveDate;
use formula::{EvaluatedCell, Formula, FormulaDiagnostic, InputColumn, compile_formula};

pub fn fixed_today() -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 1, 31).unwrap()
}

pub fn sample_columns() -> Vec<InputColumn> {
    [
        ("first_name", ColumnType::Text),
        ("last_name", ColumnType::Text),
        ("state", ColumnType::Text),
        ("email", ColumnType::Text),
        ("nickname", ColumnType::Text),
        ("lifetime_value", ColumnType::Number),
        ("visits", ColumnType::Number),
        ("spend", ColumnType::Number),
        ("First order", ColumnType::Date),
        ("last_visit", ColumnType::Date),
        ("member", ColumnType::YesNo),
        ("opted_in", ColumnType::YesNo),
        ("Größe", ColumnType::Number),
        ("a}b", ColumnType::Text),
        ("if", ColumnType::Text),
        ("birthday", ColumnType::Text),
    ]
    .into_iter()
    .map(|(name, column_type)| InputColumn {
        name: name.to_owned(),
        column_type,
    })
    .collect()
}

/// `nickname`, `spend` and `opted_in` are blank; `visits` does not read as a number.
pub fn sample_row() -> HashMap<String, String> {
    [
        ("first_name", "ada"),
        ("last_name", "LOVELACE"),
        ("state", "TX"),
        ("email", "ada@example.com"),
        ("lifetime_value", "$1,250.50"),
        ("visits", "many"),
        ("first order", "7/4/2019"),
        ("last_visit", "2026-01-01"),
        ("member", "Yes"),
        ("größe", "7"),
        ("a}b", "brace"),
        ("if", "perhaps"),
        ("birthday", "7/4"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

pub fn compile_sample(source: &str) -> Formula {
    compile_formula(source, &sample_columns())
        .unwrap_or_else(|problems| panic!("{source}: {problems:?}"))
}

pub fn evaluate_sample(source: &str) -> EvaluatedCell {
    compile_sample(source).evaluate(&sample_row(), fixed_today())
}

/// The value as text, or the reason in brackets.
pub fn format_result(source: &str) -> String {
    match evaluate_sample(source) {
        EvaluatedCell::Value(value) => value.to_string(),
        EvaluatedCell::Blank(reason) => format!("[{reason}]"),
    }
}

pub fn compile_problems(source: &str) -> Vec<FormulaDiagnostic> {
    match compile_formula(source, &sample_columns()) {
        Ok(_) => panic!("{source} compiles"),
        Err(problems) => problems,
    }
}
