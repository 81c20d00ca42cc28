//! Gateways behind the balancer die one at a time, and tables are locked: phones are redirected all the same.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pillarbox_tests::{
    FleetProcess, INTEGRATION_KEY, LoadBalancer, StackOptions, TestStack, WebhookSink,
    build_recipients, list_codes, wait_until, with_qr_codes,
};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use reqwest::{Client, redirect};
use serde_json::json;

use super::behind_a_balancer;

/// Deaths in a run; PILLARBOX_DRILL_KILLS is another number.
const KILLS: usize = 20;

/// Phones that scan at the same time.
const PHONES: usize = 8;

/// Two gateways behind the balancer, and cards to scan.
async fn world() -> (
    TestStack,
    WebhookSink,
    Vec<FleetProcess>,
    LoadBalancer,
    Arc<Vec<String>>,
) {
    let settings = behind_a_balancer().to_vec();
    let (stack, sink) = with_qr_codes(StackOptions {
        settings,
        ..StackOptions::default()
    })
    .await;
    let integration = json!({"name": "CRM", "keys": [{"name": "k", "key": INTEGRATION_KEY}]});
    stack
        .apply_team(json!({"teams": [{"name": "Test", "integrations": [integration]}]}))
        .await;
    wait_until("cards are mailed", async || {
        stack.send_recipients(&build_recipients(1..20)).await.status == 200
    })
    .await;
    let codes = Arc::new(list_codes(&stack).await);
    let gateways: Vec<FleetProcess> = ["gateway"; 2]
        .iter()
        .map(|name| FleetProcess::start(name, &stack.settings))
        .collect();
    for gateway in &gateways {
        gateway.wait_until_ready().await;
    }
    let balancer = LoadBalancer::start_before(&gateways[0], &gateways[1]);
    (stack, sink, gateways, balancer, codes)
}

/// What phones got, by status; 0 is a connection that broke.
type Counts = BTreeMap<u16, usize>;

/// Scans one card after the other until told to stop.
async fn scan(url: String, codes: Arc<Vec<String>>, is_over: Arc<AtomicBool>) -> Counts {
    let client = Client::builder()
        .redirect(redirect::Policy::none())
        .build()
        .unwrap();
    let mut counts = Counts::new();
    for code in codes.iter().cycle() {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        let answer = client
            .get(format!("{url}/q/{code}"))
            .header("user-agent", "Safari")
            .send()
            .await;
        *counts
            .entry(answer.map_or(0, |answer| answer.status().as_u16()))
            .or_default() += 1;
        // A pace, not a wait for a state.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    counts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn gateways_that_die_one_at_a_time_cost_fewer_than_one_scan_in_a_hundred() {
    let kills =
        std::env::var("PILLARBOX_DRILL_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let (_stack, _sink, mut gateways, balancer, codes) = world().await;
    let is_over = Arc::new(AtomicBool::new(false));
    let phones: Vec<_> = (0..PHONES)
        .map(|_| tokio::spawn(scan(balancer.url.clone(), codes.clone(), is_over.clone())))
        .collect();
    let mut random = StdRng::seed_from_u64(20_261_122);
    for _ in 0..kills {
        // Not a wait for a state: the moment of the death is what is random.
        let pause = random.random_range(Duration::from_millis(50)..Duration::from_secs(1));
        tokio::time::sleep(pause).await;
        let victim = random.random_range(0..gateways.len());
        gateways[victim].crash();
        gateways[victim].wait_until_ready().await;
    }
    is_over.store(true, Ordering::Relaxed);
    let mut counts = Counts::new();
    for phone in phones {
        for (status, scans) in phone.await.unwrap() {
            *counts.entry(status).or_default() += scans;
        }
    }
    let all: usize = counts.values().sum();
    let redirected = counts.get(&302).copied().unwrap_or_default();
    println!("\ndrill {kills} kills of gateways: {all} scans, by status {counts:?}");
    assert!(all > kills, "there was a load");
    assert!((all - redirected) * 100 < all, "{counts:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_locked_table_makes_phones_and_readers_wait_and_sends_nobody_away() {
    let (stack, _sink, _gateways, balancer, codes) = world().await;
    let client = Client::builder()
        .redirect(redirect::Policy::none())
        .build()
        .unwrap();
    stack
        .sql
        .batch_execute("BEGIN; LOCK TABLE mailpieces, api_keys IN ACCESS EXCLUSIVE MODE")
        .await
        .unwrap();
    let asked = codes.iter().map(|code| {
        let scan = client
            .get(format!("{}/q/{code}", balancer.url))
            .header("user-agent", "Safari");
        let read = client.get(format!("{}/api/integrations/push/v1/sync", balancer.url));
        let read = read.bearer_auth(INTEGRATION_KEY);
        async move {
            let (scanned, read) = tokio::join!(scan.send(), read.send());
            (
                scanned.unwrap().status().as_u16(),
                read.unwrap().status().as_u16(),
            )
        }
    });
    let asked = tokio::spawn(futures_util::future::join_all(asked.collect::<Vec<_>>()));
    // Longer than any check of health looks away, and less than a connection of the pool is waited for.
    stack
        .sql
        .batch_execute("SELECT pg_sleep(4); COMMIT")
        .await
        .unwrap();
    assert_eq!(asked.await.unwrap(), vec![(302, 200); codes.len()]);
}
