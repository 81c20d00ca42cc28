//! The program as an operator meets it, where no database is needed.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Runs the program with a database that nothing listens for.
fn run_pillarbox(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pillarbox"))
        .args(arguments)
        .env(
            "PILLARBOX__DATABASE__URL",
            "postgres://nobody@127.0.0.1:1/nothing",
        )
        .output()
        .unwrap()
}

#[test]
fn a_failure_ends_with_1_and_one_line_on_standard_error() {
    for (arguments, expected) in [
        (
            ["check", "--json"].as_slice(),
            "the database cannot be reached",
        ),
        (&["migrate"], "the database cannot be reached"),
        (
            &["apply", "no-such-file.yaml"],
            "cannot read no-such-file.yaml: No such file",
        ),
        (
            &[
                "demo",
                "no-such-file.json",
                "--url",
                "http://127.0.0.1:1",
                "--key",
                "k",
            ],
            "cannot read no-such-file",
        ),
        (
            &[
                "demo",
                "Cargo.toml",
                "--url",
                "http://127.0.0.1:1",
                "--key",
                "k",
            ],
            "http://127.0.0.1:1/api/v1/recipients",
        ),
        (
            &["demo", "Cargo.toml", "--url", "not a URL", "--key", "k"],
            "not a URL/api/v1/recipients cannot be reached",
        ),
    ] {
        let Output {
            status,
            stdout,
            stderr,
        } = run_pillarbox(arguments);
        let stderr = String::from_utf8(stderr).unwrap();
        assert_eq!(status.code(), Some(1), "{arguments:?}: {stderr}");
        assert!(stdout.is_empty(), "{arguments:?}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        assert!(
            stderr.starts_with(&format!("pillarbox: {expected}")),
            "{stderr}"
        );
    }
}

#[test]
fn a_usage_error_ends_with_2() {
    let Output { status, stdout, .. } =
        run_pillarbox(&["top-up", "Demo", "nothing", "--reference", "r"]);
    assert_eq!((status.code(), stdout.is_empty()), (Some(2), true));
}

#[test]
fn an_unknown_setting_is_named() {
    let output = Command::new(env!("CARGO_BIN_EXE_pillarbox"))
        .arg("check")
        .env("PILLARBOX__DATABASE__URLL", "x")
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.starts_with("pillarbox: configuration: ") && stderr.contains("urll"),
        "{stderr}"
    );
}

/// Runs the program with this on its standard input; nothing listens for its database.
fn run_with_input(arguments: &[&str], input: &str) -> Vec<serde_json::Value> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pillarbox"))
        .args(arguments)
        .env(
            "PILLARBOX__DATABASE__URL",
            "postgres://nobody@127.0.0.1:1/nothing",
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let lines = String::from_utf8(output.stdout).unwrap();
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn addresses_are_parsed_one_a_line_without_a_database() {
    let input = "123 n main street apt 4, austin tx 787011234\n\n\
        {\"address_1\": \"PO Box 7\", \"city\": \"Boston\", \"state\": \"MA\", \"zip\": 2108}\n{\n";
    let answers = run_with_input(&["addresses", "parse"], input);
    assert_eq!(answers.len(), 4);
    let expected = serde_json::json!({"number": "123", "predirectional": "N", "street": "Main", "suffix": "St",
        "unit_designator": "Apt", "unit": "4", "city": "Austin", "state": "TX", "zip": "78701", "plus4": "1234",
        "line1": "123 N Main St Apt 4", "one_line": "123 N Main St Apt 4, Austin, TX 78701-1234"});
    assert_eq!(answers[0], expected);
    assert_eq!(answers[1], serde_json::json!({}));
    assert_eq!(
        (&answers[2]["po_box"], &answers[2]["zip"]),
        (&"7".into(), &"02108".into())
    );
    assert_eq!(answers[3]["level"], "failed");
}

#[test]
fn addresses_are_verified_by_the_zip_data_where_no_database_answers() {
    let input = "1 Main St, Austn TX 78701\n1 Main St, Austin TX 00000\n";
    let answers = run_with_input(&["addresses", "verify"], input);
    assert_eq!(answers[0]["level"], "zip");
    let correction = serde_json::json!([{"field": "city", "from": "Austn", "to": "Austin"}]);
    assert_eq!(answers[0]["corrections"], correction);
    assert_eq!(answers[1]["level"], "failed");
    assert!(answers[1]["reason"].as_str().unwrap().contains("00000"));
    let strict = run_with_input(&["addresses", "verify", "--strictness", "street"], input);
    assert_eq!(strict[0]["level"], "failed");
}
