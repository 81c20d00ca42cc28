//! The page for people.

use askama::Template;
use serde_json::Value;

use super::view::{FieldView, TextSpan, TypeView, WordView, fields, kind, meaning, pieces, words};
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
    pub(super) fn of(document: &Value) -> Self {
        let mut operations = operations(&document["paths"]);
        operations.extend(self::operations(&document["webhooks"]));
        Self {
            title: text(&document["info"]["title"]),
            about: meaning(&document["info"]),
            document: DOCUMENT_PATH,
            style: STYLE_PATH,
            keys: entries(&document["components"]["securitySchemes"])
                .map(|(name, scheme)| WordView {
                    word: name.clone(),
                    meaning: meaning(scheme),
                })
                .collect(),
            sections: document["tags"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|tag| section(tag, &mut operations))
                .collect(),
            schemas: entries(&document["components"]["schemas"])
                .map(schema)
                .collect(),
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn entries(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    object.as_object().into_iter().flatten()
}

/// The operations under these paths, each with its tag.
fn operations(paths: &Value) -> Vec<(String, OperationView)> {
    let under = |(path, methods): (&String, &Value)| -> Vec<(String, OperationView)> {
        entries(methods)
            .map(|(method, described)| operation(path, method, described))
            .collect()
    };
    entries(paths).flat_map(under).collect()
}

/// Takes the tag's operations out of all.
fn section(tag: &Value, operations: &mut Vec<(String, OperationView)>) -> TagSection {
    let name = text(&tag["name"]);
    let own = operations
        .extract_if(.., |(tag, _)| *tag == name)
        .map(|(_, operation)| operation)
        .collect();
    TagSection {
        about: meaning(tag),
        operations: own,
        name,
    }
}

fn operation(path: &str, method: &str, described: &Value) -> (String, OperationView) {
    let parameters = described["parameters"].as_array().into_iter().flatten();
    let body = described["requestBody"]["content"].get("application/json");
    let security = described["security"].as_array().into_iter().flatten();
    let operation = OperationView {
        id: text(&described["operationId"]),
        method: method.to_uppercase(),
        path: path.to_owned(),
        summary: text(&described["summary"]),
        about: meaning(described),
        keys: security
            .flat_map(entries)
            .map(|(name, _)| name.clone())
            .collect(),
        parameters: parameters.map(parameter).collect(),
        body: body.map(self::body),
        responses: entries(&described["responses"]).map(response).collect(),
    };
    (text(&described["tags"][0]), operation)
}

fn body(described: &Value) -> BodyView {
    // A value can always be written.
    let example = described
        .get("example")
        .and_then(|example| serde_json::to_string_pretty(example).ok());
    BodyView {
        kind: kind(&described["schema"]),
        example: example.unwrap_or_default(),
    }
}

fn parameter(described: &Value) -> ParameterView {
    let schema = &described["schema"];
    let field = FieldView {
        name: text(&described["name"]),
        kind: kind(schema),
        is_required: described["required"] == true,
        meaning: meaning(described),
        words: words(schema),
    };
    ParameterView {
        place: text(&described["in"]),
        field,
    }
}

fn response((status, described): (&String, &Value)) -> ResponseView {
    let schema = &described["content"]["application/json"]["schema"];
    let code = |(code, example): (&String, &Value)| WordView {
        word: code.clone(),
        meaning: pieces(example["summary"].as_str().unwrap_or_default()),
    };
    let codes: Vec<WordView> = entries(&described["content"]["application/json"]["examples"])
        .map(code)
        .collect();
    let bodies = match schema["oneOf"].as_array() {
        Some(several) => several.iter().map(kind).collect(),
        None => vec![kind(schema)],
    };
    ResponseView {
        status: status.clone(),
        // Codes speak for themselves.
        about: if codes.is_empty() {
            meaning(described)
        } else {
            Vec::new()
        },
        headers: entries(&described["headers"])
            .filter(|(name, _)| *name != "X-Request-Id")
            .map(|(name, header)| WordView {
                word: name.clone(),
                meaning: meaning(header),
            })
            .collect(),
        bodies: bodies
            .into_iter()
            .filter(|body| body.schema.is_some())
            .collect(),
        codes,
    }
}

fn schema((name, described): (&String, &Value)) -> SchemaView {
    let about = pieces(described["description"].as_str().unwrap_or_default());
    SchemaView {
        name: name.clone(),
        about,
        fields: fields(described),
        words: words(described),
    }
}
