//! Whom conditions take.

use super::*;

/// Asserts for which of the values a condition holds.
fn assert_matches(column: &str, operator: &str, value: Json, holding: &[&str], failing: &[&str]) {
    let document = condition_json(column, operator, &value);
    for (expected, texts) in [(true, holding), (false, failing)] {
        for text in texts {
            assert_eq!(
                recipient_matches(&document, &[(column, text)]),
                expected,
                "{document} on {text:?}"
            );
        }
    }
}

#[test]
fn text_compares_without_case_and_outer_space() {
    assert_matches(
        "loyalty",
        "is",
        json!(" Gold "),
        &["gold", "GOLD", " Gold\t"],
        &["golden", "", "old"],
    );
    assert_matches(
        "loyalty",
        "is_not",
        json!("gold"),
        &["silver", "", " "],
        &["GOLD"],
    );
    assert_matches(
        "loyalty",
        "contains",
        json!("ÜR"),
        &["Zürich", "ür"],
        &["Zurich", ""],
    );
    assert_matches(
        "loyalty",
        "does_not_contain",
        json!("x"),
        &["gold", ""],
        &["maX"],
    );
    assert_matches(
        "loyalty",
        "starts_with",
        json!("go"),
        &["Gold", "  GO"],
        &["ego", "g", ""],
    );
    assert_matches(
        "loyalty",
        "ends_with",
        json!("LD"),
        &["gold", "old "],
        &["golds", ""],
    );
    assert_matches(
        "loyalty",
        "is_one_of",
        json!(["gold", "Silver"]),
        &["SILVER", "gold"],
        &["bronze", ""],
    );
}

#[test]
fn a_number_is_a_text_where_text_is_compared() {
    assert_matches(
        "zip",
        "is",
        json!(78701),
        &["78701"],
        &["78702", "78701-1234"],
    );
    assert_matches(
        "zip",
        "is_one_of",
        json!([78701, "02134"]),
        &["02134", "78701"],
        &["2134"],
    );
}

#[test]
fn numbers_compare_by_value() {
    assert_matches(
        "spent",
        "is",
        json!(1234.5),
        &["1,234.50", "$1234.5"],
        &["1234", "", "much"],
    );
    assert_matches(
        "spent",
        "is_not",
        json!("$5"),
        &["6", "", "much"],
        &["5.00"],
    );
    assert_matches(
        "spent",
        "greater",
        json!("1,000"),
        &["1000.01", "$2,000"],
        &["1000", "999", "", "much"],
    );
    assert_matches(
        "spent",
        "greater_or_equal",
        json!(10),
        &["10", "11"],
        &["9", ""],
    );
    assert_matches(
        "spent",
        "less",
        json!(10),
        &["9.99", "-$5"],
        &["10", "11", "", "much"],
    );
    assert_matches(
        "spent",
        "less_or_equal",
        json!(10),
        &["10", "0"],
        &["10.5", ""],
    );
    assert_matches(
        "spent",
        "between",
        json!([1, "$5"]),
        &["1", "3", "5"],
        &["0.99", "5.01", ""],
    );
}

#[test]
fn dates_compare_as_days() {
    assert_matches(
        "joined",
        "is",
        json!("1/31/2026"),
        &["2026-01-31", "2026-01-31T09:00:00Z"],
        &["2026-02-01", ""],
    );
    assert_matches(
        "joined",
        "is_not",
        json!("2026-01-31"),
        &["2026-02-01", "", "soon"],
        &["1/31/2026"],
    );
    assert_matches(
        "joined",
        "before",
        json!("2026-01-31"),
        &["2026-01-30"],
        &["2026-01-31", "", "soon"],
    );
    assert_matches(
        "joined",
        "after",
        json!("2026-01-31"),
        &["2/1/2026"],
        &["2026-01-31", "", "soon"],
    );
    let between = json!(["2026-01-01", "2026-01-31"]);
    assert_matches(
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
    assert_matches("joined", "in_last_days", json!(7), &last.0, &last.1);
    let next = (
        ["2026-03-10", "2026-03-17"],
        ["2026-03-18", "2026-03-09", "", "soon"],
    );
    assert_matches("joined", "in_next_days", json!("7"), &next.0, &next.1);
    assert_matches(
        "joined",
        "in_last_days",
        json!(0),
        &["2026-03-10"],
        &["2026-03-09", "2026-03-11"],
    );
}

#[test]
fn yes_and_no_compare_as_answers() {
    assert_matches(
        "member",
        "is",
        json!(true),
        &["Yes", "1", "TRUE"],
        &["no", "", "maybe"],
    );
    assert_matches(
        "member",
        "is",
        json!("no"),
        &["N", "false"],
        &["y", "", "maybe"],
    );
    assert_matches(
        "member",
        "is_not",
        json!("yes"),
        &["no", "", "maybe"],
        &["Y"],
    );
}

#[test]
fn birthdays_compare_by_their_anniversaries() {
    assert_matches(
        "birthday",
        "anniversary_today",
        Json::Null,
        &["3/10", "1985-03-10"],
        &["3/11", "", "soon"],
    );
    assert_matches(
        "birthday",
        "anniversary_in_next_days",
        json!(5),
        &["3/10", "3/15/1985"],
        &["3/16", "3/9", ""],
    );
    assert_matches(
        "birthday",
        "anniversary_in_month",
        json!(3),
        &["3/1", "1985-03-31"],
        &["4/1", ""],
    );
    assert_matches(
        "birthday",
        "is",
        json!("3/10"),
        &["3/10", "1985-03-10"],
        &["3/11", ""],
    );
    assert_matches(
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
        assert_matches(
            column,
            "is_empty",
            Json::Null,
            &["", "  ", "unreadable"],
            &[readable],
        );
        assert_matches(
            column,
            "is_not_empty",
            Json::Null,
            &[readable],
            &["", "  ", "unreadable"],
        );
    }
    assert_matches(
        "loyalty",
        "is_empty",
        Json::Null,
        &["", " \t"],
        &["unreadable"],
    );
    assert_matches(
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
        for operator in column_operators(column).iter().copied() {
            let document =
                condition_json(column, operator.as_str(), &sample_operand(column, operator));
            let holds_for_blanks = operator.split_negation().1;
            assert_eq!(
                recipient_matches(&document, &[]),
                holds_for_blanks,
                "{document}"
            );
        }
    }
}

#[test]
fn an_unknown_column_compares_what_there_is() {
    let document = condition_json("New Column", "greater", &json!(5));
    assert!(recipient_matches(&document, &[("new column", "$6")]));
    assert!(!recipient_matches(&document, &[("new column", "gold")]));
}

#[test]
fn text_compares_however_its_characters_are_composed() {
    assert_matches(
        "city",
        "is",
        json!("Jos\u{e9}"),
        &["JOSE\u{301}", "jos\u{c9}"],
        &["Jose"],
    );
    assert_matches(
        "city",
        "contains",
        json!("se\u{301}"),
        &["Jos\u{e9}"],
        &["Jose"],
    );
}

#[test]
fn columns_are_found_in_any_case() {
    let document = condition_json(" LOYALTY ", "is", &json!("gold"));
    assert!(recipient_matches(&document, &[("loyalty", "gold")]));
}

#[test]
fn a_tree_without_conditions_takes_everybody() {
    assert!(FilterConditions::default().matches(&BTreeMap::new(), fixed_today()));
    for document in [
        json!({ "all": [] }),
        json!({ "any": [] }),
        json!({ "all": [{ "any": [] }] }),
    ] {
        assert!(recipient_matches(&document, &[]), "{document}");
    }
}

#[test]
fn a_group_without_conditions_counts_for_nothing() {
    let gold = condition_json("loyalty", "is", &json!("gold"));
    for empty in [json!({ "all": [] }), json!({ "any": [{ "all": [] }] })] {
        for group in ["all", "any"] {
            let document = json!({ group: [gold, empty] });
            assert!(
                recipient_matches(&document, &[("loyalty", "gold")]),
                "{document}"
            );
            assert!(
                !recipient_matches(&document, &[("loyalty", "silver")]),
                "{document}"
            );
        }
    }
}

proptest! {
    #[test]
    fn groups_are_and_and_or(answers in prop::collection::vec((any::<bool>(), any::<bool>()), 1..6)) {
        let leaf = |holds: bool| condition_json("loyalty", if holds { "is" } else { "is_not" }, &json!("gold"));
        let groups: Vec<Json> = answers.iter().map(|(left, right)| json!({ "any": [leaf(*left), leaf(*right)] })).collect();
        let gold = [("loyalty", "gold")];
        prop_assert_eq!(recipient_matches(&json!({ "all": groups }), &gold), answers.iter().all(|(left, right)| *left || *right));
        prop_assert_eq!(recipient_matches(&json!({ "any": groups }), &gold), answers.iter().any(|(left, right)| *left || *right));
    }

    #[test]
    fn number_operators_agree_with_arithmetic(value in -50i32..50, low in -50i32..50, width in 0i32..20) {
        let text = value.to_string();
        let holds = |operator: &str, operand: Json| recipient_matches(&condition_json("spent", operator, &operand), &[("spent", &text)]);
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
            for operator in column_operators(column).iter().copied() {
                let (positive, negated) = operator.split_negation();
                if negated {
                    let document = |operator: Operator| condition_json(column, operator.as_str(), &sample_operand(column, operator));
                    let values = [(column, value.as_str())];
                    prop_assert_ne!(recipient_matches(&document(operator), &values), recipient_matches(&document(positive), &values));
                }
            }
        }
    }
}
