//! The page for people.

use askama::Template;
use serde_json::Value;

use super::operation::COMMON_HEADERS;
use super::view::{
    FieldView, TextSpan, TypeView, WordView, description_spans, field_views, split_spans,
    type_view, word_views,
};
use super::{DOCUMENT_PATH, STYLE_PATH};

/// All of the page.
#[derive(Template)]
#[template(path = "api.html")]
pub(super) struct ApiPage {
    title: String,
    about: Vec<TextSpan>,
    document: &'static str,
    style: &'static str,
    keys: Vec<WordView>,
    sections: Vec<TagSection>,
    schemas: Vec<SchemaView>,
}

/// The operations of one tag.
struct TagSection {
    name: String,
    about: Vec<TextSpan>,
    operations: Vec<OperationView>,
}

struct OperationView {
    id: String,
    method: String,
    path: String,
    summary: String,
    about: Vec<TextSpan>,
    keys: Vec<String>,
    parameters: Vec<ParameterView>,
    body: Option<BodyView>,
    responses: Vec<ResponseView>,
}

struct BodyView {
    kind: TypeView,
    example: String,
}

struct ParameterView {
    place: String,
    field: FieldView,
}

struct ResponseView {
    status: String,
    about: Vec<TextSpan>,
    bodies: Vec<TypeView>,
    /// Besides `X-Request-Id`, which all have.
    headers: Vec<WordView>,
    codes: Vec<WordView>,
}

/// A named type.
struct SchemaView {
    name: String,
    about: Vec<TextSpan>,
    fields: Vec<FieldView>,
    words: Vec<WordView>,
}

impl ApiPage {
    /// The page of a document.
    pub(super) fn from_document(document: &Value) -> Self {
        let mut operations = operation_views(&document["paths"]);
        operations.extend(self::operation_views(&document["webhooks"]));
        Self {
            title: json_text(&document["info"]["title"]),
            about: description_spans(&document["info"]),
            document: DOCUMENT_PATH,
            style: STYLE_PATH,
            keys: object_entries(&document["components"]["securitySchemes"])
                .map(|(name, scheme)| WordView {
                    word: name.clone(),
                    meaning: description_spans(scheme),
                })
                .collect(),
            sections: document["tags"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|tag| take_section(tag, &mut operations))
                .collect(),
            schemas: object_entries(&document["components"]["schemas"])
                .map(schema_view)
                .collect(),
        }
    }
}

fn json_text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn object_entries(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    object.as_object().into_iter().flatten()
}

/// The operations under these paths, each with its tag.
fn operation_views(paths: &Value) -> Vec<(String, OperationView)> {
    let under = |(path, methods): (&String, &Value)| -> Vec<(String, OperationView)> {
        object_entries(methods)
            .map(|(method, described)| operation_view(path, method, described))
            .collect()
    };
    object_entries(paths).flat_map(under).collect()
}

/// Takes the tag's operations out of all.
fn take_section(tag: &Value, operations: &mut Vec<(String, OperationView)>) -> TagSection {
    let name = json_text(&tag["name"]);
    let own = operations
        .extract_if(.., |(tag, _)| *tag == name)
        .map(|(_, operation)| operation)
        .collect();
    TagSection {
        about: description_spans(tag),
        operations: own,
        name,
    }
}

fn operation_view(path: &str, method: &str, described: &Value) -> (String, OperationView) {
    let parameters = described["parameters"].as_array().into_iter().flatten();
    let body = described["requestBody"]["content"].get("application/json");
    let security = described["security"].as_array().into_iter().flatten();
    let operation = OperationView {
        id: json_text(&described["operationId"]),
        method: method.to_uppercase(),
        path: path.to_owned(),
        summary: json_text(&described["summary"]),
        about: description_spans(described),
        keys: security
            .flat_map(object_entries)
            .map(|(name, _)| name.clone())
            .collect(),
        parameters: parameters.map(parameter_view).collect(),
        body: body.map(self::body_view),
        responses: object_entries(&described["responses"])
            .map(response_view)
            .collect(),
    };
    (json_text(&described["tags"][0]), operation)
}

fn body_view(described: &Value) -> BodyView {
    // A value can always be written.
    let example = described
        .get("example")
        .and_then(|example| serde_json::to_string_pretty(example).ok());
    BodyView {
        kind: type_view(&described["schema"]),
        example: example.unwrap_or_default(),
    }
}

fn parameter_view(described: &Value) -> ParameterView {
    let schema = &described["schema"];
    let field = FieldView {
        name: json_text(&described["name"]),
        kind: type_view(schema),
        is_required: described["required"] == true,
        meaning: description_spans(described),
        words: word_views(schema),
    };
    ParameterView {
        place: json_text(&described["in"]),
        field,
    }
}

fn response_view((status, described): (&String, &Value)) -> ResponseView {
    let schema = &described["content"]["application/json"]["schema"];
    let code = |(code, example): (&String, &Value)| WordView {
        word: code.clone(),
        meaning: split_spans(example["summary"].as_str().unwrap_or_default()),
    };
    let codes: Vec<WordView> =
        object_entries(&described["content"]["application/json"]["examples"])
            .map(code)
            .collect();
    let bodies = match schema["oneOf"].as_array() {
        Some(several) => several.iter().map(type_view).collect(),
        None => vec![type_view(schema)],
    };
    ResponseView {
        status: status.clone(),
        // Codes speak for themselves.
        about: if codes.is_empty() {
            description_spans(described)
        } else {
            Vec::new()
        },
        headers: object_entries(&described["headers"])
            .filter(|(name, _)| !COMMON_HEADERS.contains(&name.as_str()))
            .map(|(name, header)| WordView {
                word: name.clone(),
                meaning: description_spans(header),
            })
            .collect(),
        bodies: bodies
            .into_iter()
            .filter(|body| body.schema.is_some())
            .collect(),
        codes,
    }
}

fn schema_view((name, described): (&String, &Value)) -> SchemaView {
    let about = split_spans(described["description"].as_str().unwrap_or_default());
    SchemaView {
        name: name.clone(),
        about,
        fields: field_views(described),
        words: word_views(described),
    }
}
