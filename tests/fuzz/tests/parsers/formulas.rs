//! Formulas: the parser, and what runs them.

use std::collections::HashMap;

use audience::column::MAX_VALUE_CHARS;
use audience::{ColumnType, value};
use chrono::NaiveDate;
use formula::limits::MAX_PROBLEMS;
use formula::{EvaluatedCell, InputColumn, compile_formula, list_functions};
use fuzz::Target;
use proptest::{prop_assert, prop_assert_eq};

const FORMULAS: [&str; 7] = [
    r#"IF(age > 500, "VIP", PROPER(first_name))"#,
    r#"{First order} + 7 * (age - 1) / 3 % 2"#,
    r#"CONCAT("a", first_name, LEFT("é😀", 1)) == "x" && !(vip || false)"#,
    r#"REGEX_REPLACE(first_name, "(a+)+$", "b")"#,
    r#"REPT(REPT(REPT("ab", 100), 100), 100)"#,
    "((((((((1))))))))",
    "1+1+1+1+1+1-1*1",
];

#[test]
fn fuzz_formula() {
    let column = |name: &str, column_type| InputColumn {
        name: name.to_owned(),
        column_type,
    };
    let columns = [
        column("first_name", ColumnType::Text),
        column("age", ColumnType::Number),
        column("First order", ColumnType::Date),
        column("vip", ColumnType::YesNo),
    ];
    let row = |values: [&str; 4]| {
        let names = ["first_name", "age", "first order", "vip"];
        HashMap::from_iter(
            names
                .into_iter()
                .zip(values)
                .map(|(name, value)| (name.to_owned(), value.to_owned())),
        )
    };
    let rows: [HashMap<String, String>; 3] = [
        row(["Nina", "41", "2026-01-31", "yes"]),
        row(["", "x", "2/30/26", "?"]),
        row([&"aé".repeat(300), "1e308", "9999-12-31", "no"]),
    ];
    let today = NaiveDate::from_ymd_opt(2026, 1, 31).unwrap();
    let calls = list_functions()
        .iter()
        .flat_map(|help| [format!("{}(", help.name), help.example.to_owned()]);
    let signs = [
        "+",
        "*",
        "==",
        "&&",
        "(",
        ")",
        "\"",
        "{",
        "}",
        "first_name",
        "age",
        "{First order}",
        "true",
        "null",
        "for",
    ]
    .map(str::to_owned);
    Target::new(FORMULAS)
        .words(calls.chain(signs))
        .cases(1_500)
        .run_text(|source| {
            let formula = match compile_formula(source, &columns) {
                Ok(formula) => formula,
                Err(problems) => {
                    prop_assert!((1..=MAX_PROBLEMS).contains(&problems.len()));
                    let length = source.chars().count();
                    prop_assert!(
                        problems
                            .iter()
                            .all(|problem| problem.offset + problem.length <= length),
                        "{problems:?}"
                    );
                    return Ok(());
                }
            };
            for row in &rows {
                let outcome = formula.evaluate(row, today);
                prop_assert_eq!(
                    &formula.evaluate(row, today),
                    &outcome,
                    "the same each time"
                );
                let EvaluatedCell::Value(found) = outcome else {
                    continue;
                };
                let text = found.to_string();
                prop_assert!(text.chars().count() <= MAX_VALUE_CHARS);
                prop_assert!(
                    value::is_valid(formula.result_type(), &text),
                    "{text} as {:?}",
                    formula.result_type()
                );
            }
            Ok(())
        });
}
