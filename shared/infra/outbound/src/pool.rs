//! Connections that are kept alive between requests.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::SendRequest;

/// How long a connection is kept that nobody uses.
const IDLE_TIME: Duration = Duration::from_secs(30);

/// Idle connections to one address under one name.
const IDLE_PER_PLACE: usize = 64;

/// Idle connections in all.
const IDLE_IN_ALL: usize = 512;

/// What a connection leads to: the name it was made for counts, because its certificate was checked against it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ConnectionKey {
    pub(crate) name: String,
    pub(crate) is_tls: bool,
    pub(crate) address: SocketAddr,
}

/// The sending side of a connection.
pub(crate) type ConnectionSender = SendRequest<Full<Bytes>>;

/// Idle connections by place, the one used last at the back.
#[derive(Default)]
pub(crate) struct ConnectionPool {
    idle: Mutex<HashMap<ConnectionKey, VecDeque<(ConnectionSender, Instant)>>>,
}

impl ConnectionPool {
    /// Takes a connection that still stands, as far as can be told.
    pub(crate) fn take_connection(&self, place: &ConnectionKey) -> Option<ConnectionSender> {
        let mut idle = self.lock();
        let connections = idle.get_mut(place)?;
        let taken = std::iter::from_fn(|| connections.pop_back())
            .find(|(sender, since)| !sender.is_closed() && since.elapsed() < IDLE_TIME);
        if connections.is_empty() {
            idle.remove(place);
        }
        taken.map(|(sender, _)| sender)
    }

    /// Keeps a connection for the next request, if there is room.
    pub(crate) fn keep_connection(&self, place: ConnectionKey, sender: ConnectionSender) {
        let mut idle = self.lock();
        let in_all: usize = idle.values().map(VecDeque::len).sum();
        if in_all >= IDLE_IN_ALL {
            remove_expired(&mut idle);
        }
        let connections = idle.entry(place).or_default();
        if in_all < IDLE_IN_ALL && connections.len() < IDLE_PER_PLACE && !sender.is_closed() {
            connections.push_back((sender, Instant::now()));
        }
    }

    /// Closes what nobody has used for a while.
    pub(crate) fn close_idle(&self) {
        remove_expired(&mut self.lock());
    }

    fn lock(
        &self,
    ) -> MutexGuard<'_, HashMap<ConnectionKey, VecDeque<(ConnectionSender, Instant)>>> {
        // A panic while the lock was held cannot leave the map half-changed.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn remove_expired(idle: &mut HashMap<ConnectionKey, VecDeque<(ConnectionSender, Instant)>>) {
    idle.retain(|_, connections| {
        connections.retain(|(sender, since)| !sender.is_closed() && since.elapsed() < IDLE_TIME);
        !connections.is_empty()
    });
}
