//! Where CEL's engine has an answer, ours is the same.
//!
//! Formulas are evaluated by a tree of our own. What both languages share (texts, numbers with a point, yes and no,
//! their operators, the functions on texts that CEL's standard library has) must mean the same in both.
#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test fails by panicking"
)]

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use audience::{ColumnType, ColumnValue};
use chrono::NaiveDate;
use formula::{EvaluatedCell, InputColumn, compile_formula};
use proptest::prelude::*;

static ENVIRONMENT: LazyLock<Arc<cel::Env>> =
    LazyLock::new(|| Arc::new(cel::Env::default().with_stdlib()));

fn cel_value(source: &str) -> Option<cel::Value> {
    let program = ENVIRONMENT.compile(source).unwrap();
    let mut context = cel::Context::with_env(Arc::clone(&ENVIRONMENT));
    context.add_variable_from_value("name", "Ada Lovelace");
    context.add_variable_from_value("amount", 12.5);
    context.add_variable_from_value("member", true);
    program.execute(&context).ok()
}

fn our_value(source: &str) -> EvaluatedCell {
    let column = |name: &str, column_type| InputColumn {
        name: name.to_owned(),
        column_type,
    };
    let columns = [
        column("name", ColumnType::Text),
        column("amount", ColumnType::Number),
        column("member", ColumnType::YesNo),
    ];
    let row: HashMap<String, String> = [
        ("name", "Ada Lovelace"),
        ("amount", "12.5"),
        ("member", "true"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    let formula = compile_formula(source, &columns)
        .unwrap_or_else(|problems| panic!("{source}: {problems:?}"));
    formula.evaluate(&row, NaiveDate::MIN)
}

fn assert_agreement(source: &str) {
    let ours = our_value(source);
    match (cel_value(source), &ours) {
        (Some(cel::Value::Bool(theirs)), EvaluatedCell::Value(ColumnValue::YesNo(ours))) => {
            assert_eq!(*ours, theirs, "{source}")
        }
        (Some(cel::Value::String(theirs)), EvaluatedCell::Value(ColumnValue::Text(ours))) => {
            assert_eq!(*ours, theirs.trim(), "{source}");
        }
        (Some(cel::Value::String(theirs)), EvaluatedCell::Blank(formula::BlankReason::Empty)) => {
            assert_eq!(theirs.trim(), "", "{source}");
        }
        (Some(cel::Value::Float(theirs)), EvaluatedCell::Value(ColumnValue::Number(ours))) => {
            // Results are shown with 15 digits.
            assert!(
                (ours - theirs).abs() <= theirs.abs() * 1e-14,
                "{source}: {ours} and {theirs}"
            );
        }
        // CEL counts in whole numbers.
        (Some(cel::Value::Int(theirs)), EvaluatedCell::Value(ColumnValue::Number(ours))) => {
            assert_eq!(*ours, theirs as f64, "{source}")
        }
        // CEL divides by zero and goes to infinity where ours has no result.
        (Some(cel::Value::Float(theirs)), EvaluatedCell::Blank(_)) => {
            assert!(!theirs.is_finite(), "{source}: {ours:?}")
        }
        (None, _) => {}
        (theirs, ours) => panic!("{source}: {theirs:?} and {ours:?}"),
    }
}

fn number_strategy() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("amount".to_owned()),
        (-1000i32..1000).prop_map(|number| format!("({:.2})", f64::from(number) / 8.0)),
    ];
    leaf.prop_recursive(4, 24, 2, |inner| {
        prop_oneof![
            (
                inner.clone(),
                prop::sample::select(vec!["+", "-", "*"]),
                inner.clone()
            )
                .prop_map(|(left, operator, right)| format!("({left} {operator} {right})")),
            inner.prop_map(|one| format!("-({one})")),
        ]
    })
}

fn text_strategy() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("name".to_owned()),
        "[a-cé 🎂]{0,4}".prop_map(|text| format!("'{text}'"))
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        (inner.clone(), inner).prop_map(|(left, right)| format!("({left} + {right})"))
    })
}

fn condition_strategy() -> impl Strategy<Value = String> {
    let order = || prop::sample::select(vec!["<", "<=", ">", ">=", "==", "!="]);
    let methods = vec!["contains", "startsWith", "endsWith"];
    let leaf = prop_oneof![
        Just("member".to_owned()),
        Just("false".to_owned()),
        (number_strategy(), order(), number_strategy())
            .prop_map(|(left, order, right)| format!("({left} {order} {right})")),
        // A blank text is no text in ours.
        (text_strategy(), order(), text_strategy())
            .prop_map(|(left, order, right)| format!("(('x' + {left}) {order} ('x' + {right}))")),
        (
            text_strategy(),
            prop::sample::select(methods),
            text_strategy()
        )
            .prop_map(|(one, method, other)| format!("({one}).{method}({other})")),
        (number_strategy(), number_strategy(), number_strategy())
            .prop_map(|(one, two, three)| format!("({one} in [{two}, {three}])")),
        text_strategy().prop_map(|one| format!("(({one}).size() > 3)")),
    ];
    leaf.prop_recursive(4, 16, 2, |inner| {
        prop_oneof![
            (
                inner.clone(),
                prop::sample::select(vec!["&&", "||", "==", "!="]),
                inner.clone()
            )
                .prop_map(|(left, operator, right)| format!("({left} {operator} {right})")),
            inner.clone().prop_map(|one| format!("!({one})")),
            (inner.clone(), inner.clone(), inner)
                .prop_map(|(one, two, three)| format!("({one} ? {two} : {three})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn numbers_agree(source in number_strategy()) {
        assert_agreement(&source);
    }

    #[test]
    fn texts_agree(source in text_strategy()) {
        assert_agreement(&source);
    }

    #[test]
    fn conditions_agree(source in condition_strategy()) {
        assert_agreement(&source);
    }
}

#[test]
fn what_cel_writes_agrees() {
    for source in [
        "1.5 + 2.0 * 3.0 - 4.0 / 8.0",
        "1.0 / 0.0",
        "name == 'Ada Lovelace' ? 'yes' : 'no'",
        "name.size() == 12 && size('é🎂') == 2",
        "'a' in ['b', 'a']",
        "'a\\tb\\u00e9\\x41\\101' + '''c'd''' + r'\\n'",
        "false && 1.0 / 0.0 > 1.0",
        "!member || member",
        "amount > 12 && amount < 13",
        "7 - 2 * 3",
        "-7 % 3",
    ] {
        assert_agreement(source);
    }
}
