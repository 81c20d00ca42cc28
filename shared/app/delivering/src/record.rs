//! Writing down what came of attempts, many at a time.
//!
//! A statement that fails takes no result with it. While the database is away they wait. When a statement was refused it
//! is tried again with half of them, down to the one that cannot be written, which is written without its details. When it
//! ran into somebody's lock, the endpoint whose lock it is waits apart ([`HeldAttempts`]), and the others go on. So does an endpoint
//! of which not even one result can be written in the time that a statement may take: the database is slow.

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use model::id::{EndpointId, TeamId};
use model::limits::DELIVERIES_SHOWN;
use runtime::fail_point;
use store::{DeliveryAttempt, DeliveryFailureRules, Fault, StoreError, retry_conflicts};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::cancel::cancel_deliveries;
use crate::held::{HeldAttempts, UNTRIED};
use crate::state::EventDispatcher;

/// Attempts in one statement.
const BATCH: usize = 256;

/// How long results are gathered before they are written: one statement for many costs a fraction of one for each,
/// and nobody waits for it.
const GATHERING: Duration = Duration::from_millis(5);

/// Pause before a statement is sent again that failed for no fault of its rows, doubled each time up to the longest.
const FAILURE_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Endpoints that are remembered to be trimmed; past it the purge by age does it.
const TOUCHED: usize = 10_000;

const WARNING: (&str, &str) = (
    "A webhook endpoint is failing",
    "Deliveries to this webhook endpoint have failed several times in a row:\n\n  {url}\n\nThe last error: {error}\n\n\
     If it goes on like this the endpoint will be disabled, and scans will no longer be sent to it. Please check that \
     it answers with a 2xx status within 10 seconds.\n",
);

const DISABLED: (&str, &str) = (
    "A webhook endpoint was disabled",
    "Deliveries to this webhook endpoint have failed too many times in a row, and it was disabled:\n\n  {url}\n\n\
     The last error: {error}\n\nScans are no longer sent to it, and those from now on will not be sent later. When it \
     works again, choose Resume on the endpoint.\n",
);

/// Records until the attempts end.
pub(crate) async fn keep_recording(
    dispatcher: Arc<EventDispatcher>,
    mut results: mpsc::Receiver<DeliveryAttempt>,
) {
    let mut recorder = AttemptRecorder {
        dispatcher: &dispatcher,
        held: HeldAttempts::default(),
    };
    let (mut batch, mut is_open) = (Vec::new(), true);
    while is_open || !recorder.held.is_empty() {
        tokio::select! {
            more = gather(&mut results, &mut batch), if is_open && recorder.held.takes(BATCH) => is_open = more,
            () = tokio::time::sleep_until(recorder.held.next_due()), if !recorder.held.is_empty() => {}
        }
        mark_shown(&mut batch);
        recorder.take(std::mem::take(&mut batch)).await;
    }
}

/// Writes results, and keeps those that cannot be written yet.
struct AttemptRecorder<'a> {
    dispatcher: &'a EventDispatcher,
    held: HeldAttempts,
}

impl AttemptRecorder<'_> {
    /// Records new results, and those of endpoints that waited long enough.
    async fn take(&mut self, batch: Vec<DeliveryAttempt>) {
        let (batch, full) = self.held.join(batch);
        give_up(&full, "too many results wait for a lock");
        if !batch.is_empty() {
            self.record(in_endpoints(batch), 0).await;
        }
        for (attempts, tries) in self.held.take_due(Instant::now()) {
            self.record(attempts, tries).await;
        }
    }

    /// Records results; of each endpoint in their order. Those whose endpoint is locked are held, for the `tries + 1`st time.
    async fn record(&mut self, attempts: Vec<DeliveryAttempt>, tries: u32) {
        let mut parts = vec![attempts];
        let mut pause = FAILURE_PAUSE;
        while let Some(part) = parts.pop() {
            let error = match self.write(&part).await {
                Ok(disabled) => {
                    pause = FAILURE_PAUSE;
                    self.recorded(&part, disabled).await;
                    continue;
                }
                Err(error) => error,
            };
            match error.fault() {
                Fault::Database => {
                    tracing::warn!(
                        error = &error as &dyn Error,
                        attempts = part.len(),
                        "cannot record attempts yet"
                    );
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                    parts.push(part);
                }
                Fault::Lock if is_of_one_endpoint(&part) => {
                    tracing::warn!(
                        error = &error as &dyn Error,
                        attempts = part.len(),
                        tries,
                        "an endpoint is locked: its attempts wait"
                    );
                    give_up(
                        &self.held.hold(part, tries + 1, Instant::now()),
                        "an endpoint stays locked",
                    );
                }
                Fault::Row if part.len() == 1 => {
                    if !self.record_bare(&part[0], &error).await {
                        tokio::time::sleep(pause).await;
                        pause = (pause * 2).min(LONGEST_PAUSE);
                        parts.push(part);
                    }
                }
                Fault::Slow if part.len() == 1 => {
                    tracing::warn!(
                        error = &error as &dyn Error,
                        "the database is slow: an endpoint's attempts wait"
                    );
                    let slow = with_rest_of_endpoint(part, &mut parts);
                    let no_room = self.held.hold(slow, UNTRIED, Instant::now());
                    if !no_room.is_empty() {
                        tokio::time::sleep(LONGEST_PAUSE).await;
                        parts.push(no_room);
                    }
                }
                Fault::Slow if is_of_one_endpoint(&part) => parts.extend(probed(part)),
                Fault::Lock | Fault::Row | Fault::Slow => {
                    let (first, second) = halves(part);
                    parts.extend([second, first]);
                }
            }
        }
    }

    async fn write(
        &self,
        attempts: &[DeliveryAttempt],
    ) -> Result<Vec<(TeamId, EndpointId)>, StoreError> {
        let EventDispatcher {
            process, lease_id, ..
        } = self.dispatcher;
        let settings = &process.config.dispatcher;
        let rules = DeliveryFailureRules {
            warn_after: settings.warn_after,
            disable_after: settings.disable_after,
            warning: WARNING,
            disabled: DISABLED,
        };
        let now = process.clock.now();
        retry_conflicts(|| {
            process
                .store
                .record_delivery_attempts(*lease_id, attempts, rules, now)
        })
        .await
    }

    /// What follows when they are written.
    async fn recorded(&self, attempts: &[DeliveryAttempt], disabled: Vec<(TeamId, EndpointId)>) {
        fail_point::fail_if_chosen("delivery.recorded");
        for (team_id, endpoint_id) in disabled {
            tracing::warn!(%team_id, %endpoint_id, "an endpoint was disabled");
            metrics::counter!("pillarbox_webhook_endpoints_disabled_total").increment(1);
            let store = &self.dispatcher.process.store;
            if let Err(error) = cancel_deliveries(store, team_id, endpoint_id).await {
                // What is missed here is found by the sweep.
                tracing::warn!(
                    error = &error as &dyn Error,
                    "cannot cancel the deliveries of a disabled endpoint"
                );
            }
        }
        let mut touched = self.dispatcher.touched();
        for made in attempts.iter().filter(|made| made.is_shown) {
            if touched.len() < TOUCHED {
                touched.insert((made.delivery.team_id, made.delivery.lane.endpoint_id));
            }
        }
    }

    /// Records of a result that the database refuses what becomes of its delivery, so that it is not made again for ever.
    /// False when the database cannot say now.
    async fn record_bare(&self, made: &DeliveryAttempt, refusal: &StoreError) -> bool {
        let EventDispatcher {
            process, lease_id, ..
        } = self.dispatcher;
        let (team_id, delivery_id) = (made.delivery.team_id, made.delivery.delivery_id);
        let endpoint_id = made.delivery.lane.endpoint_id;
        match retry_conflicts(|| {
            process
                .store
                .record_attempt_outcome(*lease_id, made, process.clock.now())
        })
        .await
        {
            Ok(()) => {
                tracing::error!(error = refusal as &dyn Error, %team_id, %endpoint_id, %delivery_id, "an attempt is recorded without its details");
                count_unrecorded("details", 1);
            }
            Err(error) if !error.is_refusal() => {
                tracing::warn!(
                    error = &error as &dyn Error,
                    "cannot record an attempt without its details yet"
                );
                return false;
            }
            Err(error) => {
                tracing::error!(
                    error = &error as &dyn Error,
                    refusal = refusal as &dyn Error,
                    "an attempt cannot be recorded at all"
                );
                give_up(std::slice::from_ref(made), "the database refuses it");
            }
        }
        true
    }
}

/// Gives results up: their deliveries fall due again when the lease is over.
fn give_up(attempts: &[DeliveryAttempt], why: &str) {
    let Some(first) = attempts.first() else {
        return;
    };
    let (team_id, delivery_id) = (first.delivery.team_id, first.delivery.delivery_id);
    let (endpoint_id, attempts) = (first.delivery.lane.endpoint_id, attempts.len());
    tracing::error!(
        %team_id, %endpoint_id, %delivery_id, attempts, why, "attempts are not recorded; they are made again"
    );
    count_unrecorded("result", attempts);
}

fn count_unrecorded(what: &'static str, attempts: usize) {
    metrics::counter!("pillarbox_webhook_unrecorded_total", "what" => what)
        .increment(attempts as u64);
}

/// The results of each endpoint together, in their order.
fn in_endpoints(mut batch: Vec<DeliveryAttempt>) -> Vec<DeliveryAttempt> {
    batch.sort_by_key(|made| made.delivery.lane.endpoint_id.0);
    batch
}

fn is_of_one_endpoint(part: &[DeliveryAttempt]) -> bool {
    let endpoint = |made: &DeliveryAttempt| made.delivery.lane.endpoint_id;
    part.first().map(endpoint) == part.last().map(endpoint)
}

/// Cuts a part in two, between endpoints when it has several. What is cut has two results at least.
fn halves(mut part: Vec<DeliveryAttempt>) -> (Vec<DeliveryAttempt>, Vec<DeliveryAttempt>) {
    let middle = part.len() / 2;
    let is_cut =
        |at: &usize| part[at - 1].delivery.lane.endpoint_id != part[*at].delivery.lane.endpoint_id;
    let nearest = (1..part.len())
        .filter(is_cut)
        .min_by_key(|at| at.abs_diff(middle));
    let second = part.split_off(nearest.unwrap_or(middle));
    (part, second)
}

/// Puts an endpoint's result, and what is left of the same endpoint, together.
fn with_rest_of_endpoint(
    mut part: Vec<DeliveryAttempt>,
    parts: &mut Vec<Vec<DeliveryAttempt>>,
) -> Vec<DeliveryAttempt> {
    let endpoint =
        |part: &[DeliveryAttempt]| part.first().map(|made| made.delivery.lane.endpoint_id);
    // What is left of an endpoint whose part was cut lies next to it.
    while let Some(next) =
        parts.pop_if(|next| is_of_one_endpoint(next) && endpoint(next) == endpoint(&part))
    {
        part.extend(next);
    }
    part
}

/// Cuts an endpoint's part in two, and its first result off: if that cannot be written by itself, nothing can. The last one is
/// the first to be written.
fn probed(part: Vec<DeliveryAttempt>) -> impl Iterator<Item = Vec<DeliveryAttempt>> {
    let (mut first, second) = halves(part);
    let rest = first.split_off(1);
    [second, rest, first]
        .into_iter()
        .filter(|part| !part.is_empty())
}

/// Takes the next results, one at least; false when there will be none.
async fn gather(
    results: &mut mpsc::Receiver<DeliveryAttempt>,
    batch: &mut Vec<DeliveryAttempt>,
) -> bool {
    if results.recv_many(batch, BATCH).await == 0 {
        return false;
    }
    let until = Instant::now() + GATHERING;
    while batch.len() < BATCH {
        match tokio::time::timeout_at(until, results.recv_many(batch, BATCH - batch.len())).await {
            Ok(more) if more > 0 => {}
            _ => break,
        }
    }
    true
}

/// Of each endpoint only the newest deliveries are shown; older ones of the same batch need no record.
fn mark_shown(batch: &mut [DeliveryAttempt]) {
    let mut newest: HashMap<EndpointId, Vec<uuid::Uuid>> = HashMap::new();
    for made in batch.iter() {
        newest
            .entry(made.delivery.lane.endpoint_id)
            .or_default()
            .push(made.delivery.delivery_id.0);
    }
    let shown = usize::try_from(DELIVERIES_SHOWN).unwrap_or(0);
    for ids in newest.values_mut() {
        // Ids are in the order of time.
        ids.sort_unstable_by(|one, other| other.cmp(one));
        ids.truncate(shown);
    }
    for made in batch {
        let oldest = newest
            .get(&made.delivery.lane.endpoint_id)
            .and_then(|ids| ids.last());
        made.is_shown = oldest.is_some_and(|oldest| made.delivery.delivery_id.0 >= *oldest);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use chrono::Utc;
    use contract::webhook::EventId;
    use model::id::DeliveryId;
    use store::{AttemptOutcome, DeliveryKind, DeliveryLane, LeasedDelivery};
    use uuid::Uuid;

    use super::*;

    pub(crate) fn made(endpoint: u128, delivery: u128) -> DeliveryAttempt {
        let (now, id) = (Utc::now(), Uuid::from_u128(delivery));
        DeliveryAttempt {
            delivery: LeasedDelivery {
                team_id: TeamId(Uuid::nil()),
                lane: DeliveryLane {
                    endpoint_id: EndpointId(Uuid::from_u128(endpoint)),
                    is_retry: false,
                },
                delivery_id: DeliveryId(id),
                kind: DeliveryKind::Event,
                event_id: EventId { id, is_test: false },
                body: String::new(),
                traceparent: None,
                attempts: 0,
                url: String::new(),
                secrets: Vec::new(),
            },
            attempted_at: now,
            duration_ms: 1,
            status: None,
            answer: None,
            error: None,
            after: AttemptOutcome::Delivered,
            is_shown: true,
        }
    }

    #[test]
    fn a_part_is_cut_between_endpoints_and_then_in_the_middle() {
        let ids = |part: &[DeliveryAttempt]| -> Vec<u128> {
            part.iter()
                .map(|made| made.delivery.delivery_id.0.as_u128())
                .collect()
        };
        let batch = in_endpoints(vec![
            made(2, 1),
            made(1, 2),
            made(2, 3),
            made(2, 4),
            made(2, 5),
        ]);
        assert_eq!(
            ids(&batch),
            [2, 1, 3, 4, 5],
            "of an endpoint in the order in which they came"
        );
        let (one, other) = halves(batch);
        assert_eq!((ids(&one), ids(&other)), (vec![2], vec![1, 3, 4, 5]));
        assert!(is_of_one_endpoint(&one) && is_of_one_endpoint(&other));
        let (first, second) = halves(other);
        assert_eq!((ids(&first), ids(&second)), (vec![1, 3], vec![4, 5]));
    }

    #[test]
    fn of_each_endpoint_the_newest_25_deliveries_of_a_batch_are_shown() {
        let mut batch: Vec<_> = (0..60).map(|number| made(1, 100 - number)).collect();
        batch.extend((0..3).map(|number| made(2, number)));
        mark_shown(&mut batch);
        let shown: Vec<bool> = batch.iter().map(|made| made.is_shown).collect();
        assert!(
            shown[..25].iter().all(|shown| *shown) && !shown[25..60].iter().any(|shown| *shown)
        );
        assert_eq!(shown[60..], [true; 3]);
    }
}
