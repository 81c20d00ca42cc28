//! One operation of an API, as data, and the parts that operations share.

use std::borrow::Cow;
use std::collections::BTreeMap;

use axum::http::StatusCode;
use serde_json::{Map, Value, json};

/// What a client can ask.
pub(super) struct ApiOperation {
    /// In lower case, as the document has it.
    pub(super) method: &'static str,
    pub(super) path: String,
    /// The name of the operation in generated clients.
    pub(super) id: &'static str,
    /// One of the document's tags.
    pub(super) tag: &'static str,
    /// A few words.
    pub(super) summary: &'static str,
    /// Sentences; what stands between backticks is code.
    pub(super) description: Cow<'static, str>,
    pub(super) parameters: Vec<Value>,
    pub(super) body: Option<RequestBodySpec>,
    /// Names of security schemes, any of which opens it.
    pub(super) opened_by: &'static [&'static str],
    /// By status.
    pub(super) responses: BTreeMap<u16, Value>,
}

/// The JSON body of a request.
pub(super) struct RequestBodySpec {
    pub(super) schema: Value,
    pub(super) example: Value,
    /// Whether it may not be left out.
    pub(super) is_required: bool,
}

/// A failure that an operation documents.
pub(super) struct DocumentedError {
    pub(super) status: StatusCode,
    pub(super) code: &'static str,
    /// What a client is told, or what a variable text is about.
    pub(super) message: String,
    /// Details as an example has them; `None` when the code comes without.
    pub(super) details: Option<Value>,
}

/// The bodies that failures have.
#[derive(Clone, Copy)]
pub(super) enum ErrorEnvelopeKind {
    /// `{code, message}`
    Flat,
    /// `{error: {code, message, details?}}`
    Nested,
}

impl ApiOperation {
    /// As it stands under its path and method.
    pub(super) fn to_json(&self) -> Value {
        let security: Vec<Value> = self
            .opened_by
            .iter()
            .map(|name| json!({*name: []}))
            .collect();
        let responses: Map<String, Value> = self
            .responses
            .iter()
            .map(|(status, response)| (status.to_string(), response.clone()))
            .collect();
        let mut operation = json!({
            "operationId": self.id,
            "tags": [self.tag],
            "summary": self.summary,
            "description": self.description,
            "security": security,
            "responses": responses,
        });
        if !self.parameters.is_empty() {
            operation["parameters"] = Value::from(self.parameters.clone());
        }
        if let Some(RequestBodySpec {
            schema,
            example,
            is_required,
        }) = &self.body
        {
            let content = json!({"application/json": {"schema": schema, "example": example}});
            operation["requestBody"] = json!({"required": is_required, "content": content});
        }
        operation
    }
}

/// A parameter in the query, a header or the path.
pub(super) fn build_parameter(place: &str, name: &str, schema: Value, description: &str) -> Value {
    json!({"in": place, "name": name, "required": place == "path", "schema": schema, "description": description})
}

/// The same, which must be there.
pub(super) fn mark_required(mut parameter: Value) -> Value {
    parameter["required"] = Value::from(true);
    parameter
}

/// An answer with a JSON body.
pub(super) fn json_response(description: &str, schema: Value) -> Value {
    json!({
        "description": description,
        "headers": common_headers(true),
        "content": {"application/json": {"schema": schema}},
    })
}

/// An answer without a body.
pub(super) fn empty_response(description: &str) -> Value {
    json!({"description": description, "headers": common_headers(true)})
}

/// The header that marks a stored answer.
pub(super) fn with_replay_header(mut response: Value) -> Value {
    response["headers"]["Idempotency-Replayed"] = json!({
        "description": "`true` when this is the stored answer of an earlier request.",
        "schema": {"type": "string", "const": "true"},
    });
    response
}

/// The header that tells what a request has cost.
pub(super) fn with_cost_header(mut response: Value) -> Value {
    response["headers"]["X-Cost-Cents"] = json!({
        "description": "What the request has cost, in whole US cents; not on a stored answer, nor on that of a dry run.",
        "schema": {"type": "integer", "minimum": 0},
    });
    response
}

/// The header that tells how long to wait.
pub(super) fn with_retry_after_header(mut response: Value) -> Value {
    response["headers"]["Retry-After"] =
        json!({"description": "Seconds to wait.", "required": true, "schema": {"type": "integer"}});
    response
}

/// The headers that every answer has; those about the rate only when the request was counted.
pub(super) const COMMON_HEADERS: [&str; 4] = [
    "X-Request-Id",
    "RateLimit-Limit",
    "RateLimit-Remaining",
    "RateLimit-Reset",
];

fn common_headers(is_counted: bool) -> Value {
    let [id, limit, remaining, reset] = COMMON_HEADERS;
    let number = |description: &str| json!({"description": description, "required": is_counted, "schema": {"type": "integer", "minimum": 0}});
    json!({
        id: {"description": "The request's id, for logs and for questions to support.", "required": true,
            "schema": {"type": "string", "format": "uuid"}},
        limit: number("Requests a minute, of the source address or of the key: of whichever has fewer left."),
        remaining: number("How many of them are left."),
        reset: number("Seconds until the next minute begins, and with it the count."),
    })
}

/// An answer that a request may get which could not be counted.
pub(super) fn with_optional_rate(mut response: Value) -> Value {
    response["headers"] = common_headers(false);
    response
}

/// Whether a request that is refused with this status has always been counted: one of a foreign web page, of another method or
/// that failed on our side may not have been.
fn is_counted(status: u16) -> bool {
    ![
        StatusCode::FORBIDDEN,
        StatusCode::METHOD_NOT_ALLOWED,
        StatusCode::INTERNAL_SERVER_ERROR,
    ]
    .iter()
    .any(|other| other.as_u16() == status)
}

/// The responses of these failures, by status: one with several codes lists them.
pub(super) fn error_responses(
    envelope: ErrorEnvelopeKind,
    failures: Vec<DocumentedError>,
) -> BTreeMap<u16, Value> {
    let mut by_status: BTreeMap<u16, Vec<DocumentedError>> = BTreeMap::new();
    for failure in failures {
        by_status
            .entry(failure.status.as_u16())
            .or_default()
            .push(failure);
    }
    by_status
        .into_iter()
        .map(|(status, failures)| (status, error_response(envelope, status, &failures)))
        .collect()
}

fn error_response(envelope: ErrorEnvelopeKind, status: u16, failures: &[DocumentedError]) -> Value {
    let names: Vec<String> = failures
        .iter()
        .map(|failure| format!("`{}`", failure.code))
        .collect();
    let schema = json!({"$ref": format!("#/components/schemas/{}", envelope.schema_name())});
    let mut response = json_response(&names.join(", "), schema);
    response["headers"] = common_headers(is_counted(status));
    let example =
        |failure: &DocumentedError| (failure.code.to_owned(), error_example(envelope, failure));
    response["content"]["application/json"]["examples"] = failures.iter().map(example).collect();
    if status == StatusCode::TOO_MANY_REQUESTS.as_u16() {
        response = with_retry_after_header(response);
    }
    if matches!(envelope, ErrorEnvelopeKind::Nested) && status == StatusCode::UNAUTHORIZED.as_u16()
    {
        response["headers"]["WWW-Authenticate"] = json!({"description": "`Bearer realm=\"Pillarbox\"`", "required": true, "schema": {"type": "string"}});
    }
    response
}

/// The body of a failure, under its code: what a status can be answered with is told by its examples.
fn error_example(envelope: ErrorEnvelopeKind, failure: &DocumentedError) -> Value {
    let names: Vec<String> = object_entries(failure.details.as_ref())
        .map(|(name, _)| format!("`{name}`"))
        .collect();
    let details = if names.is_empty() {
        String::new()
    } else {
        format!(" Details: {}.", names.join(", "))
    };
    let mut error = json!({"code": failure.code, "message": failure.message});
    if let Some(details) = &failure.details {
        error["details"] = details.clone();
    }
    let value = match envelope {
        ErrorEnvelopeKind::Flat => error,
        ErrorEnvelopeKind::Nested => json!({"error": error}),
    };
    json!({"summary": format!("{}{details}", failure.message), "value": value})
}

impl ErrorEnvelopeKind {
    /// The name of its schema, which all its failures share: generators make a class of each schema.
    const fn schema_name(self) -> &'static str {
        match self {
            Self::Flat => "Error",
            Self::Nested => "PushFailure",
        }
    }
}

/// The schemas of both envelopes, with every code that these operations fail with.
pub(super) fn error_schemas(operations: &[ApiOperation]) -> [(&'static str, Value); 4] {
    let (mut flat, mut nested, mut details) = (BTreeMap::new(), BTreeMap::new(), Map::new());
    for (code, example) in operations.iter().flat_map(error_examples) {
        let meaning = example["summary"].clone();
        match example["value"].get("error") {
            None => flat.insert(code, meaning),
            Some(error) => {
                object_entries(error.get("details"))
                    .for_each(|(name, value)| add_detail_type(&mut details, name, value));
                nested.insert(code, meaning)
            }
        };
    }
    let message =
        json!({"type": "string", "description": "What is wrong, in a sentence for people."});
    let error = json!({
        "description": "Why a request failed.",
        "type": "object",
        "required": ["code", "message"],
        "properties": {"code": described_enum(flat), "message": message},
    });
    let push_error = json!({
        "description": "Why a request failed.",
        "type": "object",
        "required": ["code", "message"],
        "properties": {
            "code": described_enum(nested),
            "message": message,
            "details": {"$ref": "#/components/schemas/PushErrorDetails"},
        },
    });
    let failure = json!({
        "description": "A failure of the push API and of the MCP servers.",
        "type": "object",
        "required": ["error"],
        "properties": {"error": {"$ref": "#/components/schemas/PushError"}},
    });
    let details = json!({"description": "What some codes come with.", "type": "object", "properties": details});
    [
        ("Error", error),
        ("PushError", push_error),
        ("PushErrorDetails", details),
        ("PushFailure", failure),
    ]
}

/// Codes and examples of an operation's failures.
fn error_examples(operation: &ApiOperation) -> impl Iterator<Item = (String, &Value)> {
    let of = |response| {
        object_entries(Value::pointer(
            response,
            "/content/application~1json/examples",
        ))
    };
    operation
        .responses
        .values()
        .flat_map(of)
        .map(|(code, example)| (code.clone(), example))
}

/// A text that is one of these words, each with its meaning.
fn described_enum(words: BTreeMap<String, Value>) -> Value {
    let (words, meanings): (Vec<String>, Vec<Value>) = words.into_iter().unzip();
    json!({"type": "string", "description": "What a program branches on.", "enum": words, "x-enum-descriptions": meanings})
}

/// Adds the type of a detail. Numbers of one name meet as numbers.
fn add_detail_type(types: &mut Map<String, Value>, name: &str, value: &Value) {
    let found = schema_of_example(value);
    match types.get(name) {
        Some(known) if *known != found => types.insert(name.to_owned(), json!({"type": "number"})),
        _ => types.insert(name.to_owned(), found),
    };
}

fn object_entries(object: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    object.and_then(Value::as_object).into_iter().flatten()
}

/// The type that a value is an example of.
fn schema_of_example(value: &Value) -> Value {
    match value {
        Value::Null => json!({}),
        Value::Bool(_) => json!({"type": "boolean"}),
        Value::Number(number) if number.is_f64() => json!({"type": "number"}),
        Value::Number(_) => json!({"type": "integer"}),
        Value::String(_) => json!({"type": "string"}),
        Value::Array(items) => {
            json!({"type": "array", "items": items.first().map_or_else(|| json!({}), schema_of_example)})
        }
        Value::Object(_) => json!({"type": "object"}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_lists_its_codes_and_all_share_one_schema() {
        let failures = |details: &[Value]| {
            let failure = |details: &Value| DocumentedError {
                status: StatusCode::CONFLICT,
                code: if details.is_null() { "bad" } else { "full" },
                message: "No.".to_owned(),
                details: Some(details.clone()).filter(|details| !details.is_null()),
            };
            error_responses(
                ErrorEnvelopeKind::Nested,
                details.iter().map(failure).collect(),
            )
        };
        let operation = |details: &[Value]| ApiOperation {
            method: "get",
            path: String::new(),
            id: "",
            tag: "",
            summary: "",
            description: Cow::default(),
            parameters: Vec::new(),
            body: None,
            opened_by: &[],
            responses: failures(details),
        };
        let one = operation(&[json!({"limit": 3, "fields": ["a"]}), Value::Null]);
        let content = &one.responses[&409]["content"]["application/json"];
        assert_eq!(
            content["schema"],
            json!({"$ref": "#/components/schemas/PushFailure"})
        );
        assert_eq!(
            content["examples"]["full"],
            json!({
                "summary": "No. Details: `fields`, `limit`.",
                "value": {"error": {"code": "full", "message": "No.", "details": {"limit": 3, "fields": ["a"]}}},
            })
        );
        let schemas = error_schemas(&[one, operation(&[json!({"limit": 0.5})])]);
        let named = |name: &str| {
            schemas
                .iter()
                .find(|(known, _)| *known == name)
                .unwrap()
                .1
                .clone()
        };
        assert_eq!(
            named("PushError")["properties"]["code"]["enum"],
            json!(["bad", "full"])
        );
        assert_eq!(
            named("PushErrorDetails")["properties"],
            json!({"fields": {"type": "array", "items": {"type": "string"}}, "limit": {"type": "number"}})
        );
    }
}
