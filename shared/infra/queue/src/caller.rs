//! The side that asks: publishes a call and waits for its reply.
//!
//! Replies come over RabbitMQ's direct reply-to, which needs no queue: they are lost with the
//! connection, and then every waiting call fails with [`CallError::Lost`] at once.
//!
//! A call that no worker would take is refused at once. The broker tells nobody who listens, so it is asked: ten times a second
//! while there are calls, and before the first one after a rest.

use std::collections::HashMap;
use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use lapin::message::Delivery;
use lapin::options::{BasicConsumeOptions, BasicPublishOptions, ConfirmSelectOptions};
use lapin::types::FieldTable;
use lapin::{Channel, Confirmation, Consumer};
use tokio::sync::{Notify, oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::broker::{Broker, BrokerLink};
use crate::call::{CallError, QueueCall, QueueReply};
use crate::encoding::encode_body;
use crate::topology::{declare_call_queue, inspect_queue, queue_name};

/// The pseudo-queue of RabbitMQ's direct reply-to.
const REPLY_QUEUE: &str = "amq.rabbitmq.reply-to";

/// How often the queue is asked whether a worker listens while there are calls: the longest time that a call can go
/// into a queue that nobody reads.
const PRESENCE_INTERVAL: Duration = Duration::from_millis(100);

/// Looks that find no new call before they stop. The next call then waits for a look of its own, which takes a
/// millisecond.
const QUIET_LOOKS: u32 = 20;

/// Time for the broker to answer a question of ours; past it the channel is given up.
const BROKER_TIMEOUT: Duration = Duration::from_secs(5);

/// Pause before a failed session is opened again.
const SESSION_PAUSE: Duration = Duration::from_millis(200);

/// Calls to one queue. Clones share the connection and the waiting calls.
#[derive(Clone)]
pub struct QueueCaller {
    /// What the queue is called among ours.
    label: &'static str,
    queue: Arc<str>,
    waiting: WaitingReplies,
    session: watch::Receiver<Option<Arc<CallerSession>>>,
}

/// An open channel with its reply consumer.
struct CallerSession {
    link: Arc<BrokerLink>,
    channel: Channel,
    presence: watch::Sender<WorkerPresence>,
    /// Somebody wanted to know since the last look.
    is_asked: AtomicBool,
    /// Wakes the watch when nobody has wanted to know for some time.
    wanted: Notify,
}

/// What is known of the workers of a queue.
#[derive(Debug, Clone, Copy)]
struct WorkerPresence {
    /// Consumers at the last look.
    workers: u32,
    /// Whether that is still so: the next look is at most [`PRESENCE_INTERVAL`] away, or there is nobody to look any more.
    is_kept: bool,
}

type WaitingReplies = Arc<Mutex<HashMap<Uuid, oneshot::Sender<QueueReply>>>>;

impl QueueCaller {
    /// Starts keeping a channel for calls to `queue`. Returns at once.
    #[expect(
        clippy::disallowed_methods,
        reason = "it lives as long as the process, and belongs to no request"
    )]
    pub fn start(broker: &Broker, queue: &'static str, shutdown: CancellationToken) -> Self {
        let waiting = WaitingReplies::default();
        let (sender, session) = watch::channel(None);
        let name = queue_name(&broker.namespace, queue).into();
        let caller = Self {
            label: queue,
            queue: name,
            waiting: waiting.clone(),
            session,
        };
        let broker = broker.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = keep_session(&broker, queue, &waiting, &sender) => {}
                () = shutdown.cancelled() => {}
            }
        });
        caller
    }

    /// Waits until calls have had a channel to the broker once, or never will.
    pub async fn wait_until_opened(&self) {
        let _ = self.session.clone().wait_for(Option::is_some).await;
    }

    /// Whether a call would find a worker now.
    pub async fn is_ready(&self) -> bool {
        self.ready_session().await.is_some()
    }

    /// The channel for calls, when there is one and a worker would take them.
    async fn ready_session(&self) -> Option<Arc<CallerSession>> {
        let session = self.session.borrow().clone()?;
        session.is_ready().await.then_some(session)
    }

    /// Sends a call and waits for its reply, `patience` at most. Dropping the future stops the waiting, not the work.
    ///
    /// # Errors
    /// [`CallError::Unavailable`] when the call was not accepted; the others leave open what came of it.
    pub async fn call(&self, call: QueueCall, patience: Duration) -> Result<QueueReply, CallError> {
        let begun = Instant::now();
        let replied = self.call_once(call, patience).await;
        let result = match &replied {
            Ok(_) => "replied",
            Err(CallError::Unavailable) => "unavailable",
            Err(CallError::GivenUp) => "given_up",
            Err(CallError::Lost) => "lost",
            Err(CallError::DeadlinePassed) => "deadline_passed",
        };
        let queue = self.label;
        metrics::counter!("pillarbox_calls_total", "queue" => queue, "result" => result)
            .increment(1);
        metrics::histogram!("pillarbox_call_duration_seconds", "queue" => queue)
            .record(begun.elapsed().as_secs_f64());
        replied
    }

    async fn call_once(
        &self,
        call: QueueCall,
        patience: Duration,
    ) -> Result<QueueReply, CallError> {
        let deadline = Instant::now() + patience;
        let session = tokio::time::timeout_at(deadline, self.ready_session()).await;
        let session = session.ok().flatten().ok_or(CallError::Unavailable)?;
        let (_entry, reply) = WaitingEntry::new(&self.waiting, call.id);
        let accepted =
            tokio::time::timeout_at(deadline, self.publish(&session, call, patience)).await;
        accepted.map_err(|_| CallError::DeadlinePassed)??;
        match tokio::time::timeout_at(deadline, reply).await {
            Ok(Ok(reply)) => reply.into_result(),
            Ok(Err(_)) => Err(CallError::Lost),
            Err(_) => Err(CallError::DeadlinePassed),
        }
    }

    /// Publishes and waits for the broker's confirm: only then is the body let go.
    async fn publish(
        &self,
        session: &CallerSession,
        call: QueueCall,
        patience: Duration,
    ) -> Result<(), CallError> {
        let (body, is_compressed) = encode_body(call.body.clone()).await;
        let properties = call
            .build_properties(patience, is_compressed)
            .with_reply_to(REPLY_QUEUE.into());
        let options = BasicPublishOptions {
            mandatory: true,
            ..BasicPublishOptions::default()
        };
        let confirm = session
            .channel
            .basic_publish("".into(), (&*self.queue).into(), options, &body, properties)
            .await
            .map_err(|_| CallError::Unavailable)?;
        match confirm.await {
            Ok(Confirmation::Ack(None)) => Ok(()),
            // Returned (the queue is gone) or refused (it is full).
            Ok(_) => Err(CallError::Unavailable),
            Err(_) => Err(CallError::Lost),
        }
    }
}

impl CallerSession {
    async fn is_ready(&self) -> bool {
        self.has_workers().await && self.link.takes_publishes() && self.channel.status().connected()
    }

    /// Whether a worker listens, by a look that is at most [`PRESENCE_INTERVAL`] old.
    async fn has_workers(&self) -> bool {
        // Before it is read, so that a watch that is about to rest sees it and goes on.
        self.is_asked.store(true, Ordering::SeqCst);
        if !self.presence.borrow().is_kept {
            self.wanted.notify_one();
        }
        let mut presence = self.presence.subscribe();
        let known = presence.wait_for(|presence| presence.is_kept).await;
        known.is_ok_and(|presence| presence.workers > 0)
    }
}

/// Tells whoever still waits for a look that there is nobody, however the session ends.
struct SessionEnd<'a>(&'a CallerSession);

impl Drop for SessionEnd<'_> {
    fn drop(&mut self) {
        self.0.presence.send_replace(WorkerPresence {
            workers: 0,
            is_kept: true,
        });
    }
}

/// A place in the table of waiting calls, given back when the waiting ends, however it ends.
struct WaitingEntry<'a> {
    waiting: &'a WaitingReplies,
    id: Uuid,
}

impl<'a> WaitingEntry<'a> {
    fn new(waiting: &'a WaitingReplies, id: Uuid) -> (Self, oneshot::Receiver<QueueReply>) {
        let (sender, receiver) = oneshot::channel();
        lock_waiting(waiting).insert(id, sender);
        (Self { waiting, id }, receiver)
    }
}

impl Drop for WaitingEntry<'_> {
    fn drop(&mut self) {
        lock_waiting(self.waiting).remove(&self.id);
    }
}

fn lock_waiting(
    waiting: &WaitingReplies,
) -> std::sync::MutexGuard<'_, HashMap<Uuid, oneshot::Sender<QueueReply>>> {
    // A panic while the lock was held cannot leave the map half-changed.
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn keep_session(
    broker: &Broker,
    queue: &str,
    waiting: &WaitingReplies,
    sender: &watch::Sender<Option<Arc<CallerSession>>>,
) {
    while let Some(link) = broker.wait_for_link().await {
        if let Err(error) = run_session(broker, &link, queue, waiting, sender).await {
            tracing::warn!(
                error = &error as &dyn Error,
                queue,
                "the channel for calls ended"
            );
        }
        sender.send_replace(None);
        // Their replies went with the channel. Dropping the senders tells the callers.
        lock_waiting(waiting).clear();
        tokio::time::sleep(SESSION_PAUSE).await;
    }
}

async fn run_session(
    broker: &Broker,
    link: &Arc<BrokerLink>,
    queue: &str,
    waiting: &WaitingReplies,
    sender: &watch::Sender<Option<Arc<CallerSession>>>,
) -> lapin::Result<()> {
    let channel = link.connection.create_channel().await?;
    channel
        .confirm_select(ConfirmSelectOptions::default())
        .await?;
    let state = declare_call_queue(&channel, &broker.namespace, queue).await?;
    let no_ack = BasicConsumeOptions {
        no_ack: true,
        ..BasicConsumeOptions::default()
    };
    let replies = channel
        .basic_consume(REPLY_QUEUE.into(), "".into(), no_ack, FieldTable::default())
        .await?;
    let watcher = link.connection.create_channel().await?;
    let session = Arc::new(CallerSession {
        link: link.clone(),
        channel,
        presence: watch::Sender::new(WorkerPresence {
            workers: state.consumer_count(),
            is_kept: true,
        }),
        is_asked: AtomicBool::new(false),
        wanted: Notify::new(),
    });
    sender.send_replace(Some(session.clone()));
    let _end = SessionEnd(&session);
    tokio::select! {
        ended = take_replies(replies, waiting, &session) => ended,
        ended = watch_presence(&watcher, &broker.namespace, queue, &session) => ended,
    }
}

async fn take_replies(
    mut replies: Consumer,
    waiting: &WaitingReplies,
    session: &CallerSession,
) -> lapin::Result<()> {
    while let Some(delivery) = replies.next().await {
        // Who replies listens, though it may have come after the last look: whoever got a reply can call again.
        session.presence.send_if_modified(|presence| {
            let is_news = presence.workers == 0;
            presence.workers = presence.workers.max(1);
            is_news
        });
        hand_over(delivery?, waiting);
    }
    Ok(())
}

/// Gives a reply to the call that waits for it; a late one is dropped.
fn hand_over(delivery: Delivery, waiting: &WaitingReplies) {
    let properties = &delivery.properties;
    let id = properties
        .correlation_id()
        .as_ref()
        .and_then(|id| id.as_str().parse().ok());
    let sender = id.and_then(|id| lock_waiting(waiting).remove(&id));
    if let (Some(sender), Some(reply)) = (sender, QueueReply::from_delivery(delivery)) {
        let _ = sender.send(reply);
    }
}

/// Looks whether workers listen, for as long as there are calls, and then rests until there is one.
async fn watch_presence(
    channel: &Channel,
    namespace: &str,
    queue: &str,
    session: &CallerSession,
) -> lapin::Result<()> {
    loop {
        let mut quiet_looks = 0;
        while quiet_looks < QUIET_LOOKS {
            let Ok(state) =
                tokio::time::timeout(BROKER_TIMEOUT, inspect_queue(channel, namespace, queue))
                    .await
            else {
                return Ok(());
            };
            session.presence.send_replace(WorkerPresence {
                workers: state?.consumer_count(),
                is_kept: true,
            });
            tokio::time::sleep(PRESENCE_INTERVAL).await;
            quiet_looks = match session.is_asked.swap(false, Ordering::SeqCst) {
                true => 0,
                false => quiet_looks + 1,
            };
        }
        session
            .presence
            .send_modify(|presence| presence.is_kept = false);
        // Somebody may have read what was kept until just now, and has notified nobody.
        if !session.is_asked.load(Ordering::SeqCst) {
            session.wanted.notified().await;
        }
    }
}
