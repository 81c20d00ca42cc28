//! Schemathesis makes up requests from the document, good and bad ones, and holds the answers against it.

use std::path::Path;
use std::process::Output;
use std::time::Duration;

use pillarbox_tests::{
    CrmClient, INTEGRATION_KEY, KEY, StackOptions, TestStack, build_recipients, list_codes,
    tool_folder, with_qr_codes,
};
use serde_json::json;
use tokio::process::Command;

/// How long it may take. Its number of requests is bounded by its settings; they take about a minute.
const PATIENCE: Duration = Duration::from_secs(300);

/// A stack with all that the document speaks of: a campaign whose cards have QR codes, the campaign of the document's
/// example, and an integration with the example's fields, a contact and an open sync.
async fn stack() -> TestStack {
    let (stack, _) = with_qr_codes(StackOptions {
        syncers: 1,
        ..StackOptions::default()
    })
    .await;
    let campaign = json!({"id": "PA-7XK2QD", "name": "Example", "steps": [{"design": "Codes", "postage": "standard"}]});
    // Only a team that has it switched on has its keys read.
    let team = json!({"name": "Test", "idempotency_keys": true, "campaigns": [campaign]});
    stack.apply_team(json!({"teams": [team]})).await;
    assert_eq!(
        stack.send_recipients(&build_recipients(1..4)).await.status,
        200
    );
    let crm = CrmClient::on_stack(stack, INTEGRATION_KEY);
    crm.apply_integration(json!({})).await;
    crm.wait_until_ready().await;
    let fields = json!([{"key": "name"}, {"key": "mail"}, {"key": "plan"}]);
    assert_eq!(crm.declare_fields(fields).await.status, 200);
    crm.run_sync("full", &[json!({"external_id": "1"})]).await;
    assert_eq!(crm.begin_sync("delta").await.status, 200);
    crm.stack
}

/// Runs it in a folder that has its settings.
async fn run(stack: &TestStack, folder: &Path) -> Output {
    let installed = tool_folder("schemathesis/requirements");
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemathesis");
    for file in ["schemathesis.toml", "hooks.py"] {
        std::fs::copy(own.join(file), folder.join(file)).unwrap();
    }
    let quoted: Vec<String> = list_codes(stack)
        .await
        .iter()
        .map(|code| format!("\"{code}\"\n"))
        .collect();
    std::fs::write(folder.join("cards.txt"), quoted.concat()).unwrap();
    let mut command = Command::new(installed.join("bin/st"));
    command.args([
        "--no-color",
        "run",
        &format!("{}/api/openapi.json", stack.url),
    ]);
    if let Ok(seed) = std::env::var("PILLARBOX_SCHEMATHESIS_SEED") {
        command.args(["--seed", &seed]);
    }
    let sends = stack
        .sql
        .query_one("SELECT send_id::text FROM sends LIMIT 1", &[]);
    let request_id: String = sends.await.unwrap().get(0);
    command
        .env("REQUEST_ID", request_id)
        .env("FULL_ACCESS_KEY", KEY)
        .env("INTEGRATION_KEY", INTEGRATION_KEY);
    let output = command.current_dir(folder).kill_on_drop(true).output();
    tokio::time::timeout(PATIENCE, output)
        .await
        .expect("it ends")
        .unwrap()
}

/// Rows that good requests make, one table for each part of the APIs.
async fn rows(stack: &TestStack) -> Vec<i64> {
    let mut rows = Vec::new();
    for table in ["sends", "scans", "integration_fields", "syncs", "contacts"] {
        rows.push(
            stack
                .query_count(&format!("SELECT count(*) FROM {table}"))
                .await,
        );
    }
    rows
}

#[tokio::test(flavor = "multi_thread")]
async fn schemathesis_finds_nothing() {
    let stack = stack().await;
    let before = rows(&stack).await;
    let folder = tempfile::tempdir().unwrap();
    let Output {
        status,
        stdout,
        stderr,
    } = run(&stack, folder.path()).await;
    let said = String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned();
    assert!(status.success(), "{said}");
    // Among so many requests that are refused, the good ones did something.
    let after = rows(&stack).await;
    assert!(
        before
            .iter()
            .zip(&after)
            .all(|(before, after)| after > before),
        "{before:?} {after:?}\n{said}"
    );
    stack.assert_consistent().await;
}
