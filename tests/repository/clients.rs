//! The clients know every operation, code and field of the API document: their types are made from it, and a file that is not what
//! would be made now fails here. `UPDATE_CLIENTS=1 cargo test --test repository clients` makes them anew.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use gateway::api_document;

use super::alerts::file;

fn generate(arguments: &[&str]) -> Output {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../clients/generate");
    let mut child = Command::new("python3")
        .arg(script)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python 3 makes the clients' types: install python3");
    let document = api_document().to_string();
    let mut input = child.stdin.take().unwrap();
    input.write_all(document.as_bytes()).unwrap();
    drop(input);
    child.wait_with_output().unwrap()
}

#[test]
fn the_clients_types_are_those_of_the_document() {
    let update = std::env::var("UPDATE_CLIENTS").is_ok_and(|value| value == "1");
    let arguments: &[&str] = if update { &[] } else { &["--check"] };
    let output = generate(arguments);
    let stale = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "not as the document is now (UPDATE_CLIENTS=1 makes them anew): {stale}"
    );
}

#[test]
fn the_clients_have_the_versions_that_they_say() {
    let manifest = file("clients/python/pyproject.toml");
    let version = manifest
        .lines()
        .find_map(|line| line.strip_prefix("version = "))
        .unwrap();
    for path in [
        "clients/python/src/pillarbox/version.py",
        "clients/typescript/src/version.ts",
        "clients/typescript/package.json",
    ] {
        assert!(file(path).contains(version), "{path}: not {version}");
    }
}
