//! Pages and pictures count for whoever asked for them until they are read.

use std::net::SocketAddr;

use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use runtime::config;
use runtime::memory::MemoryLimits;

use crate::source_memory::SourceMemory;

/// Bytes of the largest answer that is made before it is sent.
const LARGEST_BYTES: usize = 4 * 1024 * 1024;

/// The memory of answers.
pub(crate) fn response_memory(settings: &config::ConsoleSettings) -> SourceMemory {
    let limits = MemoryLimits {
        total_bytes: settings.answer_memory_bytes,
        largest_bytes: LARGEST_BYTES,
    };
    SourceMemory::new(("answers", "answer"), limits, &settings.trusted_proxies)
}

/// Has a large answer count until it is read.
pub(crate) async fn hold_response(
    State(memory): State<SourceMemory>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let account = memory.account_of(Some(peer), request.headers());
    let place = memory.budget.open_for_answer(vec![account]);
    place.hold_answer(next.run(request).await).await
}
