//! A call: a message that wants one reply before a deadline.

use std::time::Duration;

use bytes::Bytes;
use lapin::message::Delivery;
use lapin::options::BasicPublishOptions;
use lapin::types::{AMQPValue, FieldTable};
use lapin::{BasicProperties, Channel};
use uuid::Uuid;

use crate::encoding::{LZ4, decode_body, decoded_length};

/// The longest time that a call waits in a worker, whatever its message says.
const LONGEST_PATIENCE: Duration = Duration::from_secs(600);

/// Header with the time, in milliseconds since 1970, after which nobody waits for the reply.
const DEADLINE_HEADER: &str = "deadline_ms";

/// Header with the W3C trace context.
const TRACE_HEADER: &str = "traceparent";

/// Header with what goes with a body, as JSON: of a call what the caller found out, of a reply what the worker did.
const CONTEXT_HEADER: &str = "context";

/// Header with the id of the team that asks.
const TEAM_HEADER: &str = "team";

/// Header that a quorum queue counts earlier deliveries in.
const DELIVERY_COUNT_HEADER: &str = "x-delivery-count";

/// Type of the reply to a call that no worker takes: nothing will come of it.
const REFUSED: &str = "refused";

/// Type of the reply to a call that no worker could finish: something may have come of it.
const GIVEN_UP: &str = "given_up";

/// What a caller asks of a worker.
#[derive(Debug, Clone)]
pub struct QueueCall {
    /// The request's id; a redelivered call keeps it.
    pub id: Uuid,
    /// What is asked, with its version: `send.v1`.
    pub kind: String,
    /// Who asks: the key's owner.
    pub team: Uuid,
    /// What the caller found out about the request, as JSON of a shape that the kind tells; may be empty.
    pub context: String,
    /// W3C `traceparent` of the request.
    pub trace: String,
    /// Milliseconds since 1970 after which nobody waits for the reply.
    pub deadline_ms: i64,
    /// Earlier deliveries of this message to a worker that did not finish it.
    pub delivery_count: i64,
    /// The body, as the client sent it.
    pub body: Bytes,
}

/// A worker's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueReply {
    /// What the body is.
    pub kind: String,
    /// What the worker tells the caller besides the body, as JSON of a shape that the kind of the call tells; may be empty.
    pub context: String,
    /// The answer's bytes.
    pub body: Bytes,
}

/// Why a call brought no reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The broker or every worker is away, the queue or the team's share of it is full, or no worker knows the call's kind:
    /// it was not accepted, nothing will come of it.
    #[error("the broker or the workers cannot be reached")]
    Unavailable,
    /// No worker finished it, and one may have begun it: something may have come of it.
    #[error("no worker could finish the call")]
    GivenUp,
    /// The connection was lost after the call was sent: it may still be worked on.
    #[error("the connection was lost while waiting for the reply")]
    Lost,
    /// The deadline passed: the call may still be worked on.
    #[error("no reply before the deadline")]
    DeadlinePassed,
}

impl QueueReply {
    /// A reply that is its body alone.
    pub fn new(kind: &str, body: Bytes) -> Self {
        Self {
            kind: kind.to_owned(),
            context: String::new(),
            body,
        }
    }

    /// With what the caller is told besides.
    pub fn with_context(self, context: String) -> Self {
        Self { context, ..self }
    }

    pub(crate) fn refused() -> Self {
        Self::new(REFUSED, Bytes::new())
    }

    pub(crate) fn given_up() -> Self {
        Self::new(GIVEN_UP, Bytes::new())
    }

    /// Reads a reply that was delivered. `None` when it is none.
    pub(crate) fn from_delivery(delivery: Delivery) -> Option<Self> {
        let kind = delivery.properties.kind().as_ref()?.to_string();
        let context = text_header(&delivery.properties, CONTEXT_HEADER).unwrap_or_default();
        Some(Self {
            kind,
            context,
            body: Bytes::from(delivery.data),
        })
    }

    /// What the caller makes of it.
    pub(crate) fn into_result(self) -> Result<Self, CallError> {
        match self.kind.as_str() {
            REFUSED => Err(CallError::Unavailable),
            GIVEN_UP => Err(CallError::GivenUp),
            _ => Ok(self),
        }
    }
}

impl QueueCall {
    /// The message's properties, without the way back, with its body compressed or not.
    pub(crate) fn build_properties(
        &self,
        patience: Duration,
        is_compressed: bool,
    ) -> BasicProperties {
        let mut headers = FieldTable::default();
        headers.insert(
            DEADLINE_HEADER.into(),
            AMQPValue::LongLongInt(self.deadline_ms),
        );
        headers.insert(
            TRACE_HEADER.into(),
            AMQPValue::LongString(self.trace.as_str().into()),
        );
        headers.insert(
            CONTEXT_HEADER.into(),
            AMQPValue::LongString(self.context.as_str().into()),
        );
        headers.insert(
            TEAM_HEADER.into(),
            AMQPValue::LongString(self.team.to_string().into()),
        );
        let properties = BasicProperties::default()
            .with_correlation_id(self.id.to_string().into())
            .with_type(self.kind.as_str().into())
            .with_headers(headers)
            // A call that nobody waits for any more is not worth a worker's time.
            .with_expiration(patience.as_millis().to_string().into());
        if is_compressed {
            properties.with_content_encoding(LZ4.into())
        } else {
            properties
        }
    }

    /// Reads a delivered message; takes its body. `None` when it is not a call.
    pub(crate) fn from_delivery(delivery: &mut Delivery) -> Option<Self> {
        let body = Bytes::from(std::mem::take(&mut delivery.data));
        let encoding = delivery
            .properties
            .content_encoding()
            .as_ref()
            .map(|encoding| encoding.as_str());
        let body = decode_body(body, encoding)?;
        let properties = &delivery.properties;
        let text = |key: &str| text_header(properties, key);
        let number = |key: &str| {
            properties
                .headers()
                .as_ref()?
                .inner()
                .get(key)
                .and_then(parse_integer)
        };
        Some(Self {
            id: delivery
                .properties
                .correlation_id()
                .as_ref()?
                .as_str()
                .parse()
                .ok()?,
            kind: delivery.properties.kind().as_ref()?.to_string(),
            team: text(TEAM_HEADER)?.parse().ok()?,
            context: text(CONTEXT_HEADER).unwrap_or_default(),
            trace: text(TRACE_HEADER).unwrap_or_default(),
            deadline_ms: number(DEADLINE_HEADER)?,
            delivery_count: delivery_count(properties),
            body,
        })
    }
}

/// What a delivery tells of its call before that is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallEnvelope {
    /// Who asks.
    pub(crate) team: Uuid,
    /// Bytes of the message as it came.
    pub(crate) travelled: usize,
    /// Bytes of its body when it is decoded.
    pub(crate) body: usize,
    /// How long it may wait here: its caller waits no longer.
    pub(crate) patience: Duration,
    /// Earlier deliveries that were not finished.
    pub(crate) delivery_count: i64,
}

impl CallEnvelope {
    /// `None` when the message is no call.
    pub(crate) fn from_delivery(delivery: &Delivery) -> Option<Self> {
        let properties = &delivery.properties;
        let encoding = properties
            .content_encoding()
            .as_ref()
            .map(|encoding| encoding.as_str());
        let expiration = properties
            .expiration()
            .as_ref()
            .and_then(|text| text.as_str().parse().ok());
        Some(Self {
            team: text_header(properties, TEAM_HEADER)?.parse().ok()?,
            travelled: delivery.data.len(),
            body: decoded_length(&delivery.data, encoding),
            patience: expiration
                .map_or(LONGEST_PATIENCE, Duration::from_millis)
                .min(LONGEST_PATIENCE),
            delivery_count: delivery_count(properties),
        })
    }
}

/// Sends a reply to whoever waits for it. Not confirmed: if it is lost the caller finds the answer in the database or
/// asks again.
pub(crate) async fn send_reply(
    channel: &Channel,
    call: &BasicProperties,
    reply: QueueReply,
) -> lapin::Result<()> {
    let (Some(reply_to), Some(id)) = (call.reply_to(), call.correlation_id()) else {
        return Ok(());
    };
    let mut properties = BasicProperties::default()
        .with_correlation_id(id.clone())
        .with_type(reply.kind.as_str().into());
    if !reply.context.is_empty() {
        let mut headers = FieldTable::default();
        headers.insert(
            CONTEXT_HEADER.into(),
            AMQPValue::LongString(reply.context.as_str().into()),
        );
        properties = properties.with_headers(headers);
    }
    let options = BasicPublishOptions::default();
    channel
        .basic_publish(
            "".into(),
            reply_to.clone(),
            options,
            &reply.body,
            properties,
        )
        .await
        .map(drop)
}

/// Earlier deliveries of a message that failed, or whose consumer was lost. One that was handed back counts nowhere.
pub(crate) fn delivery_count(properties: &BasicProperties) -> i64 {
    let count = properties
        .headers()
        .as_ref()
        .and_then(|table| table.inner().get(DELIVERY_COUNT_HEADER));
    count.and_then(parse_integer).unwrap_or(0)
}

/// A header's text.
pub(crate) fn text_header(properties: &BasicProperties, key: &str) -> Option<String> {
    match properties.headers().as_ref()?.inner().get(key) {
        Some(AMQPValue::LongString(text)) => Some(text.to_string()),
        _ => None,
    }
}

fn parse_integer(value: &AMQPValue) -> Option<i64> {
    match value {
        AMQPValue::LongLongInt(number) => Some(*number),
        AMQPValue::LongInt(number) => Some((*number).into()),
        AMQPValue::LongUInt(number) => Some((*number).into()),
        AMQPValue::ShortInt(number) => Some((*number).into()),
        AMQPValue::ShortShortInt(number) => Some((*number).into()),
        AMQPValue::ShortShortUInt(number) => Some((*number).into()),
        _ => None,
    }
}
