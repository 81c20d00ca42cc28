use proptest::prelude::*;

use super::*;

fn types(column: &str) -> Option<ColumnType> {
    (column == "visits").then_some(ColumnType::Number)
}

fn nested() -> Value {
    json!({ "any": [
        { "column": "state", "operator": "is_one_of", "value": ["TX", "OK"] },
        { "all": [
            { "column": "visits", "operator": "between", "value": [1, 20] },
            { "all": [{ "column": "birthday", "operator": "anniversary_today" }] },
        ] },
        { "column": "city", "operator": "is", "value": "Austin" },
    ] })
}

/// The tree as the page sends it.
fn sent(tree: &ConditionFormTree) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    for (position, node) in tree.nodes().iter().enumerate() {
        let mut field = |name: &str, value: &str| {
            fields.push((format!("part.{position}.{name}"), value.to_owned()))
        };
        field("parent", &node.parent.to_string());
        match &node.part {
            ConditionFormPart::Group { is_any } => {
                field("group", if *is_any { "any" } else { "all" })
            }
            ConditionFormPart::Condition(typed) => {
                field("column", &typed.column);
                field("operator", &typed.operator);
                field("value", &typed.value);
                field("until", &typed.until);
            }
        }
    }
    fields
}

#[test]
fn nested_groups_of_a_file_come_back_as_they_were() {
    let tree = ConditionFormTree::of(&nested());
    assert_eq!(tree.to_document(types), nested());
    assert_eq!(ConditionFormTree::of_form(&sent(&tree)), Ok(tree));
}

#[test]
fn a_single_condition_gets_a_group() {
    let condition = json!({ "column": "state", "operator": "is", "value": "TX" });
    assert_eq!(
        ConditionFormTree::of(&condition).to_document(types),
        json!({ "all": [condition] })
    );
}

#[test]
fn a_place_in_the_document_is_a_part_of_the_form() {
    let tree = ConditionFormTree::of(&nested());
    let column = |path: &str| match &tree.nodes()[tree.position_of(path).unwrap()].part {
        ConditionFormPart::Condition(typed) => typed.column.clone(),
        ConditionFormPart::Group { .. } => "a group".to_owned(),
    };
    assert_eq!(column("any[0]"), "state");
    assert_eq!(column("any[1].all[1].all[0]"), "birthday");
    assert_eq!(column("any[2]"), "city");
    assert_eq!(column(""), "a group");
    assert_eq!(tree.position_of("any[3]"), None);
}

#[test]
fn parts_are_added_at_the_end_of_their_group_and_removed_with_all_in_them() {
    let mut tree = ConditionFormTree::of(&nested());
    let group = tree.position_of("any[1]").unwrap();
    tree.add_part(
        group,
        ConditionFormPart::Condition(ConditionInput {
            column: "zip".to_owned(),
            operator: "is_empty".to_owned(),
            ..ConditionInput::default()
        }),
    );
    let document = tree.to_document(types);
    assert_eq!(
        document["any"][1]["all"][2],
        json!({ "column": "zip", "operator": "is_empty" })
    );
    assert_eq!(document["any"][2]["column"], "city");
    tree.remove_part(group);
    let columns: Vec<_> = tree.to_document(types)["any"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["column"].clone())
        .collect();
    assert_eq!(columns, ["state", "city"]);
    tree.remove_part(0);
    assert_eq!(tree.nodes().len(), 3, "the root stays");
}

#[test]
fn forms_that_the_page_did_not_make_are_refused() {
    let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    for fields in [
        vec![],
        vec![field("part.0.parent", "0"), field("part.0.column", "state")],
        vec![
            field("part.0.parent", "0"),
            field("part.0.group", "all"),
            field("part.1.parent", "7"),
        ],
        vec![field("part.5.group", "all")],
        vec![field("part.99999999999999999999.parent", "0")],
    ] {
        assert_eq!(
            ConditionFormTree::of_form(&fields),
            Err(ConditionFormTreeError::Form),
            "{fields:?}"
        );
    }
    let mut fields = vec![field("part.0.parent", "0"), field("part.0.group", "all")];
    fields.extend((1..=MAX_NODES).map(|position| field(&format!("part.{position}.parent"), "0")));
    assert_eq!(
        ConditionFormTree::of_form(&fields),
        Err(ConditionFormTreeError::TooMany)
    );
}

proptest! {
    #[test]
    fn whatever_is_added_and_removed_the_tree_stays_one(changes in prop::collection::vec((0_u8..3, 0_usize..12), 0..60)) {
        let mut tree = ConditionFormTree::default();
        for (change, position) in changes {
            match change {
                0 => tree.add_part(position, ConditionFormPart::Condition(ConditionInput { column: "city".to_owned(), operator: "is".to_owned(), value: "x".to_owned(), ..ConditionInput::default() })),
                1 => tree.add_part(position, ConditionFormPart::Group { is_any: position % 2 == 0 }),
                _ => tree.remove_part(position),
            }
        }
        prop_assert_eq!(ConditionFormTree::of_form(&sent(&tree)), Ok(tree.clone()));
        prop_assert!(audience::FilterConditions::parse(&tree.to_document(types), types).is_ok());
        prop_assert_eq!(ConditionFormTree::of(&tree.to_document(types)), tree);
    }
}
