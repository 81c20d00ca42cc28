//! Hints: small messages that tell workers to look into the database at once rather than at their next round.
//!
//! A hint may be lost with the broker, because what it hints at is a row. So its queue is neither replicated
//! nor written to disk, which makes a hint cheap and quick, and at most one is on its way from each announcer:
//! what is announced meanwhile goes out with the next one.

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use lapin::message::Delivery;
use lapin::options::{
    BasicAckOptions, BasicConsumeOptions, BasicPublishOptions, BasicQosOptions,
    ConfirmSelectOptions,
};
use lapin::types::FieldTable;
use lapin::{BasicProperties, Channel};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::broker::{Broker, BrokerLink};
use crate::topology::{HINT_LIFETIME, declare_hints, queue_name};

/// Ids that wait to be announced; further ones are left to be found in the database.
const WAITING_IDS: usize = 10_000;

/// Ids in one message.
const IDS_PER_MESSAGE: usize = 1_000;

/// The least time between two messages of an announcer: under load more ids share a message.
const GAP: Duration = Duration::from_millis(2);

/// Time for the broker to confirm; past it the channel is given up.
const CONFIRM_TIMEOUT: Duration = Duration::from_secs(5);

/// Pause before a failed session is opened again.
const SESSION_PAUSE: Duration = Duration::from_millis(200);

/// Messages that a listener is sent ahead.
const PREFETCH: u16 = 32;

const CONSUMER_TAG: &str = "listener";

/// Announces ids on one queue. Clones share it.
#[derive(Clone)]
pub struct Announcer {
    shared: Arc<PendingAnnouncements>,
}

#[derive(Default)]
struct PendingAnnouncements {
    waiting: Mutex<BTreeSet<Uuid>>,
    news: Notify,
}

impl Announcer {
    /// Starts keeping a channel for announcements of this kind on `queue`. Returns at once.
    #[expect(
        clippy::disallowed_methods,
        reason = "it lives as long as the process, and belongs to no request"
    )]
    pub fn start(
        broker: &Broker,
        queue: &'static str,
        kind: &'static str,
        shutdown: CancellationToken,
    ) -> Self {
        let shared = Arc::<PendingAnnouncements>::default();
        let (announcer, broker) = (
            Self {
                shared: shared.clone(),
            },
            broker.clone(),
        );
        tokio::spawn(async move {
            tokio::select! {
                () = keep_announcing(&broker, queue, kind, &shared) => {}
                () = shutdown.cancelled() => {}
            }
        });
        announcer
    }

    /// Announces ids as soon as the broker takes a message. Never waits.
    pub fn announce(&self, ids: impl IntoIterator<Item = Uuid>) {
        let mut waiting = self.shared.lock();
        for id in ids {
            if waiting.len() < WAITING_IDS {
                waiting.insert(id);
            }
        }
        drop(waiting);
        self.shared.news.notify_one();
    }
}

impl PendingAnnouncements {
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeSet<Uuid>> {
        // A panic while the lock was held cannot leave the set half-changed.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_batch(&self) -> Vec<Uuid> {
        let mut waiting = self.lock();
        let taken: Vec<Uuid> = waiting.iter().take(IDS_PER_MESSAGE).copied().collect();
        for id in &taken {
            waiting.remove(id);
        }
        taken
    }
}

async fn keep_announcing(broker: &Broker, queue: &str, kind: &str, shared: &PendingAnnouncements) {
    while let Some(link) = broker.wait_for_link().await {
        if let Err(error) = announce_over(broker, &link, queue, kind, shared).await {
            tracing::warn!(
                error = &error as &dyn Error,
                queue,
                "the announcer's channel was lost"
            );
        }
        tokio::time::sleep(SESSION_PAUSE).await;
    }
}

async fn announce_over(
    broker: &Broker,
    link: &BrokerLink,
    queue: &str,
    kind: &str,
    shared: &PendingAnnouncements,
) -> lapin::Result<()> {
    let channel = link.connection.create_channel().await?;
    channel
        .confirm_select(ConfirmSelectOptions::default())
        .await?;
    declare_hints(&channel, &broker.namespace, queue).await?;
    let name = queue_name(&broker.namespace, queue);
    while channel.status().connected() {
        let ids = shared.take_batch();
        if ids.is_empty() {
            shared.news.notified().await;
            continue;
        }
        // A hint that fails is not tried again: whoever works looks into the database before long.
        if tokio::time::timeout(CONFIRM_TIMEOUT, publish_ids(&channel, &name, kind, &ids))
            .await
            .is_err()
        {
            tracing::warn!(queue, "an announcement was not confirmed in time");
            return Ok(());
        }
        tokio::time::sleep(GAP).await;
    }
    Ok(())
}

async fn publish_ids(channel: &Channel, name: &str, kind: &str, ids: &[Uuid]) -> lapin::Result<()> {
    let body = serde_json::to_vec(ids).unwrap_or_default();
    let properties = BasicProperties::default()
        .with_type(kind.into())
        .with_expiration(HINT_LIFETIME.as_millis().to_string().into());
    let options = BasicPublishOptions::default();
    channel
        .basic_publish("".into(), name.into(), options, &body, properties)
        .await?
        .await
        .map(drop)
}

/// Listens to announcements of this kind on `queue` until the shutdown, and gives their ids to `hear`. What is
/// announced while there is no connection is not heard.
pub async fn listen_for_announcements(
    broker: &Broker,
    queue: &'static str,
    kind: &'static str,
    shutdown: CancellationToken,
    hear: impl Fn(Vec<Uuid>) + Send,
) {
    let listening = async {
        while let Some(link) = broker.wait_for_link().await {
            if let Err(error) = listen_over(broker, &link, queue, kind, &hear).await {
                tracing::warn!(
                    error = &error as &dyn Error,
                    queue,
                    "the listener's channel was lost"
                );
            }
            tokio::time::sleep(SESSION_PAUSE).await;
        }
    };
    tokio::select! {
        () = listening => {}
        () = shutdown.cancelled() => {}
    }
}

async fn listen_over(
    broker: &Broker,
    link: &BrokerLink,
    queue: &str,
    kind: &str,
    hear: &(impl Fn(Vec<Uuid>) + Send),
) -> lapin::Result<()> {
    let channel = link.connection.create_channel().await?;
    channel
        .basic_qos(PREFETCH, BasicQosOptions::default())
        .await?;
    declare_hints(&channel, &broker.namespace, queue).await?;
    let name = queue_name(&broker.namespace, queue);
    let options = BasicConsumeOptions::default();
    let mut deliveries = channel
        .basic_consume(
            name.into(),
            CONSUMER_TAG.into(),
            options,
            FieldTable::default(),
        )
        .await?;
    tracing::info!(queue, "listening");
    while let Some(delivery) = deliveries.next().await {
        let delivery = delivery?;
        match ids_of(&delivery, kind) {
            Some(ids) => hear(ids),
            // A newer version's: what it hints at is found in the database.
            None => tracing::warn!(queue, "passed over a message of an unknown kind"),
        }
        delivery.acker.ack(BasicAckOptions::default()).await?;
    }
    Ok(())
}

fn ids_of(delivery: &Delivery, kind: &str) -> Option<Vec<Uuid>> {
    let is_of_kind = delivery
        .properties
        .kind()
        .as_ref()
        .is_some_and(|found| found.as_str() == kind);
    if is_of_kind {
        serde_json::from_slice(&delivery.data).ok()
    } else {
        None
    }
}
