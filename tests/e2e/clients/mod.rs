//! The clients of `clients`: their types are checked as strictly as their languages can, and both pass the cases of
//! `clients/contract` against a gateway, with a proxy between that does what networks do.

mod quick_starts;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use pillarbox_tests::{
    CAMPAIGN, CrmClient, INTEGRATION_KEY, KEY, StackOptions, TestStack, build_recipients,
    list_codes, tool_folder, with_qr_codes,
};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// How long a step may take: each is done in seconds.
const PATIENCE: Duration = Duration::from_secs(180);

/// More requests a minute than all cases make.
const ENOUGH_REQUESTS: &str = "100000";

/// House numbers of a runner's recipients begin at so many times its number.
const HOUSES: usize = 100_000;

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../clients")
        .join(path)
}

fn python() -> PathBuf {
    tool_folder("clients/requirements").join("bin/python")
}

/// Runs a program to its good end; returns what it wrote to its standard output.
async fn run(command: &mut Command) -> String {
    let child = command.kill_on_drop(true).output();
    let output = tokio::time::timeout(PATIENCE, child)
        .await
        .expect("it ends")
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}{errors}");
    said
}

/// A stack that takes many requests, with an integration that has nothing yet, and the code of a card.
async fn stack() -> (TestStack, String) {
    let enough = || ENOUGH_REQUESTS.to_owned();
    let (stack, _) = with_qr_codes(StackOptions {
        syncers: 1,
        settings: vec![
            ("GATEWAY__REQUESTS_PER_MINUTE_PER_KEY", enough()),
            ("GATEWAY__REQUESTS_PER_MINUTE_PER_SOURCE", enough()),
            ("GATEWAY__PUSH_REQUESTS_PER_MINUTE_PER_SOURCE", enough()),
        ],
        ..StackOptions::default()
    })
    .await;
    let sent = stack.send_recipients(&build_recipients(1..2)).await;
    assert_eq!(sent.status, 200);
    let card = list_codes(&stack).await.remove(0);
    let crm = CrmClient::on_stack(stack, INTEGRATION_KEY);
    crm.apply_integration(json!({})).await;
    crm.wait_until_ready().await;
    (crm.stack, card)
}

/// The proxy with the faults, and where it listens.
async fn start_proxy(upstream: &str) -> (Child, String) {
    let mut proxy = Command::new(python())
        .arg(folder("contract/proxy.py"))
        .arg(upstream)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(proxy.stdout.take().unwrap()).lines();
    let url = tokio::time::timeout(PATIENCE, lines.next_line())
        .await
        .expect("it says where it listens");
    (proxy, url.unwrap().unwrap())
}

fn compiler() -> Command {
    Command::new(tool_folder("clients/node_modules/.bin/tsc"))
}

/// A program in Python that finds the client.
fn python_program(path: &str) -> Command {
    let mut command = Command::new(python());
    command
        .env("PYTHONPATH", folder("python/src"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg(folder(path));
    command
}

/// The TypeScript client as its package would have it, in this folder.
async fn compile_typescript(into: &Path) {
    let source = folder("typescript");
    run(compiler()
        .arg("--project")
        .arg(source.join("tsconfig.json"))
        .arg("--outDir")
        .arg(into.join("dist")))
    .await;
    std::fs::copy(source.join("package.json"), into.join("package.json")).unwrap();
}

/// Every recipient of the cases has one card.
async fn assert_nobody_is_mailed_twice(stack: &TestStack) {
    let counts = "SELECT count(*), count(DISTINCT line_1) FROM mailpieces";
    let row = stack.sql.query_one(counts, &[]).await.unwrap();
    let (cards, houses): (i64, i64) = (row.get(0), row.get(1));
    assert_eq!(cards, houses);
    assert!(cards > 60, "only {cards} cards were mailed");
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn both_clients_pass_the_contract_whatever_becomes_of_answers() {
    let (stack, card) = stack().await;
    let (proxy, url) = start_proxy(&stack.url).await;
    let package = tempfile::tempdir().unwrap();
    compile_typescript(package.path()).await;
    let mut blocking = python_program("contract/run.py");
    blocking.arg("sync");
    let mut asynchronous = python_program("contract/run.py");
    asynchronous.arg("async");
    let mut typescript = Command::new("node");
    typescript
        .arg(folder("contract/run.mjs"))
        .arg(package.path().join("dist/index.js"));
    for (number, mut runner) in [blocking, asynchronous, typescript].into_iter().enumerate() {
        runner
            .env("PILLARBOX_PROXY", &url)
            .env("PILLARBOX_GATEWAY", &stack.url)
            .env("PILLARBOX_KEY", KEY)
            .env("PILLARBOX_INTEGRATION_KEY", INTEGRATION_KEY)
            .env("PILLARBOX_CAMPAIGN", CAMPAIGN)
            .env("PILLARBOX_CARD", &card)
            .env("PILLARBOX_HOUSE", ((number + 1) * HOUSES).to_string());
        run(&mut runner).await;
    }
    drop(proxy);
    assert_nobody_is_mailed_twice(&stack).await;
}

#[tokio::test]
async fn the_python_client_and_its_quick_starts_are_typed_strictly() {
    let cache = tempfile::tempdir().unwrap();
    let check = |path: &str| {
        let mut command = Command::new(python());
        command
            .args(["-m", "mypy", "--strict", "--cache-dir"])
            .arg(cache.path())
            .env("MYPYPATH", folder("python/src"))
            .current_dir(folder(path));
        command
    };
    run(check("python").arg("src")).await;
    // Each is a program of its own.
    run(check("quickstarts/python").arg(".")).await;
}
