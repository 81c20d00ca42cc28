//! Nothing lost: whatever dies, every recorded scan reaches the endpoint at least once, and a copy carries the same
//! webhook-id.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pillarbox_tests::{
    ChaosFault, ChaosFleet, EndpointReaction, PrivateServers, SpawnedProcess, StackOptions,
    TestStack, WebhookSink, build_recipient, build_recipients, find_free_port, list_codes,
    wait_until, with_qr_codes, with_qr_codes_on,
};
use rand::SeedableRng;
use rand::rngs::StdRng;

fn quick_leases() -> Vec<(&'static str, String)> {
    vec![
        ("DISPATCHER__TIMEOUT_MS", "500".to_owned()),
        ("DISPATCHER__LEASE_MS", "1500".to_owned()),
        ("DISPATCHER__RETRY_DELAYS_SECONDS", "1,1,1,1".to_owned()),
    ]
}

async fn recorded(stack: &TestStack) -> HashSet<String> {
    let rows = stack
        .sql
        .query("SELECT scan_id FROM scans", &[])
        .await
        .expect("scans");
    rows.iter()
        .map(|row| format!("evt_{}", row.get::<_, uuid::Uuid>(0).simple()))
        .collect()
}

fn delivered(sink: &WebhookSink) -> HashSet<String> {
    sink.received()
        .iter()
        .map(pillarbox_tests::ReceivedEvent::id)
        .collect()
}

/// A stack with one card, whose dispatchers are real processes.
async fn without_dispatcher() -> (TestStack, WebhookSink, String) {
    let (stack, sink) = with_qr_codes(StackOptions {
        settings: quick_leases(),
        ..StackOptions::default()
    })
    .await;
    assert_eq!(
        stack.send_recipients(&[build_recipient(1)]).await.reasons(),
        ["mailed"]
    );
    let code = list_codes(&stack).await.remove(0);
    // Real processes have real clocks; the stack's went ahead while it became ready.
    stack.clock.advance(chrono::Utc::now() - stack.now());
    (stack, sink, code)
}

async fn dispatcher_dies_at(point: &'static str) {
    let (stack, sink, code) = without_dispatcher().await;
    let doomed = tokio::sync::Mutex::new(SpawnedProcess::start(
        "dispatcher",
        &stack.settings,
        Some(point),
    ));
    futures_util::future::join_all((0..20).map(|_| stack.scan_code(&code))).await;
    wait_until("the dispatcher dies at its fail point", async || {
        doomed.lock().await.has_ended()
    })
    .await;
    let _second = SpawnedProcess::start("dispatcher", &stack.settings, None);
    let scans = recorded(&stack).await;
    assert_eq!(scans.len(), 20);
    wait_until("every scan is delivered", async || {
        delivered(&sink) == scans
    })
    .await;
    wait_until("nothing waits", async || {
        stack
            .query_count("SELECT count(*) FROM deliveries WHERE state = 'delivered'")
            .await
            == 20
    })
    .await;
}

/// How often attempts have panicked in the process with this operational port.
async fn panics(port: u16) -> f64 {
    let Ok(answer) = reqwest::get(format!("http://127.0.0.1:{port}/metrics")).await else {
        return 0.0;
    };
    let text = answer.text().await.unwrap_or_default();
    let count = text
        .lines()
        .find_map(|line| line.strip_prefix("pillarbox_webhook_attempt_panics_total "));
    count.map_or(0.0, |count| count.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_that_panics_gives_its_place_back() {
    let (stack, sink, code) = without_dispatcher().await;
    let port = find_free_port();
    let mut settings = stack.settings.clone();
    settings.insert(
        "PILLARBOX__DISPATCHER__CONCURRENCY".to_owned(),
        "1".to_owned(),
    );
    settings.insert(
        "PILLARBOX__ADMIN__LISTEN".to_owned(),
        format!("127.0.0.1:{port}"),
    );
    let doomed = SpawnedProcess::start("dispatcher", &settings, Some("panic@delivery.posting"));
    futures_util::future::join_all((0..3).map(|_| stack.scan_code(&code))).await;
    wait_until("all three are attempted in the one place", async || {
        panics(port).await >= 3.0
    })
    .await;
    drop(doomed);
    let _second = SpawnedProcess::start("dispatcher", &stack.settings, None);
    let scans = recorded(&stack).await;
    wait_until("every scan is delivered", async || {
        delivered(&sink) == scans
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dispatcher_killed_after_the_claim() {
    dispatcher_dies_at("delivery.claimed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dispatcher_killed_after_an_attempt_before_its_record() {
    dispatcher_dies_at("delivery.attempted").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dispatcher_killed_after_the_record() {
    dispatcher_dies_at("delivery.recorded").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_killed_after_the_record_before_the_announcement() {
    let (stack, sink, code) = without_dispatcher().await;
    let mut settings = stack.settings.clone();
    let port = find_free_port();
    settings.insert(
        "PILLARBOX__GATEWAY__LISTEN".to_owned(),
        format!("127.0.0.1:{port}"),
    );
    let doomed = tokio::sync::Mutex::new(SpawnedProcess::start(
        "gateway",
        &settings,
        Some("scan.recorded"),
    ));
    wait_until("the gateway dies at its fail point", async || {
        let _ = reqwest::get(format!("http://127.0.0.1:{port}/q/{code}")).await;
        doomed.lock().await.has_ended()
    })
    .await;
    let scans = recorded(&stack).await;
    assert_eq!(scans.len(), 1);
    let _dispatcher = SpawnedProcess::start("dispatcher", &stack.settings, None);
    wait_until("the scan is delivered", async || delivered(&sink) == scans).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dispatcher_told_to_stop_ends_its_attempts_and_records_them() {
    let (stack, sink, code) = without_dispatcher().await;
    let mut dispatcher = SpawnedProcess::start("dispatcher", &stack.settings, None);
    sink.set_default(Some(EndpointReaction::Hang(Duration::from_millis(300))));
    stack.scan_code(&code).await;
    wait_until("an attempt is under way", async || {
        sink.count_received() == 1
    })
    .await;
    assert!(
        tokio::task::block_in_place(|| dispatcher.terminate()),
        "it ends well"
    );
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM deliveries WHERE state = 'delivered'")
            .await,
        1
    );
}

/// Phones that scan one card after another until told to stop. Returns how many redirects they got.
async fn phones(
    urls: [String; 2],
    codes: Vec<String>,
    scanning: Arc<AtomicBool>,
    redirects: Arc<AtomicUsize>,
) {
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(Duration::from_secs(5))
        .build()
        .unwrap();
    for (turn, code) in codes.iter().cycle().enumerate() {
        if !scanning.load(Ordering::Relaxed) {
            return;
        }
        let answer = client
            .get(format!("{}/q/{code}", urls[turn % 2]))
            .send()
            .await;
        if answer.is_ok_and(|answer| answer.status() == 302) {
            redirects.fetch_add(1, Ordering::Relaxed);
        }
        // A pace, not a wait for a state: a few hundred scans a second in all.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn chaos_loses_no_recorded_scan_and_copies_carry_the_same_webhook_id() {
    const SEED: u64 = 20_261_122;
    const PHONES: usize = 4;
    let sink = WebhookSink::start().await;
    let servers = PrivateServers::start().await;
    let mut settings = quick_leases();
    settings.extend(servers.settings());
    settings.push(("OUTBOUND__ALLOWED_NETWORKS", "127.0.0.0/8".to_owned()));
    settings.push(("DISPATCHER__SWEEP_INTERVAL_MS", "200".to_owned()));
    let (stack, codes) = with_qr_codes_on(settings, &sink, &build_recipients(1..21)).await;
    let mut world = ChaosFleet::start(servers, "dispatcher", &stack.settings);
    let (scanning, redirects) = (
        Arc::new(AtomicBool::new(true)),
        Arc::<AtomicUsize>::default(),
    );
    let crowd: Vec<_> = (0..PHONES)
        .map(|_| {
            tokio::spawn(phones(
                world.urls(),
                codes.clone(),
                scanning.clone(),
                redirects.clone(),
            ))
        })
        .collect();
    let mut random = StdRng::seed_from_u64(SEED);
    let mut strikes = vec![
        ChaosFault::Postgres,
        ChaosFault::Postgres,
        ChaosFault::Broker,
        ChaosFault::WipedBroker,
    ];
    strikes.extend([0, 1, 0, 1, 0, 1].map(ChaosFault::Worker));
    strikes.extend([0, 1, 0].map(ChaosFault::Gateway));
    world
        .strike_all(&mut strikes, Duration::from_millis(1200), &mut random)
        .await;
    scanning.store(false, Ordering::Relaxed);
    for phone in crowd {
        phone.await.unwrap();
    }
    let stack = stack.reconnect().await;
    let scans = recorded(&stack).await;
    wait_until("every recorded scan is delivered", async || {
        delivered(&sink).is_superset(&scans)
    })
    .await;
    wait_until("nothing waits", async || {
        stack
            .query_count("SELECT count(*) FROM deliveries WHERE state = 'waiting'")
            .await
            == 0
    })
    .await;
    assert_eq!(delivered(&sink), scans, "and nothing else");
    let (redirects, received) = (redirects.load(Ordering::Relaxed), sink.received());
    let mut bodies: HashMap<String, _> = HashMap::new();
    for got in &received {
        let first = bodies.entry(got.id()).or_insert_with(|| got.body.clone());
        assert_eq!(*first, got.body, "a copy is the same");
    }
    println!(
        "struck {strikes:?}; {redirects} redirects, {} scans recorded, {} delivered, {} copies",
        scans.len(),
        bodies.len(),
        received.len() - bodies.len()
    );
    assert!(scans.len() > 100, "there was a load");
}
