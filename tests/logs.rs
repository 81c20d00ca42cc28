//! Runs after all other tests: what the processes have logged in them holds nothing personal and no secret.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use regex::{Regex, RegexSet};

/// What must stand in no line. The tests' people live in the streets of Austin and are called Pat Reader; the rest is what
/// anybody's would look like.
const FORBIDDEN: [(&str, &str); 11] = [
    ("a name", r"Reader\d|\bPat Reader|Ada Lovelace"),
    (
        "a street address",
        r"\b\d{1,6} [A-Z][a-z]+ (St|Ave|Rd|Dr|Ln|Blvd|Ct|Way|Street|Avenue|Road|Drive)\b",
    ),
    ("a place", r"Austin, TX|TX 787\d\d"),
    (
        "an e-mail address",
        r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+\.[A-Za-z]{2,}",
    ),
    (
        "a telephone number",
        r"\(\d{3}\) \d{3}-\d{4}|\b\d{3}-\d{3}-\d{4}\b|\+1\d{10}\b",
    ),
    ("a key of ours", r"\bpk_(live|int|fx)_[A-Za-z0-9]{4,}"),
    (
        "a provider's or a webhook's secret",
        r"\b(sk|rk)_(live|test)_[A-Za-z0-9]+|whsec_[A-Za-z0-9+/=]{8,}",
    ),
    (
        "an authorization",
        r"(?i)(bearer|basic) [A-Za-z0-9+/=._-]{6,}",
    ),
    ("a password in a URL", r#"://[^/\s:"@]*:[^/\s"@]+@"#),
    ("a password's hash", r"\$argon2"),
    ("a session", r"pillarbox_session="),
];

/// The folder that `./dev test` has the processes log into; without it nothing is logged.
fn folder() -> Option<PathBuf> {
    std::env::var_os("PILLARBOX_TEST_LOGS").map(PathBuf::from)
}

fn findings(path: &Path, forbidden: &RegexSet) -> Vec<String> {
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    let matches = text.lines().flat_map(|line| {
        let found = forbidden
            .matches(line)
            .into_iter()
            .map(|at| FORBIDDEN[at].0);
        found
            .map(|what| format!("{what} in {}: {line}", path.display()))
            .collect::<Vec<_>>()
    });
    matches.collect()
}

fn forbidden() -> RegexSet {
    RegexSet::new(FORBIDDEN.map(|(_, pattern)| pattern)).unwrap()
}

#[test]
fn the_logs_of_the_whole_run_hold_nothing_personal_and_no_secret() {
    let Some(folder) = folder() else { return };
    let files = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|end| end == "log"))
        .collect();
    let forbidden = forbidden();
    let found: Vec<String> = files
        .iter()
        .flat_map(|path| findings(path, &forbidden))
        .collect();
    assert!(
        found.is_empty(),
        "{} findings, the first:\n{}",
        found.len(),
        found[..found.len().min(10)].join("\n")
    );
}

#[test]
fn what_is_searched_for_is_found() {
    for (text, expected) in [
        ("r1 Pat Reader1", "a name"),
        (r#""address":"12 Main St""#, "a street address"),
        ("Austin, TX 78701", "a place"),
        (r#""to":"owner@example.com""#, "an e-mail address"),
        ("(512) 555-0101", "a telephone number"),
        ("pk_live_TestTestTestTestTestTe", "a key of ours"),
        (
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "a provider's or a webhook's secret",
        ),
        ("authorization: Bearer abcdefgh", "an authorization"),
        (
            "postgres://pillarbox:hunter2@db/pillarbox",
            "a password in a URL",
        ),
        ("$argon2id$v=19$m=19456", "a password's hash"),
        ("cookie: pillarbox_session=abc", "a session"),
    ] {
        let found: Vec<&str> = forbidden()
            .matches(text)
            .into_iter()
            .map(|at| FORBIDDEN[at].0)
            .collect();
        assert!(found.contains(&expected), "{text}: {found:?}");
    }
    let object = Regex::new(r"^\{").unwrap();
    for text in [
        r#"{"request_id":"019aa6c1-0b9e-7b10-8000-1d2d3c4b5a69","route":"recipients","code":"ok","seconds":0.1234567890}"#,
        r#"{"timestamp":"2026-11-21T15:00:00.123456Z","level":"INFO","message":"listening","address":"127.0.0.1:8080"}"#,
    ] {
        let all = object.is_match(text) && !forbidden().is_match(text);
        assert!(all, "{text}");
    }
}
