//! Cards on paper: each queued card is in one file, once, as it was decided, whatever dies meanwhile.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::process::Command;

use chrono::{NaiveDate, TimeDelta};
use pillarbox::print::{PrintRequest, PrintRunner, PrintSummary};
use pillarbox_tests::{
    PictureHost, SpawnedProcess, StackOptions, TestStack, build_recipient, build_recipients,
    text_box, variable_picture, wait_until,
};
use runtime::Config;
use serde_json::{Value, json};
use storage::Storage;
use tempfile::TempDir;

/// A stack that prints, and the folder of its files.
pub(crate) struct Shop {
    pub(crate) stack: TestStack,
    pub(crate) folder: TempDir,
}

/// A postcard with a greeting on its front and a QR code on its back.
fn greeting(text: &str, front: &[Value]) -> Value {
    let mut elements = vec![text_box("greeting", text)];
    elements.extend_from_slice(front);
    json!({
        "product": "postcard_4x6",
        "front": {"elements": elements},
        "back": {"elements": [{"id": "code", "kind": "qr_code", "area": {"x": 18, "y": 150, "width": 64, "height": 64},
            "destination": "https://www.example.com/hello", "fallback_link": "https://www.example.com"}]},
    })
}

impl Shop {
    async fn open(settings: &[(&'static str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        let defaults = [
            ("STORAGE__FOLDER", folder.path().to_str().unwrap()),
            ("PRINT__PUBLIC_URL", "https://mail.example.com"),
            ("PRINT__MAILER_ID", "123456"),
            ("PRINT__LEAD_DAYS", "30"),
            ("PRINT__LEASE_MS", "1500"),
        ];
        let all = defaults
            .iter()
            .chain(settings)
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect();
        let stack = TestStack::with_options(StackOptions {
            settings: all,
            ..StackOptions::default()
        })
        .await;
        stack
            .apply_design(greeting("Hi {{first_name}}", &[]), json!({}))
            .await;
        Self { stack, folder }
    }

    /// One open for business with so many cards in its queue.
    pub(crate) async fn with_cards(count: usize, settings: &[(&'static str, &str)]) -> Self {
        let shop = Self::open(settings).await;
        assert_eq!(
            shop.stack
                .send_recipients(&build_recipients(1..count + 1))
                .await
                .reasons(),
            vec!["mailed"; count]
        );
        shop
    }

    fn printer(&self) -> PrintRunner {
        let config = Config::with(self.stack.settings.clone()).unwrap();
        PrintRunner {
            store: self.stack.store.clone(),
            storage: Storage::new(&config.storage).unwrap(),
            settings: config.print,
            clock: self.stack.clock.clone(),
        }
    }

    pub(crate) async fn print(&self) -> PrintSummary {
        self.printer()
            .print(&PrintRequest::default())
            .await
            .unwrap()
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.folder.path().join(name))
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// All manifests in JSON, by their names.
    pub(crate) fn manifests(&self) -> BTreeMap<String, Value> {
        let files = files_below(&self.folder.path().join("print"));
        let manifests = files
            .into_iter()
            .filter(|file| file.extension().is_some_and(|end| end == "json"));
        manifests
            .map(|file| {
                let content = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
                (file.display().to_string(), content)
            })
            .collect()
    }

    /// Asserts that every card is in one manifest, once, and printed.
    async fn assert_each_card_once(&self, count: usize) {
        let manifests = self.manifests();
        let pieces = manifests
            .values()
            .flat_map(|manifest| manifest["pieces"].as_array().unwrap());
        let ids: Vec<&str> = pieces
            .map(|piece| piece["piece_id"].as_str().unwrap())
            .collect();
        assert_eq!(ids.len(), count);
        assert_eq!(
            ids.iter().collect::<HashSet<_>>().len(),
            count,
            "a card is in two files"
        );
        let printed = "SELECT count(*) FROM mailpieces JOIN print_runs ON run_id = print_run_id WHERE print_runs.state = 'printed'";
        assert_eq!(
            self.stack.query_count(printed).await,
            i64::try_from(count).unwrap()
        );
        self.stack.assert_consistent().await;
    }
}

fn files_below(folder: &std::path::Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                files_below(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

/// What a program says about a file.
fn ask(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{program} cannot be started: {error}"));
    assert!(
        output.status.success(),
        "{program}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn queued_cards_become_one_pdf_with_its_manifests() {
    let shop = Shop::with_cards(3, &[]).await;
    let printed = shop.print().await;
    let [run] = &printed.runs[..] else {
        panic!("{printed:?}")
    };
    assert_eq!(
        (run.cards, run.product.as_str(), run.set_aside.len()),
        (3, "postcard_4x6", 0)
    );
    let pdf = run.pdf.clone().unwrap();
    assert!(ask("pdfinfo", &[&shop.path(&pdf)]).contains("Pages:           6"));
    let manifest: Value = serde_json::from_slice(&shop.read(&run.json)).unwrap();
    assert_eq!(manifest["pdf"]["name"], pdf.as_str());
    assert_eq!(manifest["pdf"]["bytes"], shop.read(&pdf).len());
    let pieces = manifest["pieces"].as_array().unwrap();
    let zips: Vec<&str> = pieces
        .iter()
        .map(|piece| piece["zip"].as_str().unwrap())
        .collect();
    assert!(
        zips.is_sorted(),
        "in the order of the post office: {zips:?}"
    );
    for (index, piece) in pieces.iter().enumerate() {
        let page = (index * 2 + 1).to_string();
        assert_eq!(piece["first_page"].to_string(), page);
        let front = ask(
            "pdftotext",
            &["-f", &page, "-l", &page, &shop.path(&pdf), "-"],
        );
        let name = piece["name"].as_str().unwrap();
        assert!(
            front.contains(&format!("Hi {}", name.split(' ').next().unwrap())),
            "{front}"
        );
        let back = (index * 2 + 2).to_string();
        let back = ask(
            "pdftotext",
            &["-f", &back, "-l", &back, &shop.path(&pdf), "-"],
        );
        assert!(back.contains(&name.to_uppercase()), "{back}");
        assert!(
            back.contains(&piece["line_1"].as_str().unwrap().to_uppercase()),
            "{back}"
        );
        let barcode = piece["barcode"].as_str().unwrap();
        assert!(barcode.starts_with("00301123456"), "{barcode}");
        assert!(
            barcode.ends_with(&piece["zip"].as_str().unwrap().replace('-', "")),
            "{barcode}"
        );
    }
    let csv = String::from_utf8(shop.read(run.csv.as_ref().unwrap())).unwrap();
    assert_eq!(csv.lines().count(), 4);
    assert!(csv.contains(",standard,") && csv.contains(pieces[0]["piece_id"].as_str().unwrap()));
    assert!(
        shop.print().await.runs.is_empty(),
        "nothing is printed twice"
    );
    shop.assert_each_card_once(3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_prints_when_its_time_has_come() {
    let shop = Shop::with_cards(1, &[("PRINT__LEAD_DAYS", "0")]).await;
    assert!(shop.print().await.runs.is_empty());
    let mail_by: NaiveDate = shop
        .stack
        .sql
        .query_one("SELECT mail_by_date FROM mailpieces", &[])
        .await
        .unwrap()
        .get(0);
    let early = PrintRequest {
        mail_by: Some(mail_by - TimeDelta::days(1)),
        ..PrintRequest::default()
    };
    assert!(shop.printer().print(&early).await.unwrap().runs.is_empty());
    // Noon of that day in the team's zone and in UTC alike.
    let noon = mail_by.and_hms_opt(17, 0, 0).unwrap().and_utc();
    shop.stack.clock.advance(noon - shop.stack.now());
    assert_eq!(shop.print().await.runs[0].cards, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_that_is_not_paid_does_not_print() {
    let shop = Shop::with_cards(2, &[]).await;
    shop.stack
        .sql
        .batch_execute("UPDATE charges SET state = 'reserved'")
        .await
        .unwrap();
    assert!(shop.print().await.runs.is_empty());
    shop.stack
        .sql
        .batch_execute("UPDATE charges SET state = 'settled'")
        .await
        .unwrap();
    assert_eq!(shop.print().await.runs[0].cards, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_saved_after_the_send_changes_no_card() {
    let shop = Shop::with_cards(1, &[]).await;
    shop.stack
        .save_design(greeting("Bye {{first_name}}", &[]))
        .await;
    assert_eq!(
        shop.stack
            .send_recipients(&[build_recipient(7)])
            .await
            .reasons(),
        ["mailed"]
    );
    let printed = shop.print().await;
    let text = ask(
        "pdftotext",
        &[&shop.path(printed.runs[0].pdf.as_ref().unwrap()), "-"],
    );
    assert!(text.contains("Hi ") && text.contains("Bye "), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_public_address_nothing_prints() {
    let shop = Shop::with_cards(1, &[("PRINT__PUBLIC_URL", "")]).await;
    let error = shop
        .printer()
        .print(&PrintRequest::default())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("print.public_url"), "{error}");
    assert_eq!(
        shop.stack
            .query_count("SELECT count(*) FROM print_runs")
            .await,
        0
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn two_printers_at_once_never_print_the_same_card() {
    let shop = Shop::with_cards(40, &[("PRINT__CARDS_PER_RUN", "7")]).await;
    let (first, second) = (shop.printer(), shop.printer());
    let request = PrintRequest::default();
    let (one, other) = tokio::join!(first.print(&request), second.print(&request));
    let runs = [one.unwrap().runs, other.unwrap().runs].concat();
    assert_eq!(runs.iter().map(|run| run.cards).sum::<usize>(), 40);
    shop.assert_each_card_once(40).await;
    let serials = shop.manifests();
    let barcodes = serials
        .values()
        .flat_map(|manifest| manifest["pieces"].as_array().unwrap());
    let tracking: HashSet<String> = barcodes
        .map(|piece| piece["barcode"].as_str().unwrap()[..20].to_owned())
        .collect();
    assert_eq!(
        tracking.len(),
        40,
        "each barcode has a serial number of its own"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_that_cannot_print_is_set_aside_and_holds_up_nobody() {
    let host = PictureHost::start().await;
    let shop = Shop::open(&[("OUTBOUND__ALLOWED_NETWORKS", "127.0.0.0/8")]).await;
    shop.stack
        .apply_design(greeting("Hi", &[variable_picture(Value::Null)]), json!({}))
        .await;
    let send: Vec<Value> = (1..4)
        .map(|number| {
            let mut person = build_recipient(number);
            person["photo"] = host.link(&format!("/picture/{number}")).into();
            person
        })
        .collect();
    assert_eq!(
        shop.stack.send_recipients(&send).await.reasons(),
        vec!["mailed"; 3]
    );
    let lost = shop.stack.list_contents().await[1]["pictures"]
        .as_object()
        .unwrap()
        .values()
        .next()
        .unwrap()
        .clone();
    let lost = shop.folder.path().join(lost.as_str().unwrap());
    let kept = std::fs::read(&lost).unwrap();
    std::fs::remove_file(&lost).unwrap();
    let printed = shop.print().await;
    assert_eq!(
        (printed.runs[0].cards, printed.runs[0].set_aside.len()),
        (2, 1)
    );
    assert!(
        printed.runs[0].set_aside[0]
            .problem
            .contains("is not in the store")
    );
    let later = shop.print().await;
    assert!(later.runs.is_empty(), "it waits for somebody to look at it");
    assert_eq!(later.waiting, 1, "who is told each time");
    let retried = shop
        .printer()
        .print(&PrintRequest {
            retry: true,
            ..PrintRequest::default()
        })
        .await
        .unwrap();
    let [run] = &retried.runs[..] else {
        panic!("{retried:?}")
    };
    assert_eq!(
        (run.cards, &run.pdf, &run.csv, retried.waiting),
        (0, &None, &None, 1)
    );
    let told: Value = serde_json::from_slice(&shop.read(&run.json)).unwrap();
    assert_eq!(told["set_aside"].as_array().unwrap().len(), 1);
    std::fs::write(&lost, kept).unwrap();
    let retry = PrintRequest {
        retry: true,
        ..PrintRequest::default()
    };
    assert_eq!(shop.printer().print(&retry).await.unwrap().runs[0].cards, 1);
    shop.assert_each_card_once(3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_code_on_a_proof_leads_through_us_to_its_destination() {
    let shop = Shop::with_cards(1, &[]).await;
    let code: String = shop
        .stack
        .sql
        .query_one("SELECT code FROM mailpieces", &[])
        .await
        .unwrap()
        .get(0);
    let folder = shop.path("proofs");
    let arguments = [
        "proof",
        "--card",
        &code,
        "--folder",
        &folder,
        "--resolution",
        "300",
    ];
    let mut proof = SpawnedProcess::start_with("pillarbox", &arguments, &shop.stack.settings, None);
    assert!(tokio::task::block_in_place(|| proof.wait()));
    let read = ask(
        "zbarimg",
        &["--quiet", "--raw", &format!("{folder}/proof-back.png")],
    );
    assert_eq!(read.trim(), format!("https://mail.example.com/q/{code}"));
    let url = format!("{}/q/{code}", shop.stack.url);
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap();
    let answer = client.get(url).send().await.unwrap();
    assert_eq!(
        answer.headers()["location"],
        "https://www.example.com/hello"
    );
}

/// Whether somebody has begun to write the file and not finished it.
fn is_unfinished(file: &std::path::Path) -> bool {
    file.to_str().is_some_and(|name| name.contains('#'))
}

/// A printer dies at this point; the next ones finish what it left.
async fn dies_at(point: &'static str) {
    let shop = Shop::with_cards(20, &[("PRINT__CARDS_PER_RUN", "12")]).await;
    let mut doomed =
        SpawnedProcess::start_with("pillarbox", &["print"], &shop.stack.settings, Some(point));
    assert!(
        !tokio::task::block_in_place(|| doomed.wait()),
        "it dies at {point}"
    );
    let before: Vec<(PathBuf, Vec<u8>)> = files_below(&shop.folder.path().join("print"))
        .into_iter()
        .filter(|file| !is_unfinished(file))
        .map(|file| (file.clone(), std::fs::read(file).unwrap()))
        .collect();
    let all = "SELECT count(*) FROM mailpieces JOIN print_runs ON run_id = print_run_id WHERE print_runs.state = 'printed'";
    // Until its lease has run out the dead printer's run is nobody's.
    wait_until("all cards are printed", async || {
        let mut next =
            SpawnedProcess::start_with("pillarbox", &["print"], &shop.stack.settings, None);
        assert!(tokio::task::block_in_place(|| next.wait()));
        shop.stack.query_count(all).await == 20
    })
    .await;
    for (file, content) in before {
        assert_eq!(
            std::fs::read(&file).unwrap(),
            content,
            "{} is the same",
            file.display()
        );
    }
    assert_eq!(shop.manifests().len(), 2, "two runs, as if nobody had died");
    let left: Vec<PathBuf> = files_below(&shop.folder.path().join("print"));
    assert!(!left.iter().any(|file| is_unfinished(file)), "{left:?}");
    shop.assert_each_card_once(20).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_printer_killed_after_the_claim() {
    dies_at("print.claimed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_printer_killed_while_it_draws() {
    dies_at("print.drawing").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_printer_killed_when_only_the_pdf_is_kept() {
    dies_at("print.pdf_kept").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_printer_killed_when_the_files_are_kept_but_the_run_is_not_ended() {
    dies_at("print.files_kept").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_printer_killed_after_its_first_run() {
    dies_at("print.finished").await;
}

/// The serial numbers in all manifests, with the mailer ids before them.
fn barcodes(shop: &Shop) -> Vec<(String, String)> {
    let manifests = shop.manifests();
    let pieces = manifests
        .values()
        .flat_map(|manifest| manifest["pieces"].as_array().unwrap().clone());
    let mut found: Vec<_> = pieces
        .map(|piece| {
            let barcode = piece["barcode"].as_str().unwrap();
            (barcode[5..14].to_owned(), barcode[14..20].to_owned())
        })
        .collect();
    found.sort();
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn a_serial_number_comes_again_only_when_45_days_are_over() {
    let shop = Shop::with_cards(3, &[("PRINT__MAILER_ID", "912345678")]).await;
    // As if all but two of the million had been printed just now.
    let sql = "INSERT INTO print_serials VALUES ('912345678', 999998);
        INSERT INTO print_runs (run_id, product, state, mailpieces, settings, mailer_id, first_serial, last_mail_by_date,
            lease_id, leased_until, created_at, printed_at)
        SELECT gen_random_uuid(), 'postcard_4x6', 'printed', 999998, '{}', '912345678', 0, max(mail_by_date),
            gen_random_uuid(), now(), now(), now() FROM mailpieces";
    shop.stack.sql.batch_execute(sql).await.unwrap();
    let mail_by: NaiveDate = shop
        .stack
        .sql
        .query_one("SELECT max(mail_by_date) FROM mailpieces", &[])
        .await
        .unwrap()
        .get(0);
    let printed = shop.print().await;
    assert_eq!(
        printed.runs.iter().map(|run| run.cards).collect::<Vec<_>>(),
        [2],
        "what there is room for"
    );
    let refused = printed.refused.clone().unwrap();
    let free_on = mail_by + TimeDelta::days(45);
    assert!(
        refused.contains("912345678") && refused.contains(&free_on.to_string()),
        "{refused}"
    );
    assert!(
        printed.report().unwrap().exit_code() != 0,
        "who printed is told"
    );
    let used = shop
        .stack
        .store
        .count_used_serials(shop.stack.now())
        .await
        .unwrap();
    assert_eq!((used.used, used.serials), (1_000_000, 1_000_000));
    // On the last day still refused; without a word once there is nothing to print.
    let noon = |day: NaiveDate| day.and_hms_opt(12, 0, 0).unwrap().and_utc();
    shop.stack
        .clock
        .advance(noon(free_on - TimeDelta::days(1)) - shop.stack.now());
    assert!(shop.print().await.refused.is_some());
    shop.stack.clock.advance(TimeDelta::days(1));
    let printed = shop.print().await;
    assert_eq!((printed.runs[0].cards, printed.refused), (1, None));
    let serials: Vec<String> = barcodes(&shop)
        .into_iter()
        .map(|(_, serial)| serial)
        .collect();
    assert_eq!(serials, ["000000", "999998", "999999"]);
    assert_eq!(shop.print().await.refused, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_serial_numbers_of_cards_that_print_late_are_kept_for_45_days_from_then() {
    let shop = Shop::with_cards(3, &[("PRINT__MAILER_ID", "912345678")]).await;
    shop.stack.clock.advance(TimeDelta::days(60));
    assert_eq!(shop.print().await.runs[0].cards, 3);
    let used = async |days| {
        let day = shop.stack.now() + TimeDelta::days(days);
        shop.stack.store.count_used_serials(day).await.unwrap().used
    };
    assert_eq!((used(0).await, used(44).await, used(45).await), (3, 3, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn several_mailer_ids_are_used_in_turn() {
    let shop = Shop::with_cards(
        6,
        &[
            ("PRINT__MAILER_ID", "912345678"),
            ("PRINT__MORE_MAILER_IDS", "912345679,912345680"),
            ("PRINT__CARDS_PER_RUN", "2"),
        ],
    )
    .await;
    assert_eq!(shop.print().await.runs.len(), 3);
    let expected = ["912345678", "912345679", "912345680"]
        .into_iter()
        .flat_map(|mailer| {
            ["000000", "000001"].map(|serial| (mailer.to_owned(), serial.to_owned()))
        });
    assert_eq!(barcodes(&shop), expected.collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_taken_over_keeps_the_serial_numbers_of_its_claim() {
    let shop = Shop::with_cards(2, &[("PRINT__MAILER_ID", "912345678")]).await;
    let mut doomed = SpawnedProcess::start_with(
        "pillarbox",
        &["print"],
        &shop.stack.settings,
        Some("print.claimed"),
    );
    assert!(!tokio::task::block_in_place(|| doomed.wait()));
    // Claimed before there was a bound, for the fourth time through the range.
    let sql = "UPDATE print_runs SET first_serial = 3000042, mailer_id = NULL, last_mail_by_date = NULL, leased_until = '2020-01-01'";
    shop.stack.sql.batch_execute(sql).await.unwrap();
    assert_eq!(shop.print().await.runs[0].cards, 2);
    let serials: Vec<String> = barcodes(&shop)
        .into_iter()
        .map(|(_, serial)| serial)
        .collect();
    assert_eq!(serials, ["000042", "000043"]);
}
