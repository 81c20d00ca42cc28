//! A new version of everything, while customers send, push and scan.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pillarbox_tests::{
    Failed, INTEGRATION_KEY, Load, LoadBalancer, Member, Options, Tally, cards, eventually, people,
    with_qr_codes,
};
use serde_json::{Value, json};

/// Requests of one kind beside the sends, and what became of them.
#[derive(Default)]
struct Beside {
    is_over: AtomicBool,
    done: AtomicUsize,
    failures: std::sync::Mutex<Vec<String>>,
}

impl Beside {
    /// Makes requests until told to stop; `ask` is given their number.
    async fn run(self: Arc<Self>, ask: impl AsyncFn(usize) -> Result<(), String>) {
        for number in 0.. {
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            match ask(number).await {
                Ok(()) => self.done.fetch_add(1, Ordering::Relaxed),
                Err(why) => {
                    self.failures.lock().unwrap().push(why);
                    0
                }
            };
            // A pace, not a wait for a state.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

async fn expect(request: reqwest::RequestBuilder, status: u16) -> Result<(), String> {
    let answer = request.send().await.map_err(|error| format!("{error:?}"))?;
    if answer.status() == status {
        return Ok(());
    }
    Err(format!("{} {}", answer.status(), answer.text().await.unwrap_or_default()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_rolling_restart_of_every_process_fails_no_request() {
    let settings = vec![
        ("SHUTDOWN__DRAIN_MS", "1000".to_owned()),
        ("GATEWAY__TRUSTED_PROXIES", "127.0.0.0/8".to_owned()),
    ];
    let (stack, sink) = with_qr_codes(Options { settings, mailers: 0, ..Options::default() }).await;
    stack
        .apply(json!({"teams": [{"name": "Test",
            "integrations": [{"name": "CRM", "keys": [{"name": "k", "key": INTEGRATION_KEY}]}]}]}))
        .await;
    let mut fleet = Vec::new();
    for name in ["gateway", "gateway", "mailer", "mailer", "syncer", "syncer", "dispatcher", "dispatcher"] {
        fleet.push(Member::start(name, &stack.settings));
    }
    for member in &fleet {
        member.until_ready().await;
    }
    // Cards to scan, at houses that the load does not have.
    eventually("the cards are mailed", async || stack.send(&people(190_000..190_010)).await.status == 200).await;
    let codes = cards(&stack).await;
    let balancer = LoadBalancer::start([(fleet[0].port, fleet[0].admin), (fleet[1].port, fleet[1].admin)]);
    let url = balancer.url.clone();
    let push_url = format!("{url}/api/integrations/push/v1");
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let call = |path: &str, key: String, body: Value| {
        let request = client.post(format!("{push_url}{path}")).bearer_auth(INTEGRATION_KEY);
        request.header("idempotency-key", key).body(body.to_string())
    };
    eventually("the balancer sees a gateway", async || {
        expect(call("/sync", "begin".to_owned(), json!({"mode": "delta"})), 200).await.is_ok()
    })
    .await;
    let fields = json!({"fields": [{"key": "first", "semantic": "first_name"}]});
    expect(call("/schema", String::new(), fields), 200).await.unwrap();

    let (pushes, scans) = (Arc::<Beside>::default(), Arc::<Beside>::default());
    let load = Load::start(&[url.clone()], 3, Failed::Noted);
    let record =
        |number: usize| json!({"records": [{"external_id": number.to_string(), "fields": {"first": "Ann"}}]});
    let phone = client.clone();
    let beside = async {
        tokio::join!(
            pushes.clone().run(async |number| {
                expect(call("/records", format!("k{number}"), record(number)), 200).await
            }),
            scans.clone().run(async |number| {
                expect(phone.get(format!("{url}/q/{}", codes[number % codes.len()])), 302).await
            }),
        )
    };
    let roll = async {
        for member in &mut fleet {
            assert!(member.restart().await, "{} ended well", member.name);
        }
        for other in [&pushes, &scans] {
            other.is_over.store(true, Ordering::Relaxed);
        }
    };
    tokio::join!(beside, roll);
    let sent = load.end().await;
    let (pushed, scanned) = (pushes.done.load(Ordering::Relaxed), scans.done.load(Ordering::Relaxed));
    println!("drill rolling restart: {pushed} pushes and {scanned} scans beside the sends");
    assert_eq!(sent.failures, Vec::<String>::new(), "no send failed");
    for other in [&pushes, &scans] {
        assert_eq!(*other.failures.lock().unwrap(), Vec::<String>::new());
    }
    assert_eq!(stack.count("SELECT count(*) FROM contacts").await, i64::try_from(pushed).unwrap());
    let recorded = stack.count("SELECT count(*) FROM scans").await;
    assert_eq!(recorded, i64::try_from(scanned).unwrap(), "each scan once");
    eventually("each scan is delivered", async || sink.count() >= scanned).await;
    let ids: std::collections::HashSet<String> =
        sink.received().iter().map(pillarbox_tests::Received::id).collect();
    assert_eq!(ids.len(), scanned);
    println!(
        "drill rolling restart: {} deliveries of {} scans, {} copies",
        sink.count(),
        ids.len(),
        sink.count() - ids.len()
    );
    Tally::of(&stack, &sent).await.print("rolling restart", &sent);
    stack.assert_consistent().await;
}
