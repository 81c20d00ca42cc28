//! Memory for what requests bring and take, of which a source address has a share.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::http::HeaderMap;
use ipnet::IpNet;
use runtime::memory::{MemoryAccount, MemoryBudget, MemoryLimits};
use runtime::source::{build_source_key, source_address};

/// A source address has one in so many parts of the memory.
const SOURCE_PART: usize = 2;

/// The memory for one kind of thing.
#[derive(Clone)]
pub(crate) struct SourceMemory {
    pub(crate) budget: MemoryBudget,
    kind: &'static str,
    share_bytes: usize,
    trusted_proxies: Arc<[IpNet]>,
}

impl SourceMemory {
    /// Memory with a name for metrics, and one for whose it is.
    pub(crate) fn new(
        (name, kind): (&'static str, &'static str),
        limits: MemoryLimits,
        trusted_proxies: &[IpNet],
    ) -> Self {
        Self {
            share_bytes: (limits.total_bytes / SOURCE_PART).max(limits.largest_bytes),
            budget: MemoryBudget::new(name, limits),
            kind,
            trusted_proxies: trusted_proxies.into(),
        }
    }

    /// The account of the source of a request with these headers.
    pub(crate) fn account_of(
        &self,
        peer: Option<SocketAddr>,
        headers: &HeaderMap,
    ) -> MemoryAccount {
        let name = peer.map_or_else(Vec::new, |peer| {
            let source = source_address(peer.ip(), headers, &self.trusted_proxies);
            build_source_key(self.kind, source)
        });
        MemoryAccount {
            name,
            share_bytes: self.share_bytes,
        }
    }
}
