//! The program as an operator meets it, where no database is needed.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::{Command, Output};

/// Runs the program with a database that nothing listens for.
fn pillarbox(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pillarbox"))
        .args(arguments)
        .env("PILLARBOX__DATABASE__URL", "postgres://nobody@127.0.0.1:1/nothing")
        .output()
        .unwrap()
}

#[test]
fn a_failure_ends_with_1_and_one_line_on_standard_error() {
    for (arguments, expected) in [
        (["check", "--json"].as_slice(), "the database cannot be reached"),
        (&["migrate"], "the database cannot be reached"),
        (&["apply", "no-such-file.yaml"], "cannot read no-such-file.yaml: No such file"),
        (
            &["demo", "no-such-file.json", "--url", "http://127.0.0.1:1", "--key", "k"],
            "cannot read no-such-file",
        ),
        (
            &["demo", "Cargo.toml", "--url", "http://127.0.0.1:1", "--key", "k"],
            "http://127.0.0.1:1/api/v1/recipients",
        ),
        (
            &["demo", "Cargo.toml", "--url", "not a URL", "--key", "k"],
            "not a URL/api/v1/recipients cannot be reached",
        ),
    ] {
        let Output { status, stdout, stderr } = pillarbox(arguments);
        let stderr = String::from_utf8(stderr).unwrap();
        assert_eq!(status.code(), Some(1), "{arguments:?}: {stderr}");
        assert!(stdout.is_empty(), "{arguments:?}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        assert!(stderr.starts_with(&format!("pillarbox: {expected}")), "{stderr}");
    }
}

#[test]
fn a_usage_error_ends_with_2() {
    let Output { status, stdout, .. } = pillarbox(&["top-up", "Demo", "nothing", "--reference", "r"]);
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
    assert!(stderr.starts_with("pillarbox: configuration: ") && stderr.contains("urll"), "{stderr}");
}
