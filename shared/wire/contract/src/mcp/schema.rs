//! Parts of JSON Schemas that several tools share.

use serde_json::{Value, json};

/// An object with these properties, of which these must be there.
pub(super) fn object_schema(properties: Value, required: &[&str]) -> Value {
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// No arguments.
pub(super) fn empty_object_schema() -> Value {
    object_schema(json!({}), &[])
}

/// What a tool answers: this, or a failure. Some clients hold failures against the schema too.
pub(super) fn answer_schema(success: Value) -> Value {
    json!({"type": "object", "anyOf": [success, failure_schema()]})
}

fn failure_schema() -> Value {
    let properties = json!({
        "error": {"type": "string", "description": "A code to branch on."},
        "message": {"type": "string", "description": "What is wrong and what to do, in a sentence."},
        "details": {"type": "object", "description": "Values that the code comes with."},
    });
    object_schema(properties, &["error", "message"])
}

/// A list of these.
pub(super) fn list_schema(items: Value) -> Value {
    json!({"type": "array", "items": items})
}

/// The schema with a description.
pub(super) fn with_description(mut schema: Value, description: &str) -> Value {
    schema["description"] = json!(description);
    schema
}

/// A text.
pub(super) fn text_schema(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

/// A text or null.
pub(super) fn nullable_text_schema(description: &str) -> Value {
    nullable_schema(text_schema(description))
}

/// This or null. In two branches, each of one type: hosts that translate schemas for their models know no list of types.
pub(super) fn nullable_schema(mut schema: Value) -> Value {
    let description = schema
        .as_object_mut()
        .and_then(|schema| schema.remove("description"));
    let mut either = json!({"anyOf": [schema, {"type": "null"}]});
    if let Some(description) = description {
        either["description"] = description;
    }
    either
}

/// A whole number, zero or more.
pub(super) fn count_schema(description: &str) -> Value {
    json!({"type": "integer", "minimum": 0, "description": description})
}

/// Yes or no.
pub(super) fn yes_no_schema(description: &str) -> Value {
    json!({"type": "boolean", "description": description})
}

/// Always true.
pub(super) fn always_true_schema() -> Value {
    json!({"type": "boolean", "const": true})
}

/// One of these words.
pub(super) fn one_of_schema(words: &[&str], description: &str) -> Value {
    json!({"type": "string", "enum": words, "description": description})
}
