//! Schemathesis makes up requests from the document, good and bad ones, and holds the answers against it.

use std::path::Path;
use std::process::Output;

use pillarbox_tests::{Crm, INTEGRATION_KEY, KEY, Options, Stack, cards, people, with_qr_codes};
use serde_json::json;
use tokio::process::Command;

/// How long it may go on, in seconds.
const MOST_SECONDS: u32 = 75;

/// A stack with all that the document speaks of: a campaign whose cards have QR codes, the campaign of the example, and
/// an integration.
async fn stack() -> Stack {
    let (stack, _) = with_qr_codes(Options { syncers: 1, ..Options::default() }).await;
    stack.apply(json!({"teams": [{"name": "Test", "campaigns": [{
        "id": "PA-7XK2QD", "name": "Example", "steps": [{"design": "Codes", "postage": "standard"}],
    }]}]})).await;
    assert_eq!(stack.send(&people(1..4)).await.status, 200);
    let crm = Crm::on(stack, INTEGRATION_KEY);
    crm.integration(json!({})).await;
    crm.until_ready().await;
    crm.stack
}

/// Runs it in a folder that has its settings.
async fn run(stack: &Stack, folder: &Path) -> Output {
    let installed = std::env::var("PILLARBOX_SCHEMATHESIS").expect("PILLARBOX_SCHEMATHESIS is set by ./dev test");
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemathesis");
    for file in ["schemathesis.toml", "hooks.py"] {
        std::fs::copy(own.join(file), folder.join(file)).unwrap();
    }
    std::fs::write(folder.join("cards.txt"), cards(stack).await.join("\n")).unwrap();
    let mut command = Command::new(Path::new(&installed).join("bin/st"));
    command.args(["--no-color", "run", &format!("{}/api/openapi.json", stack.url)]);
    command.args(["--max-time", &MOST_SECONDS.to_string()]);
    command.env("FULL_ACCESS_KEY", KEY).env("INTEGRATION_KEY", INTEGRATION_KEY);
    command.current_dir(folder).kill_on_drop(true).output().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn schemathesis_finds_nothing() {
    let stack = stack().await;
    let scans = stack.count("SELECT count(*) FROM scans").await;
    let folder = tempfile::tempdir().unwrap();
    let Output { status, stdout, stderr } = run(&stack, folder.path()).await;
    let said = String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned();
    assert!(status.success(), "{said}");
    // Its good requests were good indeed: each part of the APIs has done something.
    for (table, before) in [("scans", scans), ("sends", 1), ("syncs", 0), ("contacts", 0), ("integration_fields", 0)] {
        assert!(stack.count(&format!("SELECT count(*) FROM {table}")).await > before, "{table}: {said}");
    }
    stack.assert_consistent().await;
}
