//! Tools as data: schemas that are schemas, and results that keep to them.

use pillarbox_tests::{CrmClient, TestStack, unportable_parts};
use serde_json::{Value, json};

use super::Mcp;

fn nulls(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(nulls),
        Value::Object(object) => object
            .iter()
            .any(|(key, value)| key != "enum" && nulls(value)),
        _ => false,
    }
}

/// A tool as every client must find it.
fn assert_listed_well(tool: &Value) {
    let name = tool["name"].as_str().unwrap();
    assert!((1..=128).contains(&name.len()));
    assert!(
        name.chars()
            .all(|character| character.is_ascii_alphanumeric() || "_.-".contains(character)),
        "{name}"
    );
    for text in ["title", "description"] {
        assert!(!tool[text].as_str().unwrap().is_empty(), "{name} {text}");
    }
    assert!(
        !tool["description"].as_str().unwrap().contains("  "),
        "{name}: a line break was lost"
    );
    for schema in ["inputSchema", "outputSchema"] {
        assert_eq!(tool[schema]["type"], "object", "{name} {schema}");
        jsonschema::meta::validate(&tool[schema])
            .unwrap_or_else(|error| panic!("{name} {schema}: {error}"));
    }
    assert_eq!(
        unportable_parts(&tool["inputSchema"], "", true),
        [""; 0],
        "{name}"
    );
    assert_eq!(
        unportable_parts(&tool["outputSchema"], "", false),
        [""; 0],
        "{name}"
    );
    for hint in [
        "readOnlyHint",
        "destructiveHint",
        "idempotentHint",
        "openWorldHint",
    ] {
        assert!(tool["annotations"][hint].is_boolean(), "{name} {hint}");
    }
    assert!(!nulls(tool), "{name}: an absent property is left out");
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_listed_in_the_same_order_with_schemas_of_objects_and_without_null() {
    let crm = CrmClient::with_settings(Vec::new()).await;
    let listed = Mcp::integrations(&crm)
        .result("tools/list", json!({}))
        .await;
    assert_eq!(
        listed,
        Mcp::integrations(&crm)
            .result("tools/list", json!({"cursor": "x"}))
            .await
    );
    assert_eq!(
        listed.as_object().unwrap().len(),
        1,
        "one page: no nextCursor"
    );
    let names: Vec<_> = listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].clone())
        .collect();
    let wanted = [
        "get_status",
        "declare_schema",
        "validate_records",
        "begin_sync",
        "push_records",
        "complete_sync",
        "get_rejections",
    ];
    assert_eq!(names, wanted);
    listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .for_each(assert_listed_well);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_formula_tools_are_listed_the_same_way() {
    let stack = TestStack::start().await;
    let tools = Mcp::formulas(&stack).tools().await;
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].clone()).collect();
    let wanted = [
        "list_columns",
        "list_functions",
        "check_formula",
        "preview_formula",
        "save_formula",
        "explain_formula",
    ];
    assert_eq!(names, wanted);
    tools.iter().for_each(assert_listed_well);
}
