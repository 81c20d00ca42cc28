//! Whom conditions take.

use super::*;

/// Asserts for which of the values a condition holds.
fn check(column: &str, operator: &str, value: Json, holding: &[&str], failing: &[&str]) {
    let document = condition(column, operator, &value);
    for (expected, texts) in [(true, holding), (false, failing)] {
        for text in texts {
            assert_eq!(
                matches(&document, &[(column, text)]),
                expected,
                "{document} on {text:?}"
            );
        }
    }
}

#[test]
fn text_compares_without_case_and_outer_space() {
    check(
        "loyalty",
        "is",
        json!(" Gold "),
        &["gold", "GOLD", " Gold\t"],
        &["golden", "", "old"],
    );
    check(
        "loyalty",
        "is_not",
        json!("gold"),
        &["silver", "", " "],
        &["GOLD"],
    );
    check(
        "loyalty",
        "contains",
        json!("ÜR"),
        &["Zürich", "ür"],
        &["Zurich", ""],
    );
    check(
        "loyalty",
        "does_not_contain",
        json!("x"),
        &["gold", ""],
        &["maX"],
    );
    check(
        "loyalty",
        "starts_with",
        json!("go"),
        &["Gold", "  GO"],
        &["ego", "g", ""],
    );
    check(
        "loyalty",
        "ends_with",
        json!("LD"),
        &["gold", "old "],
        &["golds", ""],
    );
    check(
        "loyalty",
        "is_one_of",
        json!(["gold", "Silver"]),
        &["SILVER", "gold"],
        &["bronze", ""],
    );
}

#[test]
fn a_number_is_a_text_where_text_is_compared() {
    check(
        "zip",
        "is",
        json!(78701),
        &["78701"],
        &["78702", "78701-1234"],
    );
    check(
        "zip",
        "is_one_of",
        json!([78701, "02134"]),
        &["02134", "78701"],
        &["2134"],
    );
}

#[test]
fn numbers_compare_by_value() {
    check(
        "spent",
        "is",
        json!(1234.5),
        &["1,234.50", "$1234.5"],
        &["1234", "", "much"],
    );
    check(
        "spent",
        "is_not",
        json!("$5"),
        &["6", "", "much"],
        &["5.00"],
    );
    check(
        "spent",
        "greater",
        json!("1,000"),
        &["1000.01", "$2,000"],
        &["1000", "999", "", "much"],
    );
    check(
        "spent",
        "greater_or_equal",
        json!(10),
        &["10", "11"],
        &["9", ""],
    );
    check(
        "spent",
        "less",
        json!(10),
        &["9.99", "-$5"],
        &["10", "11", "", "much"],
    );
    check(
        "spent",
        "less_or_equal",
        json!(10),
        &["10", "0"],
        &["10.5", ""],
    );
    check(
        "spent",
        "between",
        json!([1, "$5"]),
        &["1", "3", "5"],
        &["0.99", "5.01", ""],
    );
}

#[test]
fn dates_compare_as_days() {
    check(
        "joined",
        "is",
        json!("1/31/2026"),
        &["2026-01-31", "2026-01-31T09:00:00Z"],
        &["2026-02-01", ""],
    );
    check(
        "joined",
        "is_not",
        json!("2026-01-31"),
        &["2026-02-01", "", "soon"],
        &["1/31/2026"],
    );
    check(
        "joined",
        "before",
        json!("2026-01-31"),
        &["2026-01-30"],
        &["2026-01-31", "", "soon"],
    );
    check(
        "joined",
        "after",
        json!("2026-01-31"),
        &["2/1/2026"],
        &["2026-01-31", "", "soon"],
    );
    let between = json!(["2026-01-01", "2026-01-31"]);
    check(
        "joined",
        "between",
        between,
        &["1/1/2026", "1/31/2026"],
        &["12/31/2025", "2/1/2026", ""],
    );
}

#[test]
fn days_ago_and_days_ahead_count_from_today_which_is_among_them() {
    let last = (
        ["2026-03-10", "2026-03-03"],
        ["2026-03-02", "2026-03-11", "", "soon"],
    );
    check("joined", "in_last_days", json!(7), &last.0, &last.1);
    let next = (
        ["2026-03-10", "2026-03-17"],
        ["2026-03-18", "2026-03-09", "", "soon"],
    );
    check("joined", "in_next_days", json!("7"), &next.0, &next.1);
    check(
        "joined",
        "in_last_days",
        json!(0),
        &["2026-03-10"],
        &["2026-03-09", "2026-03-11"],
    );
}

#[test]
fn yes_and_no_compare_as_answers() {
    check(
        "member",
        "is",
        json!(true),
        &["Yes", "1", "TRUE"],
        &["no", "", "maybe"],
    );
    check(
        "member",
        "is",
        json!("no"),
        &["N", "false"],
        &["y", "", "maybe"],
    );
    check(
        "member",
        "is_not",
        json!("yes"),
        &["no", "", "maybe"],
        &["Y"],
    );
}

#[test]
fn birthdays_compare_by_their_anniversaries() {
    check(
        "birthday",
        "anniversary_today",
        Json::Null,
        &["3/10", "1985-03-10"],
        &["3/11", "", "soon"],
    );
    check(
        "birthday",
        "anniversary_in_next_days",
        json!(5),
        &["3/10", "3/15/1985"],
        &["3/16", "3/9", ""],
    );
    check(
        "birthday",
        "anniversary_in_month",
        json!(3),
        &["3/1", "1985-03-31"],
        &["4/1", ""],
    );
    check(
        "birthday",
        "is",
        json!("3/10"),
        &["3/10", "1985-03-10"],
        &["3/11", ""],
    );
    check(
        "birthday",
        "is",
        json!("1985-03-10"),
        &["3/10/1985"],
        &["3/10", "1986-03-10"],
    );
}

#[test]
fn what_does_not_read_as_its_type_is_empty() {
    for (column, readable) in [
        ("spent", "$5"),
        ("joined", "1/31/2026"),
        ("member", "no"),
        ("birthday", "1/31"),
    ] {
        check(
            column,
            "is_empty",
            Json::Null,
            &["", "  ", "unreadable"],
            &[readable],
        );
        check(
            column,
            "is_not_empty",
            Json::Null,
            &[readable],
            &["", "  ", "unreadable"],
        );
    }
    check(
        "loyalty",
        "is_empty",
        Json::Null,
        &["", " \t"],
        &["unreadable"],
    );
    check(
        "loyalty",
        "is_not_empty",
        Json::Null,
        &["unreadable"],
        &["", " \t"],
    );
}

#[test]
fn a_column_without_a_value_is_blank_whether_it_exists_or_not() {
    for column in COLUMNS.into_iter().chain(["gone"]) {
        for operator in operators(column).iter().copied() {
            let document = condition(column, operator.as_str(), &operand(column, operator));
            let holds_for_blanks = operator.without_not().1;
            assert_eq!(matches(&document, &[]), holds_for_blanks, "{document}");
        }
    }
}

#[test]
fn an_unknown_column_compares_what_there_is() {
    let document = condition("New Column", "greater", &json!(5));
    assert!(matches(&document, &[("new column", "$6")]));
    assert!(!matches(&document, &[("new column", "gold")]));
}

#[test]
fn text_compares_however_its_characters_are_composed() {
    check(
        "city",
        "is",
        json!("Jos\u{e9}"),
        &["JOSE\u{301}", "jos\u{c9}"],
        &["Jose"],
    );
    check(
        "city",
        "contains",
        json!("se\u{301}"),
        &["Jos\u{e9}"],
        &["Jose"],
    );
}

#[test]
fn columns_are_found_in_any_case() {
    let document = condition(" LOYALTY ", "is", &json!("gold"));
    assert!(matches(&document, &[("loyalty", "gold")]));
}

#[test]
fn a_tree_without_conditions_takes_everybody() {
    assert!(FilterConditions::default().matches(&BTreeMap::new(), today()));
    for document in [
        json!({ "all": [] }),
        json!({ "any": [] }),
        json!({ "all": [{ "any": [] }] }),
    ] {
        assert!(matches(&document, &[]), "{document}");
    }
}

#[test]
fn a_group_without_conditions_counts_for_nothing() {
    let gold = condition("loyalty", "is", &json!("gold"));
    for empty in [json!({ "all": [] }), json!({ "any": [{ "all": [] }] })] {
        for group in ["all", "any"] {
            let document = json!({ group: [gold, empty] });
            assert!(matches(&document, &[("loyalty", "gold")]), "{document}");
            assert!(!matches(&document, &[("loyalty", "silver")]), "{document}");
        }
    }
}

proptest! {
    #[test]
    fn groups_are_and_and_or(answers in prop::collection::vec((any::<bool>(), any::<bool>()), 1..6)) {
        let leaf = |holds: bool| condition("loyalty", if holds { "is" } else { "is_not" }, &json!("gold"));
        let groups: Vec<Json> = answers.iter().map(|(left, right)| json!({ "any": [leaf(*left), leaf(*right)] })).collect();
        let gold = [("loyalty", "gold")];
        prop_assert_eq!(matches(&json!({ "all": groups }), &gold), answers.iter().all(|(left, right)| *left || *right));
        prop_assert_eq!(matches(&json!({ "any": groups }), &gold), answers.iter().any(|(left, right)| *left || *right));
    }

    #[test]
    fn number_operators_agree_with_arithmetic(value in -50i32..50, low in -50i32..50, width in 0i32..20) {
        let text = value.to_string();
        let holds = |operator: &str, operand: Json| matches(&condition("spent", operator, &operand), &[("spent", &text)]);
        prop_assert_eq!(holds("is", json!(low)), value == low);
        prop_assert_eq!(holds("is_not", json!(low)), value != low);
        prop_assert_eq!(holds("greater", json!(low)), value > low);
        prop_assert_eq!(holds("greater_or_equal", json!(low)), value >= low);
        prop_assert_eq!(holds("less", json!(low)), value < low);
        prop_assert_eq!(holds("less_or_equal", json!(low)), value <= low);
        prop_assert_eq!(holds("between", json!([low, low + width])), (low..=low + width).contains(&value));
    }

    #[test]
    fn an_operator_and_its_opposite_never_agree(value in "[a-z0-9/-]{0,12}|[0-9]{1,3}|yes|no|3/10") {
        for column in COLUMNS {
            for operator in operators(column).iter().copied() {
                let (positive, negated) = operator.without_not();
                if negated {
                    let document = |operator: Operator| condition(column, operator.as_str(), &operand(column, operator));
                    let values = [(column, value.as_str())];
                    prop_assert_ne!(matches(&document(operator), &values), matches(&document(positive), &values));
                }
            }
        }
    }
}
