//! What becomes of calls that the broker has given up. A call that expired is thrown away: its caller has had an error, and
//! its body is people's data. One that no worker could finish, or that none knows, is parked for an operator, and its
//! caller is told at once instead of waiting for nothing.

use std::error::Error;
use std::time::Duration;

use futures_util::StreamExt;
use lapin::message::Delivery;
use lapin::options::{
    BasicAckOptions, BasicConsumeOptions, BasicPublishOptions, BasicQosOptions,
    ConfirmSelectOptions,
};
use lapin::types::FieldTable;
use lapin::{BasicProperties, Channel, Confirmation};
use tokio_util::sync::CancellationToken;

use crate::broker::{Broker, BrokerLink};
use crate::call::{QueueReply, send_reply, text_header};
use crate::topology::{DEAD_QUEUE, PARKED_QUEUE, declare_dead, declare_parked, queue_name};

/// Pause before a failed session is opened again.
const SESSION_PAUSE: Duration = Duration::from_millis(200);

/// Messages that are sent ahead.
const PREFETCH: u16 = 16;

const CONSUMER_TAG: &str = "sorter";

/// Headers in which the broker tells from which queue a message came first, and why.
pub(crate) const FIRST_QUEUE_HEADER: &str = "x-first-death-queue";
pub(crate) const FIRST_REASON_HEADER: &str = "x-first-death-reason";

/// Why the broker gave up a call that expired, in its own words.
const EXPIRED: &str = "expired";

/// Why sorting was interrupted. What was not acknowledged is delivered again.
#[derive(Debug, thiserror::Error)]
enum SortError {
    #[error("the channel failed")]
    Channel(#[from] lapin::Error),
    /// Returned (the queue is gone) or refused.
    #[error("the broker did not take a call that was to be parked")]
    NotParked,
}

/// Sorts what the broker has given up, until the shutdown. Any number of processes may.
///
/// `queues` are the names under which it is counted.
pub async fn sort_dead_letters(
    broker: &Broker,
    queues: &'static [&'static str],
    shutdown: CancellationToken,
) {
    let sorting = async {
        while let Some(link) = broker.wait_for_link().await {
            if let Err(error) = sort_over(broker, &link, queues).await {
                tracing::warn!(
                    error = &error as &dyn Error,
                    "sorting what the broker gave up was interrupted"
                );
            }
            tokio::time::sleep(SESSION_PAUSE).await;
        }
    };
    tokio::select! {
        () = sorting => {}
        () = shutdown.cancelled() => {}
    }
}

async fn sort_over(
    broker: &Broker,
    link: &BrokerLink,
    queues: &[&'static str],
) -> Result<(), SortError> {
    let channel = link.connection.create_channel().await?;
    channel
        .basic_qos(PREFETCH, BasicQosOptions::default())
        .await?;
    channel
        .confirm_select(ConfirmSelectOptions::default())
        .await?;
    declare_dead(&channel, &broker.namespace).await?;
    declare_parked(&channel, &broker.namespace).await?;
    let name = queue_name(&broker.namespace, DEAD_QUEUE);
    let options = BasicConsumeOptions::default();
    let mut deliveries = channel
        .basic_consume(
            name.into(),
            CONSUMER_TAG.into(),
            options,
            FieldTable::default(),
        )
        .await?;
    while let Some(delivery) = deliveries.next().await {
        let delivery = delivery?;
        let queue = queue_of(&delivery.properties, &broker.namespace, queues);
        match text_header(&delivery.properties, FIRST_REASON_HEADER).as_deref() {
            Some(EXPIRED) => {
                metrics::counter!("pillarbox_calls_expired_total", "queue" => queue).increment(1)
            }
            reason => {
                park_message(&channel, &broker.namespace, &delivery).await?;
                metrics::counter!("pillarbox_work_parked_total", "queue" => queue).increment(1);
                let request_id = delivery
                    .properties
                    .correlation_id()
                    .as_ref()
                    .map(|id| id.as_str());
                tracing::error!(request_id, queue, reason, "a call was parked");
                // It may have been begun. A worker that rejects what it does not know has told the caller before.
                send_reply(&channel, &delivery.properties, QueueReply::given_up()).await?;
            }
        }
        delivery.acker.ack(BasicAckOptions::default()).await?;
    }
    Ok(())
}

/// Puts a message among the parked. Killed between this and its acknowledgement it stands there twice.
async fn park_message(
    channel: &Channel,
    namespace: &str,
    delivery: &Delivery,
) -> Result<(), SortError> {
    let name = queue_name(namespace, PARKED_QUEUE);
    let options = BasicPublishOptions {
        mandatory: true,
        ..BasicPublishOptions::default()
    };
    let properties = build_parked_properties(&delivery.properties);
    let confirm = channel
        .basic_publish("".into(), name.into(), options, &delivery.data, properties)
        .await?;
    match confirm.await? {
        Confirmation::Ack(None) => Ok(()),
        _ => Err(SortError::NotParked),
    }
}

/// The properties of a parked message: those of the call, but that it does not expire before its time and that nobody
/// waits for it.
fn build_parked_properties(call: &BasicProperties) -> BasicProperties {
    let mut kept = BasicProperties::default().with_delivery_mode(PERSISTENT);
    if let Some(headers) = call.headers() {
        kept = kept.with_headers(headers.clone());
    }
    if let Some(kind) = call.kind() {
        kept = kept.with_type(kind.clone());
    }
    if let Some(id) = call.correlation_id() {
        kept = kept.with_correlation_id(id.clone());
    }
    if let Some(encoding) = call.content_encoding() {
        kept = kept.with_content_encoding(encoding.clone());
    }
    kept
}

/// A message that outlives a restart of the broker.
const PERSISTENT: u8 = 2;

/// The queue that a call came from, as we call it.
fn queue_of(call: &BasicProperties, namespace: &str, queues: &[&'static str]) -> &'static str {
    let name = text_header(call, FIRST_QUEUE_HEADER).unwrap_or_default();
    let is_it = |queue: &&&'static str| queue_name(namespace, queue) == name;
    queues.iter().find(is_it).copied().unwrap_or("unknown")
}
