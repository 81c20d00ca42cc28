//! What is a tree of conditions, and what is said about the rest.

use super::*;

fn parse_error(document: &Json) -> String {
    parse(document).unwrap_err().to_string()
}

#[test]
fn every_operator_of_a_column_is_taken_and_no_other() {
    for column in COLUMNS {
        for operator in Operator::ALL.iter().copied() {
            let document =
                condition_json(column, operator.as_str(), &sample_operand(column, operator));
            let taken = parse(&document).is_ok();
            assert_eq!(
                taken,
                column_operators(column).contains(&operator),
                "{document}"
            );
        }
    }
}

#[test]
fn an_error_names_the_place_the_column_the_operator_and_what_is_allowed() {
    let document = json!({ "all": [
        { "column": "zip", "operator": "is", "value": "78701" },
        { "any": [{ "column": "Member", "operator": "contains", "value": "x" }] },
    ] });
    assert_eq!(
        parse_error(&document),
        "conditions at all[1].any[0]: column `Member` has no operator `contains`; \
         it has is, is_not, is_empty, is_not_empty"
    );
    assert_eq!(
        parse_error(&condition_json("spent", "greater", &json!("much"))),
        "conditions: the value of `greater` on column `spent` must be a number like 1,234.50 or $12"
    );
    assert_eq!(
        parse_error(&condition_json(
            "birthday",
            "anniversary_in_month",
            &json!(13)
        )),
        "conditions: the value of `anniversary_in_month` on column `birthday` must be a whole number from 1 to 12"
    );
}

#[test]
fn values_that_an_operator_cannot_take_are_refused() {
    let long = "x".repeat(601);
    let refused = [
        condition_json("loyalty", "is", &json!("  ")),
        condition_json("loyalty", "is", &json!(["gold"])),
        condition_json("loyalty", "contains", &json!(long)),
        condition_json("loyalty", "is_one_of", &json!([])),
        condition_json("loyalty", "is_one_of", &json!("gold")),
        condition_json("loyalty", "is_one_of", &json!(["gold", ""])),
        condition_json(
            "loyalty",
            "is_one_of",
            &json!(vec!["gold"; MAX_CHOICES + 1]),
        ),
        condition_json("loyalty", "is_empty", &json!("gold")),
        condition_json("spent", "is", &json!("")),
        condition_json("spent", "is", &json!({})),
        condition_json("spent", "between", &json!([5, 1])),
        condition_json("spent", "between", &json!([1])),
        condition_json("spent", "between", &json!([1, 2, 3])),
        condition_json("joined", "is", &json!("2026-02-30")),
        condition_json("joined", "between", &json!(["2026-02-01", "2026-01-01"])),
        condition_json("joined", "in_last_days", &json!(-1)),
        condition_json("joined", "in_last_days", &json!(1.5)),
        condition_json("joined", "in_next_days", &json!(MAX_DAYS + 1)),
        condition_json("member", "is", &json!("maybe")),
        condition_json("birthday", "is", &json!("2/30")),
        condition_json(
            "birthday",
            "anniversary_in_next_days",
            &json!(MAX_ANNIVERSARY_DAYS + 1),
        ),
    ];
    for document in refused {
        let problem = parse(&document).unwrap_err().problem;
        assert!(
            matches!(problem, ConditionErrorKind::Value { .. }),
            "{document}: {problem}"
        );
    }
}

#[test]
fn a_value_that_is_missing_is_refused_where_the_operator_takes_one() {
    for column in COLUMNS {
        for operator in column_operators(column).iter().copied() {
            let takes_none = sample_operand(column, operator).is_null();
            let parsed = parse(&condition_json(column, operator.as_str(), &Json::Null));
            assert_eq!(parsed.is_ok(), takes_none, "{column} {operator}");
        }
    }
}

#[test]
fn shapes_that_are_no_group_and_no_condition_are_refused() {
    let shape = [
        json!(null),
        json!([]),
        json!("all"),
        json!({}),
        json!({ "column": "zip" }),
    ];
    for document in shape {
        assert_eq!(
            parse(&document).unwrap_err().problem,
            ConditionErrorKind::Shape,
            "{document}"
        );
    }
    let both = json!({ "all": [], "any": [] });
    assert_eq!(
        parse(&both).unwrap_err().problem,
        ConditionErrorKind::UnknownKey("any".to_owned())
    );
    let extra = json!({ "column": "zip", "operator": "is", "value": "1", "not": true });
    assert_eq!(
        parse(&extra).unwrap_err().problem,
        ConditionErrorKind::UnknownKey("not".to_owned())
    );
    let list = json!({ "any": { "column": "zip" } });
    assert_eq!(
        parse(&list).unwrap_err().problem,
        ConditionErrorKind::NotAList("any")
    );
    for column in [json!(""), json!("  "), json!(5)] {
        let document = json!({ "column": column, "operator": "is_empty" });
        assert_eq!(
            parse(&document).unwrap_err().problem,
            ConditionErrorKind::Column,
            "{document}"
        );
    }
}

/// A condition inside of so many groups. Built by moving: `json!` would copy every level again.
fn nested_groups(groups: usize) -> Json {
    let leaf = condition_json("zip", "is_empty", &Json::Null);
    (0..groups).fold(leaf, |inner, _| {
        Json::Object(
            [("all".to_owned(), Json::Array(vec![inner]))]
                .into_iter()
                .collect(),
        )
    })
}

#[test]
fn nesting_is_bounded() {
    assert!(parse(&nested_groups(MAX_DEPTH)).is_ok());
    for groups in [MAX_DEPTH + 1, 2_000] {
        let error = parse(&nested_groups(groups)).unwrap_err();
        assert_eq!(error.problem, ConditionErrorKind::TooDeep);
        assert_eq!(error.path.matches("all[0]").count(), MAX_DEPTH + 1);
    }
}

#[test]
fn the_number_of_nodes_is_bounded() {
    let tree = |conditions: usize| {
        let leaf = condition_json("zip", "is_empty", &Json::Null);
        json!({ "any": [{ "all": vec![leaf; conditions] }] })
    };
    assert!(parse(&tree(MAX_NODES - 2)).is_ok());
    assert_eq!(
        parse(&tree(MAX_NODES - 1)).unwrap_err().problem,
        ConditionErrorKind::TooMany
    );
}

#[test]
fn columns_are_listed_once_by_their_folded_names() {
    let document = json!({ "all": [
        condition_json(" ZIP ", "is_empty", &Json::Null),
        { "any": [condition_json("Spent", "is", &json!(1)), condition_json("zip", "is", &json!(1))] },
    ] });
    assert_eq!(
        parse(&document).unwrap().columns().collect::<Vec<_>>(),
        ["spent", "zip"]
    );
}

#[test]
fn an_unknown_column_takes_what_any_type_takes() {
    for (operator, value) in [
        ("is", json!("x")),
        ("greater", json!("$5")),
        ("between", json!(["2026-01-01", "2026-02-01"])),
        ("in_last_days", json!(3)),
        ("is_empty", Json::Null),
    ] {
        assert!(
            parse(&condition_json("gone", operator, &value)).is_ok(),
            "{operator}"
        );
    }
    let refused = parse(&condition_json("gone", "anniversary_today", &Json::Null)).unwrap_err();
    assert!(matches!(
        refused.problem,
        ConditionErrorKind::Operator { .. }
    ));
    let refused = parse(&condition_json("gone", "greater", &json!("much"))).unwrap_err();
    assert!(matches!(refused.problem, ConditionErrorKind::Value { .. }));
}

#[test]
fn no_conditions_are_the_default_and_read_back() {
    let none = FilterConditions::default();
    assert!(none.is_empty());
    assert_eq!(parse(&serde_json::to_value(&none).unwrap()), Ok(none));
}

/// A condition that is right, on a column of any kind.
fn any_condition() -> impl Strategy<Value = Json> {
    (
        prop::sample::select(COLUMNS.to_vec()),
        any::<prop::sample::Index>(),
    )
        .prop_map(|(column, index)| {
            let operator = *index.get(column_operators(column));
            condition_json(column, operator.as_str(), &sample_operand(column, operator))
        })
}

fn any_tree() -> impl Strategy<Value = Json> {
    any_condition().prop_recursive(4, 40, 4, |inner| {
        (
            prop::sample::select(vec!["all", "any"]),
            prop::collection::vec(inner, 0..4),
        )
            .prop_map(|(group, items)| json!({ group: items }))
    })
}

/// JSON of any shape, with the words of conditions in it more often than chance has them.
fn any_json() -> impl Strategy<Value = Json> {
    let word = prop::sample::select(vec![
        "all", "any", "column", "operator", "value", "zip", "is", "between", "spent",
    ]);
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        any::<String>().prop_map(Json::from),
        word.clone().prop_map(Json::from),
        any_condition(),
    ];
    leaf.prop_recursive(6, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::from),
            prop::collection::vec((word.clone(), inner), 0..4).prop_map(|entries| entries
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}

proptest! {
    #[test]
    fn a_tree_serialises_to_the_document_that_it_was_read_from(document in any_tree()) {
        let conditions = parse(&document).unwrap();
        let written = serde_json::to_value(&conditions).unwrap();
        prop_assert_eq!(&written, &document);
        prop_assert_eq!(parse(&written).unwrap(), conditions);
    }

    #[test]
    fn no_json_and_no_value_panics(document in any_json(), value in any::<String>()) {
        if let Ok(conditions) = parse(&document) {
            let recipient: BTreeMap<_, _> = COLUMNS.iter().map(|column| ((*column).to_owned(), value.clone())).collect();
            conditions.matches(&recipient, fixed_today());
        }
    }

    #[test]
    fn a_tree_of_any_conditions_never_panics_on_any_value(document in any_tree(), value in any::<String>()) {
        let recipient: BTreeMap<_, _> = COLUMNS.iter().map(|column| ((*column).to_owned(), value.clone())).collect();
        for date in [fixed_today(), NaiveDate::MIN, NaiveDate::MAX] {
            parse(&document).unwrap().matches(&recipient, date);
        }
    }
}
