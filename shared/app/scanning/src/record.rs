//! From a code to a destination, and into the database.
//!
//! Scans that arrive while others are on their way to the database go together with the next statement, so that a
//! crowd costs little more than one phone. Reading and writing are apart: a phone is redirected as long as the
//! database can be read, also when it takes no writes.

use std::collections::HashMap;
use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use contract::webhook::{
    EventCampaign, EventId, EventLocation, EventRecipient, QrScanned, non_empty,
};
use messages::{DELIVERIES_QUEUE, DELIVERIES_WAITING_V1};
use model::scan::ScanTarget;
use queue::Announcer;
use runtime::{Process, fail_point, task};
use serde_json::value::RawValue;
use store::{NewScan, RecordedScan, ScannedMailpiece, Store, StoreError, retry_conflicts};
use tokio::sync::{Mutex, mpsc, oneshot};
use uuid::Uuid;

use crate::location::{GeoLocation, GeoLocator};
use crate::visitor::VisitorKind;

/// Scans that one statement reads or writes at the most.
const BATCH: usize = 128;

/// Statements of each kind under way at a time.
const LANES: usize = 2;

/// Tries of a statement whose connection was lost, or that waited too long for somebody: a connection that was closed while
/// it was idle fails once.
const ATTEMPTS: u32 = 2;

/// The database cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanLookupError;

/// Who scans, from where and when.
#[derive(Debug)]
pub struct ScanVisit {
    /// Whether a person asks.
    pub visitor: VisitorKind,
    /// From where, roughly.
    pub location: GeoLocation,
    /// When.
    pub scanned_at: DateTime<Utc>,
    /// The request's place in a trace that is recorded.
    pub traceparent: Option<String>,
}

/// The way of scans into the database.
pub struct ScanRecorder {
    locator: GeoLocator,
    requests: mpsc::Sender<ScanRequest>,
    lookup_timeout: Duration,
}

/// A phone that waits. Without a visit it only wants to know where the code leads.
struct ScanRequest {
    target: ScanTarget,
    visit: Option<ScanVisit>,
    found: oneshot::Sender<Result<Option<FoundMailpiece>, ScanLookupError>>,
}

/// A card was found; its scan is on its way.
struct FoundMailpiece {
    destination: String,
    recorded: oneshot::Receiver<()>,
}

/// A scan on its way into the database, and whom to tell.
struct PendingScan {
    scan: NewScan,
    recorded: oneshot::Sender<()>,
}

impl ScanRecorder {
    /// Starts the tasks that read and write.
    ///
    /// # Errors
    /// When a configured file of locations cannot be read.
    pub fn start(process: &Process) -> anyhow::Result<Self> {
        let settings = &process.config.scans;
        let locator = GeoLocator::open(&settings.location_files)?;
        let announcer = Announcer::start(
            &process.broker,
            DELIVERIES_QUEUE,
            DELIVERIES_WAITING_V1,
            process.background.clone(),
        );
        let (requests, waiting) = mpsc::channel(settings.waiting);
        let (recordings, waiting_recordings) = mpsc::channel(settings.waiting);
        let (waiting, waiting_recordings) = (
            Arc::new(Mutex::new(waiting)),
            Arc::new(Mutex::new(waiting_recordings)),
        );
        for _ in 0..LANES {
            task::spawn(read_batches(
                process.store.clone(),
                waiting.clone(),
                recordings.clone(),
            ));
            task::spawn(write_batches(
                process.store.clone(),
                waiting_recordings.clone(),
                announcer.clone(),
            ));
        }
        Ok(Self {
            locator,
            requests,
            lookup_timeout: Duration::from_millis(settings.patience_ms),
        })
    }

    /// Roughly where an address is.
    pub fn locate(&self, source: IpAddr) -> GeoLocation {
        self.locator.locate(source)
    }

    /// Records a scan and tells where the code leads; `None` when it leads nowhere. A scan that is not recorded in
    /// time goes on being recorded behind the phone's back.
    ///
    /// # Errors
    /// [`ScanLookupError`].
    pub async fn record_scan(
        &self,
        target: ScanTarget,
        visit: ScanVisit,
    ) -> Result<Option<String>, ScanLookupError> {
        let Some(found) = self.request_lookup(target, Some(visit)).await? else {
            return Ok(None);
        };
        let _ = tokio::time::timeout(self.lookup_timeout, found.recorded).await;
        Ok(Some(found.destination))
    }

    /// Tells where a code leads; `None` when it leads nowhere.
    ///
    /// # Errors
    /// [`ScanLookupError`].
    pub async fn look_up(&self, target: ScanTarget) -> Result<Option<String>, ScanLookupError> {
        Ok(self
            .request_lookup(target, None)
            .await?
            .map(|found| found.destination))
    }

    async fn request_lookup(
        &self,
        target: ScanTarget,
        visit: Option<ScanVisit>,
    ) -> Result<Option<FoundMailpiece>, ScanLookupError> {
        let (sender, found) = oneshot::channel();
        // A full queue makes the phone wait; the number of phones is bounded by that of connections.
        self.requests
            .send(ScanRequest {
                target,
                visit,
                found: sender,
            })
            .await
            .map_err(|_| ScanLookupError)?;
        found.await.map_err(|_| ScanLookupError)?
    }
}

/// The next items of a queue, one at least; `None` when its senders are gone.
async fn next_batch<T>(queue: &Mutex<mpsc::Receiver<T>>) -> Option<Vec<T>> {
    let mut batch = Vec::new();
    let taken = queue.lock().await.recv_many(&mut batch, BATCH).await;
    (taken > 0).then_some(batch)
}

async fn read_batches(
    store: Store,
    waiting: Arc<Mutex<mpsc::Receiver<ScanRequest>>>,
    recordings: mpsc::Sender<PendingScan>,
) {
    while let Some(batch) = next_batch(&waiting).await {
        let mut codes: Vec<&str> = batch
            .iter()
            .map(|request| request.target.code.as_str())
            .collect();
        codes.sort_unstable();
        codes.dedup();
        let cards = retry_when_unavailable(|| store.find_scanned_mailpieces(&codes)).await;
        if let Err(error) = &cards {
            tracing::error!(error = error as &dyn Error, "cannot look codes up");
        }
        for request in batch {
            answer_request(request, cards.as_ref().ok(), &recordings);
        }
    }
}

/// Tells the phone where its code leads, and hands the scan on.
fn answer_request(
    request: ScanRequest,
    cards: Option<&HashMap<String, ScannedMailpiece>>,
    recordings: &mpsc::Sender<PendingScan>,
) {
    let Some(cards) = cards else {
        let _ = request.found.send(Err(ScanLookupError));
        return;
    };
    let card = cards.get(request.target.code.as_str());
    let position = usize::from(request.target.element) - 1;
    let Some((card, destination)) =
        card.and_then(|card| Some((card, card.destinations.get(position)?)))
    else {
        let _ = request.found.send(Ok(None));
        return;
    };
    let (recorded, receiver) = oneshot::channel();
    let _ = request.found.send(Ok(Some(FoundMailpiece {
        destination: destination.clone(),
        recorded: receiver,
    })));
    let Some(visit) = request.visit else { return };
    match build_new_scan(card, destination, visit) {
        Ok(scan) => {
            if recordings.try_send(PendingScan { scan, recorded }).is_err() {
                count_scans("unrecorded", 1);
                tracing::error!(
                    "too many scans wait for the database: a phone was redirected without a record"
                );
            }
        }
        Err(error) => tracing::error!(error = &error as &dyn Error, "an event cannot be written"),
    }
}

fn build_new_scan(
    card: &ScannedMailpiece,
    destination: &str,
    visit: ScanVisit,
) -> serde_json::Result<NewScan> {
    let ScanVisit {
        visitor,
        location,
        scanned_at,
        traceparent,
    } = visit;
    let scan_id = Uuid::now_v7();
    let scanned = ScanEventBody {
        scan_id,
        card,
        destination,
        location: &location,
        scanned_at,
        is_automated: visitor == VisitorKind::Program,
    };
    let body = scanned.to_json()?;
    let (latitude, longitude) = location.point.unzip();
    Ok(NewScan {
        scan_id,
        team_id: card.team_id,
        mailpiece_id: card.mailpiece_id,
        campaign_id: card.campaign_id.clone(),
        visitor: visitor.as_str(),
        destination: destination.to_owned(),
        city: location.city,
        region: location.region,
        latitude,
        longitude,
        scanned_at,
        day: scanned_at.with_timezone(&card.time_zone).date_naive(),
        body,
        traceparent,
    })
}

async fn write_batches(
    store: Store,
    waiting: Arc<Mutex<mpsc::Receiver<PendingScan>>>,
    announcer: Announcer,
) {
    while let Some(batch) = next_batch(&waiting).await {
        let (scans, phones): (Vec<NewScan>, Vec<oneshot::Sender<()>>) = batch
            .into_iter()
            .map(|recording| (recording.scan, recording.recorded))
            .unzip();
        record_scans(&store, &scans, &announcer).await;
        for phone in phones {
            let _ = phone.send(());
        }
    }
}

/// Records scans; when the database refuses them, in halves, down to the one that it does not take.
async fn record_scans(store: &Store, scans: &[NewScan], announcer: &Announcer) {
    let mut parts = vec![scans];
    while let Some(part) = parts.pop() {
        match retry_when_unavailable(|| retry_conflicts(|| store.record_scans(part))).await {
            Ok(endpoints) => {
                fail_point::fail_if_chosen("scan.recorded");
                count_scans("recorded", part.len());
                announcer.announce(endpoints.into_iter().map(|id| id.0));
            }
            // The first try was recorded after all; its announcement is found in the database.
            Err(StoreError::Refused { constraint, .. }) if is_scans_key(&constraint) => {}
            Err(error) if error.is_refusal() && part.len() > 1 => {
                let (first, second) = part.split_at(part.len() / 2);
                parts.extend([second, first]);
            }
            Err(error) => {
                count_scans("unrecorded", part.len());
                tracing::error!(
                    error = &error as &dyn Error,
                    scans = part.len(),
                    "phones were redirected without a record"
                );
            }
        }
    }
}

/// Each partition of scans has a key of its own, named after it.
fn is_scans_key(constraint: &str) -> bool {
    constraint.starts_with("scans_") && constraint.ends_with("_pkey")
}

fn count_scans(result: &'static str, scans: usize) {
    metrics::counter!("pillarbox_scans_total", "result" => result).increment(scans as u64);
}

async fn retry_when_unavailable<T, F>(mut work: impl FnMut() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    for _ in 1..ATTEMPTS {
        match work().await {
            Err(StoreError::Unavailable(_) | StoreError::Busy(_)) => {}
            Err(error) if error.is_timeout() => {}
            result => return result,
        }
    }
    work().await
}

/// A scan of a card, and where it led.
pub(crate) struct ScanEventBody<'a> {
    pub(crate) scan_id: Uuid,
    pub(crate) card: &'a ScannedMailpiece,
    pub(crate) destination: &'a str,
    pub(crate) location: &'a GeoLocation,
    pub(crate) scanned_at: DateTime<Utc>,
    pub(crate) is_automated: bool,
}

impl ScanEventBody<'_> {
    /// The event's body: the same bytes for a webhook and for the feed, as long as the card's names stay.
    ///
    /// # Errors
    /// None that a scan can cause; the writer's are passed on.
    pub(crate) fn to_json(&self) -> serde_json::Result<String> {
        let (card, location) = (self.card, self.location);
        let (latitude, longitude) = location.point.unzip();
        let (address_1, address_2) =
            address::lines_as_sent(&card.line_1, &card.line_2, &card.unit_apart);
        let event = QrScanned {
            id: EventId {
                id: self.scan_id,
                is_test: false,
            },
            scanned_at: self.scanned_at,
            campaign: EventCampaign {
                id: &card.campaign_id,
                name: &card.campaign_name,
            },
            recipient: EventRecipient {
                first_name: non_empty(&card.first_name),
                last_name: non_empty(&card.last_name),
                email: non_empty(&card.email),
                phone: non_empty(&card.phone),
                address_1: non_empty(&address_1),
                address_2: non_empty(&address_2),
                city: non_empty(&card.city),
                state: non_empty(&card.state),
                zip: non_empty(&card.zip),
            },
            location: EventLocation {
                city: location.city.as_deref(),
                region: location.region.as_deref(),
                latitude,
                longitude,
            },
            destination: self.destination,
            is_automated: self.is_automated,
        };
        event.to_json()
    }
}

/// The event of a recorded scan, for the feed.
///
/// # Errors
/// None that a scan can cause; the writer's are passed on.
pub fn event_of_scan(scan: &RecordedScan) -> serde_json::Result<Box<RawValue>> {
    let location = GeoLocation {
        city: scan.city.clone(),
        region: scan.region.clone(),
        point: scan.latitude.zip(scan.longitude),
    };
    let scanned = ScanEventBody {
        scan_id: scan.scan_id,
        card: &scan.card,
        destination: &scan.destination,
        location: &location,
        scanned_at: scan.scanned_at,
        is_automated: scan.visitor == VisitorKind::Program.as_str(),
    };
    RawValue::from_string(scanned.to_json()?)
}
