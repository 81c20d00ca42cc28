//! A scan as an event.

use chrono::{DateTime, Utc};
use contract::webhook::{
    EventCampaign, EventId, EventLocation, EventRecipient, QrScanned, non_empty,
};
use serde_json::value::RawValue;
use store::{RecordedScan, ScannedMailpiece};
use uuid::Uuid;

use crate::location::GeoLocation;
use crate::visitor::VisitorKind;

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
