//! Answers that nobody reads.

use std::time::Duration;

use pillarbox_tests::{
    CAMPAIGN, ConsoleClient, FleetProcess, KEY, StackOptions, TestStack, build_recipients,
    wait_until,
};
use serde_json::json;
use store::MemberRole;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;

use super::{PATIENCE, other_tenant, sends_of_the_other_tenant, times};

/// Answers that are asked for and not read.
const UNREAD: usize = 55;

/// Resident memory of a process in MB.
fn resident(id: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    line.trim()
        .trim_end_matches(" kB")
        .parse::<usize>()
        .unwrap()
        / 1024
}

/// A request of the tests' team whose stored response is as large as responses get. Returns its id.
async fn with_large_response(stack: &TestStack) -> String {
    let answer = stack.send_recipients(&build_recipients(1..2)).await;
    let id = answer.headers["x-request-id"].to_str().unwrap().to_owned();
    // As a mailer would have written it, but for the work.
    let result = json!({"reference": "r1", "address": "1 Main St", "status": "not_mailed", "reason": "invalid_address", "detail": "x".repeat(4_190_000)});
    let response =
        json!({"summary": {"received": 1, "mailed": 0, "notMailed": 1}, "results": [result]})
            .to_string();
    let updated = stack
        .sql
        .execute(
            "UPDATE sends SET response = convert_to($1, 'UTF8') WHERE send_id::text = $2",
            &[&response, &id],
        )
        .await
        .unwrap();
    assert_eq!(updated, 1);
    id
}

async fn gateway_with(settings: Vec<(&'static str, String)>) -> (TestStack, FleetProcess) {
    let stack = TestStack::with_options(StackOptions {
        settings,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    other_tenant(&stack).await;
    let gateway = FleetProcess::start("gateway", &stack.settings);
    gateway.wait_until_ready().await;
    (stack, gateway)
}

/// A connection that asks for the request and reads nothing; the system takes little for it.
async fn unread(gateway: &FleetProcess, id: &str) -> tokio::net::TcpStream {
    unread_as(gateway, id, KEY, "127.0.0.1").await
}

/// The same with this key, on behalf of this source.
async fn unread_as(
    gateway: &FleetProcess,
    id: &str,
    key: &str,
    source: &str,
) -> tokio::net::TcpStream {
    let headers = format!("host: x\r\nx-forwarded-for: {source}\r\nx-api-key: {key}\r\n");
    asked(gateway, &format!("/api/v1/requests/{id}"), &headers, 1).await
}

/// A connection that asks for this so many times and reads nothing. The system takes up to 2.6 MB for it.
async fn asked(
    server: &FleetProcess,
    path: &str,
    headers: &str,
    times: usize,
) -> tokio::net::TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket
        .connect(([127, 0, 0, 1], server.port).into())
        .await
        .unwrap();
    let head = format!("GET {path} HTTP/1.1\r\n{headers}\r\n").repeat(times);
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_nobody_reads_take_no_more_memory_than_they_may() {
    let settings = vec![("GATEWAY__TRUSTED_PROXIES", "127.0.0.0/8".to_owned())];
    let (stack, gateway) = gateway_with(settings).await;
    let id = with_large_response(&stack).await;
    let alone = sends_of_the_other_tenant(&stack, &gateway.url(), 1).await;
    let before = resident(gateway.id());
    let mut attack = Vec::new();
    for _ in 0..UNREAD {
        attack.push(unread(&gateway, &id).await);
    }
    let beside = sends_of_the_other_tenant(&stack, &gateway.url(), 1_000).await;
    let during = resident(gateway.id());
    println!("{}", times("answers unread", &alone, &beside));
    println!(
        "drill answers unread: the gateway has {before} MB before and {during} MB beside {UNREAD} unread answers"
    );
    assert!(during < before + 110, "{before} MB, then {during} MB");
    drop(attack);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_read_is_hung_up_on_and_who_reads_slowly_is_not() {
    let settings = vec![("GATEWAY__WRITE_TIMEOUT_MS", "5000".to_owned())];
    let (stack, gateway) = gateway_with(settings).await;
    let id = with_large_response(&stack).await;
    let mut silent = unread(&gateway, &id).await;
    let mut slow = unread(&gateway, &id).await;
    // Slower than anybody would be, but never silent for long.
    let mut text = vec![0; 256 * 1024];
    let mut read = 0;
    while read < 4_190_000 {
        let bytes = tokio::time::timeout(PATIENCE, slow.read(&mut text))
            .await
            .expect("bytes")
            .unwrap();
        assert!(bytes > 0, "it was cut off after {read} bytes");
        read += bytes;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    wait_until("who reads nothing is hung up on", async || {
        let status = std::fs::read_to_string(format!("/proc/{}/net/tcp", gateway.id())).unwrap();
        let port = format!(":{:04X}", silent.local_addr().unwrap().port());
        // The gateway's end of the connection is established no more.
        !status.lines().any(|line| {
            line.split_whitespace()
                .nth(2)
                .is_some_and(|peer| peer.ends_with(&port))
                && line.contains(" 01 ")
        })
    })
    .await;
    let mut rest = Vec::new();
    let _ = tokio::time::timeout(PATIENCE, silent.read_to_end(&mut rest))
        .await
        .expect("its end");
    assert!(rest.len() < 4_190_000);
    assert!(is_whole(&stack, &gateway, &id).await);
}

/// How often it was asked what became of a request.
async fn asked_for(stack: &TestStack) -> i64 {
    let sql = "SELECT coalesce(sum(requests), 0) FROM rate_windows WHERE position('requests:key:'::bytea IN subject) = 1";
    stack.sql.query_one(sql, &[]).await.unwrap().get(0)
}

/// Whether somebody who reads gets the response whole.
async fn is_whole(stack: &TestStack, gateway: &FleetProcess, id: &str) -> bool {
    let url = format!("{}/api/v1/requests/{id}", gateway.url());
    let answer = stack
        .request(reqwest::Method::GET, &url, &[("x-api-key", KEY)], "")
        .await;
    answer.status == 200
        && answer.headers["content-length"].to_str().unwrap() == answer.text.len().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn who_reads_gets_the_answer_beside_many_that_are_not_read() {
    let settings = vec![(
        "GATEWAY__ANSWER_MEMORY_BYTES",
        (10 * 1024 * 1024).to_string(),
    )];
    let (stack, gateway) = gateway_with(settings).await;
    let id = with_large_response(&stack).await;
    let mut attack = Vec::new();
    // One place for all of them, in which each stays for two seconds: longer together than one reader may take.
    for _ in 0..12 {
        attack.push(unread(&gateway, &id).await);
    }
    wait_until("who reads comes last", async || {
        asked_for(&stack).await == 12
    })
    .await;
    for _ in 0..5 {
        assert!(is_whole(&stack, &gateway, &id).await);
    }
    // The answer of a send is as sure, also when it is an old one.
    let replayed = stack
        .post_send_to(
            &gateway.url(),
            &[("x-api-key", KEY)],
            json!({"campaign_id": CAMPAIGN, "recipients": build_recipients(1..2)}).to_string(),
        )
        .await;
    assert_eq!(
        (replayed.status.as_u16(), replayed.text.len() > 4_000_000),
        (200, true)
    );
    drop(attack);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_team_has_one_share_of_unread_answers_however_many_keys_and_sources_it_has() {
    // Room for five; a team's share is one.
    let settings = vec![
        (
            "GATEWAY__ANSWER_MEMORY_BYTES",
            (24 * 1024 * 1024).to_string(),
        ),
        ("GATEWAY__TRUSTED_PROXIES", "127.0.0.0/8".to_owned()),
    ];
    let (stack, gateway) = gateway_with(settings).await;
    let id = with_large_response(&stack).await;
    let mut attack = Vec::new();
    for number in 0..4 {
        let key = format!("pk_live_Many{number}ManyManyManyManyMa");
        let keys = json!([{"kind": "full_access", "name": format!("Many {number}"), "key": key}]);
        stack
            .apply_team(json!({"teams": [{"name": "Test", "keys": keys}]}))
            .await;
        attack.push(unread_as(&gateway, &id, &key, &format!("192.0.2.{number}")).await);
    }
    for stream in &attack {
        let answered = tokio::time::timeout(PATIENCE, stream.peek(&mut [0]))
            .await
            .expect("an answer");
        assert_eq!(answered.unwrap(), 1);
    }
    let held = gateway
        .read_metric("pillarbox_memory_held_bytes{budget=\"answers\"}")
        .await;
    assert!(held < 5_000_000.0, "{held} bytes");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_nobody_reads_take_no_more_memory_of_a_console_than_they_may() {
    const BUDGET: usize = 4 * 1024 * 1024;
    let settings = vec![("CONSOLE__ANSWER_MEMORY_BYTES", BUDGET.to_string())];
    let stack = TestStack::with_options(StackOptions {
        settings,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    let console = FleetProcess::start("console", &stack.settings);
    console.wait_until_ready().await;
    let team = stack.store.list_teams("", 1).await.unwrap().remove(0);
    let reader = ConsoleClient::new(&stack, &console.url(), team.team_id, MemberRole::Member).await;
    let large = "UPDATE designs SET document = jsonb_set(document, '{filler}', to_jsonb(repeat('x', 900000))) RETURNING design_id::text";
    let design: String = stack.sql.query(large, &[]).await.unwrap()[0].get(0);
    let page = format!("/designs/{design}");
    assert!(reader.get(&page).await.html.len() > 900_000);
    let mut attack = Vec::new();
    let headers = format!(
        "host: 127.0.0.1:{}\r\ncookie: {}\r\n",
        console.port,
        reader.cookie()
    );
    for _ in 0..12 {
        attack.push(asked(&console, &page, &headers, 6).await);
    }
    wait_until("those that are too many make place", async || {
        console
            .read_metric("pillarbox_memory_evictions_total{budget=\"answers\"}")
            .await
            >= 4.0
    })
    .await;
    let held = console
        .read_metric("pillarbox_memory_held_bytes{budget=\"answers\"}")
        .await;
    assert!(held > 900_000.0 && held <= BUDGET as f64, "{held} bytes");
    assert_eq!(
        reader.get(&page).await.status,
        200,
        "who reads gets the page"
    );
}
