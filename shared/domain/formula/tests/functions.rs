//! Every function does what its help says.
#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test fails by panicking"
)]

mod common;

use std::collections::HashSet;

use common::{evaluate_sample, fixed_today, format_result};
use formula::{InputColumn, compile_formula, list_functions};

#[test]
fn every_example_gives_its_result() {
    for help in list_functions() {
        let formula = compile_formula(help.example, &[] as &[InputColumn])
            .unwrap_or_else(|problems| panic!("{}: {problems:?}", help.example));
        let outcome = formula.evaluate(&std::collections::HashMap::new(), fixed_today());
        assert_eq!(
            outcome.text().as_deref(),
            Some(help.result),
            "{}",
            help.example
        );
    }
}

#[test]
fn every_example_calls_its_function_and_every_help_is_whole() {
    let mut names = HashSet::new();
    for help in list_functions() {
        assert!(
            help.example.contains(&format!("{}(", help.name)),
            "{}",
            help.name
        );
        assert!(
            help.signature.starts_with(&format!("{}(", help.name)),
            "{}",
            help.name
        );
        assert!(help.description.ends_with('.'), "{}", help.name);
        assert!(
            ["text", "number", "date", "logic"].contains(&help.category),
            "{}",
            help.name
        );
        assert!(names.insert(help.name));
    }
    assert!(list_functions().is_sorted_by_key(|help| help.name));
}

#[test]
fn the_functions_that_marketers_know_are_there() {
    let known = "IF AND OR NOT CONCAT UPPER LOWER PROPER TRIM LEFT RIGHT MID LEN SUBSTITUTE TEXT VALUE ROUND MIN MAX \
                 ABS TODAY YEAR MONTH DAY DATEDIF EDATE IFBLANK SWITCH CONTAINS REGEXMATCH";
    for name in known.split_whitespace() {
        assert!(
            list_functions().iter().any(|help| help.name == name),
            "{name}"
        );
    }
}

#[test]
fn functions_at_their_edges() {
    let cases = [
        ("LEFT(\"Zoë\", 99)", "Zoë"),
        ("LEFT(\"Zoë\", 0) + \".\"", "."),
        ("RIGHT(\"Zoë\")", "ë"),
        ("MID(\"Zoë\", 3, 9)", "ë"),
        ("MID(\"Zoë\", 4, 1) + \".\"", "."),
        ("MID(\"Zoë\", 0, 1)", "[MID starts at 1]"),
        (
            "LEFT(\"Zoë\", -1)",
            "[a count of characters is not negative]",
        ),
        (
            "PROPER(\"mary ann's 3RD o'neil-smith\")",
            "Mary Ann's 3rd O'Neil-Smith",
        ),
        ("SUBSTITUTE(\"aaa\", \"\", \"b\")", "aaa"),
        ("TEXTBEFORE(\"a-b-c\", \"-\")", "a"),
        ("TEXTAFTER(\"a-b-c\", \"-\")", "b-c"),
        ("TEXTAFTER(\"abc\", \"\")", "[the separator is blank]"),
        ("VALUE(\"abc\")", "[“abc” is not a number]"),
        ("VALUE(nickname)", "[the text to be read is blank]"),
        ("ROUND(1.005, 2)", "1.01"),
        ("ROUND(-2.5)", "-3"),
        ("ROUND(1234, -2)", "1200"),
        ("ROUND(0.1 + 0.2, 99999)", "0.3"),
        ("ROUNDUP(-2.1)", "-3"),
        ("CEILING(2.1, 0)", "[the step is zero]"),
        ("MOD(7, 0)", "[division by zero]"),
        ("SQRT(-1)", "[a negative number has no square root]"),
        ("POWER(10, 400)", "[the number gets too large]"),
        ("POWER(-8, 1 / 3)", "[a negative number has no such power]"),
        ("POWER(0, -1)", "[division by zero]"),
        ("AVERAGE(spend)", "[all values are blank]"),
        ("MAX(last_visit, \"2026-01-02\")", "2026-01-02"),
        ("MAX({First order}, last_visit)", "2026-01-01"),
        ("MIN(spend, 3)", "3"),
        ("DATE(2026, 2, 29)", "[there is no such date]"),
        ("DATE(99999, 1, 1)", "[there is no such date]"),
        ("EDATE(\"2024-02-29\", 12)", "2025-02-28"),
        ("EDATE(\"9999-12-31\", 1)", "[there is no such date]"),
        (
            "EDATE(\"2026-01-31\", -2147483648)",
            "[there is no such date]",
        ),
        ("EOMONTH(\"2024-01-31\", 1)", "2024-02-29"),
        ("DATEDIF(\"2024-02-29\", \"2025-02-28\", \"Y\")", "0"),
        ("DATEDIF(\"2024-01-31\", \"2024-03-01\", \"MD\")", "1"),
        ("DATEDIF(\"2025-12-25\", \"2026-01-31\", \"yd\")", "37"),
        (
            "DATEDIF(\"2026-01-02\", \"2026-01-01\", \"D\")",
            "[DATEDIF ends before it starts]",
        ),
        ("SWITCH(nickname, \"\", \"none\", \"some\")", "none"),
        (
            "SWITCH(state, \"CA\", 1, \"NY\", 2)",
            "[no condition or case holds, and there is no other value]",
        ),
        (
            "IFS(FALSE, 1)",
            "[no condition or case holds, and there is no other value]",
        ),
        ("IFERROR(nickname, \"x\") + \".\"", "."),
        ("TEXT(member)", "yes"),
        ("TEXT(0.5, \"0%\")", "50%"),
        ("TEXT(5125551234, \"(000) 000-0000\")", "(512) 555-1234"),
        ("TEXT(12345678, \"000-00-0000\")", "012-34-5678"),
        ("TEXT(-5, \"$0.00;($0.00)\")", "($5.00)"),
        ("TEXT(5, \"0 \\\"pts\\\"\")", "5 pts"),
        ("TEXT(5, '0 \"pts\"')", "5 pts"),
        (
            "TEXT(\"2026-07-04\" == \"\" ? TODAY() : DATE(2026, 7, 4), '\"Day\" D')",
            "Day 4",
        ),
        (
            "TEXT(5, state)",
            "[the format is not understood: Letters stand in quotes, as in 0 \"points\"; this is T]",
        ),
        ("REGEXEXTRACT(email, \"@(.+)$\")", "example.com"),
        ("REGEXEXTRACT(email, \"x{9}\") + \".\"", "."),
        ("REGEXREPLACE(\"a1b2\", \"[0-9]\", \"$0\")", "a$0b$0"),
        (
            "REGEXREPLACE(\"5125550100\", r\"^(\\d{3})(\\d{3})\", \"($1) $2-\")",
            "(512) 555-0100",
        ),
        ("REGEXREPLACE(\"ab\", \"(a)|(b)\", \"[$1$2]\")", "[a][b]"),
        (
            "REGEXREPLACE(\"Zoë é\", \"(.)( )\", \"$2$1€$$1$3\")",
            "Zo ë€$1$3é",
        ),
        ("REGEXREPLACE(\"price\", \"^(p)\", \"$5\")", "$5rice"),
        ("REGEXREPLACE(\"5\", \"5\", \"$1.50\")", "$1.50"),
        // What somebody sent has no groups.
        ("REGEXREPLACE(\"x1\", \"(x)\", \"$1\" + state)", "$1TX1"),
        ("MONTH(birthday) * 100 + DAY(birthday)", "704"),
        ("MONTH(\"1990-07-04\")", "7"),
        (
            "DATEVALUE(birthday)",
            "[“7/4” has no year; of a birthday MONTH and DAY read it]",
        ),
        ("FIND(\"x\", \"abc\")", "[FIND does not find the part]"),
        (
            "REGEXEXTRACT(email, \"x{9}\")",
            "[the regular expression matches nothing]",
        ),
        ("PROPER(\"ßa\")", "Ssa"),
    ];
    for (source, expected) in cases {
        assert_eq!(format_result(source), expected, "{source}");
    }
}

#[test]
fn a_branch_that_is_not_taken_is_not_looked_at() {
    for source in [
        "IF(TRUE, 1, 1 / 0)",
        "IFS(TRUE, 1, VALUE(\"x\") > 1, 1 / 0)",
        "SWITCH(1, 1, 1, 1 / 0, 2)",
        "IFBLANK(1, 1 / 0)",
        "TRUE ? 1 : 1 / 0",
        "IF(OR(TRUE, 1 / 0 > 1), 1, 2)",
        "IF(AND(FALSE, 1 / 0 > 1), 2, 1)",
    ] {
        assert_eq!(
            evaluate_sample(source).text().as_deref(),
            Some("1"),
            "{source}"
        );
    }
}

#[test]
fn rounding_at_the_ends_of_a_numbers_digits_leaves_it() {
    let cases = [
        ("ROUND(1, 300)", "1"),
        ("ROUND(0.1, 400)", "0.1"),
        ("ROUNDDOWN(1, 1e9)", "1"),
        ("ROUNDUP(0, 5)", "0"),
        ("ROUND(12345.678, 30) == 12345.678", "yes"),
        ("ROUND(1e-24 * 5.55, 26) == 5.55e-24", "yes"),
        ("ROUND(123, -400)", "0"),
        ("MOD(1e300, 7)", "1"),
        ("MOD(-1, 3)", "2"),
        ("MOD(7, -3)", "-2"),
        ("MOD(6, -3)", "0"),
    ];
    for (source, expected) in cases {
        assert_eq!(format_result(source), expected, "{source}");
    }
}

#[test]
fn numbers_are_compared_and_floored_with_the_digits_that_people_see() {
    let cases = [
        ("0.1 + 0.2 == 0.3", "yes"),
        ("0.1 + 0.2 != 0.3", "no"),
        ("0.1 + 0.2 > 0.3", "no"),
        ("0.1 + 0.2 <= 0.3", "yes"),
        ("0.1 + 0.2 in [0.3]", "yes"),
        ("SWITCH(0.1 + 0.2, 0.3, \"same\", \"other\")", "same"),
        ("0.1 + 0.2 - 0.3 == 0", "yes"),
        ("100.1 - 100 == 0.1", "yes"),
        ("SUM(0.1, 0.2, -0.3)", "0"),
        ("1 / 3 * 3 == 1", "yes"),
        ("INT(1 / 3 * 3)", "1"),
        ("INT(0.57 * 100)", "57"),
        ("INT(-0.57 * 100)", "-57"),
        ("LEFT(\"abcdef\", (0.1 + 0.2) * 10)", "abc"),
        ("MOD(0.3, 0.1)", "0"),
        ("MOD(5.35, 0.1)", "0.05"),
        ("MOD(-0.3, 0.1)", "0"),
        ("0.3 % 0.1", "0"),
        ("7.5 % 2", "1.5"),
        ("FLOOR(0.3, 0.1)", "0.3"),
        ("\"\" + (0.1 + 0.2)", "0.3"),
        ("TEXTJOIN(\"-\", 0.1 + 0.2, 1.1 * 3)", "0.3-3.3"),
        ("MAX(0.1 + 0.2, 0.3)", "0.3"),
        ("1e-20 == 2e-20", "no"),
        ("0.00000000000001 == 0", "no"),
        ("9007199254740991 == 9007199254740990", "no"),
    ];
    for (source, expected) in cases {
        assert_eq!(format_result(source), expected, "{source}");
    }
}
