//! What a formula means.
#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test fails by panicking"
)]

mod common;

use audience::ColumnType;
use common::{compile_sample, format_result};

fn all_give(cases: &[(&str, &str)]) {
    for (source, expected) in cases {
        assert_eq!(format_result(source), *expected, "{source}");
    }
}

#[test]
fn the_example_of_every_marketer() {
    all_give(&[
        (
            "IF(lifetime_value > 500, \"VIP\", PROPER(first_name))",
            "VIP",
        ),
        (
            "IF(lifetime_value > 5000, \"VIP\", PROPER(first_name))",
            "Ada",
        ),
        (
            "\"Dear \" + PROPER(first_name) + \" \" + PROPER(last_name) + \",\"",
            "Dear Ada Lovelace,",
        ),
    ]);
}

#[test]
fn names_are_found_in_any_case_and_any_column_in_braces() {
    all_give(&[
        ("proper(First_NAME)", "Ada"),
        ("Proper({ FIRST_NAME })", "Ada"),
        ("YEAR({First order})", "2019"),
        ("größe + 1", "8"),
        ("{GRÖßE}", "7"),
        ("{a}}b}", "brace"),
        ("if(member, {if}, \"\")", "perhaps"),
    ]);
    assert_eq!(
        compile_sample("first_name + FIRST_NAME + {State}").columns(),
        ["first_name", "state"]
    );
}

#[test]
fn numbers_mix_freely() {
    all_give(&[
        ("1 + 2.5", "3.5"),
        ("7 / 2", "3.5"),
        ("2 * 3 - 4 / 2", "4"),
        ("0.1 + 0.2", "0.3"),
        ("7 % 4 + 0xff + 5u", "263"),
        ("-lifetime_value", "-1250.5"),
        ("12345678901234567890", "12345678901234600000"),
        ("0xffffffffffffffff", "18446744073709600000"),
        ("-5.ABS()", "5"),
        ("1--1", "2"),
        ("---lifetime_value", "-1250.5"),
        ("1 < 1.5", "yes"),
        ("1 / 0", "[division by zero]"),
        ("1e308 * 10", "[the number gets too large]"),
    ]);
}

#[test]
fn texts_join_whatever_the_other_is() {
    all_give(&[
        ("first_name + 5", "ada5"),
        ("5 + first_name", "5ada"),
        ("1 + 2 + \"x\"", "3x"),
        ("\"x\" + 1 + 2", "x12"),
        ("\"x\" + member", "xyes"),
        ("\"x\" + last_visit", "x2026-01-01"),
        ("\"x\" + nickname + \"y\"", "xy"),
        ("\"x\" + spend", "x"),
        ("null + nickname + \"y\"", "y"),
    ]);
}

#[test]
fn dates_take_days_and_give_days() {
    all_give(&[
        ("last_visit + 30", "2026-01-31"),
        ("1 + last_visit", "2026-01-02"),
        ("last_visit - 1", "2025-12-31"),
        ("TODAY() - last_visit", "30"),
        ("last_visit + 99999999", "[there is no such date]"),
        ("last_visit > \"2025-12-31\"", "yes"),
        ("\"1/1/2026\" == last_visit", "yes"),
        ("TODAY() - \"2026-01-01\"", "30"),
    ]);
}

#[test]
fn a_blank_compares_and_joins_and_makes_calculations_blank() {
    all_give(&[
        ("nickname == \"\"", "yes"),
        ("nickname == null", "yes"),
        ("nickname != \"x\"", "yes"),
        ("spend == 0", "no"),
        ("spend < 5", "no"),
        ("spend > 5", "no"),
        ("!(spend > 5)", "yes"),
        ("opted_in", "[opted_in is blank]"),
        ("opted_in == FALSE", "no"),
        ("IF(opted_in, 1, 2)", "2"),
        ("NOT(opted_in)", "yes"),
        ("spend + 1", "[spend is blank]"),
        (
            "visits + 1",
            "[the value of visits does not read as a number]",
        ),
        ("visits == null", "yes"),
        ("IFBLANK(nickname, first_name)", "ada"),
        ("IFBLANK(1 / 0, 7)", "7"),
        ("SUM(spend, 2)", "2"),
        ("\"\"", "[the formula gives an empty text here]"),
    ]);
}

#[test]
fn an_error_is_not_a_blank_and_goes_through() {
    all_give(&[
        ("1 / 0 > 5", "[division by zero]"),
        ("IF(VALUE(first_name) > 5, 1, 2)", "[“ada” is not a number]"),
        ("ISBLANK(1 / 0)", "[division by zero]"),
        ("FALSE && 1 / 0 > 5", "no"),
        ("1 / 0 > 5 && FALSE", "no"),
        ("1 / 0 > 5 || TRUE", "yes"),
        ("1 / 0 > 5 || FALSE", "[division by zero]"),
    ]);
}

#[test]
fn what_cel_writes_works_as_in_cel() {
    all_give(&[
        ("first_name.startsWith('a') ? 'A' : 'other'", "A"),
        ("first_name.size() + size('xy')", "5"),
        ("email.matches(r'^\\w+@')", "yes"),
        ("email.contains('@') && email.endsWith('.com')", "yes"),
        ("state in ['TX', 'OK']", "yes"),
        ("!(state in ['CA'])", "yes"),
        ("lifetime_value in [1, 1250.5]", "yes"),
        ("first_name == 'Ada'", "no"),
        ("'a' < 'b'", "yes"),
        ("'''it's'''", "it's"),
        ("\"\\u00e9\\n\\x41\\101\" + '“é”'", "é\nAA“é”"),
        ("1 < 2 // a remark", "yes"),
        ("!!true", "yes"),
        ("--5", "5"),
        ("true ? 1 : false ? 2 : 3", "1"),
    ]);
}

#[test]
fn yes_and_no_are_written_in_several_ways() {
    all_give(&[
        ("member == \"yes\"", "yes"),
        ("member == TRUE", "yes"),
        ("member == True && true", "yes"),
        ("member != \"no\"", "yes"),
        ("IF(member, \"in\", \"out\")", "in"),
    ]);
}

#[test]
fn a_result_has_a_type_and_different_branches_meet_as_text() {
    let type_of = |source| compile_sample(source).result_type();
    assert_eq!(type_of("lifetime_value * 2"), ColumnType::Number);
    assert_eq!(type_of("EDATE(TODAY(), 1)"), ColumnType::Date);
    assert_eq!(type_of("IF(member, 1)"), ColumnType::Number);
    assert_eq!(type_of("IF(member, 1, \"\")"), ColumnType::Text);
    assert_eq!(type_of("IF(member, 1, null)"), ColumnType::Number);
    assert_eq!(type_of("lifetime_value > 1"), ColumnType::YesNo);
    assert_eq!(type_of("null"), ColumnType::Text);
    all_give(&[
        ("IF(member, 1, \"x\") + 1", "11"),
        ("IF(member, 1, \"x\") == 1 + \"\"", "yes"),
    ]);
}

#[test]
fn a_result_is_cut_like_any_value() {
    assert_eq!(format_result("REPT(\"é\", 700)").chars().count(), 600);
}

#[test]
fn a_result_never_holds_what_the_database_cannot() {
    let reason = "[the result holds the character U+0000]";
    all_give(&[
        ("\"a\\u0000b\"", reason),
        ("SUBSTITUTE(first_name, \"a\", \"\\x00\")", reason),
        ("\"\\000\" + first_name", reason),
        ("LEN(\"a\\u0000b\")", "3"),
    ]);
}

#[test]
fn a_reason_names_the_column_as_it_is_written_and_what_is_blank() {
    all_give(&[
        ("{FIRST ORDER} + spend", "[spend is blank]"),
        ("1 + null", "[null is blank]"),
        (
            "Größe + VISITS",
            "[the value of visits does not read as a number]",
        ),
    ]);
    let columns = [formula::InputColumn {
        name: "Last Gift".to_owned(),
        column_type: ColumnType::Number,
    }];
    let gift = formula::compile_formula("{last gift} + 1", &columns).unwrap();
    let blank = gift.evaluate(&std::collections::HashMap::new(), common::fixed_today());
    assert_eq!(
        serde_json::to_value(blank).unwrap()["reason"],
        "Last Gift is blank"
    );
}
