//! The page for people lists every function as it is.
#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test fails by panicking"
)]

use std::fmt::Write;

use formula::list_functions;

const PAGE: &str = include_str!("../../../../docs/reference/functions.md");
const BEGIN: &str = "<!-- functions -->\n";
const END: &str = "<!-- /functions -->";

/// The table as it must stand in the page: what a failing test prints goes between the two marks.
fn build_function_table() -> String {
    let mut table =
        "| function | what it gives | example | result |\n|---|---|---|---|\n".to_owned();
    let cell = |text: &str| text.replace('|', "\\|");
    for help in list_functions() {
        let (signature, description) = (cell(help.signature), cell(help.description));
        let (example, result) = (cell(help.example), cell(help.result));
        writeln!(
            table,
            "| `{signature}` | {description} | `{example}` | {result} |"
        )
        .unwrap();
    }
    table
}

#[test]
fn the_page_lists_every_function() {
    let begin = PAGE.find(BEGIN).unwrap() + BEGIN.len();
    let end = PAGE.find(END).unwrap();
    let expected = build_function_table();
    assert!(
        PAGE[begin..end] == expected,
        "between the marks must stand:\n{expected}"
    );
}
