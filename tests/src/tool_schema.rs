//! What every client takes of a tool: its schemas and its results.

use serde_json::{Value, json};

/// Asserts that a result is one that every client takes: a text with the JSON of the structured content, which the
/// tool's output schema allows.
///
/// # Panics
/// When it is not.
pub fn assert_tool_result(tool: &str, schema: &Value, result: &Value) {
    let content = &result["structuredContent"];
    let text = result["content"][0]["text"].as_str().expect("a text");
    assert_eq!(result["content"][0]["type"], "text");
    assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), *content);
    let validator = jsonschema::options()
        .should_validate_formats(true)
        .build(schema)
        .expect(tool);
    let faults: Vec<_> = validator
        .iter_errors(content)
        .map(|error| error.to_string())
        .collect();
    assert_eq!(faults, [""; 0], "{tool}: {content}");
    let keys: Vec<_> = content
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    let is_failure =
        keys.starts_with(&["error", "message"]) || keys.starts_with(&["details", "error"]);
    assert_eq!(
        result.get("isError"),
        is_failure.then_some(&json!(true)),
        "{tool}: {keys:?}"
    );
}

/// Words of JSON Schema that hosts translate for their models without loss.
const KNOWN_WORDS: [&str; 19] = [
    "additionalProperties",
    "anyOf",
    "const",
    "default",
    "description",
    "enum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "pattern",
    "properties",
    "required",
    "title",
    "type",
];

/// What hosts stumble over that translate schemas for their models: each schema and each part of it has one type, in words that
/// all know. Arguments are described one by one, and have no alternatives.
pub fn unportable_parts(schema: &Value, place: &str, is_argument: bool) -> Vec<String> {
    let Some(object) = schema.as_object() else {
        return vec![format!("{place} is no object")];
    };
    let mut faults: Vec<String> = object
        .keys()
        .filter(|key| !KNOWN_WORDS.contains(&key.as_str()))
        .map(|key| format!("{place}: {key}"))
        .collect();
    let mut fault = |is_one: bool, what: &str| {
        if is_one {
            faults.push(format!("{place}: {what}"));
        }
    };
    let branches = schema["anyOf"].as_array();
    fault(
        !schema["type"].is_string() && branches.is_none(),
        "no single type",
    );
    fault(
        schema.get("type").is_some_and(Value::is_array),
        "several types",
    );
    fault(
        is_argument && branches.is_some(),
        "an argument with alternatives",
    );
    fault(
        schema["type"] == "array" && schema["items"].is_null(),
        "a list without items",
    );
    let words = schema["enum"].as_array();
    fault(
        words.is_some() && schema["type"] != "string",
        "words that are no texts",
    );
    fault(
        words.is_some_and(|words| !words.iter().all(Value::is_string)),
        "words that are no texts",
    );
    let mut parts: Vec<(String, &Value)> = Vec::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        fault(
            is_argument && property["description"].is_null(),
            &format!("{name} is not described"),
        );
        parts.push((format!("{place}.{name}"), property));
    }
    parts.extend(
        schema
            .get("items")
            .map(|items| (format!("{place}[]"), items)),
    );
    parts.extend(
        branches
            .into_iter()
            .flatten()
            .map(|branch| (format!("{place}|"), branch)),
    );
    let values = schema
        .get("additionalProperties")
        .filter(|values| !values.is_boolean());
    parts.extend(values.map(|values| (format!("{place}.*"), values)));
    faults.extend(
        parts
            .into_iter()
            .flat_map(|(place, part)| unportable_parts(part, &place, is_argument)),
    );
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_portable_is_noticed() {
        for (schema, what) in [
            (json!({"type": ["string", "null"]}), "several types"),
            (json!({"enum": ["a"]}), "no single type"),
            (json!({"type": "string", "enum": ["a", null]}), "no texts"),
            (json!({"type": "array"}), "without items"),
            (
                json!({"type": "object", "properties": {"a": {"type": "object", "oneOf": []}}}),
                "oneOf",
            ),
            (
                json!({"type": "object", "properties": {"a": {"type": "string"}}}),
                "not described",
            ),
            (
                json!({"type": "object", "additionalProperties": {"anyOf": [{"type": "string"}]}}),
                "alternatives",
            ),
        ] {
            let faults = unportable_parts(&schema, "", true);
            assert!(
                faults.iter().any(|fault| fault.contains(what)),
                "{what}: {faults:?}"
            );
        }
    }

    #[test]
    fn a_result_that_breaks_its_schema_is_noticed() {
        let schema =
            json!({"type": "object", "properties": {"ok": {"const": true}}, "required": ["ok"]});
        let result = |ok: bool| json!({"content": [{"type": "text", "text": json!({ "ok": ok }).to_string()}], "structuredContent": {"ok": ok}});
        assert_tool_result("tool", &schema, &result(true));
        assert!(
            std::panic::catch_unwind(|| assert_tool_result("tool", &schema, &result(false)))
                .is_err()
        );
    }
}
