//! The quick starts of `clients/quickstarts` are programs that do what they say, whatever becomes of answers and of themselves.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::SystemTime;

use pillarbox_tests::{
    CAMPAIGN, INTEGRATION_KEY, KEY, TestStack, find_free_port, tool_folder, wait_until,
};
use serde_json::{Value, json};
use standardwebhooks::Webhook;
use tokio::process::Command;

use super::{
    HOUSES, compile_typescript, compiler, folder, python_program, run, stack, start_proxy,
};

/// A way to use the service: how its quick starts are called, and what their files are written in.
struct QuickStarts {
    language: &'static str,
    programs: PathBuf,
}

impl QuickStarts {
    /// The quick start of this name, for the service at this URL.
    fn command(&self, name: &str, url: &str, key: &str) -> Command {
        let mut command = match self.language {
            "python" => python_program(&format!("quickstarts/python/{name}.py")),
            "typescript" => {
                let mut node = Command::new("node");
                node.arg(self.programs.join(format!("{name}.js")));
                node
            }
            _ => Command::new(folder(&format!("quickstarts/curl/{name}.sh"))),
        };
        command.env("PILLARBOX_URL", url).env("PILLARBOX_KEY", key);
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

/// What becomes of the first requests of a file's upload, one after the other.
fn faults() -> Value {
    json!([{"answer": 429, "retry_after": 1}, {"answer": 500}, {"cut": "after"}, {"pass": true}, {"pass": true},
        {"forward_then": 504}, {"pass": true}, {"answer": 502, "html": true}, {"cut": "within"}, {"cut": "before"}])
}

/// The arguments of an upload: files in this folder that the quick start reads.
fn write_upload(starts: &QuickStarts, people: &[Value], folder: &Path) -> Vec<PathBuf> {
    if starts.language != "curl" {
        let file = folder.join("people.csv");
        starts.write_rows(people, &file);
        return vec![PathBuf::from(CAMPAIGN), file];
    }
    let batches = people.chunks(2_000).enumerate();
    let written = batches.map(|(number, recipients)| {
        let path = folder.join(format!("batch-{number:02}.json"));
        let body = json!({"campaign_id": CAMPAIGN, "recipients": recipients});
        std::fs::write(&path, body.to_string()).unwrap();
        path
    });
    written.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_20_000_is_mailed_once_each_though_answers_are_lost_and_programs_killed() {
    const PEOPLE: usize = 20_000;
    let (stack, _) = stack().await;
    let (_proxy, url) = start_proxy(&stack.url).await;
    let project = tempfile::tempdir().unwrap();
    for (number, starts) in build_quick_starts(project.path()).await.iter().enumerate() {
        let own = tempfile::tempdir().unwrap();
        let before = count_cards(&stack).await;
        let people = build_people((number + 1) * HOUSES, PEOPLE);
        let arguments = write_upload(starts, &people, own.path());
        let faulty = reqwest::Client::new()
            .post(format!("{url}/_faults"))
            .body(faults().to_string());
        assert_eq!(faulty.send().await.unwrap().status(), 200);
        let send = || {
            let mut command = starts.command("send_file", &url, KEY);
            command.args(&arguments);
            command
        };
        let mut killed = send().kill_on_drop(true).spawn().unwrap();
        wait_until("the first cards are mailed", async || {
            count_cards(&stack).await > before
        })
        .await;
        killed.kill().await.unwrap();
        // What goes on, and what finds nothing left to do.
        run(&mut send()).await;
        run(&mut send()).await;
        let mailed = count_cards(&stack).await - before;
        assert_eq!(
            mailed,
            i64::try_from(PEOPLE).unwrap(),
            "{}",
            starts.language
        );
    }
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_is_mailed_and_contacts_are_pushed() {
    let (stack, _) = stack().await;
    let project = tempfile::tempdir().unwrap();
    for starts in build_quick_starts(project.path()).await {
        let own = tempfile::tempdir().unwrap();
        let before = count_cards(&stack).await;
        let said = run(starts.command("send_card", &stack.url, KEY).arg(CAMPAIGN)).await;
        assert!(said.contains("mailed"), "{}: {said}", starts.language);
        assert_eq!(count_cards(&stack).await, before + 1, "{}", starts.language);

        let mut push = starts.command("push_contacts", &stack.url, INTEGRATION_KEY);
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
async fn a_delivery_is_known_by_its_signature() {
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
            let mut verify = starts.command("verify_webhook", &stack.url, KEY);
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
            .command("receive_webhook", &stack.url, KEY)
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
