//! The protocol's official clients against the real gateway, each in the versions that people use: what they make of
//! the handshake, of every tool, and of every failure that a tool documents.

mod conformance;
mod plans;

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use pillarbox_tests::{CrmClient, INTEGRATION_KEY, KEY, StackOptions, TestStack, tool_folder};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use self::plans::{Step, formula_plan, integration_plan};
use super::{FORMULAS, INTEGRATIONS, Mcp};

/// How long a client may take for its whole plan.
const PATIENCE: Duration = Duration::from_secs(120);

/// An official client.
#[derive(Debug, Clone, Copy)]
enum Client {
    Python1,
    Python2,
    TypeScript1,
    TypeScript2,
}

/// The Node.js that the clients' packages bring.
fn node() -> PathBuf {
    let architecture = if cfg!(target_arch = "aarch64") {
        "arm64"
    } else {
        "x64"
    };
    tool_folder("mcp").join(format!("node_modules/node-linux-{architecture}/bin/node"))
}

impl Client {
    fn command(self) -> Command {
        let sources = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/mcp"));
        let python = |name: &str| {
            let mut command = Command::new(tool_folder("mcp").join(name).join("bin/python"));
            command.arg(sources.join(format!("{name}.py")));
            command
        };
        let node = |name: &str| {
            let mut command = Command::new(node());
            command.args(["--preserve-symlinks", "--preserve-symlinks-main"]);
            command.arg(tool_folder("mcp").join(format!("{name}.mjs")));
            command
        };
        match self {
            Self::Python1 => python("python_1"),
            Self::Python2 => python("python_2"),
            Self::TypeScript1 => node("typescript_1"),
            Self::TypeScript2 => node("typescript_2"),
        }
    }

    /// Runs a plan; the lines that the client's program prints.
    async fn run(self, url: &str, key: &str, plan: &[Value]) -> Vec<Value> {
        let mut command = self.command();
        command.env("MCP_URL", url).env("MCP_KEY", key);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("{self:?} cannot be started: {error}"));
        let mut input = child.stdin.take().unwrap();
        input
            .write_all(&serde_json::to_vec(plan).unwrap())
            .await
            .unwrap();
        drop(input);
        let output = tokio::time::timeout(PATIENCE, child.wait_with_output())
            .await
            .expect("it ends")
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{self:?} failed: {told}");
        let lines = String::from_utf8(output.stdout).unwrap();
        lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
            .collect()
    }

    /// Runs a plan and holds every step's result against what the step expects.
    async fn follow(self, url: &str, key: &str, plan: &[Step]) {
        let steps: Vec<_> = plan.iter().map(|step| step.action.clone()).collect();
        let results = self.run(url, key, &steps).await;
        for (step, result) in plan.iter().zip(&results) {
            assert!(
                includes(result, &step.expected),
                "{self:?}: {}\n gave {result}\n not {}",
                step.action,
                step.expected
            );
        }
        assert_eq!(results.len(), plan.len(), "{self:?}: {:?}", results.last());
    }
}

/// Whether all that is expected is there; more may be.
fn includes(actual: &Value, expected: &Value) -> bool {
    match (actual, expected) {
        (Value::Object(actual), Value::Object(expected)) => {
            expected.iter().all(|(key, expected)| {
                actual
                    .get(key)
                    .is_some_and(|actual| includes(actual, expected))
            })
        }
        (actual, expected) => actual == expected,
    }
}

async fn speaks_to_the_integrations_server(client: Client) {
    let crm = CrmClient::start().await;
    let url = format!("{}{INTEGRATIONS}", crm.stack.url);
    client
        .follow(&url, INTEGRATION_KEY, &integration_plan())
        .await;
    assert_eq!(
        crm.list_external_ids().await,
        ["a"],
        "what the client did stands in the database"
    );
}

async fn speaks_to_the_formula_server(client: Client) {
    let stack = TestStack::with_options(StackOptions::default()).await;
    Mcp::formulas_ready(&stack).await;
    let url = format!("{}{FORMULAS}", stack.url);
    client.follow(&url, KEY, &formula_plan()).await;
}

/// What HTTP refuses ends the connection, and the client says so instead of waiting.
async fn is_told_when_it_is_refused(client: Client) {
    let crm = CrmClient::with_syncers(Vec::new(), 0).await;
    let url = format!("{}{INTEGRATIONS}", crm.stack.url);
    let ping = [json!({"do": "ping"})];
    let refused = |results: &[Value]| results[0]["refused"].is_string();
    assert!(
        refused(&client.run(&url, "pk_int_WrongWrongWrongWrong", &ping).await),
        "401"
    );
    crm.apply_integration(json!({"availability": "paused"}))
        .await;
    assert!(
        refused(&client.run(&url, INTEGRATION_KEY, &ping).await),
        "403"
    );
    crm.apply_integration(json!({})).await;
    assert_eq!(
        client.run(&url, INTEGRATION_KEY, &ping).await,
        [json!({"pong": true})]
    );
    // Nobody is there to do the call.
    let call = [
        json!({"do": "call", "name": "begin_sync", "arguments": {}}),
        json!({"do": "ping"}),
    ];
    let results = client.run(&url, INTEGRATION_KEY, &call).await;
    assert_eq!(results[0]["error"]["code"], -32603, "{results:?}");
    assert_eq!(
        results[1],
        json!({"pong": true}),
        "the session goes on after an error"
    );
}

macro_rules! client_tests {
    ($($module:ident: $client:expr;)*) => {$(
        mod $module {
            use super::*;

            #[tokio::test(flavor = "multi_thread")]
            async fn speaks_to_the_integrations_server() {
                super::speaks_to_the_integrations_server($client).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn speaks_to_the_formula_server() {
                super::speaks_to_the_formula_server($client).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn is_told_when_it_is_refused() {
                super::is_told_when_it_is_refused($client).await;
            }
        }
    )*};
}

client_tests! {
    python_1: Client::Python1;
    python_2: Client::Python2;
    typescript_1: Client::TypeScript1;
    typescript_2: Client::TypeScript2;
}
