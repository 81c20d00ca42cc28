//! The queues and what bounds them.

use std::time::Duration;

use lapin::options::QueueDeclareOptions;
use lapin::types::{AMQPValue, FieldTable};
use lapin::{Channel, Queue};

/// Deliveries of one message before it is taken for poison and parked: a message that kills its worker
/// must not kill the fleet.
pub(crate) const DELIVERY_LIMIT: i64 = 5;

/// Bytes that a call queue holds before publishes are refused (about sixty of the largest bodies).
const CALL_QUEUE_BYTES: i64 = 256 * 1024 * 1024;

/// Bytes of calls that the broker has given up and nobody has looked at; the oldest go first.
const DEAD_QUEUE_BYTES: i64 = 256 * 1024 * 1024;

/// Bytes of parked messages kept for an operator to look at; the oldest go first.
const PARKED_QUEUE_BYTES: i64 = 64 * 1024 * 1024;

/// How long a parked message is kept: its body is people's data.
const PARKED_LIFETIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Hints that a queue holds; the oldest go first.
const HINTS: i64 = 10_000;

/// How long a hint is worth anything: by then every worker has looked into the database by itself.
pub(crate) const HINT_LIFETIME: Duration = Duration::from_secs(60);

/// Where the broker puts calls that it gives up: expired, rejected, or delivered too often. Workers empty it at once
/// ([`crate::dead_letters`]). The call queues were declared with it, which cannot be changed while they stand.
pub(crate) const DEAD_QUEUE: &str = "dead";

/// The queue that poison and unknown messages are parked in.
pub(crate) const PARKED_QUEUE: &str = "parked";

/// A queue's name within a namespace: several stacks share a broker without meeting.
pub(crate) fn queue_name(namespace: &str, queue: &str) -> String {
    format!("{namespace}.{queue}")
}

/// Declares a call queue and the queue of what is given up behind it. Repeatable.
pub(crate) async fn declare_call_queue(
    channel: &Channel,
    namespace: &str,
    queue: &str,
) -> lapin::Result<Queue> {
    let dead = queue_name(namespace, DEAD_QUEUE);
    declare_dead(channel, namespace).await?;
    declare_quorum(
        channel,
        &queue_name(namespace, queue),
        [
            ("x-delivery-limit", DELIVERY_LIMIT.into()),
            ("x-max-length-bytes", CALL_QUEUE_BYTES.into()),
            // A full queue refuses the publish, so that the caller can say so at once.
            ("x-overflow", text_value("reject-publish")),
            ("x-dead-letter-exchange", text_value("")),
            ("x-dead-letter-routing-key", text_value(&dead)),
        ],
    )
    .await
}

/// Declares the queue of what the broker gives up. Repeatable.
pub(crate) async fn declare_dead(channel: &Channel, namespace: &str) -> lapin::Result<Queue> {
    let name = queue_name(namespace, DEAD_QUEUE);
    declare_quorum(
        channel,
        &name,
        [("x-max-length-bytes", DEAD_QUEUE_BYTES.into())],
    )
    .await
}

/// Declares the queue of parked messages: not replicated, as nothing depends on them, and of a type that counts no
/// deliveries, so that they can be looked at any number of times. Repeatable.
pub(crate) async fn declare_parked(channel: &Channel, namespace: &str) -> lapin::Result<Queue> {
    let mut table = FieldTable::default();
    table.insert("x-queue-type".into(), text_value("classic"));
    table.insert("x-max-length-bytes".into(), PARKED_QUEUE_BYTES.into());
    // A week in milliseconds fits.
    table.insert(
        "x-message-ttl".into(),
        AMQPValue::LongLongInt(PARKED_LIFETIME.as_millis() as i64),
    );
    let name = queue_name(namespace, PARKED_QUEUE);
    channel
        .queue_declare(name.into(), QueueDeclareOptions::durable(), table)
        .await
}

/// Declares a queue of hints: not replicated, and emptied by a restart of the broker. Repeatable.
pub(crate) async fn declare_hints(
    channel: &Channel,
    namespace: &str,
    queue: &str,
) -> lapin::Result<Queue> {
    let mut table = FieldTable::default();
    table.insert("x-queue-type".into(), text_value("classic"));
    table.insert("x-max-length".into(), HINTS.into());
    let name = queue_name(namespace, queue);
    channel
        .queue_declare(name.into(), QueueDeclareOptions::durable(), table)
        .await
}

/// Asks for a queue without making it: how many consumers has it?
pub(crate) async fn inspect_queue(
    channel: &Channel,
    namespace: &str,
    queue: &str,
) -> lapin::Result<Queue> {
    let options = QueueDeclareOptions {
        passive: true,
        ..QueueDeclareOptions::default()
    };
    channel
        .queue_declare(
            queue_name(namespace, queue).into(),
            options,
            FieldTable::default(),
        )
        .await
}

async fn declare_quorum<const N: usize>(
    channel: &Channel,
    name: &str,
    arguments: [(&str, AMQPValue); N],
) -> lapin::Result<Queue> {
    let mut table = FieldTable::default();
    table.insert("x-queue-type".into(), text_value("quorum"));
    for (key, value) in arguments {
        table.insert(key.into(), value);
    }
    channel
        .queue_declare(name.into(), QueueDeclareOptions::durable(), table)
        .await
}

fn text_value(value: &str) -> AMQPValue {
    AMQPValue::LongString(value.into())
}
