//! A call: a message that wants one reply before a deadline.

use std::time::Duration;

use bytes::Bytes;
use lapin::BasicProperties;
use lapin::message::Delivery;
use lapin::types::{AMQPValue, FieldTable};
use uuid::Uuid;

use crate::encoding::{LZ4, decode};

/// Header with the time, in milliseconds since 1970, after which nobody waits for the reply.
const DEADLINE_HEADER: &str = "deadline_ms";

/// Header with the W3C trace context.
const TRACE_HEADER: &str = "traceparent";

/// Header with what the caller found out, as JSON.
const CONTEXT_HEADER: &str = "context";

/// Header that a quorum queue counts earlier deliveries in.
const DELIVERY_COUNT_HEADER: &str = "x-delivery-count";

/// What a caller asks of a worker.
#[derive(Debug, Clone)]
pub struct Call {
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
pub struct Reply {
    /// What the body is.
    pub kind: String,
    /// The answer's bytes.
    pub body: Bytes,
}

/// Why a call brought no reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The broker or every worker is away, or the queue is full: the call was not accepted, nothing will come of it.
    #[error("the broker or the workers cannot be reached")]
    Unavailable,
    /// The connection was lost after the call was sent: it may still be worked on.
    #[error("the connection was lost while waiting for the reply")]
    Lost,
    /// The deadline passed: the call may still be worked on.
    #[error("no reply before the deadline")]
    DeadlinePassed,
}

impl Call {
    /// The message's properties, without the way back, with its body compressed or not.
    pub(crate) fn properties(&self, patience: Duration, is_compressed: bool) -> BasicProperties {
        let mut headers = FieldTable::default();
        headers.insert(DEADLINE_HEADER.into(), AMQPValue::LongLongInt(self.deadline_ms));
        headers.insert(TRACE_HEADER.into(), AMQPValue::LongString(self.trace.as_str().into()));
        headers.insert(CONTEXT_HEADER.into(), AMQPValue::LongString(self.context.as_str().into()));
        headers.insert("team".into(), AMQPValue::LongString(self.team.to_string().into()));
        let properties = BasicProperties::default()
            .with_correlation_id(self.id.to_string().into())
            .with_type(self.kind.as_str().into())
            .with_headers(headers)
            // A call that nobody waits for any more is not worth a worker's time.
            .with_expiration(patience.as_millis().to_string().into());
        if is_compressed { properties.with_content_encoding(LZ4.into()) } else { properties }
    }

    /// Reads a delivered message; takes its body. `None` when it is not a call.
    pub(crate) fn from_delivery(delivery: &mut Delivery) -> Option<Self> {
        let body = Bytes::from(std::mem::take(&mut delivery.data));
        let encoding = delivery.properties.content_encoding().as_ref().map(|encoding| encoding.as_str());
        let body = decode(body, encoding)?;
        let headers = delivery.properties.headers().as_ref()?.inner();
        let text = |key: &str| match headers.get(key) {
            Some(AMQPValue::LongString(text)) => Some(text.to_string()),
            _ => None,
        };
        let number = |key: &str| headers.get(key).and_then(integer);
        Some(Self {
            id: delivery.properties.correlation_id().as_ref()?.as_str().parse().ok()?,
            kind: delivery.properties.kind().as_ref()?.to_string(),
            team: text("team")?.parse().ok()?,
            context: text(CONTEXT_HEADER).unwrap_or_default(),
            trace: text(TRACE_HEADER).unwrap_or_default(),
            deadline_ms: number(DEADLINE_HEADER)?,
            delivery_count: number(DELIVERY_COUNT_HEADER).unwrap_or(0),
            body,
        })
    }
}

fn integer(value: &AMQPValue) -> Option<i64> {
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
