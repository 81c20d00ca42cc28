//! What the page shows, read from the document.

use serde_json::Value;

/// A text in pieces, so that what stood between backticks shows as code.
pub(super) struct TextSpan {
    pub(super) text: String,
    pub(super) is_code: bool,
}

/// A type in a few words, and the named schema behind it.
pub(super) struct TypeView {
    /// `array of`, `text`, ...
    pub(super) words: String,
    /// The name of a schema of the page.
    pub(super) schema: Option<String>,
}

/// A word that a field can have, or an error code.
pub(super) struct WordView {
    pub(super) word: String,
    pub(super) meaning: Vec<TextSpan>,
}

/// A field of a body, or a parameter.
pub(super) struct FieldView {
    pub(super) name: String,
    pub(super) kind: TypeView,
    pub(super) is_required: bool,
    pub(super) meaning: Vec<TextSpan>,
    pub(super) words: Vec<WordView>,
}

/// Splits a text at its backticks.
pub(super) fn split_spans(text: &str) -> Vec<TextSpan> {
    let pieces = text.split('`').enumerate();
    pieces
        .filter(|(_, text)| !text.is_empty())
        .map(|(at, text)| TextSpan {
            text: text.to_owned(),
            is_code: at % 2 == 1,
        })
        .collect()
}

/// The description of a schema or parameter.
pub(super) fn description_spans(value: &Value) -> Vec<TextSpan> {
    split_spans(value["description"].as_str().unwrap_or_default())
}

/// A schema in words.
pub(super) fn type_view(schema: &Value) -> TypeView {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default().to_owned();
        return TypeView {
            words: String::new(),
            schema: Some(name),
        };
    }
    if let Some(items) = schema.get("items") {
        let items = type_view(items);
        return TypeView {
            words: format!("array of {}", items.words),
            schema: items.schema,
        };
    }
    for several in ["anyOf", "oneOf"] {
        let Some(kinds) = schema[several].as_array() else {
            continue;
        };
        let named = kinds
            .iter()
            .map(type_view)
            .find(|kind| kind.schema.is_some());
        let is_nullable = kinds.iter().any(|kind| kind["type"] == "null");
        if let Some(named) = named {
            let words = if is_nullable {
                "null or ".to_owned()
            } else {
                named.words
            };
            return TypeView {
                words,
                schema: named.schema,
            };
        }
    }
    if let Some(values) = schema
        .get("additionalProperties")
        .filter(|values| values.is_object())
    {
        let values = type_view(values);
        return TypeView {
            words: format!("object of {}", values.words),
            schema: values.schema,
        };
    }
    let types = match &schema["type"] {
        Value::String(name) => name.clone(),
        Value::Array(names) => names
            .iter()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join(" or "),
        _ => "any".to_owned(),
    };
    let format = schema["format"]
        .as_str()
        .filter(|format| ["uuid", "date", "date-time"].contains(format));
    TypeView {
        words: format.map_or(types.clone(), |format| format!("{types} ({format})")),
        schema: None,
    }
}

/// The words that a schema allows, with what they mean where that is said.
pub(super) fn word_views(schema: &Value) -> Vec<WordView> {
    let word = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    if let Some(only) = schema.get("const") {
        return vec![WordView {
            word: word(only),
            meaning: Vec::new(),
        }];
    }
    let Some(values) = schema["enum"].as_array() else {
        return Vec::new();
    };
    let meaning = |at: usize| {
        split_spans(
            schema["x-enum-descriptions"][at]
                .as_str()
                .unwrap_or_default(),
        )
    };
    values
        .iter()
        .enumerate()
        .map(|(at, value)| WordView {
            word: word(value),
            meaning: meaning(at),
        })
        .collect()
}

/// The fields of an object, those that must be there first.
pub(super) fn field_views(schema: &Value) -> Vec<FieldView> {
    let is_required = |name: &str| {
        schema["required"]
            .as_array()
            .is_some_and(|names| names.iter().any(|required| required == name))
    };
    let Some(properties) = schema["properties"].as_object() else {
        return Vec::new();
    };
    let mut fields: Vec<FieldView> = properties
        .iter()
        .map(|(name, property)| FieldView {
            name: name.clone(),
            kind: type_view(property),
            is_required: is_required(name),
            meaning: description_spans(property),
            words: word_views(property),
        })
        .collect();
    fields.sort_by_key(|field| !field.is_required);
    fields
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn describe_type(schema: &Value) -> (String, Option<String>) {
        let TypeView { words, schema } = type_view(schema);
        (words, schema)
    }

    #[test]
    fn types_are_told_in_words() {
        assert_eq!(
            describe_type(&json!({"type": "string", "format": "uuid"})),
            ("string (uuid)".to_owned(), None)
        );
        assert_eq!(
            describe_type(&json!({"type": ["string", "null"]})),
            ("string or null".to_owned(), None)
        );
        let named = json!({"$ref": "#/components/schemas/Field"});
        assert_eq!(
            describe_type(&json!({"type": "array", "items": named})),
            ("array of ".to_owned(), Some("Field".to_owned()))
        );
        let nullable = json!({"anyOf": [named, {"type": "null"}]});
        assert_eq!(
            describe_type(&nullable),
            ("null or ".to_owned(), Some("Field".to_owned()))
        );
    }

    #[test]
    fn what_stands_between_backticks_is_code() {
        let pieces: Vec<_> = split_spans("`a` or b")
            .into_iter()
            .map(|piece| (piece.text, piece.is_code))
            .collect();
        assert_eq!(
            pieces,
            [("a".to_owned(), true), (" or b".to_owned(), false)]
        );
    }
}
