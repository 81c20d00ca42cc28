//! Writing down what came of attempts, many at a time.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use contract::id::{EndpointId, TeamId};
use contract::limits::DELIVERIES_SHOWN;
use service::fail_point;
use store::{FailureRules, MadeAttempt, StoreError, retry};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::Dispatcher;

/// Attempts in one statement.
const BATCH: usize = 256;

/// How long results are gathered before they are written: one statement for many costs a fraction of one for each,
/// and nobody waits for it.
const GATHERING: Duration = Duration::from_millis(5);

/// Pause before a statement is sent again after the database was lost.
const FAILURE_PAUSE: Duration = Duration::from_millis(250);

/// Deliveries that one statement cancels.
const CANCELLED_ROWS: i64 = 5_000;

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
pub(crate) async fn run(dispatcher: Arc<Dispatcher>, mut results: mpsc::Receiver<MadeAttempt>) {
    let mut batch = Vec::new();
    while gather(&mut results, &mut batch).await {
        mark_shown(&mut batch);
        let disabled = record(&dispatcher, &batch).await;
        fail_point::pass("delivery.recorded");
        for (team_id, endpoint_id) in disabled {
            tracing::warn!(%team_id, %endpoint_id, "an endpoint was disabled");
            metrics::counter!("pillarbox_webhook_endpoints_disabled_total").increment(1);
            cancel(&dispatcher, team_id, endpoint_id).await;
        }
        let mut touched = dispatcher.touched();
        for made in batch.drain(..).filter(|made| made.is_shown) {
            if touched.len() < TOUCHED {
                touched.insert((made.delivery.team_id, made.delivery.lane.endpoint_id));
            }
        }
    }
}

/// Takes the next results, one at least; false when there will be none.
async fn gather(results: &mut mpsc::Receiver<MadeAttempt>, batch: &mut Vec<MadeAttempt>) -> bool {
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
fn mark_shown(batch: &mut [MadeAttempt]) {
    let mut newest: HashMap<EndpointId, Vec<uuid::Uuid>> = HashMap::new();
    for made in batch.iter() {
        newest.entry(made.delivery.lane.endpoint_id).or_default().push(made.delivery.delivery_id.0);
    }
    let shown = usize::try_from(DELIVERIES_SHOWN).unwrap_or(0);
    for ids in newest.values_mut() {
        // Ids are in the order of time.
        ids.sort_unstable_by(|one, other| other.cmp(one));
        ids.truncate(shown);
    }
    for made in batch {
        let oldest = newest.get(&made.delivery.lane.endpoint_id).and_then(|ids| ids.last());
        made.is_shown = oldest.is_some_and(|oldest| made.delivery.delivery_id.0 >= *oldest);
    }
}

/// Records a batch, however long the database is away: what is not recorded would be delivered again.
async fn record(dispatcher: &Dispatcher, batch: &[MadeAttempt]) -> Vec<(TeamId, EndpointId)> {
    let (store, settings) = (&dispatcher.process.store, &dispatcher.process.config.dispatcher);
    let rules = FailureRules {
        warn_after: settings.warn_after,
        disable_after: settings.disable_after,
        warning: WARNING,
        disabled: DISABLED,
    };
    loop {
        let now = dispatcher.process.clock.now();
        match retry(|| store.delivery_record(dispatcher.lease_id, batch, rules, now)).await {
            Ok(disabled) => return disabled,
            Err(StoreError::Unavailable(error)) => {
                tracing::warn!(error, attempts = batch.len(), "cannot record attempts yet");
                tokio::time::sleep(FAILURE_PAUSE).await;
            }
            Err(error) => {
                tracing::error!(%error, attempts = batch.len(), "attempts cannot be recorded; they are made again");
                return Vec::new();
            }
        }
    }
}

/// Cancels what waits for a disabled endpoint. What is missed here is found by the sweep.
async fn cancel(dispatcher: &Dispatcher, team_id: TeamId, endpoint_id: EndpointId) {
    let store = &dispatcher.process.store;
    loop {
        match store.delivery_cancel(team_id, endpoint_id, CANCELLED_ROWS).await {
            Ok(cancelled) if cancelled == CANCELLED_ROWS.unsigned_abs() => {}
            Ok(_) => return,
            Err(error) => {
                return tracing::warn!(%error, "cannot cancel the deliveries of a disabled endpoint");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::Utc;
    use contract::id::DeliveryId;
    use contract::webhook::EventId;
    use store::{AfterAttempt, ClaimedDelivery, DeliveryKind, Lane};
    use uuid::Uuid;

    use super::*;

    fn made(endpoint: u128, delivery: u128) -> MadeAttempt {
        let (now, id) = (Utc::now(), Uuid::from_u128(delivery));
        MadeAttempt {
            delivery: ClaimedDelivery {
                team_id: TeamId(Uuid::nil()),
                lane: Lane { endpoint_id: EndpointId(Uuid::from_u128(endpoint)), is_retry: false },
                delivery_id: DeliveryId(id),
                kind: DeliveryKind::Event,
                event_id: EventId { id, is_test: false },
                body: String::new(),
                attempts: 0,
                url: String::new(),
                secrets: Vec::new(),
            },
            attempted_at: now,
            duration_ms: 1,
            status: None,
            answer: None,
            error: None,
            after: AfterAttempt::Delivered,
            is_shown: true,
        }
    }

    #[test]
    fn of_each_endpoint_the_newest_25_deliveries_of_a_batch_are_shown() {
        let mut batch: Vec<_> = (0..60).map(|number| made(1, 100 - number)).collect();
        batch.extend((0..3).map(|number| made(2, number)));
        mark_shown(&mut batch);
        let shown: Vec<bool> = batch.iter().map(|made| made.is_shown).collect();
        assert!(shown[..25].iter().all(|shown| *shown) && !shown[25..60].iter().any(|shown| *shown));
        assert_eq!(shown[60..], [true; 3]);
    }
}
