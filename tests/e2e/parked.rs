//! Calls that nobody can finish: told to their callers at once and parked. Calls that nobody waits for: thrown away.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use lapin::BasicProperties;
use lapin::options::{BasicPublishOptions, QueueDeleteOptions};
use lapin::types::{AMQPValue, FieldTable};
use pillarbox_tests::{run_operator_command, wait_until};
use queue::{
    Broker, BrokerSettings, CallError, CallHandler, ConsumerOptions, QueueCall, QueueCaller,
    QueueReply, SlotPermit, delete_parked_messages, list_parked_messages, serve_calls,
    sort_dead_letters,
};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

const QUEUE: &str = "send";

const TEAM: Uuid = Uuid::from_u128(7);

/// Calls in the queue of which one kills its worker.
const CALLS: u32 = 60;

/// Longer than any of these calls takes.
const PATIENCE: Duration = Duration::from_secs(25);

/// Longer than a caller goes on looking for workers when nobody calls.
const REST: Duration = Duration::from_secs(3);

/// Does what a call's kind says.
#[derive(Default)]
struct Obedient {
    panicked: AtomicUsize,
    answered: AtomicUsize,
    /// Whether a worker dies of what it begins.
    is_fatal: AtomicBool,
    begun: Mutex<Vec<Uuid>>,
    dies: Notify,
    holds: Notify,
    released: Notify,
}

impl CallHandler for Obedient {
    async fn handle(&self, call: QueueCall, _turn: SlotPermit) -> Option<QueueReply> {
        match call.kind.as_str() {
            "panic" => {
                self.panicked.fetch_add(1, Ordering::Relaxed);
                panic!("told to");
            }
            "panic once" if self.panicked.fetch_add(1, Ordering::Relaxed) == 0 => panic!("told to"),
            "die first" if self.is_fatal.load(Ordering::Relaxed) => {
                self.begun.lock().unwrap().push(call.id);
                self.dies.notify_one();
                std::future::pending().await
            }
            "hold" => {
                self.holds.notify_one();
                self.released.notified().await;
                Some(QueueReply::new("ok", call.body))
            }
            "answer" | "die first" => {
                self.answered.fetch_add(1, Ordering::Relaxed);
                Some(QueueReply::new("ok", call.body))
            }
            _ => None,
        }
    }
}

/// A broker of ours in a namespace of its own, with a worker that has one slot.
struct Bench {
    url: String,
    namespace: String,
    broker: Broker,
    /// A channel besides the broker's.
    channel: lapin::Channel,
    caller: QueueCaller,
    handler: Arc<Obedient>,
    shutdown: CancellationToken,
}

impl Bench {
    /// Without anybody at work.
    async fn idle() -> Self {
        let url = std::env::var("TEST_AMQP_URL").expect("TEST_AMQP_URL is set by ./dev test");
        let namespace = format!("test-{}", Uuid::now_v7());
        let shutdown = CancellationToken::new();
        let settings = BrokerSettings {
            url: url.clone(),
            namespace: namespace.clone(),
        };
        let broker = Broker::start(&settings, "test", shutdown.clone());
        let caller = QueueCaller::start(&broker, QUEUE, shutdown.clone());
        caller.wait_until_opened().await;
        let connection =
            lapin::Connection::connect(&url, lapin::ConnectionProperties::default()).await;
        let channel = connection.unwrap().create_channel().await.unwrap();
        Self {
            url,
            namespace,
            broker,
            channel,
            caller,
            handler: Arc::default(),
            shutdown,
        }
    }

    async fn start() -> Self {
        let bench = Self::idle().await;
        bench.sort();
        bench.work(bench.broker.clone(), bench.shutdown.clone());
        wait_until("a worker listens", async || bench.caller.is_ready().await).await;
        bench
    }

    /// Starts a worker.
    fn work(&self, broker: Broker, shutdown: CancellationToken) -> JoinHandle<()> {
        let consumption = ConsumerOptions {
            queue: QUEUE,
            concurrency: 1,
            shutdown,
            grace: Duration::from_secs(1),
            is_consuming: Arc::default(),
        };
        let handler = self.handler.clone();
        tokio::spawn(async move { serve_calls(&broker, consumption, handler).await })
    }

    /// Works until a call kills the worker with so many others `left_in_queue`: its connection goes, with all that it had.
    async fn work_until_death(&self, left_in_queue: u32) {
        let connection = CancellationToken::new();
        let worker = self.work(self.connect(connection.clone()), CancellationToken::new());
        self.handler.dies.notified().await;
        wait_until("it has what it may", async || {
            self.depth(QUEUE).await == left_in_queue
        })
        .await;
        worker.abort();
        connection.cancel();
        wait_until("its calls are back", async || {
            self.depth(QUEUE).await == CALLS
        })
        .await;
    }

    fn connect(&self, shutdown: CancellationToken) -> Broker {
        let (url, namespace) = (self.url.clone(), self.namespace.clone());
        Broker::start(&BrokerSettings { url, namespace }, "test", shutdown)
    }

    /// Puts a call into the queue that nobody waits for.
    async fn publish(&self, kind: &str) {
        let mut headers = FieldTable::default();
        headers.insert(
            "team".into(),
            AMQPValue::LongString(TEAM.to_string().into()),
        );
        headers.insert("deadline_ms".into(), AMQPValue::LongLongInt(i64::MAX));
        let call = BasicProperties::default()
            .with_correlation_id(Uuid::now_v7().to_string().into())
            .with_type(kind.into())
            .with_headers(headers);
        let (queue, options) = (
            format!("{}.{QUEUE}", self.namespace),
            BasicPublishOptions::default(),
        );
        self.channel
            .basic_publish("".into(), queue.into(), options, b"{}", call)
            .await
            .unwrap();
    }

    /// Starts sorting what the broker gives up.
    fn sort(&self) {
        let (broker, shutdown) = (self.broker.clone(), self.shutdown.clone());
        tokio::spawn(async move { sort_dead_letters(&broker, &[QUEUE], shutdown).await });
    }

    async fn call(&self, kind: &str, patience: Duration) -> Result<QueueReply, CallError> {
        self.caller.call(call(kind, b"{}"), patience).await
    }

    /// How many messages wait in the queue.
    async fn depth(&self, queue: &'static str) -> u32 {
        self.broker.measure_depths(&[queue]).await.unwrap()[0].messages
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

fn call(kind: &str, body: &'static [u8]) -> QueueCall {
    QueueCall {
        id: Uuid::now_v7(),
        kind: kind.to_owned(),
        team: TEAM,
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
    let parked = list_parked_messages(&bench.broker).await.unwrap();
    assert_eq!(parked.len(), 1);
    assert_eq!(
        (&*parked[0].kind, &*parked[0].reason),
        ("panic", "delivery_limit")
    );
    assert!(
        bench.call("answer", PATIENCE).await.is_ok(),
        "the one slot was given back"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_were_never_begun_are_not_parked_with_the_one_that_kills_workers() {
    let bench = Bench::idle().await;
    bench.sort();
    for _ in 0..CALLS {
        bench.publish("die first").await;
    }
    bench.handler.is_fatal.store(true, Ordering::Relaxed);
    // Two workers had all calls, further ones only the one that they began.
    for left_in_queue in [0, 0, CALLS - 1, CALLS - 1, CALLS - 1] {
        bench.work_until_death(left_in_queue).await;
    }
    bench.handler.is_fatal.store(false, Ordering::Relaxed);
    bench.work(bench.broker.clone(), bench.shutdown.clone());
    wait_until("every call is answered or parked", async || {
        let answered = bench.handler.answered.load(Ordering::Relaxed);
        answered + bench.depth("parked").await as usize == CALLS as usize
    })
    .await;
    let begun = bench.handler.begun.lock().unwrap().clone();
    let parked = list_parked_messages(&bench.broker).await.unwrap();
    assert!(
        parked
            .iter()
            .all(|parked| begun.contains(&parked.id.unwrap())),
        "never begun, and parked"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_refused_when_it_was_perhaps_begun_before_is_given_up() {
    let bench = Bench::start().await;
    assert_eq!(
        bench.call("panic once", PATIENCE).await,
        Err(CallError::GivenUp)
    );
    assert_eq!(bench.handler.panicked.load(Ordering::Relaxed), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_cannot_be_parked_waits_until_it_can() {
    let bench = Bench::start().await;
    wait_until("somebody sorts", async || {
        bench.broker.measure_depths(&["dead"]).await.unwrap()[0].consumers == 1
    })
    .await;
    let parked = format!("{}.parked", bench.namespace);
    bench
        .channel
        .queue_delete(parked.into(), QueueDeleteOptions::default())
        .await
        .unwrap();
    let _ = bench.call("of a later version", PATIENCE).await;
    wait_until("it is parked", async || bench.depth("parked").await == 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_an_unknown_kind_is_refused_at_once_and_kept_to_be_looked_at() {
    let bench = Bench::start().await;
    let body = br#"{"recipients": []}"#;
    let unknown = call("of a later version", body);
    let id = unknown.id;
    assert_eq!(
        bench.caller.call(unknown, PATIENCE).await,
        Err(CallError::Unavailable)
    );
    wait_until("it is parked", async || bench.depth("parked").await == 1).await;
    // Looked at as often as an operator likes, it stays.
    for _ in 0..30 {
        let parked = list_parked_messages(&bench.broker).await.unwrap();
        assert_eq!((parked.len(), parked[0].id), (1, Some(id)));
        assert_eq!(
            (&*parked[0].reason, parked[0].body.as_deref()),
            ("rejected", Some(&body[..]))
        );
    }
    let settings = [
        ("PILLARBOX__BROKER__URL", &bench.url),
        ("PILLARBOX__BROKER__NAMESPACE", &bench.namespace),
    ];
    let settings = settings
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .into();
    let shown = run_operator_command(&["parked", "show", &id.to_string()], &settings);
    assert_eq!(shown.as_bytes(), body);
    assert_eq!(delete_parked_messages(&bench.broker).await.unwrap(), 1);
    assert!(
        list_parked_messages(&bench.broker)
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_expires_in_a_worker_is_thrown_away_unbegun() {
    let bench = Bench::idle().await;
    bench.sort();
    let stop = CancellationToken::new();
    let worker = bench.work(bench.broker.clone(), stop.clone());
    wait_until("a worker listens", async || bench.caller.is_ready().await).await;
    let (held, expired) = tokio::join!(bench.call("hold", PATIENCE), async {
        bench.handler.holds.notified().await;
        let patience = Duration::from_secs(1);
        let expired = bench.call("answer", patience).await;
        // The worker has had it for as long as its caller waited, or a little less.
        tokio::time::sleep(patience).await;
        bench.handler.released.notify_one();
        expired
    });
    assert!(held.is_ok());
    assert_eq!(expired, Err(CallError::DeadlinePassed));
    stop.cancel();
    worker.await.unwrap();
    assert_eq!(bench.handler.answered.load(Ordering::Relaxed), 0);
    // What was not acknowledged would be back.
    for queue in [QUEUE, "dead", "parked"] {
        assert_eq!(bench.depth(queue).await, 0, "{queue}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_expires_in_the_broker_is_thrown_away_with_its_body() {
    let bench = Bench::idle().await;
    let expiring = BasicProperties::default().with_expiration("1".into());
    let (queue, options) = (
        format!("{}.{QUEUE}", bench.namespace),
        BasicPublishOptions::default(),
    );
    bench
        .channel
        .basic_publish(
            "".into(),
            queue.into(),
            options,
            b"somebody's address",
            expiring,
        )
        .await
        .unwrap();
    wait_until("the broker gives it up", async || {
        bench.depth("dead").await == 1
    })
    .await;
    bench.sort();
    wait_until("nothing is left of it", async || {
        bench.depth("dead").await == 0
    })
    .await;
    // What is parked is parked before it leaves the queue of the dead.
    assert_eq!(bench.depth("parked").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_call_after_a_rest_finds_the_workers_of_now() {
    let bench = Bench::idle().await;
    bench.sort();
    tokio::time::sleep(REST).await;
    let nobody = Err(CallError::Unavailable);
    assert_eq!(bench.call("answer", PATIENCE).await, nobody);
    let stop = CancellationToken::new();
    let worker = bench.work(bench.broker.clone(), stop.clone());
    wait_until("a worker listens", async || {
        let [depth] = bench.broker.measure_depths(&[QUEUE]).await.unwrap();
        depth.consumers == 1
    })
    .await;
    tokio::time::sleep(REST).await;
    assert!(bench.call("answer", PATIENCE).await.is_ok());
    stop.cancel();
    worker.await.unwrap();
    tokio::time::sleep(REST).await;
    assert_eq!(bench.call("answer", PATIENCE).await, nobody);
}
