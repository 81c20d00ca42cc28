//! Calls that nobody can finish: told to their callers at once and parked. Calls that nobody waits for: thrown away.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use lapin::BasicProperties;
use lapin::options::BasicPublishOptions;
use pillarbox_tests::{eventually, operate};
use queue::{
    Broker, Call, CallError, Caller, Consumption, Handler, Reply, Settings, Turn, parked_drop, parked_list,
    serve, sort_dead_letters,
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

const QUEUE: &str = "send";

/// Longer than any of these calls takes.
const PATIENCE: Duration = Duration::from_secs(25);

/// Does what a call's kind says.
#[derive(Default)]
struct Obedient {
    panicked: AtomicUsize,
}

impl Handler for Obedient {
    async fn handle(&self, call: Call, _turn: Turn) -> Option<Reply> {
        match call.kind.as_str() {
            "panic" => {
                self.panicked.fetch_add(1, Ordering::Relaxed);
                panic!("told to");
            }
            "answer" => Some(Reply { kind: "ok".to_owned(), body: call.body }),
            _ => None,
        }
    }
}

/// A broker of ours in a namespace of its own, with one worker that has one slot.
struct Bench {
    url: String,
    namespace: String,
    broker: Broker,
    caller: Caller,
    handler: Arc<Obedient>,
    shutdown: CancellationToken,
}

impl Bench {
    /// Without anybody at work.
    async fn idle() -> Self {
        let url = std::env::var("TEST_AMQP_URL").expect("TEST_AMQP_URL is set by ./dev test");
        let namespace = format!("test-{}", Uuid::now_v7());
        let shutdown = CancellationToken::new();
        let settings =
            Settings { url: url.clone(), namespace: namespace.clone(), connection_name: "test".to_owned() };
        let broker = Broker::start(settings, shutdown.clone());
        let caller = Caller::start(&broker, QUEUE, shutdown.clone());
        caller.opened().await;
        Self { url, namespace, broker, caller, handler: Arc::default(), shutdown }
    }

    async fn start() -> Self {
        let bench = Self::idle().await;
        bench.sort();
        let consumption = Consumption {
            queue: QUEUE,
            concurrency: 1,
            shutdown: bench.shutdown.clone(),
            grace: Duration::from_secs(1),
            is_consuming: Arc::default(),
        };
        let (broker, handler) = (bench.broker.clone(), bench.handler.clone());
        tokio::spawn(async move { serve(&broker, consumption, handler).await });
        eventually("a worker listens", async || bench.caller.is_ready()).await;
        bench
    }

    /// Starts sorting what the broker gives up.
    fn sort(&self) {
        let (broker, shutdown) = (self.broker.clone(), self.shutdown.clone());
        tokio::spawn(async move { sort_dead_letters(&broker, &[QUEUE], shutdown).await });
    }

    async fn call(&self, kind: &str, patience: Duration) -> Result<Reply, CallError> {
        self.caller.call(call(kind, b"{}"), patience).await
    }

    /// How many messages wait in the queue.
    async fn depth(&self, queue: &'static str) -> u32 {
        self.broker.depths(&[queue]).await.unwrap()[0].messages
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

fn call(kind: &str, body: &'static [u8]) -> Call {
    Call {
        id: Uuid::now_v7(),
        kind: kind.to_owned(),
        team: Uuid::from_u128(7),
        context: String::new(),
        trace: String::new(),
        deadline_ms: i64::MAX,
        delivery_count: 0,
        body: Bytes::from_static(body),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_worker_panics_is_parked_after_five_deliveries_and_its_caller_is_told() {
    let bench = Bench::start().await;
    assert_eq!(bench.call("panic", PATIENCE).await, Err(CallError::GivenUp));
    assert_eq!(bench.handler.panicked.load(Ordering::Relaxed), 5);
    let parked = parked_list(&bench.broker).await.unwrap();
    assert_eq!(parked.len(), 1);
    assert_eq!((&*parked[0].kind, &*parked[0].reason), ("panic", "delivery_limit"));
    assert!(bench.call("answer", PATIENCE).await.is_ok(), "the one slot was given back");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_an_unknown_kind_is_refused_at_once_and_kept_to_be_looked_at() {
    let bench = Bench::start().await;
    let body = br#"{"recipients": []}"#;
    let unknown = call("of a later version", body);
    let id = unknown.id;
    assert_eq!(bench.caller.call(unknown, PATIENCE).await, Err(CallError::Unavailable));
    eventually("it is parked", async || bench.depth("parked").await == 1).await;
    // Looked at as often as an operator likes, it stays.
    for _ in 0..30 {
        let parked = parked_list(&bench.broker).await.unwrap();
        assert_eq!((parked.len(), parked[0].id), (1, Some(id)));
        assert_eq!((&*parked[0].reason, parked[0].body.as_deref()), ("rejected", Some(&body[..])));
    }
    let settings =
        [("PILLARBOX__BROKER__URL", &bench.url), ("PILLARBOX__BROKER__NAMESPACE", &bench.namespace)];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.clone())).into();
    let shown = operate(&["parked", "show", &id.to_string()], &settings);
    assert_eq!(shown.as_bytes(), body);
    assert_eq!(parked_drop(&bench.broker).await.unwrap(), 1);
    assert!(parked_list(&bench.broker).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_expires_in_the_broker_is_thrown_away_with_its_body() {
    let bench = Bench::idle().await;
    let connection =
        lapin::Connection::connect(&bench.url, lapin::ConnectionProperties::default()).await.unwrap();
    let channel = connection.create_channel().await.unwrap();
    let expiring = BasicProperties::default().with_expiration("1".into());
    let (queue, options) = (format!("{}.{QUEUE}", bench.namespace), BasicPublishOptions::default());
    channel.basic_publish("".into(), queue.into(), options, b"somebody's address", expiring).await.unwrap();
    eventually("the broker gives it up", async || bench.depth("dead").await == 1).await;
    bench.sort();
    eventually("nothing is left of it", async || bench.depth("dead").await == 0).await;
    // What is parked is parked before it leaves the queue of the dead.
    assert_eq!(bench.depth("parked").await, 0);
}
