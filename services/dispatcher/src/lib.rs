//! The dispatcher: brings events to the endpoints of teams.
//!
//! A delivery in reading order: a hint or a [`sweep`] says that a lane has work ([`lanes`]; pure) → [`claim`] leases
//! deliveries → [`attempt`] posts one → [`schedule`] says what follows (pure) → [`record`] writes what came of many
//! at a time. What people do with endpoints is the crate `delivering`'s.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests have their own time and tasks"
    )
)]

mod attempt;
mod claim;
mod email;
mod lanes;
mod record;
mod schedule;
mod signature;
mod sweep;
mod tally;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use messages::{DELIVERIES_QUEUE, DELIVERIES_WAITING_V1};
use model::id::{EndpointId, TeamId};
use outbound::{OutboundClient, TargetPolicy};
use runtime::Process;
use store::{DeliveryAttempt, DeliveryLane};
use tokio::sync::{Notify, mpsc};
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::email::EmailSender;
use crate::lanes::{AttemptLimits, DeliveryLanes};
use crate::schedule::RetrySchedule;
use crate::tally::AttemptCounter;

/// Time to record the last attempts at the stop.
const LAST_RECORD_TIMEOUT: Duration = Duration::from_secs(5);

/// What the parts of a dispatcher share.
pub(crate) struct DispatcherState {
    process: Process,
    client: OutboundClient,
    schedule: RetrySchedule,
    /// What this process claims with: by it, it knows its own.
    lease_id: Uuid,
    lanes: Mutex<DeliveryLanes>,
    /// A lane has got work or room.
    news: Notify,
    attempts: TaskTracker,
    /// Endpoints whose attempts may be more than are shown.
    touched: Mutex<HashSet<(TeamId, EndpointId)>>,
    /// Attempts since the last line about them.
    tally: AttemptCounter,
}

/// Runs a dispatcher until the process is to stop.
///
/// # Errors
/// When the settings cannot be used.
pub async fn run(process: Process) -> anyhow::Result<()> {
    let settings = &process.config.dispatcher;
    let mail = EmailSender::new(&process.config.email)?;
    let dispatcher = Arc::new(DispatcherState {
        client: OutboundClient::new(TargetPolicy::new(&process.config.outbound.allowed_networks))?,
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
        process: process.clone(),
    });
    let (made, results) = mpsc::channel(settings.concurrency);
    let recorder = runtime::task::spawn(record::run(dispatcher.clone(), results));
    tokio::join!(
        listen(&dispatcher),
        claim::run(&dispatcher, &made),
        sweep::run(&dispatcher),
        tally::run(&dispatcher),
        email::run(&process, &mail),
    );
    finish(&dispatcher, made, recorder).await;
    Ok(())
}

/// Lets attempts under way end and records them; what does not end in time falls due again when its lease is over.
async fn finish(
    dispatcher: &DispatcherState,
    made: mpsc::Sender<DeliveryAttempt>,
    recorder: tokio::task::JoinHandle<()>,
) {
    dispatcher.attempts.close();
    if tokio::time::timeout(
        dispatcher.process.grace_period(),
        dispatcher.attempts.wait(),
    )
    .await
    .is_err()
    {
        tracing::warn!("stopping with attempts unfinished; they are made again");
    }
    dispatcher.tally.log();
    drop(made);
    if tokio::time::timeout(LAST_RECORD_TIMEOUT, recorder)
        .await
        .is_err()
    {
        tracing::warn!("stopping with attempts unrecorded; they are made again");
    }
}

/// Hears which endpoints have new deliveries.
async fn listen(dispatcher: &DispatcherState) {
    let hear = |ids: Vec<Uuid>| {
        let lanes = ids.into_iter().map(|id| DeliveryLane {
            endpoint_id: EndpointId(id),
            is_retry: false,
        });
        dispatcher.hear(lanes);
    };
    let Process {
        broker, shutdown, ..
    } = &dispatcher.process;
    queue::listen_for_announcements(
        broker,
        DELIVERIES_QUEUE,
        DELIVERIES_WAITING_V1,
        shutdown.clone(),
        hear,
    )
    .await;
}

impl DispatcherState {
    /// Notes that these lanes may have due deliveries.
    fn hear(&self, heard: impl IntoIterator<Item = DeliveryLane>) {
        let mut lanes = self.lanes();
        for lane in heard {
            lanes.hear(lane);
        }
        drop(lanes);
        self.news.notify_one();
    }

    fn lanes(&self) -> MutexGuard<'_, DeliveryLanes> {
        // A panic while the lock was held cannot leave the counts half-changed.
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn touched(&self) -> MutexGuard<'_, HashSet<(TeamId, EndpointId)>> {
        self.touched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
