//! The side that answers: takes calls from a queue, replies, and only then acknowledges.
//!
//! A call that is being worked on when the worker dies is delivered again, to this worker or another,
//! so a handler must be able to go on from what it finds in the database.
//!
//! A worker takes many more calls than it works on, so that it sees those of every team; whose turn it is is decided by
//! [`crate::lanes`]. What waits is bounded, and goes back to the queue when the worker stops.
//!
//! The broker counts a worker's death against every call that it had, also against those that it had not begun. So calls
//! that more than one worker died with are had one at a time: only the one that kills is parked for it.

use std::error::Error;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::{FutureExt, StreamExt};
use lapin::message::Delivery;
use lapin::options::{
    BasicAckOptions, BasicCancelOptions, BasicConsumeOptions, BasicNackOptions, BasicQosOptions,
    BasicRejectOptions,
};
use lapin::types::FieldTable;
use lapin::{Channel, Consumer};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::broker::{Broker, BrokerLink};
use crate::call::{CallEnvelope, QueueCall, QueueReply, delivery_count, send_reply};
use crate::topology::{DELIVERY_LIMIT, declare_call_queue, queue_name};
use crate::turns::{SlotPermit, SlotScheduler, WaitingCall};

/// Pause before a failed session is opened again.
const SESSION_PAUSE: Duration = Duration::from_millis(200);

/// Messages that a worker is sent ahead: more than there is room for in its lanes, which so decide what waits and what
/// is refused.
const PREFETCH: u16 = 1_200;

/// Messages that it is sent ahead while it meets suspects: the one that it works on.
const CAUTIOUS_PREFETCH: u16 = 1;

/// Earlier deliveries of a call that failed, or whose worker died, from which on it is a suspect. Below the limit by as many
/// as a call must kill by itself to be parked.
const SUSPECT_FROM: i64 = 2;

/// Calls in a row that are no suspects, after one that is, before a worker is sent many again.
const UNSUSPECTED_RUN: u32 = 8;

/// Pause before a call goes back whose handler panicked: it may come again at once.
const PANIC_PAUSE: Duration = Duration::from_millis(100);

/// Time for the broker to end a consumer.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);

/// What a worker does with a call.
pub trait CallHandler: Send + Sync + 'static {
    /// Answers a call in its turn. `None` when the call is of a kind or version that this worker does not know: it is
    /// parked, and its caller told.
    fn handle(
        &self,
        call: QueueCall,
        turn: SlotPermit,
    ) -> impl Future<Output = Option<QueueReply>> + Send;
}

/// How a worker takes calls.
#[derive(Debug, Clone)]
pub struct ConsumerOptions {
    /// From which queue.
    pub queue: &'static str,
    /// Calls worked on at a time.
    pub concurrency: u16,
    /// When cancelled, no new call is taken.
    pub shutdown: CancellationToken,
    /// How long calls that were begun may then take; what is not finished goes back to the queue.
    pub grace: Duration,
    /// True while calls are being taken.
    pub is_consuming: Arc<AtomicBool>,
}

/// Takes calls and answers them until the shutdown.
pub async fn serve_calls<H: CallHandler>(
    broker: &Broker,
    consumption: ConsumerOptions,
    handler: Arc<H>,
) {
    let ConsumerOptions {
        queue,
        shutdown,
        is_consuming,
        ..
    } = consumption.clone();
    let worker = QueueWorker {
        handler,
        // Shared by all sessions: calls of a lost connection are still being worked on when the next one opens.
        turns: SlotScheduler::new(consumption.concurrency.into()),
        tasks: TaskTracker::new(),
        consumption,
    };
    while !shutdown.is_cancelled() {
        let link = tokio::select! {
            link = broker.wait_for_link() => link,
            () = shutdown.cancelled() => None,
        };
        let Some(link) = link else { break };
        let ended = worker.run_session(broker, &link).await;
        is_consuming.store(false, Ordering::Relaxed);
        if let Err(error) = ended {
            tracing::warn!(error = &error as &dyn Error, queue, "the consumer ended");
            tokio::time::sleep(SESSION_PAUSE).await;
        }
    }
    // Stopped without a channel: nobody gets the replies, but what was begun ends well, and the replies are in the database.
    if !worker.tasks.is_closed() {
        worker.finish_begun().await;
    }
}

struct QueueWorker<H> {
    handler: Arc<H>,
    turns: SlotScheduler,
    tasks: TaskTracker,
    consumption: ConsumerOptions,
}

impl<H: CallHandler> QueueWorker<H> {
    async fn run_session(&self, broker: &Broker, link: &Arc<BrokerLink>) -> lapin::Result<()> {
        let ConsumerOptions {
            queue,
            shutdown,
            is_consuming,
            ..
        } = &self.consumption;
        let channel = link.connection.create_channel().await?;
        declare_call_queue(&channel, &broker.namespace, queue).await?;
        let name = queue_name(&broker.namespace, queue);
        let mut deliveries = start_consumer(&channel, &name, CAUTIOUS_PREFETCH).await?;
        tracing::info!(queue, "taking calls");
        is_consuming.store(true, Ordering::Relaxed);
        let lost = CancellationToken::new();
        // What waits when the channel is lost is delivered again; it must not be begun here as well.
        let _lost = lost.clone().drop_guard();
        let mut hand_back = shutdown.child_token();
        // Calls to see before many are taken. What was given back comes first, so the first one tells of the others.
        let mut caution = 1;
        loop {
            let delivery = tokio::select! {
                delivery = deliveries.next() => delivery,
                () = shutdown.cancelled() => break,
            };
            let Some(delivery) = delivery else {
                return Ok(());
            };
            let delivery = delivery?;
            let is_suspect = delivery_count(&delivery.properties) >= SUSPECT_FROM;
            self.enqueue_delivery(&channel, delivery, &lost, &hand_back);
            let was_cautious = caution > 0;
            caution = if is_suspect {
                UNSUSPECTED_RUN
            } else {
                caution.saturating_sub(1)
            };
            let is_cautious = caution > 0;
            if is_cautious == was_cautious {
                continue;
            }
            let prefetch = if is_cautious {
                CAUTIOUS_PREFETCH
            } else {
                PREFETCH
            };
            // Before the other one ends: callers ask whether anybody listens.
            let next = start_consumer(&channel, &name, prefetch).await?;
            if is_cautious {
                tracing::warn!(
                    queue,
                    "workers died with a call; such calls are taken one at a time"
                );
                std::mem::replace(&mut hand_back, shutdown.child_token()).cancel();
            }
            stop_consumer(&channel, std::mem::replace(&mut deliveries, next)).await?;
        }
        // No new calls; those begun are answered over the channel that they came on.
        stop_consumer(&channel, deliveries).await?;
        self.finish_begun().await;
        Ok(())
    }

    /// Waits for calls that were begun, as long as the grace lasts.
    async fn finish_begun(&self) {
        let ConsumerOptions { queue, grace, .. } = &self.consumption;
        self.tasks.close();
        if tokio::time::timeout(*grace, self.tasks.wait())
            .await
            .is_err()
        {
            tracing::warn!(
                queue,
                "stopping with calls unfinished; they go back to the queue"
            );
        }
    }

    /// Puts a call into its team's lane, and answers it when its turn has come, or hands it back before.
    fn enqueue_delivery(
        &self,
        channel: &Channel,
        delivery: Delivery,
        lost: &CancellationToken,
        hand_back: &CancellationToken,
    ) {
        let queue = self.consumption.queue;
        let (handler, channel) = (self.handler.clone(), channel.clone());
        let (lost, hand_back) = (lost.clone(), hand_back.clone());
        let envelope = CallEnvelope::from_delivery(&delivery);
        let queued = envelope.map(|envelope| {
            (
                envelope,
                self.turns
                    .enqueue_call(envelope.team, envelope.travelled, envelope.body),
            )
        });
        self.tasks.spawn(async move {
            let message = DeliveredMessage { channel, delivery };
            let end = match queued {
                None => CallEnding::Unknown,
                Some((envelope, _)) if envelope.delivery_count >= DELIVERY_LIMIT => {
                    CallEnding::Failed
                }
                Some((envelope, queued)) => {
                    let turn = tokio::select! {
                        biased;
                        // The broker has it back, and nobody can be answered.
                        () = lost.cancelled() => return,
                        turn = wait_for_turn(queue, queued, envelope, &hand_back) => turn,
                    };
                    match turn {
                        Ok(turn) => return message.run_handler(queue, &*handler, turn).await,
                        Err(end) => end,
                    }
                }
            };
            message.finish_or_log(queue, end).await;
        });
    }
}

/// How a call ends here.
enum CallEnding {
    /// With a reply.
    Answered(QueueReply),
    /// Nobody knows what it is: parked.
    Unknown,
    /// The team has too many calls waiting.
    Refused,
    /// Nobody waits for it any more.
    Expired,
    /// This worker stops, or was sent more than it may have while it meets suspects: it comes again, here or elsewhere.
    HandedBack,
    /// Its worker panicked, or it has been delivered too often. The broker counts that, and gives it up past the limit.
    Failed,
}

/// Waits for a call's turn.
async fn wait_for_turn(
    queue: &'static str,
    queued: WaitingCall,
    envelope: CallEnvelope,
    hand_back: &CancellationToken,
) -> Result<SlotPermit, CallEnding> {
    let _waiting = GaugeGuard::start("pillarbox_work_waiting", queue);
    tokio::select! {
        biased;
        () = hand_back.cancelled() => Err(CallEnding::HandedBack),
        turn = queued.wait_for_turn() => turn.map_err(|_| CallEnding::Refused),
        () = tokio::time::sleep(envelope.patience) => Err(CallEnding::Expired),
    }
}

/// A message, and the channel that it came on.
struct DeliveredMessage {
    channel: Channel,
    delivery: Delivery,
}

impl DeliveredMessage {
    /// Works on a call. The turn ends when the broker knows what came of it, or before when the handler panics.
    async fn run_handler<H: CallHandler>(
        mut self,
        queue: &'static str,
        handler: &H,
        turn: SlotPermit,
    ) {
        let end = match QueueCall::from_delivery(&mut self.delivery) {
            None => CallEnding::Unknown,
            Some(call) => {
                let request_id = call.id;
                let work = CallMetricsGuard::start(queue, &call);
                let handled = AssertUnwindSafe(handler.handle(call, turn.clone()))
                    .catch_unwind()
                    .await;
                drop(work);
                match handled {
                    Ok(Some(reply)) => CallEnding::Answered(reply),
                    Ok(None) => CallEnding::Unknown,
                    Err(_) => {
                        metrics::counter!("pillarbox_work_panics_total", "queue" => queue)
                            .increment(1);
                        tracing::error!(%request_id, queue, "a worker panicked at a call");
                        tokio::time::sleep(PANIC_PAUSE).await;
                        CallEnding::Failed
                    }
                }
            }
        };
        self.finish_or_log(queue, end).await;
        drop(turn);
    }

    async fn finish_or_log(self, queue: &'static str, end: CallEnding) {
        if let Err(error) = self.finish(queue, end).await {
            // The call is delivered again, and its reply found in the database.
            tracing::warn!(error = &error as &dyn Error, queue, "cannot reply");
        }
    }

    /// The reply to a call that is not begun here. Who had it before may have begun it, even where the broker counts no failure.
    fn not_taken(&self) -> QueueReply {
        if self.delivery.redelivered {
            QueueReply::given_up()
        } else {
            QueueReply::refused()
        }
    }

    /// Tells the caller and the broker.
    async fn finish(&self, queue: &'static str, end: CallEnding) -> lapin::Result<()> {
        let Self { channel, delivery } = self;
        let acker = &delivery.acker;
        match end {
            CallEnding::Answered(reply) => {
                send_reply(channel, &delivery.properties, reply).await?;
                acker.ack(BasicAckOptions::default()).await.map(drop)
            }
            CallEnding::Unknown => {
                tracing::error!(queue, "a message of an unknown kind or encoding is parked");
                send_reply(channel, &delivery.properties, self.not_taken()).await?;
                acker
                    .reject(BasicRejectOptions { requeue: false })
                    .await
                    .map(drop)
            }
            CallEnding::Refused => {
                metrics::counter!("pillarbox_work_refused_total", "queue" => queue).increment(1);
                send_reply(channel, &delivery.properties, self.not_taken()).await?;
                acker.ack(BasicAckOptions::default()).await.map(drop)
            }
            CallEnding::Expired => {
                metrics::counter!("pillarbox_calls_expired_total", "queue" => queue).increment(1);
                acker.ack(BasicAckOptions::default()).await.map(drop)
            }
            // Newer brokers count a reject as a failed delivery, but not this.
            CallEnding::HandedBack => acker
                .nack(BasicNackOptions {
                    requeue: true,
                    multiple: false,
                })
                .await
                .map(drop),
            CallEnding::Failed => acker
                .reject(BasicRejectOptions { requeue: true })
                .await
                .map(drop),
        }
    }
}

/// Starts a consumer that is sent so many messages ahead.
async fn start_consumer(channel: &Channel, name: &str, prefetch: u16) -> lapin::Result<Consumer> {
    channel
        .basic_qos(prefetch, BasicQosOptions::default())
        .await?;
    let options = BasicConsumeOptions::default();
    channel
        .basic_consume(name.into(), "".into(), options, FieldTable::default())
        .await
}

/// Ends a consumer; what it was sent and nobody looked at goes back.
async fn stop_consumer(channel: &Channel, deliveries: Consumer) -> lapin::Result<()> {
    channel
        .basic_cancel(deliveries.tag(), BasicCancelOptions::default())
        .await?;
    let _ = tokio::time::timeout(CANCEL_TIMEOUT, hand_back_all(deliveries)).await;
    Ok(())
}

/// Gives back what was delivered and not looked at when the consumer ended.
async fn hand_back_all(mut deliveries: Consumer) {
    while let Some(Ok(delivery)) = deliveries.next().await {
        let options = BasicNackOptions {
            requeue: true,
            multiple: false,
        };
        if delivery.acker.nack(options).await.is_err() {
            return;
        }
    }
}

/// Something counted in a gauge until it is dropped.
struct GaugeGuard {
    gauge: &'static str,
    queue: &'static str,
}

impl GaugeGuard {
    fn start(gauge: &'static str, queue: &'static str) -> Self {
        metrics::gauge!(gauge, "queue" => queue).increment(1);
        Self { gauge, queue }
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        metrics::gauge!(self.gauge, "queue" => self.queue).decrement(1);
    }
}

/// A call being worked on, measured until it is dropped.
struct CallMetricsGuard {
    queue: &'static str,
    begun: Instant,
    _running: GaugeGuard,
}

impl CallMetricsGuard {
    fn start(queue: &'static str, call: &QueueCall) -> Self {
        if call.delivery_count > 0 {
            metrics::counter!("pillarbox_work_redelivered_total", "queue" => queue).increment(1);
        }
        Self {
            queue,
            begun: Instant::now(),
            _running: GaugeGuard::start("pillarbox_work_running", queue),
        }
    }
}

impl Drop for CallMetricsGuard {
    fn drop(&mut self) {
        metrics::histogram!("pillarbox_work_duration_seconds", "queue" => self.queue)
            .record(self.begun.elapsed().as_secs_f64());
    }
}
