//! A new version of everything, while customers send, push and scan.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use pillarbox_tests::{
    FleetProcess, INTEGRATION_KEY, LoadBalancer, LoadGenerator, LoadRetryPolicy, LoadTally,
    ReceivedEvent, StackOptions, TestStack, WebhookSink, build_recipients, list_codes, wait_until,
    with_qr_codes,
};
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

/// Two of everything that takes requests or works on them.
const FLEET: [&str; 8] = [
    "gateway",
    "gateway",
    "mailer",
    "mailer",
    "syncer",
    "syncer",
    "dispatcher",
    "dispatcher",
];

/// Requests of one kind beside the sends, and what became of them.
#[derive(Default)]
struct Beside {
    is_over: AtomicBool,
    done: AtomicUsize,
    failures: Mutex<Vec<String>>,
}

/// Makes the request of a number.
type Ask = Box<dyn Fn(usize) -> BoxFuture<'static, Result<(), String>> + Send + Sync>;

impl Beside {
    /// Makes requests until told to stop.
    fn start(ask: Ask) -> (Arc<Self>, JoinHandle<()>) {
        let beside = Arc::<Self>::default();
        (beside.clone(), tokio::spawn(beside.run(ask)))
    }

    async fn run(self: Arc<Self>, ask: Ask) {
        let mut number = 0;
        while !self.is_over.load(Ordering::Relaxed) {
            match ask(number).await {
                Ok(()) => {
                    self.done.fetch_add(1, Ordering::Relaxed);
                }
                Err(why) => self.failures.lock().unwrap().push(why),
            }
            number += 1;
            // A pace, not a wait for a state.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Stops, and proves that none failed. Returns how many there were.
    async fn end((beside, task): (Arc<Self>, JoinHandle<()>)) -> usize {
        beside.is_over.store(true, Ordering::Relaxed);
        task.await.unwrap();
        assert_eq!(*beside.failures.lock().unwrap(), Vec::<String>::new());
        beside.done.load(Ordering::Relaxed)
    }
}

/// The integration's API behind the balancer.
#[derive(Clone)]
struct Integration {
    client: Client,
    url: String,
}

impl Integration {
    fn call(&self, path: &str, key: &str, body: &Value) -> RequestBuilder {
        let url = format!("{}/api/integrations/push/v1{path}", self.url);
        let request = self.client.post(url).bearer_auth(INTEGRATION_KEY);
        request
            .header("idempotency-key", key)
            .body(body.to_string())
    }

    /// Declares a field and begins a sync.
    async fn begin(&self) {
        let fields = json!({"fields": [{"key": "first", "semantic": "first_name"}]});
        wait_until("a syncer answers", async || {
            expect(self.call("/schema", "", &fields), 200).await.is_ok()
        })
        .await;
        expect(self.call("/sync", "begin", &json!({"mode": "delta"})), 200)
            .await
            .unwrap();
    }

    /// Pushes a contact of its own each time.
    fn pushing(self) -> Ask {
        Box::new(move |number| {
            let record = json!({"external_id": number.to_string(), "fields": {"first": "Ann"}});
            let body = json!({ "records": [record] });
            Box::pin(expect(
                self.call("/records", &format!("k{number}"), &body),
                200,
            ))
        })
    }
}

/// Scans one card after the other.
fn scanning(client: Client, url: String, codes: Vec<String>) -> Ask {
    Box::new(move |number| {
        let code = &codes[number % codes.len()];
        Box::pin(expect(client.get(format!("{url}/q/{code}")), 302))
    })
}

async fn expect(request: RequestBuilder, status: u16) -> Result<(), String> {
    let answer = request.send().await.map_err(|error| format!("{error:?}"))?;
    if answer.status() == status {
        return Ok(());
    }
    Err(format!(
        "{} {}",
        answer.status(),
        answer.text().await.unwrap_or_default()
    ))
}

/// A stack whose own gateway is not used, and the fleet that is.
async fn with_fleet() -> (TestStack, WebhookSink, Vec<FleetProcess>) {
    let settings = vec![
        ("SHUTDOWN__DRAIN_MS", "1000".to_owned()),
        ("GATEWAY__TRUSTED_PROXIES", "127.0.0.0/8".to_owned()),
    ];
    let (stack, sink) = with_qr_codes(StackOptions {
        settings,
        mailers: 0,
        ..StackOptions::default()
    })
    .await;
    let integration = json!({"name": "CRM", "keys": [{"name": "k", "key": INTEGRATION_KEY}]});
    stack
        .apply_team(json!({"teams": [{"name": "Test", "integrations": [integration]}]}))
        .await;
    let fleet: Vec<FleetProcess> = FLEET
        .iter()
        .map(|name| FleetProcess::start(name, &stack.settings))
        .collect();
    for member in &fleet {
        member.wait_until_ready().await;
    }
    (stack, sink, fleet)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_rolling_restart_of_every_process_fails_no_request() {
    let (stack, sink, mut fleet) = with_fleet().await;
    let balancer = LoadBalancer::start_before(&fleet[0], &fleet[1]);
    let client = Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap();
    let integration = Integration {
        client: client.clone(),
        url: balancer.url.clone(),
    };
    integration.begin().await;
    // Cards to scan, at houses that the load does not have.
    wait_until("cards are mailed", async || {
        stack
            .send_recipients(&build_recipients(190_000..190_010))
            .await
            .status
            == 200
    })
    .await;
    let codes = list_codes(&stack).await;

    let load = LoadGenerator::start(
        std::slice::from_ref(&balancer.url),
        3,
        LoadRetryPolicy::Noted,
    );
    let pushes = Beside::start(integration.pushing());
    let scans = Beside::start(scanning(client, balancer.url.clone(), codes));
    for member in &mut fleet {
        assert!(member.restart().await, "{} ended well", member.name);
    }
    let (pushed, scanned) = (Beside::end(pushes).await, Beside::end(scans).await);
    let sent = load.finish().await;

    assert_eq!(sent.failures, Vec::<String>::new(), "no send failed");
    assert_eq!(
        stack.query_count("SELECT count(*) FROM contacts").await,
        i64::try_from(pushed).unwrap()
    );
    wait_until("each scan is recorded", async || {
        stack.query_count("SELECT count(*) FROM scans").await == i64::try_from(scanned).unwrap()
    })
    .await;
    let ids = || {
        sink.received()
            .iter()
            .map(ReceivedEvent::id)
            .collect::<HashSet<_>>()
            .len()
    };
    wait_until("each scan is delivered", async || ids() == scanned).await;
    println!(
        "\ndrill rolling restart: {pushed} pushes and {scanned} scans, {} copies among deliveries",
        sink.count_received() - scanned
    );
    LoadTally::compare(&stack, &sent)
        .await
        .print_and_assert("rolling restart", &sent);
    stack.assert_consistent().await;
}
