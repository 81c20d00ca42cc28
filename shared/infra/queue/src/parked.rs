//! What operators can do with parked messages: look at them, and throw them away.

use bytes::Bytes;
use lapin::Channel;
use lapin::message::BasicGetMessage;
use lapin::options::{BasicGetOptions, QueuePurgeOptions};
use uuid::Uuid;

use crate::broker::Broker;
use crate::call::{QueueCall, text_header};
use crate::dead_letters::{FIRST_QUEUE_HEADER, FIRST_REASON_HEADER};
use crate::topology::{PARKED_QUEUE, declare_parked, queue_name};

/// Messages that are looked at in one go, the oldest first.
pub const PARKED_AT_A_TIME: usize = 200;

/// A parked message.
#[derive(Debug, Clone)]
pub struct ParkedMessage {
    /// The request's id.
    pub id: Option<Uuid>,
    /// What was asked, with its version.
    pub kind: String,
    /// Who asked.
    pub team: String,
    /// From which queue it came, with its namespace.
    pub queue: String,
    /// Why the broker gave it up: `delivery_limit` or `rejected`.
    pub reason: String,
    /// Bytes as it travelled.
    pub bytes: usize,
    /// The body as the client sent it; none when its encoding is not known here.
    pub body: Option<Bytes>,
}

/// The oldest parked messages. They stay where they are.
///
/// # Errors
/// When the broker cannot be asked.
pub async fn list_parked_messages(broker: &Broker) -> lapin::Result<Vec<ParkedMessage>> {
    let channel = open_channel(broker).await?;
    let name = queue_name(&broker.namespace, PARKED_QUEUE);
    let mut parked = Vec::new();
    while parked.len() < PARKED_AT_A_TIME {
        let got = channel
            .basic_get(name.as_str().into(), BasicGetOptions::default())
            .await?;
        let Some(message) = got else { break };
        parked.push(parse_message(message));
    }
    // What was not acknowledged goes back to where it was.
    channel.close(200, "looked".into()).await?;
    Ok(parked)
}

/// Throws all parked messages away. Returns how many there were.
///
/// # Errors
/// When the broker cannot be asked.
pub async fn delete_parked_messages(broker: &Broker) -> lapin::Result<u32> {
    let name = queue_name(&broker.namespace, PARKED_QUEUE);
    open_channel(broker)
        .await?
        .queue_purge(name.into(), QueuePurgeOptions::default())
        .await
}

async fn open_channel(broker: &Broker) -> lapin::Result<Channel> {
    let Some(link) = broker.wait_for_link().await else {
        return Err(
            lapin::ErrorKind::InvalidConnectionState(lapin::ConnectionState::Closed).into(),
        );
    };
    let channel = link.connection.create_channel().await?;
    declare_parked(&channel, &broker.namespace).await?;
    Ok(channel)
}

fn parse_message(message: BasicGetMessage) -> ParkedMessage {
    let mut delivery = message.delivery;
    let properties = delivery.properties.clone();
    let header = |key: &str| text_header(&properties, key).unwrap_or_default();
    ParkedMessage {
        id: properties
            .correlation_id()
            .as_ref()
            .and_then(|id| id.as_str().parse().ok()),
        kind: properties
            .kind()
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default(),
        team: header("team"),
        queue: header(FIRST_QUEUE_HEADER),
        reason: header(FIRST_REASON_HEADER),
        bytes: delivery.data.len(),
        body: QueueCall::from_delivery(&mut delivery).map(|call| call.body),
    }
}
