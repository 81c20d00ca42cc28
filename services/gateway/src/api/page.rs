//! The page for people.

use askama::Template;
use serde_json::Value;

use super::view::{Field, Piece, Type, Word, fields, kind, meaning, pieces, words};
use super::{DOCUMENT_PATH, STYLE_PATH};

/// All of the page.
#[derive(Template)]
#[template(path = "api.html")]
pub(super) struct Page {
    title: String,
    about: Vec<Piece>,
    document: &'static str,
    style: &'static str,
    keys: Vec<Word>,
    sections: Vec<Section>,
    schemas: Vec<Schema>,
}

/// The operations of one tag.
struct Section {
    name: String,
    about: Vec<Piece>,
    operations: Vec<Operation>,
}

struct Operation {
    id: String,
    method: String,
    path: String,
    summary: String,
    about: Vec<Piece>,
    keys: Vec<String>,
    parameters: Vec<Parameter>,
    body: Option<Body>,
    responses: Vec<Response>,
}

struct Body {
    kind: Type,
    example: String,
}

struct Parameter {
    place: String,
    field: Field,
}

struct Response {
    status: String,
    about: Vec<Piece>,
    bodies: Vec<Type>,
    /// Besides `X-Request-Id`, which all have.
    headers: Vec<Word>,
    codes: Vec<Word>,
}

/// A named type.
struct Schema {
    name: String,
    about: Vec<Piece>,
    fields: Vec<Field>,
    words: Vec<Word>,
}

impl Page {
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
                .map(|(name, scheme)| Word { word: name.clone(), meaning: meaning(scheme) })
                .collect(),
            sections: document["tags"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|tag| section(tag, &mut operations))
                .collect(),
            schemas: entries(&document["components"]["schemas"]).map(schema).collect(),
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
fn operations(paths: &Value) -> Vec<(String, Operation)> {
    let under = |(path, methods): (&String, &Value)| -> Vec<(String, Operation)> {
        entries(methods).map(|(method, described)| operation(path, method, described)).collect()
    };
    entries(paths).flat_map(under).collect()
}

/// Takes the tag's operations out of all.
fn section(tag: &Value, operations: &mut Vec<(String, Operation)>) -> Section {
    let name = text(&tag["name"]);
    let own = operations.extract_if(.., |(tag, _)| *tag == name).map(|(_, operation)| operation).collect();
    Section { about: meaning(tag), operations: own, name }
}

fn operation(path: &str, method: &str, described: &Value) -> (String, Operation) {
    let parameters = described["parameters"].as_array().into_iter().flatten();
    let body = described["requestBody"]["content"].get("application/json");
    let security = described["security"].as_array().into_iter().flatten();
    let operation = Operation {
        id: text(&described["operationId"]),
        method: method.to_uppercase(),
        path: path.to_owned(),
        summary: text(&described["summary"]),
        about: meaning(described),
        keys: security.flat_map(entries).map(|(name, _)| name.clone()).collect(),
        parameters: parameters.map(parameter).collect(),
        body: body.map(self::body),
        responses: entries(&described["responses"]).map(response).collect(),
    };
    (text(&described["tags"][0]), operation)
}

fn body(described: &Value) -> Body {
    // A value can always be written.
    let example = described.get("example").and_then(|example| serde_json::to_string_pretty(example).ok());
    Body { kind: kind(&described["schema"]), example: example.unwrap_or_default() }
}

fn parameter(described: &Value) -> Parameter {
    let schema = &described["schema"];
    let field = Field {
        name: text(&described["name"]),
        kind: kind(schema),
        is_required: described["required"] == true,
        meaning: meaning(described),
        words: words(schema),
    };
    Parameter { place: text(&described["in"]), field }
}

fn response((status, described): (&String, &Value)) -> Response {
    let schema = &described["content"]["application/json"]["schema"];
    let code = |(code, example): (&String, &Value)| Word {
        word: code.clone(),
        meaning: pieces(example["summary"].as_str().unwrap_or_default()),
    };
    let codes: Vec<Word> = entries(&described["content"]["application/json"]["examples"]).map(code).collect();
    let bodies = match schema["oneOf"].as_array() {
        Some(several) => several.iter().map(kind).collect(),
        None => vec![kind(schema)],
    };
    Response {
        status: status.clone(),
        // Codes speak for themselves.
        about: if codes.is_empty() { meaning(described) } else { Vec::new() },
        headers: entries(&described["headers"])
            .filter(|(name, _)| *name != "X-Request-Id")
            .map(|(name, header)| Word { word: name.clone(), meaning: meaning(header) })
            .collect(),
        bodies: bodies.into_iter().filter(|body| body.schema.is_some()).collect(),
        codes,
    }
}

fn schema((name, described): (&String, &Value)) -> Schema {
    let about = pieces(described["description"].as_str().unwrap_or_default());
    Schema { name: name.clone(), about, fields: fields(described), words: words(described) }
}
