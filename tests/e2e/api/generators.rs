//! Three generators make clients of the document: these are compiled, call a running gateway, and read all that it answers.

use std::path::{Path, PathBuf};
use std::time::Duration;

use gateway::api_document;
use pillarbox_tests::{
    CrmClient, INTEGRATION_KEY, KEY, StackOptions, TestStack, build_recipients, list_codes,
    tool_folder, with_qr_codes,
};
use serde_json::json;
use tokio::process::Command;

/// A key for the Formula server.
const FORMULAS_KEY: &str = "pk_fx_TestTestTestTestTestTest";

/// How long a step may take: each is done in seconds.
const PATIENCE: Duration = Duration::from_secs(180);

fn own(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("generators")
        .join(file)
}

/// Runs a program in a folder to its good end; returns what it wrote.
async fn run(program: impl AsRef<Path>, arguments: &[&str], folder: &Path) -> String {
    let mut command = Command::new(program.as_ref());
    command
        .args(arguments)
        .current_dir(folder)
        .env("PYTHONPATH", folder)
        .kill_on_drop(true);
    let output = tokio::time::timeout(PATIENCE, command.output())
        .await
        .expect("it ends");
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", program.as_ref().display()));
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(
        output.status.success(),
        "{}: {said}",
        program.as_ref().display()
    );
    said
}

/// A folder with the document.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("openapi.json"),
        api_document().to_string(),
    )
    .unwrap();
    folder
}

/// A stack with a campaign of standard and one of first class postage, and an integration that has nothing yet.
async fn stack() -> TestStack {
    let (stack, _) = with_qr_codes(StackOptions {
        syncers: 1,
        ..StackOptions::default()
    })
    .await;
    let campaign = json!({"id": "PA-FIRST1", "name": "First class", "steps": [{"design": "Codes", "postage": "first_class"}]});
    let keys = json!([{"kind": "formulas", "name": "Agent", "key": FORMULAS_KEY}]);
    let columns = json!([{"name": "score", "type": "number"}]);
    let team = json!({"name": "Test", "campaigns": [campaign], "keys": keys, "columns": columns});
    stack.apply_team(json!({"teams": [team]})).await;
    assert_eq!(
        stack.send_recipients(&build_recipients(1..2)).await.status,
        200
    );
    let crm = CrmClient::on_stack(stack, INTEGRATION_KEY);
    crm.apply_integration(json!({})).await;
    crm.wait_until_ready().await;
    crm.stack
}

#[tokio::test(flavor = "multi_thread")]
async fn generated_python_clients_read_every_answer() {
    let (stack, folder) = (stack().await, folder());
    let bin = tool_folder("generators/requirements/bin");
    let (python, folder) = (bin.join("python"), folder.path());
    std::fs::write(
        folder.join("config.yaml"),
        "package_name_override: pillarbox_client\npost_hooks: []\n",
    )
    .unwrap();
    let client = [
        "generate",
        "--path",
        "openapi.json",
        "--config",
        "config.yaml",
        "--meta",
        "none",
    ];
    let said = run(
        bin.join("openapi-python-client"),
        &[&client[..], &["--output-path", "pillarbox_client"][..]].concat(),
        folder,
    )
    .await;
    assert!(
        !said.to_lowercase().contains("warning") && !said.contains("rror"),
        "every part is generated: {said}"
    );
    let models = "--input openapi.json --input-file-type openapi --output pillarbox_models.py --output-model-type pydantic_v2.BaseModel";
    run(
        bin.join("datamodel-codegen"),
        &models.split(' ').collect::<Vec<_>>(),
        folder,
    )
    .await;
    let card = list_codes(&stack).await.remove(0);
    let (calls, record) = (own("calls.py"), folder.join("answers.jsonl"));
    let record = record.to_str().unwrap();
    let arguments = [
        calls.to_str().unwrap(),
        &stack.url,
        KEY,
        INTEGRATION_KEY,
        FORMULAS_KEY,
        &card,
        record,
    ];
    let said = run(&python, &arguments, folder).await;
    assert!(
        said.trim().parse::<u32>().is_ok_and(|calls| calls >= 50),
        "{said}"
    );
    run(
        &python,
        &[own("models.py").to_str().unwrap(), record],
        folder,
    )
    .await;
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn generated_typescript_compiles_strictly_and_calls_the_gateway() {
    let (stack, folder) = (stack().await, folder());
    let bin = tool_folder("generators/node_modules/.bin");
    let folder = folder.path();
    for file in ["client.ts", "tsconfig.json"] {
        std::fs::copy(own(file), folder.join(file)).unwrap();
    }
    std::fs::write(folder.join("package.json"), r#"{"type": "module"}"#).unwrap();
    run(
        bin.join("openapi-typescript"),
        &["openapi.json", "--output", "pillarbox.d.ts"],
        folder,
    )
    .await;
    run(bin.join("tsc"), &["--project", "tsconfig.json"], folder).await;
    let said = run(
        "node",
        &["out/client.js", &stack.url, KEY, INTEGRATION_KEY],
        folder,
    )
    .await;
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(
        lines,
        [
            "mailed standard, not_mailed invalid_address",
            "campaign_not_found",
            "setup_needed",
            "no_open_sync undefined function"
        ]
    );
}
