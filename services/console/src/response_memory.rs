//! Pages and pictures count for whoever asked for them until they are read.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::Response;
use ipnet::IpNet;
use runtime::config;
use runtime::memory::{MemoryAccount, MemoryBudget, MemoryLimits};
use runtime::source::{source_address, subject};

/// Bytes of the largest answer that is made before it is sent.
const LARGEST_BYTES: usize = 4 * 1024 * 1024;

/// A source address has one in so many parts of the memory.
const SOURCE_PART: usize = 2;

/// The memory of answers.
#[derive(Clone)]
pub(crate) struct ConsoleResponseMemory {
    memory: MemoryBudget,
    share_bytes: usize,
    trusted_proxies: Arc<[IpNet]>,
}

impl ConsoleResponseMemory {
    pub(crate) fn new(settings: &config::ConsoleSettings) -> Self {
        let total_bytes = settings.answer_memory_bytes;
        Self {
            memory: MemoryBudget::new(
                "answers",
                MemoryLimits {
                    total_bytes,
                    largest_bytes: LARGEST_BYTES,
                },
            ),
            share_bytes: (total_bytes / SOURCE_PART).max(LARGEST_BYTES),
            trusted_proxies: settings.trusted_proxies.clone().into(),
        }
    }

    fn memory_account(&self, peer: SocketAddr, headers: &HeaderMap) -> MemoryAccount {
        let source = source_address(peer.ip(), headers, &self.trusted_proxies);
        MemoryAccount {
            name: subject("answer", source),
            share_bytes: self.share_bytes,
        }
    }
}

/// Has a large answer count until it is read.
pub(crate) async fn hold_response(
    State(unread): State<ConsoleResponseMemory>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let place = unread
        .memory
        .open_for_answer(vec![unread.memory_account(peer, request.headers())]);
    place.hold(next.run(request).await).await
}
