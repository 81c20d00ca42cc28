//! What the parts of a dispatcher share.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use model::id::{EndpointId, TeamId};
use outbound::{OutboundClient, TargetPolicy};
use runtime::{Process, task};
use store::DeliveryLane;
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::attempt::RetrySchedule;
use crate::lanes::{AttemptLimits, DeliveryLanes};

/// Brings events to the endpoints of all teams, as one of the dispatchers.
pub struct EventDispatcher {
    pub(crate) process: Process,
    pub(crate) client: OutboundClient,
    pub(crate) schedule: RetrySchedule,
    /// What this process claims with: by it, it knows its own.
    pub(crate) lease_id: Uuid,
    pub(crate) lanes: Mutex<DeliveryLanes>,
    /// A lane has got work or room.
    pub(crate) news: Notify,
    pub(crate) attempts: TaskTracker,
    /// Endpoints whose attempts may be more than are shown.
    pub(crate) touched: Mutex<HashSet<(TeamId, EndpointId)>>,
    /// Attempts since the last line about them.
    pub(crate) tally: AttemptCounter,
}

impl EventDispatcher {
    /// A dispatcher with the process's settings.
    ///
    /// # Errors
    /// When the settings cannot be used.
    pub fn new(process: Process) -> anyhow::Result<Arc<Self>> {
        let settings = &process.config.dispatcher;
        let policy = TargetPolicy::new(&process.config.outbound.allowed_networks);
        Ok(Arc::new(Self {
            client: OutboundClient::new(policy)?,
            schedule: RetrySchedule::new(settings),
            lease_id: Uuid::now_v7(),
            lanes: Mutex::new(DeliveryLanes::new(AttemptLimits {
                attempts: settings.concurrency,
                attempts_per_lane: settings.concurrency_per_endpoint,
            })),
            news: Notify::new(),
            attempts: TaskTracker::new(),
            touched: Mutex::default(),
            tally: AttemptCounter::default(),
            process,
        }))
    }

    /// Hears that these endpoints have new deliveries.
    pub fn hear_endpoints(&self, endpoint_ids: impl IntoIterator<Item = EndpointId>) {
        self.hear(endpoint_ids.into_iter().map(|endpoint_id| DeliveryLane {
            endpoint_id,
            is_retry: false,
        }));
    }

    /// Notes that these lanes may have due deliveries.
    pub(crate) fn hear(&self, heard: impl IntoIterator<Item = DeliveryLane>) {
        let mut lanes = self.lanes();
        for lane in heard {
            lanes.hear(lane);
        }
        drop(lanes);
        self.news.notify_one();
    }

    pub(crate) fn lanes(&self) -> MutexGuard<'_, DeliveryLanes> {
        task::lock_mutex(&self.lanes)
    }

    pub(crate) fn touched(&self) -> MutexGuard<'_, HashSet<(TeamId, EndpointId)>> {
        task::lock_mutex(&self.touched)
    }
}

/// What can come of an attempt, as the metrics call it.
const RESULTS: [&str; 4] = ["delivered", "refused", "timed_out", "unreachable"];

/// Attempts by what came of them.
#[derive(Debug, Default)]
pub(crate) struct AttemptCounter([AtomicU64; RESULTS.len()]);

impl AttemptCounter {
    pub(crate) fn count(&self, result: &str) {
        if let Some(at) = RESULTS.iter().position(|known| *known == result) {
            self.0[at].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The counts since they were last taken; `None` when there are none.
    fn take(&self) -> Option<[u64; RESULTS.len()]> {
        let counts = self
            .0
            .each_ref()
            .map(|count| count.swap(0, Ordering::Relaxed));
        counts.iter().any(|count| *count > 0).then_some(counts)
    }

    /// Writes the line, if there is something to say.
    pub(crate) fn log(&self) {
        if let Some([delivered, refused, timed_out, unreachable]) = self.take() {
            tracing::info!(
                delivered,
                refused,
                timed_out,
                unreachable,
                "attempts at deliveries"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_told_once() {
        let tally = AttemptCounter::default();
        assert_eq!(tally.take(), None);
        for result in ["delivered", "timed_out", "delivered"] {
            tally.count(result);
        }
        assert_eq!(tally.take(), Some([2, 0, 1, 0]));
        assert_eq!(tally.take(), None);
    }
}
