//! Whatever is written, nothing panics, nothing overflows the stack of a test's thread (2 MiB) and nothing goes
//! over its bounds.
#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test fails by panicking"
)]

mod common;

use std::cell::Cell;

use audience::ValueLookup;
use common::{fixed_today, sample_columns, sample_row};
use formula::{EvaluatedCell, FormulaDiagnostic, compile_formula, limits, list_functions};
use proptest::prelude::*;

/// A row that counts how often it is asked.
struct CountingLookup(Cell<u32>);

impl ValueLookup for CountingLookup {
    fn value(&self, _: &str) -> Option<&str> {
        self.0.set(self.0.get() + 1);
        Some("1234567890")
    }
}

/// Compiles and runs; a result is within the bounds of values, and problems are within the source.
fn assert_survives(source: &str) -> Result<EvaluatedCell, Vec<FormulaDiagnostic>> {
    let formula = match compile_formula(source, &sample_columns()) {
        Ok(formula) => formula,
        Err(problems) => {
            assert!(
                (1..=limits::MAX_PROBLEMS).contains(&problems.len()),
                "{source}: {problems:?}"
            );
            for problem in &problems {
                assert!(
                    problem.offset + problem.length <= source.chars().count(),
                    "{source}: {problem:?}"
                );
            }
            return Err(problems);
        }
    };
    let counting = CountingLookup(Cell::new(0));
    formula.evaluate(&counting, fixed_today());
    assert!(counting.0.get() <= limits::MAX_STEPS);
    let outcome = formula.evaluate(&sample_row(), fixed_today());
    if let Some(text) = outcome.text() {
        assert!(
            text.chars().count() <= 600 && !text.is_empty(),
            "{source}: {text}"
        );
    }
    Ok(outcome)
}

#[test]
fn long_deep_and_wide_formulas_are_refused_or_run() {
    let shapes: [(&str, &str, &str); 21] = [
        ("(", "1", ")"),
        ("1+", "1", ""),
        ("", "1", "*1"),
        ("-", "1", ""),
        ("!", "true", ""),
        ("!(", "true", ")"),
        ("-(", "1", ")"),
        ("true?1:", "1", ""),
        ("true?true:", "true", ""),
        ("IF(true,", "1", ",2)"),
        ("", "first_name", ".trim()"),
        ("", "first_name", ".a"),
        ("UPPER(", "state", ")"),
        ("true&&", "true", ""),
        ("false||", "true", ""),
        ("[", "1", "]"),
        ("", "last_visit", "+1"),
        ("\"$\"+(", "last_visit", "+1)"),
        ("", "member", "==true"),
        ("", "spend", " in [1]"),
        ("(true?1:", "1", ")+1"),
    ];
    for (before, middle, after) in shapes {
        for count in [1, 10, 31, 33, 60, 70, 100, 250, 600, 1_000, 2_000, 100_000] {
            let source = format!("{}{middle}{}", before.repeat(count), after.repeat(count));
            let _ = assert_survives(&source);
        }
    }
    let odd = [
        "{", "}", "\"", "'", "\\", "`", "[", "]", ",", "?", ":", ".", "//", "é", "\u{0}",
        "\u{202e}", "🎂", "{{", "r\"", "'''",
    ];
    for piece in odd {
        for count in [1, 2, 3, 700, 2_000] {
            let _ = assert_survives(&piece.repeat(count));
        }
    }
}

#[test]
fn a_text_that_grows_is_stopped_at_its_bound() {
    let stopped = |source: &str| match assert_survives(source).unwrap() {
        EvaluatedCell::Blank(formula::BlankReason::Stopped(sentence)) => sentence,
        other => panic!("{source}: {other:?}"),
    };
    let doubling = format!(
        "{}\"ab\"{}",
        "SUBSTITUTE(".repeat(30),
        ", \"a\", \"aaaa\")".repeat(30)
    );
    assert_eq!(
        stopped(&doubling),
        "a text within the formula gets too long here"
    );
    assert_eq!(
        stopped("REPT(\"abc\", 2000000000)"),
        "a text within the formula gets too long here"
    );
    let nested = format!("{}\"ab\"{}", "REPT(".repeat(10), ", 9)".repeat(10));
    assert_eq!(
        stopped(&nested),
        "a text within the formula gets too long here"
    );
    let many = ["LEN(REPT(\"abcdefgh\", 1000))"; 40].join(" + ");
    assert_eq!(stopped(&many), "the formula takes too many steps here");
    assert_eq!(
        stopped(&format!("IFBLANK({many}, 1)")),
        "the formula takes too many steps here"
    );
    assert_eq!(
        stopped(&format!("IFERROR({many}, 1)")),
        "the formula takes too many steps here"
    );
    assert_eq!(
        stopped(&format!("OR({many} > 1, TRUE)")),
        "the formula takes too many steps here"
    );
    let matches = "REGEXMATCH(REPT(\"a\", 8000), \"(a|aa){100}$\")";
    let twice = format!("{matches} && {matches}");
    assert_eq!(stopped(&twice), "the formula takes too many steps here");
}

#[test]
fn replacing_costs_a_search_for_every_match_and_what_values_hold_is_replaced() {
    let replaced = |text: &str, pattern: &str| {
        assert_survives(&format!("LEN(REGEXREPLACE({text}, r\"{pattern}\", \"b\"))"))
            .unwrap()
            .text()
    };
    // Each of the searches would look at all that is left.
    assert_eq!(replaced("REPT(\"a\", 4000)", "(a|b)*c|a"), None);
    assert_eq!(replaced("REPT(\"a\", 8000)", r"(\w|\pL)*\d|a"), None);
    // Values have 600 characters.
    assert_eq!(
        replaced("REPT(\"abc \", 150)", r"\s+").as_deref(),
        Some("600")
    );
    assert_eq!(
        replaced("REPT(\"<b>x\", 100)", "<[^>]*>").as_deref(),
        Some("200")
    );
    assert_eq!(
        replaced("REPT(\"1a\", 300)", "[0-9]").as_deref(),
        Some("600")
    );
}

/// Pieces of formulas, sensible and not.
fn piece_strategy() -> impl Strategy<Value = String> {
    let words: Vec<String> = list_functions()
        .iter()
        .map(|help| format!("{}(", help.name))
        .collect();
    let signs = [
        "(",
        ")",
        ",",
        "+",
        "-",
        "*",
        "/",
        "%",
        "<",
        "<=",
        "==",
        "!=",
        "&&",
        "||",
        "!",
        "?",
        ":",
        "[",
        "]",
        "in",
        ".",
        "true",
        "null",
        "{First order}",
        "first_name",
        "lifetime_value",
        "last_visit",
        "member",
        "spend",
        "visits",
        "\"ab\"",
        "'x'",
        "r\"\\d+\"",
        "\"2026-02-03\"",
        "1",
        "0",
        "-3.5",
        "1e308",
        "999999999999999999999",
        "=",
        "&",
        "<>",
        "“",
        "{",
        "\"",
        "\\",
        "\n",
        " ",
        "é",
        "//",
        "\"Y\"",
        "\"#,##0.00\"",
    ];
    prop_oneof![
        3 => prop::sample::select(words),
        5 => prop::sample::select(signs.map(str::to_owned).to_vec()),
        1 => "\\PC{0,3}",
    ]
}

/// Formulas that mostly compile.
fn expression_strategy() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "first_name",
        "nickname",
        "lifetime_value",
        "spend",
        "visits",
        "last_visit",
        "{First order}",
        "member",
        "TODAY()",
        "\"abc\"",
        "\"\"",
        "null",
        "0",
        "7",
        "-2.5",
        "1e300",
        "true",
        "\"2026-03-01\"",
    ])
    .prop_map(str::to_owned);
    leaf.prop_recursive(6, 60, 3, |inner| {
        let names: Vec<&'static str> = list_functions().iter().map(|help| help.name).collect();
        let operators = vec!["+", "-", "*", "/", "%", "<", ">=", "==", "!=", "&&", "||"];
        prop_oneof![
            (
                inner.clone(),
                prop::sample::select(operators),
                inner.clone()
            )
                .prop_map(|(left, operator, right)| format!("({left} {operator} {right})")),
            (
                prop::sample::select(names),
                prop::collection::vec(inner.clone(), 0..4)
            )
                .prop_map(|(name, arguments)| format!("{name}({})", arguments.join(", "))),
            (inner.clone(), inner.clone(), inner)
                .prop_map(|(condition, yes, no)| format!("IF({condition}, {yes}, {no})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_refused_or_runs(source in "\\PC{0,200}") {
        let _ = assert_survives(&source);
    }

    #[test]
    fn any_pieces_are_refused_or_run(pieces in prop::collection::vec(piece_strategy(), 0..40)) {
        let _ = assert_survives(&pieces.concat());
        let _ = assert_survives(&pieces.join(" "));
    }

    #[test]
    fn any_expression_is_refused_or_runs(source in expression_strategy()) {
        let _ = assert_survives(&source);
    }
}
