//! The clients of `clients`: their types are checked as strictly as their languages can, and both pass the cases of
//! `clients/contract` against a gateway, with a proxy between that does what networks do.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use pillarbox_tests::{
    CAMPAIGN, CrmClient, INTEGRATION_KEY, KEY, StackOptions, TestStack, build_recipients,
    find_free_port, list_codes, tool_folder, wait_until, with_qr_codes,
};
use serde_json::{Value, json};
use standardwebhooks::Webhook;
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

/// A way to use the service: how its quick starts are called, and what their files are written in.
struct QuickStarts {
    language: &'static str,
    programs: PathBuf,
}

impl QuickStarts {
    fn command(&self, name: &str, stack: &TestStack, key: &str) -> Command {
        let mut command = match self.language {
            "python" => python_program(&format!("quickstarts/python/{name}.py")),
            "typescript" => {
                let mut node = Command::new("node");
                node.arg(self.programs.join(format!("{name}.js")));
                node
            }
            _ => Command::new(folder(&format!("quickstarts/curl/{name}.sh"))),
        };
        command
            .env("PILLARBOX_URL", &stack.url)
            .env("PILLARBOX_KEY", key);
        command
    }

    /// Objects as this language's quick starts read them.
    fn write_rows(&self, rows: &[Value], path: &Path) {
        let names: Vec<&String> = rows[0].as_object().unwrap().keys().collect();
        let text = match self.language {
            "python" => {
                let mut file = csv::Writer::from_writer(Vec::new());
                file.write_record(&names).unwrap();
                for row in rows {
                    let cells = names.iter().map(|name| row[*name].as_str().unwrap());
                    file.write_record(cells).unwrap();
                }
                String::from_utf8(file.into_inner().unwrap()).unwrap()
            }
            _ => rows.iter().map(|row| format!("{row}\n")).collect(),
        };
        std::fs::write(path, text).unwrap();
    }
}

/// The quick starts, those in TypeScript compiled as a reader's own project would compile them.
async fn build_quick_starts(project: &Path) -> Vec<QuickStarts> {
    let package = project.join("node_modules/pillarbox");
    std::fs::create_dir_all(&package).unwrap();
    compile_typescript(&package).await;
    let source = folder("quickstarts/typescript");
    let mut compile = compiler();
    for file in source.read_dir().unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), project.join(file.file_name())).unwrap();
        compile.arg(file.file_name());
    }
    std::fs::write(project.join("package.json"), r#"{"type": "module"}"#).unwrap();
    let options = "--strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --target ES2022 --module NodeNext --types node --typeRoots";
    compile
        .args(options.split(' '))
        .arg(tool_folder("clients/node_modules/@types"))
        .current_dir(project);
    run(&mut compile).await;
    ["curl", "python", "typescript"]
        .map(|language| QuickStarts {
            language,
            programs: project.to_owned(),
        })
        .into()
}

/// People at houses of their own.
fn build_people(first: usize, count: usize) -> Vec<Value> {
    (first..first + count)
        .map(|house| {
            json!({"reference": format!("r{house}"), "first_name": "Pat", "address_1": format!("{house} Main St"),
                "city": "Austin", "state": "TX", "zip": "78701"})
        })
        .collect()
}

async fn count_cards(stack: &TestStack) -> i64 {
    let counted = stack
        .sql
        .query_one("SELECT count(*) FROM mailpieces", &[])
        .await;
    counted.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn quick_starts_mail_a_card_and_a_file_and_push_contacts() {
    const PEOPLE: usize = 2_500;
    let (stack, _) = stack().await;
    let project = tempfile::tempdir().unwrap();
    for (number, starts) in build_quick_starts(project.path()).await.iter().enumerate() {
        let own = tempfile::tempdir().unwrap();
        let before = count_cards(&stack).await;
        let said = run(starts.command("send_card", &stack, KEY).arg(CAMPAIGN)).await;
        assert!(said.contains("mailed"), "{}: {said}", starts.language);
        assert_eq!(count_cards(&stack).await, before + 1, "{}", starts.language);

        let people = build_people((number + 1) * HOUSES, PEOPLE);
        let mut send = starts.command("send_file", &stack, KEY);
        let mut again = starts.command("send_file", &stack, KEY);
        if starts.language == "curl" {
            let batches: Vec<PathBuf> = people
                .chunks(2_000)
                .enumerate()
                .map(|(batch, recipients)| {
                    let path = own.path().join(format!("batch-{batch}.json"));
                    let body = json!({"campaign_id": CAMPAIGN, "recipients": recipients});
                    std::fs::write(&path, body.to_string()).unwrap();
                    path
                })
                .collect();
            send.args(&batches);
            again.args(&batches);
        } else {
            let file = own.path().join("people.csv");
            starts.write_rows(&people, &file);
            send.arg(CAMPAIGN).arg(&file);
            again.arg(CAMPAIGN).arg(&file);
        }
        run(&mut send).await;
        run(&mut again).await;
        let mailed = i64::try_from(PEOPLE).unwrap() + 1;
        assert_eq!(
            count_cards(&stack).await,
            before + mailed,
            "{}",
            starts.language
        );

        let mut push = starts.command("push_contacts", &stack, INTEGRATION_KEY);
        let contacts: Vec<Value> = (0..30)
            .map(|at| json!({"id": format!("c{at}"), "first_name": "Pat", "last_name": "Reader", "address_1": "1 Main St",
                "city": "Austin", "state": "TX", "zip": "78701", "visits": "7"}))
            .collect();
        let file = own.path().join("contacts");
        if starts.language == "curl" {
            let records = json!({"records": [{"external_id": "c0", "op": "delete"}]});
            std::fs::write(&file, records.to_string()).unwrap();
            push.arg("curl-1");
        } else {
            starts.write_rows(&contacts, &file);
        }
        let said = run(push.arg(&file)).await;
        let expected = match starts.language {
            "curl" => "\"recordsDeleted\":1",
            _ => "30 accepted, 0 rejected",
        };
        assert!(said.contains(expected), "{}: {said}", starts.language);
    }
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn quick_starts_know_a_delivery_by_its_signature() {
    const SECRET: &str = "whsec_YSBrZXkgb2YgdGhpcnR5LXR3byBieXRlcywgbm8gbGVz";
    let (stack, _) = stack().await;
    let project = tempfile::tempdir().unwrap();
    let id = "evt_0199e7a0c1d27b3f8a4e5b6c7d8e9f00";
    let event = json!({"event": "qr.scanned", "id": id, "campaign": {"id": CAMPAIGN, "name": "Test"},
        "recipient": {"first_name": "Zoë"}, "destination": "https://example.com/"});
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let body = event.to_string();
    let sign = |body: &str| {
        let signer = Webhook::new(SECRET).unwrap();
        signer
            .sign(id, i64::try_from(now).unwrap(), body.as_bytes())
            .unwrap()
    };
    for starts in build_quick_starts(project.path()).await {
        if starts.language == "curl" {
            let mut verify = starts.command("verify_webhook", &stack, KEY);
            let file = project.path().join("body");
            std::fs::write(&file, &body).unwrap();
            verify
                .args([id, &now.to_string(), &sign(&body)])
                .env("PILLARBOX_WEBHOOK_SECRET", SECRET)
                .stdin(std::fs::File::open(file).unwrap());
            assert_eq!(run(&mut verify).await.trim(), "signed");
            continue;
        }
        let port = find_free_port().to_string();
        let _receiver = starts
            .command("receive_webhook", &stack, KEY)
            .arg(&port)
            .env("PILLARBOX_WEBHOOK_SECRET", SECRET)
            .stdout(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let client = reqwest::Client::new();
        let post = async |signature: String| {
            client
                .post(format!("http://127.0.0.1:{port}/"))
                .header("webhook-id", id)
                .header("webhook-timestamp", now.to_string())
                .header("webhook-signature", signature)
                .body(body.clone())
                .send()
                .await
        };
        wait_until("the receiver listens", async || {
            post(sign(&body)).await.is_ok()
        })
        .await;
        assert_eq!(post(sign(&body)).await.unwrap().status(), 204);
        assert_eq!(post(sign("another")).await.unwrap().status(), 400);
    }
}
