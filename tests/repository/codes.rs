//! Every code explains itself: each that the code can answer with has a section in `docs/codes`, and each alert one in the
//! runbook. The sections are those that `pillarbox explain` shows.

use std::collections::BTreeSet;

use contract::send::NotMailedReason;
use gateway::api_document;
use pillarbox::explain::{CodeSection, find_sections, list_sections};
use regex::Regex;
use serde_json::Value;

use super::alerts::{alerts, file};

/// Codes of the same kind, and a part of the titles of the pages where they have their sections.
struct CodeFamily {
    titles: &'static [&'static str],
    codes: BTreeSet<String>,
}

/// The words that a method `code` of this file gives.
fn codes_of_method(path: &str) -> BTreeSet<String> {
    let text = file(path);
    let (_, method) = text
        .split_once("fn code(")
        .unwrap_or_else(|| panic!("{path} has no method code"));
    let body = method.split("\n    }\n").next().unwrap();
    let word = Regex::new(r#"=> "([a-z_]+)""#).unwrap();
    let codes: BTreeSet<String> = word
        .captures_iter(body)
        .map(|found| found[1].to_owned())
        .collect();
    assert!(!codes.is_empty(), "{path} has no codes");
    codes
}

/// The words of the API document at this place.
fn codes_of_document(pointer: &str) -> BTreeSet<String> {
    let words = api_document()
        .pointer(&format!("/components/schemas/{pointer}/enum"))
        .and_then(Value::as_array)
        .unwrap_or_else(|| panic!("{pointer} has no words"));
    let text = |word: &Value| {
        word.as_str()
            .map_or_else(|| word.to_string(), str::to_owned)
    };
    words.iter().map(text).collect()
}

/// The codes that the load balancer answers with by itself, and those of paths and methods that there are not.
fn codes_of_edge() -> BTreeSet<String> {
    let code = Regex::new(r#""code": ?"([a-z_]+)""#).unwrap();
    let texts = [
        file("deploy/haproxy/haproxy.cfg"),
        file("services/gateway/src/lib.rs"),
        file("services/gateway/src/state.rs"),
    ];
    texts
        .iter()
        .flat_map(|text| code.captures_iter(text))
        .map(|found| found[1].to_owned())
        .collect()
}

fn families() -> Vec<CodeFamily> {
    let reasons = NotMailedReason::ALL.map(|reason| reason.as_str().to_owned());
    let family = |titles, codes| CodeFamily { titles, codes };
    vec![
        family(
            &["requests of the Dynamic Audience API"],
            codes_of_method("shared/wire/contract/src/send/error.rs"),
        ),
        family(
            &["requests of the Dynamic Audience API"],
            codes_of_document("Error/properties/code"),
        ),
        family(
            &["requests of the push API", "syncs, fields and contacts"],
            codes_of_method("shared/wire/contract/src/push/error.rs"),
        ),
        family(
            &[
                "requests of the push API",
                "syncs, fields and contacts",
                "MCP servers",
            ],
            codes_of_document("PushError/properties/code"),
        ),
        family(
            &["MCP servers"],
            codes_of_method("shared/wire/contract/src/mcp/formulas/error.rs"),
        ),
        family(
            &["MCP servers"],
            codes_of_document("JsonRpcError/properties/code"),
        ),
        family(&["why a recipient was not mailed"], reasons.into()),
        family(
            &["warnings of cards"],
            codes_of_document("Warning/properties/code"),
        ),
        family(
            &["fallback return address"],
            codes_of_document("ReturnAddressReason"),
        ),
        family(&["records of a push"], codes_of_document("IssueCode")),
        family(&["everywhere", "requests of"], codes_of_edge()),
        family(
            &["Runbook"],
            alerts()
                .iter()
                .map(|alert| alert["alert"].as_str().unwrap().to_owned())
                .collect(),
        ),
    ]
}

fn is_in(section: &CodeSection, titles: &[&str]) -> bool {
    titles.iter().any(|title| section.place.contains(title))
}

#[test]
fn every_code_has_a_section_where_it_stands() {
    let mut missing = Vec::new();
    for CodeFamily { titles, codes } in families() {
        let lacks = |code: &&String| {
            !find_sections(code)
                .iter()
                .any(|section| is_in(section, titles))
        };
        missing.extend(
            codes
                .iter()
                .filter(lacks)
                .map(|code| format!("{code}: in a page about {}", titles.join(" or "))),
        );
    }
    assert!(
        missing.is_empty(),
        "docs/codes has no section of {missing:#?}"
    );
}

#[test]
fn every_section_is_of_a_code_that_there_is() {
    let families = families();
    let stale: Vec<String> = list_sections()
        .iter()
        .filter(|section| {
            !families
                .iter()
                .any(|family| family.codes.contains(section.code) && is_in(section, family.titles))
        })
        .map(|section| format!("{} in {}", section.code, section.place))
        .collect();
    assert!(stale.is_empty(), "{stale:#?}");
}

#[test]
fn every_section_says_what_happened_whether_anything_was_mailed_and_what_to_do_with_an_example() {
    for section in list_sections()
        .iter()
        .filter(|section| !section.place.starts_with("Runbook"))
    {
        let CodeSection { code, place, text } = section;
        for part in ["- **Happened.**", "- **Mailed or charged.**", "- **Do.**"] {
            assert_eq!(text.matches(part).count(), 1, "{code} in {place}: {part}");
        }
        let example = text
            .split("```json\n")
            .nth(1)
            .and_then(|rest| rest.split("```").next())
            .unwrap_or_else(|| panic!("{code} in {place} has no example"));
        let value: Value = serde_json::from_str(example)
            .unwrap_or_else(|error| panic!("{code} in {place}: {error}"));
        let quoted = code
            .parse::<i32>()
            .map_or_else(|_| format!("{code:?}"), |number| number.to_string());
        assert!(value.to_string().contains(&quoted), "{code} in {place}");
    }
}

#[test]
fn examples_of_refusals_say_what_the_document_says() {
    let mut messages = Vec::new();
    collect_examples(api_document(), &mut messages);
    let mut checked = 0;
    for section in list_sections() {
        let known: Vec<&Value> = messages
            .iter()
            .filter(|error| error["code"] == section.code)
            .collect();
        let Some(example) = section.text.split("```").nth(1) else {
            continue;
        };
        let Ok(value) = serde_json::from_str::<Value>(example.trim_start_matches("json")) else {
            continue;
        };
        let told = value
            .get("error")
            .filter(|error| error.is_object())
            .unwrap_or(&value);
        let is_refusal = section.place.contains("requests of") || section.place.contains("syncs");
        if !is_refusal || known.is_empty() {
            continue;
        }
        // Where the text depends on the request, shape and details count alone.
        let is_fixed = known
            .iter()
            .any(|error| error["message"] == told["message"]);
        let names = |error: &Value| {
            error["details"]
                .as_object()
                .map(|details| details.keys().cloned().collect::<BTreeSet<_>>())
        };
        assert!(
            known.iter().any(|error| names(error) == names(told)),
            "{}: the details of {told}",
            section.code
        );
        checked += usize::from(is_fixed);
    }
    assert!(checked >= 20, "only {checked} texts are the document's own");
}

/// The errors of every example in the document, of both envelopes.
fn collect_examples(value: &Value, found: &mut Vec<Value>) {
    match value {
        Value::Object(object) => {
            if let Some(body) = object
                .get("value")
                .filter(|_| object.contains_key("summary"))
            {
                found.push(body.get("error").unwrap_or(body).clone());
            }
            object
                .values()
                .for_each(|value| collect_examples(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_examples(item, found)),
        _ => {}
    }
}
