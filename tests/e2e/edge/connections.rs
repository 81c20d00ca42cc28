//! Connections that say nothing, and sources that take them all.

use std::time::Duration;

use pillarbox_tests::{FleetProcess, StackOptions, TestStack, build_recipient, wait_until};
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpSocket, TcpStream};

use super::{FOR_EVER, PATIENCE, is_silent, other_tenant, said, sends_of_the_other_tenant, times};

/// Half of what a request begins with.
const HALF_A_HEADER: &[u8] = b"POST /api/v1/recipients HTTP/1.1\r\nhost: x\r\n";

/// Connections of one source.
const PER_SOURCE: usize = 20;

async fn stack_with(settings: &[(&'static str, &str)]) -> TestStack {
    let settings = settings
        .iter()
        .map(|(name, value)| (*name, (*value).to_owned()))
        .collect();
    let stack = TestStack::with_options(StackOptions {
        settings,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    stack
}

/// A connection from another address of this machine.
async fn from_elsewhere(url: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    socket
        .connect(url.trim_start_matches("http://").parse().unwrap())
        .await
        .unwrap()
}

async fn is_closed(stream: &mut TcpStream) -> bool {
    let mut byte = [0];
    matches!(
        tokio::time::timeout(PATIENCE, stream.read(&mut byte))
            .await
            .expect("its end"),
        Ok(0) | Err(_)
    )
}

/// So many connections from the other address with half a header each: those within its share are kept, the others closed.
async fn take_all(url: &str, many: usize, share: usize) -> Vec<TcpStream> {
    use tokio::io::AsyncWriteExt;
    let mut kept = Vec::new();
    for number in 0..many {
        let mut stream = from_elsewhere(url).await;
        let _ = stream.write_all(HALF_A_HEADER).await;
        if number < share {
            kept.push(stream);
        } else {
            assert!(is_closed(&mut stream).await, "number {number}");
        }
    }
    kept
}

#[tokio::test(flavor = "multi_thread")]
async fn one_source_takes_its_share_of_a_gateway_and_others_are_served() {
    let stack = stack_with(&[
        ("GATEWAY__CONNECTIONS_PER_SOURCE", "20"),
        ("GATEWAY__MAX_CONNECTIONS", "40"),
        ("GATEWAY__FIRST_HEADER_TIMEOUT_MS", FOR_EVER),
        ("GATEWAY__HEADER_TIMEOUT_MS", FOR_EVER),
    ])
    .await;
    other_tenant(&stack).await;
    let alone = sends_of_the_other_tenant(&stack, &stack.url, 1).await;
    let attack = take_all(&stack.url, 100, PER_SOURCE).await;
    let beside = sends_of_the_other_tenant(&stack, &stack.url, 1_000).await;
    assert!(
        attack.iter().all(is_silent),
        "the attack holds all the while"
    );
    println!("{}", times("connections", &alone, &beside));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_source_takes_its_share_of_a_console_and_others_are_served() {
    let mut stack = stack_with(&[
        ("CONSOLE__CONNECTIONS_PER_SOURCE", "20"),
        ("CONSOLE__MAX_CONNECTIONS", "40"),
        ("CONSOLE__FIRST_HEADER_TIMEOUT_MS", FOR_EVER),
        ("CONSOLE__HEADER_TIMEOUT_MS", FOR_EVER),
    ])
    .await;
    let url = stack.start_console().await;
    let attack = take_all(&url, 60, PER_SOURCE).await;
    let page = tokio::time::timeout(PATIENCE, reqwest::get(format!("{url}/sign-in")))
        .await
        .expect("an answer");
    assert_eq!(page.unwrap().status(), 200);
    assert!(
        attack.iter().all(is_silent),
        "the attack holds all the while"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn one_source_takes_its_share_of_an_operational_port_and_keeps_it_as_long_as_a_header_may_take()
 {
    let stack = stack_with(&[]).await;
    let gateway = FleetProcess::start("gateway", &stack.settings);
    gateway.wait_until_ready().await;
    let attack = take_all(&format!("http://127.0.0.1:{}", gateway.admin), 40, 32).await;
    assert!(
        attack.iter().all(is_silent),
        "its share is kept, and the others were closed at once"
    );
    assert_eq!(gateway.get_readiness().await.0, 200);
    for mut stream in attack {
        assert!(is_closed(&mut stream).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_header_has_less_time_than_an_idle_connection_but_for_load_balancers() {
    let times = [
        ("GATEWAY__FIRST_HEADER_TIMEOUT_MS", "300"),
        ("GATEWAY__HEADER_TIMEOUT_MS", FOR_EVER),
    ];
    let stack = stack_with(&times).await;
    let mut used = said(&stack.url, b"GET /elsewhere HTTP/1.1\r\nhost: x\r\n\r\n").await;
    let mut answer = vec![0; 4096];
    assert!(used.read(&mut answer).await.unwrap() > 0);
    for half in [&b""[..], HALF_A_HEADER] {
        assert!(is_closed(&mut said(&stack.url, half).await).await);
    }
    assert!(is_silent(&used), "a connection that was used is kept");

    let trusting = [
        times[0],
        times[1],
        ("GATEWAY__TRUSTED_PROXIES", "127.0.0.0/8"),
    ];
    let stack = stack_with(&trusting).await;
    let ahead = said(&stack.url, b"").await;
    // Longer than strangers have: the one after it is gone by then.
    tokio::time::sleep(Duration::from_millis(900)).await;
    assert!(
        is_silent(&ahead),
        "a load balancer may open connections ahead"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn load_balancers_have_any_number_and_what_is_closed_makes_place() {
    let per_source = ("GATEWAY__CONNECTIONS_PER_SOURCE", "3");
    let stack = stack_with(&[per_source, ("GATEWAY__TRUSTED_PROXIES", "127.0.0.0/8")]).await;
    let mut many = Vec::new();
    for _ in 0..10 {
        many.push(said(&stack.url, HALF_A_HEADER).await);
    }
    assert_eq!(
        stack.send_recipients(&[build_recipient(1)]).await.reasons(),
        ["mailed"]
    );
    assert!(many.iter().all(is_silent));

    let stack = stack_with(&[per_source]).await;
    for _ in 0..20 {
        // Each of them is one of three for a moment.
        wait_until("there is place for the next one", async || {
            let url = format!("{}/elsewhere", stack.url);
            reqwest::get(url)
                .await
                .is_ok_and(|answer| answer.status() == 404)
        })
        .await;
    }
}
