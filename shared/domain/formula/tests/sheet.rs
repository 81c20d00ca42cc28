//! Formula columns that build on each other.
#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test fails by panicking"
)]

mod common;

use std::collections::HashMap;

use audience::{ColumnType, ValueLookup};
use common::{fixed_today, sample_columns, sample_row};
use formula::{
    ComputedRow, EvaluatedCell, FormulaColumn, FormulaSheet, InputColumn, PromptColumn,
    check_columns, limits, name_problem,
};

fn build_definitions(formulas: &[(&str, &str)]) -> Vec<FormulaColumn> {
    let definition = |(name, source): &(&str, &str)| FormulaColumn {
        name: (*name).to_owned(),
        column_type: ColumnType::Text,
        source: (*source).to_owned(),
        uses: None,
    };
    formulas.iter().map(definition).collect()
}

/// The problems as `column: message`.
fn format_refusals(formulas: &[(&str, &str)]) -> Vec<String> {
    let problems = check_columns(&sample_columns(), &build_definitions(formulas), &[]).unwrap_err();
    problems
        .iter()
        .map(|problem| format!("{}: {}", problem.column, problem.problem.message))
        .collect()
}

/// Each with the type that it was found to have.
fn build_sheet(formulas: &[(&str, &str)]) -> FormulaSheet {
    let mut definitions = build_definitions(formulas);
    let types = check_columns(&sample_columns(), &definitions, &[]).unwrap();
    for (definition, checked) in definitions.iter_mut().zip(types) {
        (definition.column_type, definition.uses) = (checked.column_type, checked.uses);
    }
    FormulaSheet::new(sample_columns(), definitions)
}

#[test]
fn a_column_may_build_on_others_in_any_order() {
    let formulas = [
        (
            "Greeting",
            "\"Dear \" + {Full name} + IF(is_big, \"!\", \".\")",
        ),
        ("is_big", "doubled > 2000"),
        ("doubled", "lifetime_value * 2"),
        ("Full name", "PROPER(first_name + \" \" + last_name)"),
    ];
    let checked = check_columns(&sample_columns(), &build_definitions(&formulas), &[]).unwrap();
    let types: Vec<_> = checked.iter().map(|checked| checked.column_type).collect();
    assert_eq!(
        types,
        [
            ColumnType::Text,
            ColumnType::YesNo,
            ColumnType::Number,
            ColumnType::Text
        ]
    );
    let (sheet, row) = (build_sheet(&formulas), sample_row());
    let computed = ComputedRow::new(&sheet, &row, fixed_today());
    assert_eq!(computed.value("greeting"), Some("Dear Ada Lovelace!"));
    assert_eq!(computed.value("is_big"), Some("yes"));
    assert_eq!(computed.value("doubled"), Some("2501"));
    assert_eq!(computed.value("state"), Some("TX"));
    assert_eq!(computed.value("nickname"), None);
}

#[test]
fn circles_are_refused_with_their_way() {
    assert_eq!(
        format_refusals(&[("a", "a + 1")]),
        ["a: The column builds on itself: a → a."]
    );
    assert_eq!(
        format_refusals(&[
            ("a", "b"),
            ("b", "UPPER({C})"),
            ("c", "a + state"),
            ("d", "a")
        ]),
        [
            "a: The column builds on itself: a → b → c → a.",
            "b: The column builds on itself: b → c → a → b.",
            "c: The column builds on itself: c → a → b → c.",
        ]
    );
    let problem = &check_columns(
        &sample_columns(),
        &build_definitions(&[("a", "1 + a")]),
        &[],
    )
    .unwrap_err()[0];
    assert_eq!((problem.problem.offset, problem.problem.length), (4, 1));
}

#[test]
fn a_change_that_breaks_another_column_is_refused() {
    assert_eq!(
        format_refusals(&[("tier", "\"gold\""), ("next", "tier * 2")]),
        ["next: A number is needed here, and this is text; VALUE reads a number from it."]
    );
}

#[test]
fn chains_of_columns_are_bounded() {
    let chain = |length: usize| -> Vec<(String, String)> {
        let first = std::iter::once(("c0".to_owned(), "visits".to_owned()));
        first
            .chain((1..length).map(|at| (format!("c{at}"), format!("c{}", at - 1))))
            .collect()
    };
    let check_chain = |length| {
        let owned = chain(length);
        let formulas: Vec<_> = owned
            .iter()
            .map(|(name, source)| (name.as_str(), source.as_str()))
            .collect();
        check_columns(&sample_columns(), &build_definitions(&formulas), &[])
    };
    assert!(check_chain(limits::MAX_CHAIN).is_ok());
    assert!(check_chain(limits::MAX_CHAIN + 1).is_err());
}

#[test]
fn what_was_never_checked_is_blank_with_a_reason_and_no_harm_is_done() {
    let deep = format!("{}b{}", "UPPER(".repeat(31), ")".repeat(31));
    let sheet = FormulaSheet::new(
        sample_columns(),
        build_definitions(&[("a", "b"), ("b", &deep), ("c", "gone + 1"), ("d", "c")]),
    );
    let row = sample_row();
    let computed = ComputedRow::new(&sheet, &row, fixed_today());
    assert_eq!(
        (
            computed.value("a"),
            computed.value("b"),
            computed.value("d")
        ),
        (None, None, None)
    );
    let reason = serde_json::to_value(computed.evaluate(2)).unwrap();
    assert_eq!(
        reason["reason"],
        "the formula cannot be used: at character 1: There is no column gone. A text stands in quotes."
    );
}

#[test]
fn the_deepest_chain_of_the_deepest_formulas_fits_a_test_thread() {
    let nested = |inner: &str| format!("{}{inner}{}", "UPPER(".repeat(31), ")".repeat(31));
    let owned: Vec<(String, String)> = (0..limits::MAX_CHAIN)
        .map(|at| {
            (
                format!("c{at}"),
                nested(
                    &at.checked_sub(1)
                        .map_or("state".to_owned(), |at| format!("c{at}")),
                ),
            )
        })
        .collect();
    let formulas: Vec<_> = owned
        .iter()
        .map(|(name, source)| (name.as_str(), source.as_str()))
        .collect();
    let (sheet, row) = (
        build_sheet(&formulas),
        HashMap::from([("state".to_owned(), "tx".to_owned())]),
    );
    assert_eq!(
        ComputedRow::new(&sheet, &row, fixed_today()).value("c7"),
        Some("TX")
    );
}

#[test]
fn an_error_and_its_reason_go_through_columns() {
    let sheet = build_sheet(&[
        ("Ratio", "1 / 0"),
        ("Next", "Ratio + 1"),
        ("Class", "IF(Ratio > 5, \"a\", \"b\")"),
        ("Mended", "IFERROR(Next, 7)"),
        ("Undecided", "ISBLANK(Ratio)"),
        ("Decided", "Ratio > 5 || TRUE"),
    ]);
    let row = sample_row();
    let computed = ComputedRow::new(&sheet, &row, fixed_today());
    let shown = |at| match computed.evaluate(at) {
        EvaluatedCell::Value(value) => value.to_string(),
        EvaluatedCell::Blank(reason) => format!("[{reason}]"),
    };
    assert_eq!(shown(1), "[Ratio: division by zero]");
    assert_eq!(shown(2), "[Ratio: division by zero]");
    assert_eq!(shown(3), "7");
    assert_eq!(shown(4), "[Ratio: division by zero]");
    assert_eq!(shown(5), "yes");
    assert_eq!(
        computed.value("ratio"),
        None,
        "for conditions, designs and links an error is a blank"
    );
}

#[test]
fn a_formula_over_another_type_than_it_was_saved_with_is_blank_with_the_reason_until_it_is_saved_again()
 {
    let over = |column_type| {
        vec![InputColumn {
            name: "Points".to_owned(),
            column_type,
        }]
    };
    let mut saved = build_definitions(&[
        ("Uses points", "points + 1"),
        ("Above", "{Uses points} > 5"),
    ]);
    let found = check_columns(&over(ColumnType::Number), &saved, &[]).unwrap();
    for (definition, checked) in saved.iter_mut().zip(found) {
        (definition.column_type, definition.uses) = (checked.column_type, checked.uses);
    }
    let row = HashMap::from([("points".to_owned(), "5".to_owned())]);
    let value = |columns, definitions: &[FormulaColumn], key: &str| {
        let sheet = FormulaSheet::new(columns, definitions.to_vec());
        ComputedRow::new(&sheet, &row, fixed_today())
            .value(key)
            .map(str::to_owned)
    };
    assert_eq!(
        value(over(ColumnType::Number), &saved, "uses points").as_deref(),
        Some("6")
    );
    assert_eq!(value(over(ColumnType::Text), &saved, "uses points"), None);
    assert_eq!(value(over(ColumnType::Text), &saved, "above"), None);
    let sheet = FormulaSheet::new(over(ColumnType::Text), saved.clone());
    let problems = sheet.formula(0).unwrap().unwrap_err();
    assert_eq!((problems[0].offset, problems[0].length), (0, 6));
    assert!(
        problems[0].message.starts_with(
            "The column Points was a number when the formula was saved and is text now"
        )
    );
    // A check of the others leaves it alone; its own save takes the types of the day.
    let unchanged = check_columns(&over(ColumnType::Text), &saved, &[]).unwrap();
    assert_eq!(
        (unchanged[0].column_type, &unchanged[0].uses),
        (ColumnType::Number, &saved[0].uses)
    );
    saved[0].uses = None;
    let again = check_columns(&over(ColumnType::Text), &saved[..1], &[]).unwrap();
    assert_eq!(again[0].column_type, ColumnType::Text);
}

#[test]
fn circles_through_prompts_are_refused() {
    let prompt = |name: &str, fields: &[&str]| PromptColumn {
        name: name.to_owned(),
        fields: fields.iter().map(|field| (*field).to_owned()).collect(),
    };
    let refused = |formulas: &[(&str, &str)], prompts: &[PromptColumn]| {
        let mut offered = sample_columns();
        offered.push(InputColumn {
            name: "Greeting".to_owned(),
            column_type: ColumnType::Text,
        });
        let problems = check_columns(&offered, &build_definitions(formulas), prompts)
            .err()
            .unwrap_or_default();
        problems
            .into_iter()
            .map(|problem| format!("{}: {}", problem.column, problem.problem.message))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        refused(&[], &[prompt("Greeting", &["first_name", "GREETING"])]),
        ["Greeting: The column builds on itself: Greeting → Greeting."]
    );
    assert_eq!(
        refused(
            &[("Tier", "UPPER(Greeting)")],
            &[prompt("Greeting", &["tier"])]
        ),
        [
            "Tier: The column builds on itself: Tier → Greeting → Tier.",
            "Greeting: The column builds on itself: Greeting → Tier → Greeting.",
        ]
    );
    assert!(
        refused(
            &[("Tier", "UPPER(state)"), ("Loud", "Greeting + Tier")],
            &[prompt("Greeting", &["tier"])]
        )
        .is_empty()
    );
}

#[test]
fn a_computed_column_has_a_name_that_designs_can_write() {
    for wrong in [
        "",
        " ",
        "a{b",
        "a}b",
        "a|b",
        "a\nb",
        " Reference",
        &"x".repeat(201),
    ] {
        assert!(name_problem(wrong).is_some(), "{wrong}");
    }
    assert_eq!(name_problem("Größe (M)"), None);
}
