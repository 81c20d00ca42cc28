//! One operation of an API, as data, and the parts that operations share.

use std::borrow::Cow;
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
    pub(super) description: Cow<'static, str>,
    pub(super) parameters: Vec<Value>,
    pub(super) body: Option<Body>,
    /// Names of security schemes, any of which opens it.
    pub(super) opened_by: &'static [&'static str],
    /// By status.
    pub(super) responses: BTreeMap<u16, Value>,
}

/// The JSON body of a request.
pub(super) struct Body {
    pub(super) schema: Value,
    pub(super) example: Value,
    /// Whether it may not be left out.
    pub(super) is_required: bool,
}

/// A failure that an operation documents.
pub(super) struct Failure {
    pub(super) status: StatusCode,
    pub(super) code: &'static str,
    /// What a client is told, or what a variable text is about.
    pub(super) message: String,
    /// Details as an example has them; `None` when the code comes without.
    pub(super) details: Option<Value>,
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
        if let Some(Body { schema, example, is_required }) = &self.body {
            let content = json!({"application/json": {"schema": schema, "example": example}});
            operation["requestBody"] = json!({"required": is_required, "content": content});
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

/// The header that tells what a request has cost.
pub(super) fn costed(mut response: Value) -> Value {
    response["headers"]["X-Cost-Cents"] = json!({
        "description": "What the request has cost, in whole US cents; not on a stored answer, nor on that of a dry run.",
        "schema": {"type": "integer", "minimum": 0},
    });
    response
}

/// The header that tells how long to wait.
pub(super) fn waiting(mut response: Value) -> Value {
    response["headers"]["Retry-After"] =
        json!({"description": "Seconds to wait.", "required": true, "schema": {"type": "integer"}});
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
    let schema = match envelope {
        Envelope::Flat => error(failures),
        Envelope::Nested => {
            let error = with_details(error(failures), failures);
            json!({"type": "object", "required": ["error"], "properties": {"error": error}})
        }
    };
    let names: Vec<String> = failures.iter().map(|failure| format!("`{}`", failure.code)).collect();
    let mut response = answered(&names.join(", "), schema);
    if status == StatusCode::TOO_MANY_REQUESTS.as_u16() {
        response = waiting(response);
    }
    if matches!(envelope, Envelope::Nested) && status == StatusCode::UNAUTHORIZED.as_u16() {
        response["headers"]["WWW-Authenticate"] = json!({"description": "`Bearer realm=\"Pillarbox\"`", "required": true, "schema": {"type": "string"}});
    }
    response
}

/// `{code, message}`.
fn error(failures: &[Failure]) -> Value {
    let codes: Vec<Value> = failures.iter().map(code).collect();
    let code = json!({"type": "string", "oneOf": codes});
    let message = json!({"type": "string", "description": "What is wrong, in a sentence for people."});
    json!({"type": "object", "required": ["code", "message"], "properties": {"code": code, "message": message}})
}

fn code(failure: &Failure) -> Value {
    let names: Vec<String> = entries(failure.details.as_ref()).map(|(name, _)| format!("`{name}`")).collect();
    let details = if names.is_empty() { String::new() } else { format!(" Details: {}.", names.join(", ")) };
    json!({"const": failure.code, "description": format!("{}{details}", failure.message)})
}

/// Adds `details`: what types they have, and with which code they come.
fn with_details(mut error: Value, failures: &[Failure]) -> Value {
    let mut types = Map::new();
    let mut rules = Vec::new();
    for failure in failures.iter().filter(|failure| failure.details.is_some()) {
        types.extend(entries(failure.details.as_ref()).map(|(name, value)| (name.clone(), type_of(value))));
        let names: Vec<&String> = entries(failure.details.as_ref()).map(|(name, _)| name).collect();
        rules.push(json!({
            "if": {"properties": {"code": {"const": failure.code}}},
            "then": {"required": ["details"], "properties": {"details": {"required": names}}},
        }));
    }
    if !rules.is_empty() {
        error["properties"]["details"] =
            json!({"type": "object", "description": "What some codes come with.", "properties": types});
        error["allOf"] = Value::from(rules);
    }
    error
}

fn entries(object: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    object.and_then(Value::as_object).into_iter().flatten()
}

/// The type that a value is an example of.
fn type_of(value: &Value) -> Value {
    match value {
        Value::Null => json!({}),
        Value::Bool(_) => json!({"type": "boolean"}),
        Value::Number(number) if number.is_f64() => json!({"type": "number"}),
        Value::Number(_) => json!({"type": "integer"}),
        Value::String(_) => json!({"type": "string"}),
        Value::Array(items) => {
            json!({"type": "array", "items": items.first().map_or_else(|| json!({}), type_of)})
        }
        Value::Object(_) => json!({"type": "object"}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_with_details_must_come_with_them() {
        let details = json!({"limit": 3, "share": 0.5, "fields": ["a"]});
        let failures = [("full", Some(details)), ("bad", None)].map(|(code, details)| Failure {
            status: StatusCode::CONFLICT,
            code,
            message: "No.".to_owned(),
            details,
        });
        let error = with_details(error(&failures), &failures);
        assert_eq!(
            error["properties"]["code"]["oneOf"][0]["description"],
            "No. Details: `fields`, `limit`, `share`."
        );
        assert_eq!(
            error["properties"]["details"]["properties"],
            json!({
                "fields": {"type": "array", "items": {"type": "string"}},
                "limit": {"type": "integer"},
                "share": {"type": "number"},
            })
        );
        assert_eq!(
            error["allOf"],
            json!([{
                "if": {"properties": {"code": {"const": "full"}}},
                "then": {"required": ["details"], "properties": {"details": {"required": ["fields", "limit", "share"]}}},
            }])
        );
    }
}
