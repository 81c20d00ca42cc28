//! Bodies that come slowly or never.

use chrono::TimeDelta;
use model::limits::BODY_BYTES;
use pillarbox_tests::{CAMPAIGN, ConsoleClient, StackOptions, TestStack, build_recipients};
use serde_json::json;
use store::MemberRole;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{FOR_EVER, PATIENCE, is_silent, other_tenant, said, sends_of_the_other_tenant, times};

const FORMULA_KEY: &str = "pk_fx_TestTestTestTestTestTest";

/// Where a body is sent with a key, and where without.
const FORMULAS: &str = "/api/formulas/v1/mcp";
const RECIPIENTS: &str = "/api/v1/recipients";

/// A stack that believes what we say of the source, and waits longer for a body than any test runs.
async fn patient(settings: &[(&'static str, String)]) -> TestStack {
    let usual = [
        ("GATEWAY__BODY_TIMEOUT_MS", FOR_EVER.to_owned()),
        ("GATEWAY__TRUSTED_PROXIES", "127.0.0.0/8".to_owned()),
    ];
    let settings = usual.iter().chain(settings).cloned().collect();
    let stack = TestStack::with_options(StackOptions {
        settings,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    stack
        .apply_team(json!({"teams": [{"name": "Test", "keys": [
            {"kind": "formulas", "name": "Formulas", "key": FORMULA_KEY}
        ]}]}))
        .await;
    other_tenant(&stack).await;
    stack
}

/// The head of a request whose body has this length.
fn head(path: &str, key: Option<&str>, source: usize, length: usize) -> String {
    let key = key.map_or_else(String::new, |key| {
        format!("authorization: Bearer {key}\r\n")
    });
    format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nx-forwarded-for: 192.0.2.{source}\r\n{key}content-length: {length}\r\n\r\n"
    )
}

/// A connection with a body of the largest size of which so many bytes have been sent, as far as somebody takes them.
async fn begun(
    stack: &TestStack,
    path: &str,
    key: Option<&str>,
    source: usize,
    bytes: usize,
) -> TcpStream {
    let mut stream = said(&stack.url, head(path, key, source, BODY_BYTES).as_bytes()).await;
    let body = vec![b' '; bytes];
    // What is not taken stays with the sender, as the rest does.
    let _ = tokio::time::timeout(std::time::Duration::from_secs(1), stream.write_all(&body)).await;
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_are_declared_and_do_not_come_slow_no_other_tenant_down() {
    let stack = patient(&[]).await;
    let alone = sends_of_the_other_tenant(&stack, &stack.url, 1).await;
    let mut attack = Vec::new();
    for _ in 0..13 {
        attack.push(begun(&stack, FORMULAS, Some(FORMULA_KEY), 1, 1).await);
    }
    let beside = sends_of_the_other_tenant(&stack, &stack.url, 1_000).await;
    assert!(
        attack.iter().all(is_silent),
        "the attack holds all the while"
    );
    println!("{}", times("bodies declared", &alone, &beside));
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_come_but_for_their_end_slow_no_other_tenant_down() {
    let stack = patient(&[]).await;
    let alone = sends_of_the_other_tenant(&stack, &stack.url, 1).await;
    let attack = (0..13)
        .map(|_| begun(&stack, FORMULAS, Some(FORMULA_KEY), 1, BODY_BYTES - 1))
        .collect::<Vec<_>>();
    let attack = futures_util::future::join_all(attack).await;
    let beside = sends_of_the_other_tenant(&stack, &stack.url, 1_000).await;
    assert!(attack.iter().any(is_silent), "the attack holds its share");
    println!("{}", times("bodies but for their end", &alone, &beside));
}

#[tokio::test(flavor = "multi_thread")]
async fn when_many_tenants_fill_the_memory_with_bodies_that_stand_still_they_make_place() {
    // Room for two bodies of the largest size.
    let stack = patient(&[("GATEWAY__BODY_MEMORY_BYTES", (2 * BODY_BYTES).to_string())]).await;
    let mut keys = Vec::new();
    for number in 0..6 {
        let key = format!("pk_live_Slow{number}SlowSlowSlowSlowSlow");
        stack
            .apply_team(json!({"teams": [{
                "name": format!("Slow {number}"), "time_zone": "America/New_York",
                "keys": [{"kind": "full_access", "name": "Slow", "key": key}],
            }]}))
            .await;
        keys.push(key);
    }
    let attack = keys
        .iter()
        .enumerate()
        .map(|(number, key)| begun(&stack, RECIPIENTS, Some(key), 1 + number, BODY_BYTES - 1));
    let _attack = futures_util::future::join_all(attack).await;
    sends_of_the_other_tenant(&stack, &stack.url, 1).await;
    // Large ones, too.
    let filler = "x".repeat(BODY_BYTES - 100_000);
    let body = json!({"campaign_id": CAMPAIGN, "recipients": build_recipients(5_000..5_001), "filler": filler});
    let answer = tokio::time::timeout(PATIENCE, stack.post_send(&body))
        .await
        .expect("an answer");
    assert_eq!(answer.reasons(), ["mailed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn sources_without_a_key_that_stand_still_hold_up_no_sender_with_its_key_in_the_body() {
    let stack = patient(&[]).await;
    let mut attack = Vec::new();
    for source in 1..9 {
        attack.push(begun(&stack, RECIPIENTS, None, source, 1).await);
    }
    for source in 9..15 {
        attack.push(begun(&stack, RECIPIENTS, None, source, BODY_BYTES - 1).await);
    }
    for number in 0..10 {
        let body = json!({"campaign_id": CAMPAIGN, "recipients": build_recipients(number..number + 1), "api_key": pillarbox_tests::KEY});
        let send = stack.post_send_with(&[("x-forwarded-for", "198.51.100.4")], body.to_string());
        let answer = tokio::time::timeout(PATIENCE, send)
            .await
            .expect("an answer");
        assert_eq!(answer.reasons(), ["mailed"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn large_bodies_of_one_key_wait_for_each_other_and_all_come_through() {
    // Less than they have together: they are half-way at the same time.
    let stack = patient(&[(
        "GATEWAY__BODY_MEMORY_BYTES",
        (BODY_BYTES + BODY_BYTES / 2).to_string(),
    )])
    .await;
    let sends = (0..6).map(|number| {
        let filler = "x".repeat(BODY_BYTES - 100_000);
        let body = json!({"campaign_id": CAMPAIGN, "recipients": build_recipients(number * 10..number * 10 + 1), "filler": filler});
        let stack = &stack;
        async move { stack.post_send(&body).await.reasons() }
    });
    let answers = tokio::time::timeout(PATIENCE, futures_util::future::join_all(sends)).await;
    assert_eq!(answers.expect("answers"), vec![["mailed"]; 6]);
}

/// The answer on a connection that is closed behind it.
async fn answer_on(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    tokio::time::timeout(PATIENCE, stream.read_to_string(&mut answer))
        .await
        .expect("its end")
        .unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_late_is_told_so_with_a_key_and_without_and_counts() {
    let settings = [
        ("GATEWAY__BODY_TIMEOUT_MS", "1000".to_owned()),
        ("GATEWAY__REQUESTS_PER_MINUTE_PER_SOURCE", "2".to_owned()),
    ];
    let stack = patient(&settings).await;
    // The test does not run across a minute's end.
    stack
        .clock
        .advance(TimeDelta::seconds(60 - stack.now().timestamp() % 60));
    for key in [Some(pillarbox_tests::KEY), None] {
        let answer = answer_on(begun(&stack, RECIPIENTS, key, 1, 1).await).await;
        assert!(
            answer.starts_with("HTTP/1.1 422") && answer.contains("invalid_payload"),
            "{key:?}: {answer}"
        );
    }
    let answer = answer_on(begun(&stack, RECIPIENTS, None, 1, 1).await).await;
    assert!(answer.starts_with("HTTP/1.1 429"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_without_a_key_that_made_place_is_no_wrong_key() {
    // Bodies without a key have room for one of the largest size.
    let stack = patient(&[("GATEWAY__BODY_MEMORY_BYTES", BODY_BYTES.to_string())]).await;
    let slow = begun(&stack, RECIPIENTS, None, 1, BODY_BYTES - 1).await;
    let _newcomer = begun(&stack, RECIPIENTS, None, 2, BODY_BYTES - 1).await;
    let answer = answer_on(slow).await;
    assert!(
        answer.starts_with("HTTP/1.1 500") && answer.contains("internal_error"),
        "{answer}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_stands_still_makes_place_for_another_when_the_memory_of_a_console_is_full() {
    // Room for one file of the largest size.
    let memory = ("CONSOLE__BODY_MEMORY_BYTES", (17 * 1024 * 1024).to_string());
    let mut stack = patient(&[memory, ("CONSOLE__BODY_TIMEOUT_MS", FOR_EVER.to_owned())]).await;
    let url = stack.start_console().await;
    let team = stack
        .store
        .list_teams("", 10)
        .await
        .unwrap()
        .into_iter()
        .find(|team| team.name == "Test")
        .unwrap();
    let admin = ConsoleClient::new(&stack, &url, team.team_id, MemberRole::Admin).await;
    let path = format!("/campaigns/{CAMPAIGN}/do-not-mail/upload");
    let begin =
        "--line\r\ncontent-disposition: form-data; name=\"file\"\r\n\r\naddress_1,city,state,zip\n";
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {}\r\norigin: {url}\r\ncookie: {}\r\n\
         content-type: multipart/form-data; boundary=line\r\ncontent-length: 16000000\r\n\r\n{begin}",
        url.trim_start_matches("http://"),
        admin.cookie(),
    );
    let mut still = said(&url, &[head.as_bytes(), &vec![b'\n'; 12_000_000]].concat()).await;
    let file = format!(
        "address_1,city,state,zip\n1 Main St,Austin,TX,78701\n{}",
        "\n".repeat(12_000_000)
    );
    let taken = tokio::time::timeout(PATIENCE, admin.upload_form(&path, &[("file", &file)]))
        .await
        .expect("a page");
    assert!(
        taken.html.contains("1 addresses were added"),
        "{} {}",
        taken.status,
        taken.html
    );
    let mut status = [0; 12];
    tokio::time::timeout(PATIENCE, still.read_exact(&mut status))
        .await
        .expect("an answer")
        .unwrap();
    assert_eq!(&status, b"HTTP/1.1 503");
}
