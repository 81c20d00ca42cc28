//! The process's one connection, kept alive.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use lapin::protocol::{AMQPErrorKind, AMQPSoftError};
use lapin::{Connection, ConnectionProperties, ErrorKind, Event};
use serde::Deserialize;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::topology::inspect_queue;
use crate::transport;

/// Time to reach the broker and open a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Pause before the first attempt to connect again; doubled at each failure.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// The longest pause between attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// How often a connection is asked whether it still stands, besides the events that it sends.
const STATUS_INTERVAL: Duration = Duration::from_millis(500);

/// Where the broker is and what this stack calls its queues.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BrokerSettings {
    /// `amqp://` or `amqps://` URL with user, password and virtual host.
    pub url: String,
    /// Prefix of every queue name, so that several stacks can share a broker.
    pub namespace: String,
}

/// A handle to the connection; clones share it.
#[derive(Clone)]
pub struct Broker {
    pub(crate) namespace: Arc<str>,
    current: watch::Receiver<Option<Arc<BrokerLink>>>,
}

/// How much waits in a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueDepth {
    /// Its name, without the namespace.
    pub queue: &'static str,
    /// Messages that no consumer has.
    pub messages: u32,
    /// Its consumers.
    pub consumers: u32,
}

/// A connection while it stands.
pub(crate) struct BrokerLink {
    pub(crate) connection: Connection,
    blocked: AtomicBool,
}

impl BrokerLink {
    /// Whether the broker takes publishes: it blocks them when it is short of memory or disk.
    pub(crate) fn takes_publishes(&self) -> bool {
        self.connection.status().connected() && !self.blocked.load(Ordering::Relaxed)
    }
}

impl Broker {
    /// Starts keeping a connection, which the broker's tools show under this name: the process's. Returns at once; the
    /// connection comes and goes behind the handle until `shutdown`.
    #[expect(
        clippy::disallowed_methods,
        reason = "it lives as long as the process, and belongs to no request"
    )]
    pub fn start(
        settings: &BrokerSettings,
        connection_name: &str,
        shutdown: CancellationToken,
    ) -> Self {
        let (sender, current) = watch::channel(None);
        let namespace = settings.namespace.as_str().into();
        let (url, name) = (settings.url.clone(), connection_name.to_owned());
        tokio::spawn(async move {
            tokio::select! {
                () = keep_connected(&url, &name, &sender) => {}
                () = shutdown.cancelled() => {}
            }
            let last = sender.send_replace(None);
            if let Some(link) = last {
                let _ = link.connection.close(200, "stopping".into()).await;
            }
        });
        Self { namespace, current }
    }

    /// Whether a connection stands now.
    pub fn is_connected(&self) -> bool {
        self.current
            .borrow()
            .as_ref()
            .is_some_and(|link| link.connection.status().connected())
    }

    /// Whether the broker takes no publishes, because it is short of memory or disk.
    pub fn is_blocked(&self) -> bool {
        self.current
            .borrow()
            .as_ref()
            .is_some_and(|link| link.blocked.load(Ordering::Relaxed))
    }

    /// How much waits in these queues. One that nobody has declared yet is empty.
    ///
    /// # Errors
    /// When the broker cannot be asked.
    pub async fn measure_depths<const N: usize>(
        &self,
        queues: &[&'static str; N],
    ) -> lapin::Result<[QueueDepth; N]> {
        let mut depths = queues.map(|queue| QueueDepth {
            queue,
            messages: 0,
            consumers: 0,
        });
        let Some(link) = self.wait_for_link().await else {
            return Ok(depths);
        };
        for depth in &mut depths {
            // A channel each: asking for a queue that is not there closes the channel.
            let channel = link.connection.create_channel().await?;
            match inspect_queue(&channel, &self.namespace, depth.queue).await {
                Ok(state) => {
                    (depth.messages, depth.consumers) =
                        (state.message_count(), state.consumer_count());
                    channel.close(200, "asked".into()).await?;
                }
                Err(error) if is_not_found(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(depths)
    }

    /// The connection, as soon as there is one. `None` when the broker handle was shut down.
    pub(crate) async fn wait_for_link(&self) -> Option<Arc<BrokerLink>> {
        let mut current = self.current.clone();
        let link = current.wait_for(Option::is_some).await.ok()?;
        link.clone()
    }
}

fn is_not_found(error: &lapin::Error) -> bool {
    let not_found = AMQPErrorKind::Soft(AMQPSoftError::NOTFOUND);
    matches!(error.kind(), ErrorKind::ProtocolError(error) if *error.kind() == not_found)
}

async fn keep_connected(url: &str, name: &str, sender: &watch::Sender<Option<Arc<BrokerLink>>>) {
    let mut pause = FIRST_PAUSE;
    loop {
        match connect_with_timeout(url, name).await {
            Ok(connection) => {
                tracing::info!("connected to the broker");
                metrics::counter!("pillarbox_broker_connections_total").increment(1);
                pause = FIRST_PAUSE;
                let link = Arc::new(BrokerLink {
                    connection,
                    blocked: AtomicBool::new(false),
                });
                sender.send_replace(Some(link.clone()));
                watch_until_lost(&link).await;
                sender.send_replace(None);
                tracing::warn!("lost the connection to the broker");
            }
            Err(error) => {
                tracing::warn!(error = &error as &dyn Error, "cannot connect to the broker")
            }
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

async fn connect_with_timeout(url: &str, name: &str) -> lapin::Result<Connection> {
    let properties = ConnectionProperties::default().with_connection_name(name.into());
    let connecting = transport::open_connection(url, properties);
    let connected = tokio::time::timeout(CONNECT_TIMEOUT, connecting).await;
    connected.unwrap_or_else(|elapsed| Err(io::Error::new(io::ErrorKind::TimedOut, elapsed).into()))
}

async fn watch_until_lost(link: &BrokerLink) {
    let mut events = std::pin::pin!(link.connection.events_listener());
    let mut status = tokio::time::interval(STATUS_INTERVAL);
    while link.connection.status().connected() {
        tokio::select! {
            event = events.next() => match event {
                Some(Event::ConnectionBlocked(why)) => {
                    tracing::warn!(why, "the broker takes no publishes");
                    link.blocked.store(true, Ordering::Relaxed);
                }
                Some(Event::ConnectionUnblocked) => link.blocked.store(false, Ordering::Relaxed),
                Some(_) => {}
                None => return,
            },
            _ = status.tick() => {}
        }
    }
}
