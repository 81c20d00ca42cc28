//! Connections of one source at a time.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use ipnet::IpNet;

use crate::source::{build_source_key, is_trusted};
use crate::task::lock_mutex;

/// Counts connections by their source. Load balancers are not counted: they bring those of many.
pub(super) struct ConnectionCounter {
    most: usize,
    trusted: Vec<IpNet>,
    open: Mutex<HashMap<Vec<u8>, usize>>,
}

/// A connection's place, given back when it is dropped.
pub(super) enum ConnectionGuard {
    /// Of a load balancer.
    Trusted,
    /// Of a stranger.
    Counted(Arc<ConnectionCounter>, Vec<u8>),
}

impl ConnectionCounter {
    pub(super) fn new(most: usize, trusted: Vec<IpNet>) -> Arc<Self> {
        Arc::new(Self {
            most,
            trusted,
            open: Mutex::default(),
        })
    }

    /// A place for a connection from this address; `None` when its source has as many as it may.
    pub(super) fn admit(self: &Arc<Self>, peer: IpAddr) -> Option<ConnectionGuard> {
        let peer = peer.to_canonical();
        if is_trusted(peer, &self.trusted) {
            return Some(ConnectionGuard::Trusted);
        }
        let source = build_source_key("connection", peer);
        let mut open = self.lock();
        let connections = open.entry(source.clone()).or_default();
        if *connections >= self.most {
            return None;
        }
        *connections += 1;
        Some(ConnectionGuard::Counted(self.clone(), source))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Vec<u8>, usize>> {
        lock_mutex(&self.open)
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        let Self::Counted(sources, source) = self else {
            return;
        };
        let mut open = sources.lock();
        let left = open.get_mut(source).map_or(0, |connections| {
            *connections -= 1;
            *connections
        });
        if left == 0 {
            open.remove(source);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_has_its_number_of_connections_and_a_load_balancer_any() {
        let sources = ConnectionCounter::new(2, vec!["10.0.0.0/8".parse().unwrap()]);
        let admit = |peer: &str| sources.admit(peer.parse().unwrap());
        let (first, second) = (admit("192.0.2.1"), admit("::ffff:192.0.2.1"));
        assert!(first.is_some() && second.is_some() && admit("192.0.2.1").is_none());
        assert!(admit("192.0.2.2").is_some());
        let networks: Vec<_> = ["2001:db8::1", "2001:db8::2", "2001:db8::3"]
            .map(admit)
            .into();
        assert_eq!(
            networks.iter().filter(|place| place.is_some()).count(),
            2,
            "a /64 is one source"
        );
        let proxies: Vec<_> = (0..5).map(|_| admit("10.1.2.3")).collect();
        assert!(proxies.iter().all(Option::is_some));
        drop(first);
        assert!(admit("192.0.2.1").is_some());
        drop((second, networks));
        assert!(sources.lock().is_empty(), "what nobody has is forgotten");
    }
}
