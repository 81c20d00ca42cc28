//! The API's description: what is served, that it holds what the contract says, and that the gateway does what it says.

mod generators;
mod schemathesis;

use std::collections::HashSet;

use gateway::api_document;
use pillarbox_tests::{ApiResponse, Browser, StackOptions, TestStack};
use regex::Regex;
use reqwest::Method;
use serde_json::Value;

async fn get(stack: &TestStack, path: &str) -> ApiResponse {
    stack
        .request(Method::GET, &format!("{}{path}", stack.url), &[], "")
        .await
}

/// What stands between these two around every place where they occur.
fn found(text: &str, pattern: &str) -> HashSet<String> {
    let pattern = Regex::new(pattern).unwrap();
    pattern
        .captures_iter(text)
        .map(|found| found[1].to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_document_is_served_to_everybody_and_is_openapi_3_1() {
    let stack = TestStack::with_options(StackOptions {
        mailers: 0,
        ..StackOptions::default()
    })
    .await;
    let answer = get(&stack, "/api/openapi.json").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers["content-type"], "application/json");
    assert_eq!(answer.headers["x-content-type-options"], "nosniff");
    assert_eq!(answer.json(), *api_document());
    assert_eq!(answer.json()["openapi"], "3.1.0");
    for path in ["/api/openapi.json", "/docs", "/docs/style.css"] {
        let posted = stack
            .request(Method::POST, &format!("{}{path}", stack.url), &[], "")
            .await;
        assert_eq!(posted.error(), (405, "method_not_allowed".to_owned()));
        assert_eq!(posted.headers["allow"], "GET");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_takes_nothing_from_other_hosts_and_runs_nothing() {
    let stack = TestStack::with_options(StackOptions {
        mailers: 0,
        ..StackOptions::default()
    })
    .await;
    let page = get(&stack, "/docs").await;
    assert_eq!(page.status, 200);
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    assert_eq!(
        page.headers["content-security-policy"],
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    for what in [
        "<script",
        "<img",
        "<iframe",
        " src=",
        " style=",
        " onclick=",
        "javascript:",
    ] {
        assert!(!page.text.contains(what), "{what}");
    }
    let links = found(&page.text, r#"href="([^"]*)""#);
    assert!(
        links
            .iter()
            .all(|link| link.starts_with('#') || link.starts_with('/')),
        "{links:?}"
    );
    for link in links.iter().filter(|link| link.starts_with('/')) {
        assert_eq!(get(&stack, link).await.status, 200, "{link}");
    }
    assert_eq!(
        get(&stack, "/docs/style.css").await.headers["content-type"],
        "text/css; charset=utf-8"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_shows_every_operation_type_and_code_and_its_links_lead_somewhere() {
    let stack = TestStack::with_options(StackOptions {
        mailers: 0,
        ..StackOptions::default()
    })
    .await;
    let page = get(&stack, "/docs").await.text;
    let ids = found(&page, r#" id="([^"]*)""#);
    let links: HashSet<String> = found(&page, r##"href="#([^"]*)""##);
    assert_eq!(links.difference(&ids).collect::<Vec<_>>(), [""; 0]);

    let shown = found(&page, "<code>([^<]*)</code>");
    let mut missing = Vec::new();
    each(api_document(), &mut |key, value| {
        let is_shown = match (key, value.as_str()) {
            ("operationId", Some(id)) => ids.contains(id),
            ("const", Some(word)) => shown.contains(word),
            ("enum", _) => value.as_array().into_iter().flatten().all(|word| {
                shown.contains(
                    &word
                        .as_str()
                        .map_or_else(|| word.to_string(), str::to_owned),
                )
            }),
            ("$ref", Some(reference)) => {
                ids.contains(&reference.replace("#/components/schemas/", "type-"))
            }
            _ => true,
        };
        if !is_shown {
            missing.push(format!("{key} {value}"));
        }
    });
    assert_eq!(missing, [""; 0]);
    for path in api_document()["paths"].as_object().unwrap().keys() {
        assert!(shown.contains(path), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_can_use_the_page() {
    let stack = TestStack::with_options(StackOptions {
        mailers: 0,
        ..StackOptions::default()
    })
    .await;
    let browser = Browser::open(&stack.url).await;
    browser.open_page("/docs").await;
    assert_eq!(browser.find_barriers().await, [""; 0]);
}

/// Visits every name and value of a document.
fn each(value: &Value, visit: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                visit(key, value);
                each(value, visit);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| each(item, visit)),
        _ => {}
    }
}
