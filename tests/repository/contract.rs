//! The document against the contract: every path, code, field and limit is there, and nothing else but what the service
//! adds and names as added.

use gateway::api_document;
use serde_json::{Value, json};

use super::facts::{ADDED_TYPES, FIELDS, OPERATIONS, Operation, WORDS};

/// Where limits and forms stand in the document, and the contract's value.
const LIMITS: &[(&str, &str)] = &[
    (
        "/components/schemas/SendRequest/properties/recipients/minItems",
        "1",
    ),
    (
        "/components/schemas/SendRequest/properties/recipients/maxItems",
        "5000",
    ),
    (
        "/components/schemas/Declaration/properties/fields/maxItems",
        "1000",
    ),
    (
        "/components/schemas/DeclaredField/properties/key/minLength",
        "1",
    ),
    (
        "/components/schemas/PushRequest/properties/records/maxItems",
        "1000",
    ),
    (
        "/components/schemas/Record/properties/external_id/minLength",
        "1",
    ),
    (
        "/components/schemas/Record/properties/external_id/maxLength",
        "128",
    ),
    (
        "/components/schemas/WarningGroup/properties/count/minimum",
        "1",
    ),
    (
        "/components/schemas/WarningGroup/properties/externalIds/minItems",
        "1",
    ),
    (
        "/components/schemas/WarningGroup/properties/externalIds/maxItems",
        "5",
    ),
    (
        "/components/schemas/SendResponse/properties/results_truncated/const",
        "true",
    ),
    (
        "/components/schemas/Result/properties/return_address_fallback/const",
        "true",
    ),
    (
        "/components/schemas/Result/properties/mail_by_date/format",
        "\"date\"",
    ),
    (
        "/components/schemas/DryRunAnswer/properties/validated/const",
        "true",
    ),
    (
        "/components/schemas/CompleteAnswer/properties/ok/const",
        "true",
    ),
    (
        "/components/schemas/DeclareAnswer/properties/ok/const",
        "true",
    ),
    (
        "/components/schemas/QrScanned/properties/test/const",
        "true",
    ),
    (
        "/components/schemas/OpenSync/properties/expiresAt/format",
        "\"date-time\"",
    ),
    ("/components/schemas/SyncId/format", "\"uuid\""),
];

/// Parameters whose values the contract bounds: the operation, the parameter, and its schema.
const PARAMETERS: &[(&str, &str, &str)] = &[
    (
        "GET /api/integrations/push/v1/sync/rejections",
        "limit",
        r#"{"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}"#,
    ),
    (
        "GET /api/integrations/push/v1/sync/rejections",
        "after",
        r#"{"type": "string", "pattern": "^[0-9]{1,15}$"}"#,
    ),
    (
        "GET /api/integrations/push/v1/sync/rejections",
        "type",
        r#"{"type": "string", "enum": ["rejection", "warning"], "default": "rejection"}"#,
    ),
    (
        "GET /api/integrations/push/v1/sync/rejections",
        "syncId",
        r#"{"type": "string", "format": "uuid"}"#,
    ),
    (
        "POST /api/integrations/push/v1/records",
        "Idempotency-Key",
        r#"{"type": "string", "minLength": 1, "maxLength": 200}"#,
    ),
];

/// What is said in words: the limits that a schema has no word for.
const SAID: &[&str] = &[
    "4456448 bytes",
    "4194304 bytes",
    "65536 bytes",
    "within 15 minutes",
    "for 24 hours",
    "250 at the most",
];

fn operation(name: &str) -> &'static Value {
    let (method, path) = name.split_once(' ').unwrap();
    &api_document()["paths"][path][method.to_lowercase()]
}

/// Methods and paths of the document.
fn names() -> Vec<String> {
    let paths = api_document()["paths"].as_object().unwrap();
    let under = |(path, methods): (&String, &Value)| {
        let methods = methods.as_object().unwrap().keys();
        methods
            .map(|method| format!("{} {path}", method.to_uppercase()))
            .collect::<Vec<_>>()
    };
    sorted(paths.iter().flat_map(under))
}

fn sorted(items: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut items: Vec<String> = items.into_iter().collect();
    items.sort();
    items
}

/// Facts without the mark of what is added.
fn unmarked<'a>(facts: impl IntoIterator<Item = &'a &'a str>) -> Vec<String> {
    sorted(
        facts
            .into_iter()
            .map(|fact| fact.trim_end_matches('+').trim_end().to_owned()),
    )
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// `query limit`, and `!` behind a required one.
fn parameters(operation: &Value) -> Vec<String> {
    let told = |parameter: &Value| {
        let mark = if parameter["required"] == true {
            "!"
        } else {
            ""
        };
        format!(
            "{} {}{mark}",
            text(&parameter["in"]),
            text(&parameter["name"])
        )
    };
    sorted(list(&operation["parameters"]).map(told))
}

/// The names of the types in a schema that is one, or one of several.
fn types(schema: &Value) -> Vec<String> {
    let name = |schema: &Value| Some(text(&schema["$ref"]).rsplit_once('/')?.1.to_owned());
    sorted(list(&schema["oneOf"]).chain([schema]).filter_map(name))
}

/// `409 field_locked {fields}` for each code of each answer but the 200, and the status alone for one without a code.
fn failures(operation: &Value) -> Vec<String> {
    let responses = operation["responses"].as_object().unwrap();
    let told = |(status, response): (&String, &Value)| {
        let examples = response["content"]["application/json"]["examples"]
            .as_object()
            .into_iter()
            .flatten();
        let told: Vec<String> = examples
            .map(|(code, example)| format!("{status} {code}{}", details(example)))
            .collect();
        if told.is_empty() {
            vec![status.clone()]
        } else {
            told
        }
    };
    sorted(
        responses
            .iter()
            .filter(|(status, _)| *status != "200")
            .flat_map(told),
    )
}

/// What a code must come with.
fn details(example: &Value) -> String {
    let Some(details) = example["value"]["error"]["details"].as_object() else {
        return String::new();
    };
    let names = sorted(details.keys().cloned());
    let types = &api_document()["components"]["schemas"]["PushErrorDetails"]["properties"];
    assert!(
        names.iter().all(|name| types[name]["type"].is_string()),
        "{names:?} {types}"
    );
    format!(" {{{}}}", names.join(", "))
}

#[test]
fn every_path_and_method_of_the_contract_is_there_and_no_other() {
    assert_eq!(
        names(),
        unmarked(OPERATIONS.iter().map(|operation| &operation.name))
    );
}

#[test]
fn every_operation_takes_and_answers_what_the_contract_says() {
    for Operation {
        name,
        parameters: expected,
        body,
        answers,
        failures: refusals,
    } in OPERATIONS
    {
        let found = operation(name.trim_end_matches(" +"));
        assert_eq!(parameters(found), unmarked(*expected), "{name}");
        let taken = types(&found["requestBody"]["content"]["application/json"]["schema"]).concat();
        assert_eq!(taken, *body, "{name}");
        let answered = types(&found["responses"]["200"]["content"]["application/json"]["schema"]);
        assert_eq!(answered, unmarked(*answers), "{name}");
        assert_eq!(failures(found), unmarked(*refusals), "{name}");
    }
}

#[test]
fn every_field_of_the_contract_is_there_and_no_other() {
    let schemas = api_document()["components"]["schemas"].as_object().unwrap();
    let mut described: Vec<&str> = FIELDS
        .iter()
        .map(|(name, _)| *name)
        .chain(ADDED_TYPES.iter().copied())
        .collect();
    described.sort_unstable();
    let objects = schemas
        .iter()
        .filter(|(_, schema)| schema["properties"].is_object());
    assert_eq!(
        objects.map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        described
    );
    for (name, expected) in FIELDS {
        let schema = &schemas[*name];
        let told = |field: &String| {
            let is_required = list(&schema["required"]).any(|required| required == field);
            format!("{field}{}", if is_required { "!" } else { "" })
        };
        let expected: Vec<&str> = expected.split_whitespace().collect();
        assert_eq!(
            sorted(schema["properties"].as_object().unwrap().keys().map(told)),
            unmarked(&expected),
            "{name}"
        );
    }
}

#[test]
fn every_word_of_the_contract_is_there_and_no_other() {
    for (name, expected) in WORDS {
        let schema = match name.split_once('.') {
            Some((name, field)) => {
                &api_document()["components"]["schemas"][name]["properties"][field]
            }
            None => &api_document()["components"]["schemas"][*name],
        };
        let alone = schema.get("const").into_iter();
        let words = list(&schema["enum"]);
        let expected: Vec<&str> = expected.split_whitespace().collect();
        assert_eq!(
            sorted(words.chain(alone).map(|word| {
                word.as_str()
                    .map_or_else(|| word.to_string(), str::to_owned)
            })),
            unmarked(&expected),
            "{name}"
        );
    }
}

#[test]
fn every_limit_of_the_contract_is_there() {
    for (pointer, expected) in LIMITS {
        let expected: Value = serde_json::from_str(expected).unwrap();
        assert_eq!(
            api_document().pointer(pointer),
            Some(&expected),
            "{pointer}"
        );
    }
    for (name, parameter, expected) in PARAMETERS {
        let found = list(&operation(name)["parameters"]).find(|found| found["name"] == *parameter);
        let expected: Value = serde_json::from_str(expected).unwrap();
        assert_eq!(
            found.map(|found| &found["schema"]),
            Some(&expected),
            "{name} {parameter}"
        );
    }
    let all = api_document().to_string();
    for said in SAID {
        assert!(all.contains(said), "{said}");
    }
}

#[test]
fn every_header_of_the_contract_is_there() {
    for operation in OPERATIONS {
        let name = operation.name.trim_end_matches(" +");
        let responses = &self::operation(name)["responses"];
        let has =
            |status: &str, header: &str| responses[status]["headers"][header]["required"] == true;
        if responses["429"].is_object() {
            assert!(has("429", "Retry-After"), "{name}");
            assert!(has("200", "X-Request-Id"), "{name}");
        }
        if name.contains("/push/") {
            assert!(has("401", "WWW-Authenticate"), "{name}");
        }
    }
    let event = &api_document()["webhooks"]["qr.scanned"]["post"];
    assert_eq!(
        parameters(event),
        [
            "header webhook-id!",
            "header webhook-signature",
            "header webhook-timestamp!"
        ],
        "the signature is an addition"
    );
    assert_eq!(
        types(&event["requestBody"]["content"]["application/json"]["schema"]),
        ["QrScanned"]
    );
}

/// Visits every schema and every other object of the document.
fn each_object(value: &Value, visit: &mut impl FnMut(&serde_json::Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            visit(object);
            object.values().for_each(|value| each_object(value, visit));
        }
        Value::Array(items) => items.iter().for_each(|item| each_object(item, visit)),
        _ => {}
    }
}

#[test]
fn generators_find_words_as_enum_one_schema_for_each_error_and_names_that_are_one_of_a_kind() {
    let document = api_document();
    each_object(document, &mut |object| {
        let mut alternatives = object.get("oneOf").into_iter().flat_map(list);
        assert!(
            alternatives.all(|one| one.get("const").is_none()),
            "{object:?}"
        );
        let meanings = object
            .get("x-enum-descriptions")
            .and_then(Value::as_array)
            .map(Vec::len);
        assert!(
            meanings.is_none_or(|count| list(&object["enum"]).count() == count),
            "{object:?}"
        );
    });
    let (mut ids, mut tags) = (Vec::new(), Vec::new());
    for part in ["paths", "webhooks"] {
        let under = document[part]
            .as_object()
            .unwrap()
            .values()
            .flat_map(|methods| methods.as_object().unwrap());
        let operations: Vec<&Value> = under.map(|(_, operation)| operation).collect();
        ids.extend(
            operations
                .iter()
                .map(|operation| text(&operation["operationId"]).to_owned()),
        );
        let mut own: Vec<&str> = operations
            .iter()
            .map(|operation| text(&operation["tags"][0]))
            .collect();
        own.sort_unstable();
        own.dedup();
        tags.extend(own);
        for operation in operations {
            let failures = operation["responses"]
                .as_object()
                .unwrap()
                .iter()
                .filter(|(status, _)| status.starts_with(['4', '5']));
            for (status, response) in failures {
                let schema = &response["content"]["application/json"]["schema"];
                let is_shared = [
                    "#/components/schemas/Error",
                    "#/components/schemas/PushFailure",
                ]
                .contains(&text(&schema["$ref"]));
                assert!(
                    is_shared || response["content"].get("text/html").is_some(),
                    "{status} {schema}"
                );
            }
        }
    }
    let told: Vec<String> = list(&document["tags"])
        .map(|tag| text(&tag["name"]).to_owned())
        .collect();
    assert_eq!(
        sorted(tags.into_iter().map(str::to_owned)),
        sorted(told),
        "none twice, and none in both parts"
    );
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

#[test]
fn every_operation_says_which_keys_open_it() {
    let schemes = &api_document()["components"]["securitySchemes"];
    for (name, prefix) in [
        ("fullAccessKey", "pk_live_"),
        ("integrationKey", "pk_int_"),
        ("formulasKey", "pk_fx_"),
    ] {
        assert_eq!(
            (&schemes[name]["type"], &schemes[name]["scheme"]),
            (&json!("http"), &json!("bearer"))
        );
        assert!(text(&schemes[name]["description"]).contains(prefix));
    }
    assert_eq!(schemes["fullAccessKeyHeader"]["name"], "X-API-Key");
    for Operation { name, .. } in OPERATIONS {
        let name = name.trim_end_matches(" +");
        let opened_by: Vec<&str> = list(&operation(name)["security"])
            .flat_map(|scheme| scheme.as_object().unwrap().keys().map(String::as_str))
            .collect();
        let expected: &[&str] = match name.split_once(' ').unwrap().1 {
            path if path.starts_with("/api/v1/") => &["fullAccessKey", "fullAccessKeyHeader"],
            path if path.starts_with("/api/integrations/") => &["integrationKey"],
            path if path.starts_with("/api/formulas/") => &["fullAccessKey", "formulasKey"],
            _ => &[],
        };
        assert_eq!(opened_by, expected, "{name}");
    }
}

#[test]
fn every_example_is_one_of_its_schema() {
    let components = &api_document()["components"];
    let mut examples = 0;
    for operation in OPERATIONS
        .iter()
        .map(|known| operation(known.name.trim_end_matches(" +")))
    {
        let Some(body) = operation["requestBody"]["content"].get("application/json") else {
            continue;
        };
        let mut schema = body["schema"].clone();
        schema["components"] = components.clone();
        jsonschema::validate(&schema, &body["example"]).unwrap();
        examples += 1;
    }
    assert_eq!(examples, 8);
}

#[test]
fn warnings_have_the_codes_that_designs_give_and_those_of_values_and_addresses() {
    let codes = &api_document()["components"]["schemas"]["Warning"]["properties"]["code"]["enum"];
    let of_designs = design::LayoutWarningCode::ALL.map(design::LayoutWarningCode::as_str);
    let all: Vec<&str> = of_designs
        .into_iter()
        .chain(["value_cut", "address_corrected", "birthday_not_read"])
        .collect();
    assert_eq!(*codes, json!(all));
}
