//! The side that answers: takes calls from a queue, replies, and only then acknowledges.
//!
//! A call that is being worked on when the worker dies is delivered again, to this worker or another,
//! so a handler must be able to go on from what it finds in the database.

use std::error::Error;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use lapin::message::Delivery;
use lapin::options::{
    BasicAckOptions, BasicCancelOptions, BasicConsumeOptions, BasicPublishOptions, BasicQosOptions,
    BasicRejectOptions,
};
use lapin::types::FieldTable;
use lapin::{BasicProperties, Channel};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::broker::{Broker, Link};
use crate::call::{Call, Reply};
use crate::topology::{declare, queue_name};

/// Pause before a failed session is opened again.
const SESSION_PAUSE: Duration = Duration::from_millis(200);

const CONSUMER_TAG: &str = "worker";

/// What a worker does with a call.
pub trait Handler: Send + Sync + 'static {
    /// Answers a call. `None` when the call is of a kind or version that this worker does not know: it is parked.
    fn handle(&self, call: Call) -> impl Future<Output = Option<Reply>> + Send;
}

/// How a worker takes calls.
#[derive(Debug, Clone)]
pub struct Consumption {
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
pub async fn serve<H: Handler>(broker: &Broker, consumption: Consumption, handler: Arc<H>) {
    let Consumption { queue, shutdown, is_consuming, .. } = consumption.clone();
    let worker = Worker {
        handler,
        // Shared by all sessions: calls of a lost connection are still being worked on when the next one opens.
        slots: Arc::new(Semaphore::new(consumption.concurrency.into())),
        tasks: TaskTracker::new(),
        consumption,
    };
    while !shutdown.is_cancelled() {
        let link = tokio::select! {
            link = broker.link() => link,
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

struct Worker<H> {
    handler: Arc<H>,
    slots: Arc<Semaphore>,
    tasks: TaskTracker,
    consumption: Consumption,
}

impl<H: Handler> Worker<H> {
    async fn run_session(&self, broker: &Broker, link: &Arc<Link>) -> lapin::Result<()> {
        let Consumption { queue, concurrency, shutdown, is_consuming, .. } = &self.consumption;
        let channel = link.connection.create_channel().await?;
        channel.basic_qos(*concurrency, BasicQosOptions::default()).await?;
        declare(&channel, &broker.namespace, queue).await?;
        let name = queue_name(&broker.namespace, queue);
        let options = BasicConsumeOptions::default();
        let mut deliveries =
            channel.basic_consume(name.into(), CONSUMER_TAG.into(), options, FieldTable::default()).await?;
        tracing::info!(queue, "taking calls");
        is_consuming.store(true, Ordering::Relaxed);
        loop {
            tokio::select! {
                delivery = deliveries.next() => match delivery {
                    Some(delivery) => self.take(&channel, delivery?),
                    None => return Ok(()),
                },
                () = shutdown.cancelled() => break,
            }
        }
        // No new calls; those begun are answered over the channel that they came on.
        channel.basic_cancel(CONSUMER_TAG.into(), BasicCancelOptions::default()).await?;
        self.finish_begun().await;
        Ok(())
    }

    /// Waits for calls that were begun, as long as the grace lasts.
    async fn finish_begun(&self) {
        let Consumption { queue, grace, .. } = &self.consumption;
        self.tasks.close();
        if tokio::time::timeout(*grace, self.tasks.wait()).await.is_err() {
            tracing::warn!(queue, "stopping with calls unfinished; they go back to the queue");
        }
    }

    fn take(&self, channel: &Channel, mut delivery: Delivery) {
        let (handler, slots, channel) = (self.handler.clone(), self.slots.clone(), channel.clone());
        let queue = self.consumption.queue;
        self.tasks.spawn(async move {
            // The semaphore is never closed.
            let Ok(_slot) = slots.acquire_owned().await else {
                return;
            };
            let reply_to = delivery.properties.reply_to().as_ref().map(ToString::to_string);
            let reply = match Call::from_delivery(&mut delivery) {
                Some(call) => Work::begin(queue, &call).measure(handler.handle(call)).await,
                None => None,
            };
            if reply.is_none() {
                metrics::counter!("pillarbox_work_parked_total", "queue" => queue).increment(1);
            }
            if let Err(error) = finish(&channel, &delivery, reply_to, reply).await {
                // The call is delivered again, and its reply found in the database.
                tracing::warn!(error = &error as &dyn Error, "cannot reply");
            }
        });
    }
}

/// A call being worked on, counted until it is dropped.
struct Work {
    queue: &'static str,
    begun: Instant,
}

impl Work {
    fn begin(queue: &'static str, call: &Call) -> Self {
        if call.delivery_count > 0 {
            metrics::counter!("pillarbox_work_redelivered_total", "queue" => queue).increment(1);
        }
        metrics::gauge!("pillarbox_work_running", "queue" => queue).increment(1);
        Self { queue, begun: Instant::now() }
    }

    async fn measure<T>(self, work: impl Future<Output = T>) -> T {
        work.await
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        metrics::gauge!("pillarbox_work_running", "queue" => self.queue).decrement(1);
        metrics::histogram!("pillarbox_work_duration_seconds", "queue" => self.queue)
            .record(self.begun.elapsed().as_secs_f64());
    }
}

async fn finish(
    channel: &Channel,
    delivery: &Delivery,
    reply_to: Option<String>,
    reply: Option<Reply>,
) -> lapin::Result<()> {
    let Some(reply) = reply else {
        tracing::error!("parked a message of an unknown kind");
        return delivery.acker.reject(BasicRejectOptions { requeue: false }).await.map(drop);
    };
    if let (Some(reply_to), Some(id)) = (reply_to, delivery.properties.correlation_id()) {
        let properties =
            BasicProperties::default().with_correlation_id(id.clone()).with_type(reply.kind.as_str().into());
        // Not confirmed: if it is lost the caller finds the answer in the database or asks again.
        channel
            .basic_publish(
                "".into(),
                reply_to.as_str().into(),
                BasicPublishOptions::default(),
                &reply.body,
                properties,
            )
            .await?;
    }
    delivery.acker.ack(BasicAckOptions::default()).await.map(drop)
}
