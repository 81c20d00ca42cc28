//! Answers count until they are read: whoever asks for much and reads nothing has a share of memory, as whoever sends has.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::Response;
use model::id::TeamId;
use model::limits::RESPONSE_BYTES;
use runtime::config;
use runtime::memory::{MemoryAccount, MemoryBudget, MemoryLimits, MemoryReservation, is_counted};
use runtime::source::{build_source_key, source_address};
use runtime::trace::RequestIdentity;

use crate::admission::AdmissionError;
use crate::{GatewayState, PeerAddress};

/// Bytes of a stored response with what stands around it.
const STORED_BYTES: usize = RESPONSE_BYTES + 1024;

/// How long a stored response waits for its place. Behind requests of its own account whose answers nobody reads that is two
/// seconds for each, which has nothing to do with how long one reader may take.
const PLACE_PATIENCE: Duration = Duration::from_secs(60);

/// A team has one in so many parts of the memory, a source address one in so many.
const TEAM_PART: usize = 4;
const SOURCE_PART: usize = 2;

/// The memory of answers.
#[derive(Clone)]
pub(crate) struct StoredAnswerBudget {
    budget: MemoryBudget,
    total_bytes: usize,
}

impl StoredAnswerBudget {
    pub(crate) fn new(settings: &config::GatewaySettings) -> Self {
        let total_bytes = settings.answer_memory_bytes;
        let budget = MemoryBudget::new(
            "answers",
            MemoryLimits {
                total_bytes,
                largest_bytes: STORED_BYTES,
            },
        );
        Self {
            budget,
            total_bytes,
        }
    }

    fn open_reservation(&self, team_id: Option<TeamId>, source: IpAddr) -> MemoryReservation {
        let account = |name: Vec<u8>, part: usize| MemoryAccount {
            name,
            share_bytes: (self.total_bytes / part).max(STORED_BYTES),
        };
        let of_team = team_id
            .map(|team_id| account([b"team:", &team_id.0.as_bytes()[..]].concat(), TEAM_PART));
        let of_source = account(build_source_key("answer", source), SOURCE_PART);
        self.budget
            .open_for_answer(of_team.into_iter().chain([of_source]).collect())
    }
}

impl GatewayState {
    /// A place for a stored response, before it is read from the database: the answer carries it to [`hold_answer`]. Errors:
    /// [`AdmissionError::Failed`] when none became free in time, or by the last moment of a stop.
    pub(crate) async fn reserve_answer(
        &self,
        team_id: TeamId,
        peer: IpAddr,
        headers: &HeaderMap,
    ) -> Result<MemoryReservation, AdmissionError> {
        let place = self
            .answers
            .open_reservation(Some(team_id), self.source_of(peer, headers));
        tokio::select! {
            grown = place.grow(STORED_BYTES, PLACE_PATIENCE) => grown.map_err(|_| AdmissionError::Failed)?,
            () = self.process.last_moment() => return Err(AdmissionError::Failed),
        }
        Ok(place)
    }

    fn source_of(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        source_address(peer, headers, &self.process.config.gateway.trusted_proxies)
    }
}

/// Has a large answer count for the team and the source that asked for it, until it is read.
pub(crate) async fn hold_answer(
    State(gateway): State<GatewayState>,
    PeerAddress { 0: peer }: PeerAddress,
    request: Request,
    next: Next,
) -> Response {
    let identity = RequestIdentity::from_extensions(request.extensions());
    let source = gateway.source_of(peer.ip(), request.headers());
    let mut response = next.run(request).await;
    let reserved = response
        .extensions_mut()
        .remove::<Arc<MemoryReservation>>()
        .and_then(Arc::into_inner);
    if !is_counted(&response) {
        return response;
    }
    let place =
        reserved.unwrap_or_else(|| gateway.answers.open_reservation(identity.asker(), source));
    place.hold_answer(response).await
}
