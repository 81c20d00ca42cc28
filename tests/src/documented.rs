//! Holds every answer of a gateway that a test gets against the description of the API, whatever the test is about.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use gateway::api_document;
use jsonschema::Validator;
use reqwest::Method;
use serde_json::Value;
use url::Url;

use crate::stack::ApiResponse;

/// A path of the document.
struct DocumentedPath {
    template: &'static str,
    /// By method in lower case, then by status.
    methods: HashMap<&'static str, HashMap<&'static str, DocumentedResponse>>,
}

/// An answer as the document has it.
struct DocumentedResponse {
    document: &'static Value,
    /// Made when it is first needed.
    validator: OnceLock<Validator>,
}

static PATHS: LazyLock<Vec<DocumentedPath>> = LazyLock::new(|| {
    let response = |document| DocumentedResponse {
        document,
        validator: OnceLock::new(),
    };
    let responses = |operation: &'static Value| {
        object_entries(&operation["responses"])
            .map(|(status, document)| (status, response(document)))
            .collect()
    };
    let path = |(template, methods): (&'static str, &'static Value)| DocumentedPath {
        template,
        methods: object_entries(methods)
            .map(|(method, operation)| (method, responses(operation)))
            .collect(),
    };
    object_entries(&api_document()["paths"]).map(path).collect()
});

fn object_entries(object: &'static Value) -> impl Iterator<Item = (&'static str, &'static Value)> {
    object
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.as_str(), value))
}

/// What the document does not allow in this answer; `None` when it does, and for paths that it does not have.
pub(crate) fn find_fault(method: &Method, url: &str, answer: &ApiResponse) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let path = PATHS.iter().find(|path| path.matches(url.path()))?;
    let method = method.as_str().to_lowercase();
    let status = answer.status.as_str();
    let Some(responses) = path.methods.get(method.as_str()) else {
        return (status != "405").then(|| format!("{method} is not documented"));
    };
    let Some(response) = responses.get(status) else {
        return Some(format!("{status} is not documented"));
    };
    response
        .find_header_fault(answer)
        .or_else(|| response.find_body_fault(answer, method == "head"))
}

impl DocumentedPath {
    fn matches(&self, path: &str) -> bool {
        let (ours, theirs) = (self.template.split('/'), path.split('/'));
        ours.clone().count() == theirs.clone().count()
            && ours
                .zip(theirs)
                .all(|(ours, theirs)| ours == theirs || ours.starts_with('{'))
    }
}

impl DocumentedResponse {
    fn find_header_fault(&self, answer: &ApiResponse) -> Option<String> {
        object_entries(&self.document["headers"]).find_map(|(name, header)| {
            let Some(value) = answer.headers.get(name) else {
                return (header["required"] == true).then(|| format!("{name} is missing"));
            };
            let text = value.to_str().unwrap_or_default();
            let value = match &header["schema"]["type"] {
                kind if kind == "integer" => text
                    .parse()
                    .map_or_else(|_| Value::from(text), |number: i64| Value::from(number)),
                _ => Value::from(text),
            };
            let validator = build_validator(&header["schema"]);
            validator
                .iter_errors(&value)
                .next()
                .map(|error| format!("{name}: {error}"))
        })
    }

    fn find_body_fault(&self, answer: &ApiResponse, is_head: bool) -> Option<String> {
        let Some((expected, content)) = object_entries(&self.document["content"])
            .next()
            .filter(|_| !is_head)
        else {
            return (!answer.text.is_empty()).then(|| "there is a body".to_owned());
        };
        let given = answer
            .headers
            .get("content-type")
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        if given.split(';').next() != Some(expected) {
            return Some(format!("the content type is {given} and not {expected}"));
        }
        let body = match expected {
            "application/json" => match serde_json::from_str(&answer.text) {
                Ok(body) => body,
                Err(error) => return Some(format!("the body is not JSON: {error}")),
            },
            _ => Value::from(answer.text.as_str()),
        };
        let validator = self
            .validator
            .get_or_init(|| build_validator(&content["schema"]));
        let fault = validator.iter_errors(&body).next();
        let fault = fault.map(|error| format!("{} at {}", error, error.instance_path()));
        fault.or_else(|| find_code_fault(&content["examples"], &body))
    }
}

/// A failure has a code that its status is documented with, and the details of that code.
fn find_code_fault(examples: &Value, body: &Value) -> Option<String> {
    let examples = examples.as_object()?;
    let error = body.get("error").unwrap_or(body);
    let Some(example) = examples.get(error["code"].as_str().unwrap_or_default()) else {
        return Some(format!(
            "{} is not documented with this status",
            error["code"]
        ));
    };
    let details = example["value"]["error"]["details"]
        .as_object()
        .into_iter()
        .flatten();
    let missing = details
        .map(|(name, _)| name)
        .find(|name| error["details"].get(name.as_str()).is_none());
    missing.map(|name| format!("{} comes without {name}", error["code"]))
}

/// Of a schema that may name those of the document.
fn build_validator(schema: &Value) -> Validator {
    let mut schema = schema.clone();
    schema["components"] = api_document()["components"].clone();
    jsonschema::options()
        .should_validate_formats(true)
        .build(&schema)
        .expect("a schema")
}

#[cfg(test)]
mod tests {
    use reqwest::StatusCode;
    use reqwest::header::{HeaderMap, HeaderName};
    use serde_json::json;

    use super::*;

    const URL: &str = "http://127.0.0.1/api/integrations/push/v1/sync?x=1";

    const HEADERS: [(&str, &str); 5] = [
        ("x-request-id", "0199e2a4-7c1e-7b2a-9d55-0c8f2a3b4c5d"),
        ("content-type", "application/json"),
        ("ratelimit-limit", "60"),
        ("ratelimit-remaining", "59"),
        ("ratelimit-reset", "30"),
    ];

    fn build_answer(status: u16, headers: &[(&str, &str)], body: &Value) -> ApiResponse {
        let header = |(name, value): &(&str, &str)| {
            (name.parse::<HeaderName>().unwrap(), value.parse().unwrap())
        };
        ApiResponse {
            status: StatusCode::from_u16(status).unwrap(),
            headers: HeaderMap::from_iter(headers.iter().map(header)),
            text: body.to_string(),
        }
    }

    fn find_answer_fault(status: u16, headers: &[(&str, &str)], body: &Value) -> Option<String> {
        find_fault(
            &Method::GET,
            URL,
            &build_answer(status, &[&HEADERS, headers].concat(), body),
        )
    }

    #[test]
    fn an_answer_that_is_documented_has_no_fault_and_every_other_one_has() {
        let limited = json!({"error": {"code": "rate_limited", "message": "Wait."}});
        assert_eq!(find_answer_fault(200, &[], &json!({"sync": null})), None);
        assert_eq!(
            find_answer_fault(429, &[("retry-after", "60")], &limited),
            None
        );

        assert!(
            find_answer_fault(200, &[], &json!({}))
                .unwrap()
                .contains("sync")
        );
        assert!(find_answer_fault(200, &[], &json!({"sync": {}})).is_some());
        let cut = ApiResponse {
            text: "{".to_owned(),
            ..build_answer(200, &HEADERS, &json!({}))
        };
        assert!(
            find_fault(&Method::GET, URL, &cut)
                .unwrap()
                .contains("not JSON")
        );
        assert!(
            find_answer_fault(418, &[], &json!({}))
                .unwrap()
                .contains("418")
        );
        assert!(
            find_answer_fault(429, &[], &limited)
                .unwrap()
                .contains("Retry-After")
        );
        assert!(
            find_answer_fault(429, &[("retry-after", "soon")], &limited)
                .unwrap()
                .contains("Retry-After")
        );
        let other = json!({"error": {"code": "no_such_code", "message": "Wait."}});
        assert!(find_answer_fault(429, &[("retry-after", "60")], &other).is_some());
        let of_another_status = json!({"error": {"code": "invalid_key", "message": "No."}});
        assert!(
            find_answer_fault(429, &[("retry-after", "60")], &of_another_status)
                .unwrap()
                .contains("invalid_key")
        );
        let uncounted = build_answer(200, &HEADERS[..2], &json!({"sync": null}));
        assert!(
            find_fault(&Method::GET, URL, &uncounted)
                .unwrap()
                .contains("RateLimit-Limit")
        );
        let bare = build_answer(200, &HEADERS[1..], &json!({"sync": null}));
        assert!(
            find_fault(&Method::GET, URL, &bare)
                .unwrap()
                .contains("X-Request-Id")
        );
        assert!(
            find_fault(&Method::DELETE, URL, &bare)
                .unwrap()
                .contains("delete")
        );
    }

    #[test]
    fn paths_that_are_not_documented_are_nobodys_fault() {
        let nothing = build_answer(404, &[], &json!({}));
        for path in ["/", "/api/v1/nothing", "/api/v1/requests/1/2", "/docs"] {
            assert_eq!(
                find_fault(&Method::GET, &format!("http://127.0.0.1{path}"), &nothing),
                None
            );
        }
    }
}
