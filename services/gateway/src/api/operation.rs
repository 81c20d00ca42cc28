//! One operation of an API, as data, and the parts that operations share.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use serde_json::{Map, Value, json};

/// What a client can ask.
pub(super) struct Operation {
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
    pub(super) description: &'static str,
    pub(super) parameters: Vec<Value>,
    /// The schema of the body; `None` when there is none. An optional one may be left out.
    pub(super) body: Option<Value>,
    pub(super) needs_body: bool,
    /// Names of security schemes, any of which opens it.
    pub(super) opened_by: &'static [&'static str],
    /// By status.
    pub(super) responses: BTreeMap<u16, Value>,
}

/// A failure that an operation documents.
pub(super) struct Failure {
    pub(super) status: StatusCode,
    pub(super) code: &'static str,
    /// What a client is told, or what a variable text is about.
    pub(super) message: String,
}

/// The bodies that failures have.
#[derive(Clone, Copy)]
pub(super) enum Envelope {
    /// `{code, message}`
    Flat,
    /// `{error: {code, message, details?}}`
    Nested,
}

impl Operation {
    /// As it stands under its path and method.
    pub(super) fn to_json(&self) -> Value {
        let security: Vec<Value> = self.opened_by.iter().map(|name| json!({*name: []})).collect();
        let responses: Map<String, Value> =
            self.responses.iter().map(|(status, response)| (status.to_string(), response.clone())).collect();
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
        if let Some(schema) = &self.body {
            operation["requestBody"] =
                json!({"required": self.needs_body, "content": {"application/json": {"schema": schema}}});
        }
        operation
    }
}

/// A parameter in the query, a header or the path.
pub(super) fn parameter(place: &str, name: &str, schema: Value, description: &str) -> Value {
    json!({"in": place, "name": name, "required": place == "path", "schema": schema, "description": description})
}

/// The same, which must be there.
pub(super) fn required(mut parameter: Value) -> Value {
    parameter["required"] = Value::from(true);
    parameter
}

/// An answer with a JSON body.
pub(super) fn answered(description: &str, schema: Value) -> Value {
    json!({
        "description": description,
        "headers": {"X-Request-Id": request_id()},
        "content": {"application/json": {"schema": schema}},
    })
}

/// An answer without a body.
pub(super) fn accepted(description: &str) -> Value {
    json!({"description": description, "headers": {"X-Request-Id": request_id()}})
}

/// The header that marks a stored answer.
pub(super) fn replayed(mut response: Value) -> Value {
    response["headers"]["Idempotency-Replayed"] = json!({
        "description": "`true` when this is the stored answer of an earlier request.",
        "schema": {"type": "string", "const": "true"},
    });
    response
}

fn request_id() -> Value {
    json!({"description": "The request's id, for logs and for questions to support.", "required": true,
        "schema": {"type": "string", "format": "uuid"}})
}

/// The responses of these failures, by status: one with several codes lists them.
pub(super) fn failed(envelope: Envelope, failures: Vec<Failure>) -> BTreeMap<u16, Value> {
    let mut by_status: BTreeMap<u16, Vec<Failure>> = BTreeMap::new();
    for failure in failures {
        by_status.entry(failure.status.as_u16()).or_default().push(failure);
    }
    by_status.into_iter().map(|(status, failures)| (status, response(envelope, status, &failures))).collect()
}

fn response(envelope: Envelope, status: u16, failures: &[Failure]) -> Value {
    let codes: Vec<Value> = failures
        .iter()
        .map(|failure| json!({"const": failure.code, "description": failure.message}))
        .collect();
    let code = json!({"type": "string", "oneOf": codes});
    let message = json!({"type": "string", "description": "What is wrong, in a sentence for people."});
    let flat = json!({
        "type": "object", "required": ["code", "message"], "properties": {"code": code, "message": message}
    });
    let schema = match envelope {
        Envelope::Flat => flat,
        Envelope::Nested => {
            let mut error = flat;
            error["properties"]["details"] =
                json!({"type": "object", "description": "Values that some codes come with."});
            json!({"type": "object", "required": ["error"], "properties": {"error": error}})
        }
    };
    let names: Vec<String> = failures.iter().map(|failure| format!("`{}`", failure.code)).collect();
    let mut response = answered(&names.join(", "), schema);
    if status == StatusCode::TOO_MANY_REQUESTS.as_u16() {
        response["headers"]["Retry-After"] =
            json!({"description": "Seconds to wait.", "required": true, "schema": {"type": "integer"}});
    }
    if matches!(envelope, Envelope::Nested) && status == StatusCode::UNAUTHORIZED.as_u16() {
        response["headers"]["WWW-Authenticate"] =
            json!({"description": "`Bearer realm=\"Pillarbox\"`", "required": true, "schema": {"type": "string"}});
    }
    response
}
