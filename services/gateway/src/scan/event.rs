//! A scan as an event.

use chrono::{DateTime, Utc};
use contract::webhook::{EventCampaign, EventId, EventLocation, EventRecipient, QrScanned, known};
use store::ScannedMailpiece;
use uuid::Uuid;

use super::location::GeoLocation;

/// A scan of a card, and where it led.
pub(super) struct ScanEventBody<'a> {
    pub(super) scan_id: Uuid,
    pub(super) card: &'a ScannedMailpiece,
    pub(super) destination: &'a str,
    pub(super) place: &'a GeoLocation,
    pub(super) scanned_at: DateTime<Utc>,
    pub(super) is_automated: bool,
}

impl ScanEventBody<'_> {
    /// The event's body: the same bytes for a webhook and for the feed, as long as the card's names stay.
    ///
    /// # Errors
    /// None that a scan can cause; the writer's are passed on.
    pub(super) fn to_json(&self) -> serde_json::Result<String> {
        let (card, place) = (self.card, self.place);
        let (latitude, longitude) = place.point.unzip();
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
                first_name: known(&card.first_name),
                last_name: known(&card.last_name),
                email: known(&card.email),
                phone: known(&card.phone),
                address_1: known(&address_1),
                address_2: known(&address_2),
                city: known(&card.city),
                state: known(&card.state),
                zip: known(&card.zip),
            },
            location: EventLocation {
                city: place.city.as_deref(),
                region: place.region.as_deref(),
                latitude,
                longitude,
            },
            destination: self.destination,
            is_automated: self.is_automated,
        };
        event.to_json()
    }
}
