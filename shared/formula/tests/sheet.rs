//! Formula columns that build on each other.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test fails by panicking")]

mod common;

use std::collections::HashMap;

use audience::{ColumnType, Lookup};
use common::{columns, row, today};
use formula::{Computed, Definition, Sheet, check, limits};

fn definitions(formulas: &[(&str, &str)]) -> Vec<Definition> {
    let definition = |(name, source): &(&str, &str)| Definition {
        name: (*name).to_owned(),
        column_type: ColumnType::Text,
        source: (*source).to_owned(),
    };
    formulas.iter().map(definition).collect()
}

/// The problems as `column: message`.
fn refused(formulas: &[(&str, &str)]) -> Vec<String> {
    let problems = check(&columns(), &definitions(formulas)).unwrap_err();
    problems.iter().map(|problem| format!("{}: {}", problem.column, problem.problem.message)).collect()
}

/// Each with the type that it was found to have.
fn sheet(formulas: &[(&str, &str)]) -> Sheet {
    let mut definitions = definitions(formulas);
    let types = check(&columns(), &definitions).unwrap();
    for (definition, column_type) in definitions.iter_mut().zip(types) {
        definition.column_type = column_type;
    }
    Sheet::new(columns(), definitions)
}

#[test]
fn a_column_may_build_on_others_in_any_order() {
    let formulas = [
        ("Greeting", "\"Dear \" + {Full name} + IF(is_big, \"!\", \".\")"),
        ("is_big", "doubled > 2000"),
        ("doubled", "lifetime_value * 2"),
        ("Full name", "PROPER(first_name + \" \" + last_name)"),
    ];
    let types = check(&columns(), &definitions(&formulas)).unwrap();
    assert_eq!(types, [ColumnType::Text, ColumnType::YesNo, ColumnType::Number, ColumnType::Text]);
    let (sheet, row) = (sheet(&formulas), row());
    let computed = Computed::new(&sheet, &row, today());
    assert_eq!(computed.value("greeting"), Some("Dear Ada Lovelace!"));
    assert_eq!(computed.value("is_big"), Some("yes"));
    assert_eq!(computed.value("doubled"), Some("2501"));
    assert_eq!(computed.value("state"), Some("TX"));
    assert_eq!(computed.value("nickname"), None);
}

#[test]
fn circles_are_refused_with_their_way() {
    assert_eq!(refused(&[("a", "a + 1")]), ["a: The column builds on itself: a → a."]);
    assert_eq!(
        refused(&[("a", "b"), ("b", "UPPER({C})"), ("c", "a + state"), ("d", "a")]),
        [
            "a: The column builds on itself: a → b → c → a.",
            "b: The column builds on itself: b → c → a → b.",
            "c: The column builds on itself: c → a → b → c.",
        ]
    );
    let problem = &check(&columns(), &definitions(&[("a", "1 + a")])).unwrap_err()[0];
    assert_eq!((problem.problem.offset, problem.problem.length), (4, 1));
}

#[test]
fn a_change_that_breaks_another_column_is_refused() {
    assert_eq!(
        refused(&[("tier", "\"gold\""), ("next", "tier * 2")]),
        ["next: A number is needed here, and this is text; VALUE reads a number from it."]
    );
}

#[test]
fn chains_and_numbers_of_columns_are_bounded() {
    let chain = |length: usize| -> Vec<(String, String)> {
        let first = std::iter::once(("c0".to_owned(), "visits".to_owned()));
        first.chain((1..length).map(|at| (format!("c{at}"), format!("c{}", at - 1)))).collect()
    };
    let check_chain = |length| {
        let owned = chain(length);
        let formulas: Vec<_> = owned.iter().map(|(name, source)| (name.as_str(), source.as_str())).collect();
        check(&columns(), &definitions(&formulas))
    };
    assert!(check_chain(limits::MAX_CHAIN).is_ok());
    assert!(check_chain(limits::MAX_CHAIN + 1).is_err());
    let many: Vec<_> = (0..=limits::MAX_FORMULA_COLUMNS).map(|at| (format!("f{at}"), "1")).collect();
    let many: Vec<_> = many.iter().map(|(name, source)| (name.as_str(), *source)).collect();
    assert_eq!(refused(&many), ["f100: A team has at most 100 formula columns."]);
}

#[test]
fn what_was_never_checked_is_blank_with_a_reason_and_no_harm_is_done() {
    let deep = format!("{}b{}", "UPPER(".repeat(31), ")".repeat(31));
    let sheet =
        Sheet::new(columns(), definitions(&[("a", "b"), ("b", &deep), ("c", "gone + 1"), ("d", "c")]));
    let row = row();
    let computed = Computed::new(&sheet, &row, today());
    assert_eq!((computed.value("a"), computed.value("b"), computed.value("d")), (None, None, None));
    let reason = serde_json::to_value(computed.outcome(2)).unwrap();
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
            (format!("c{at}"), nested(&at.checked_sub(1).map_or("state".to_owned(), |at| format!("c{at}"))))
        })
        .collect();
    let formulas: Vec<_> = owned.iter().map(|(name, source)| (name.as_str(), source.as_str())).collect();
    let (sheet, row) = (sheet(&formulas), HashMap::from([("state".to_owned(), "tx".to_owned())]));
    assert_eq!(Computed::new(&sheet, &row, today()).value("c7"), Some("TX"));
}
