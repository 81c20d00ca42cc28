//! The outbound webhook: the body of an event (contract: Events).

use std::borrow::Cow;
use std::fmt;

use chrono::{DateTime, SecondsFormat, Utc};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use uuid::Uuid;

/// Header with the event's id.
pub const ID_HEADER: &str = "webhook-id";

/// Header with the Unix seconds at which the attempt was sent.
pub const TIMESTAMP_HEADER: &str = "webhook-timestamp";

/// Header with the signatures, on endpoints that have asked for them (Standard Webhooks).
pub const SIGNATURE_HEADER: &str = "webhook-signature";

/// An event's public id: `evt_` and 32 hexadecimal digits; `evt_test_` before those of a test event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EventId {
    /// What makes it unique.
    pub id: Uuid,
    /// Whether it is a test event's.
    pub is_test: bool,
}

impl fmt::Display for EventId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = if self.is_test { "evt_test_" } else { "evt_" };
        write!(formatter, "{prefix}{}", self.id.simple())
    }
}

/// A recorded scan of a QR code on the team's mail: the event that every endpoint gets.
#[derive(Debug, Clone, PartialEq)]
pub struct QrScanned<'a> {
    /// The event's id.
    pub id: EventId,
    /// When.
    pub scanned_at: DateTime<Utc>,
    /// Of which campaign.
    pub campaign: EventCampaign<'a>,
    /// Who got the card.
    pub recipient: EventRecipient<'a>,
    /// Roughly where.
    pub location: EventLocation<'a>,
    /// Where the QR code sent the person.
    pub destination: &'a str,
    /// Whether a program that looks ahead made the scan, such as a link preview: an addition to the contract, in
    /// the body as `"automated": true` and else absent.
    pub is_automated: bool,
}

/// The campaign of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EventCampaign<'a> {
    /// `PA-` and six characters.
    pub id: &'a str,
    /// What people call it.
    pub name: &'a str,
}

/// The recipient of an event; what is not known is `null`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct EventRecipient<'a> {
    /// As sent.
    pub first_name: Option<&'a str>,
    /// As sent.
    pub last_name: Option<&'a str>,
    /// As stored in the address book.
    pub email: Option<&'a str>,
    /// As stored in the address book.
    pub phone: Option<&'a str>,
    /// As printed.
    pub address_1: Option<&'a str>,
    /// As printed.
    pub address_2: Option<&'a str>,
    /// As printed.
    pub city: Option<&'a str>,
    /// Two letters.
    pub state: Option<&'a str>,
    /// Five digits, or nine with a hyphen.
    pub zip: Option<&'a str>,
}

/// The location of an event, from the scanning device's network; what is not known is `null`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, JsonSchema)]
pub struct EventLocation<'a> {
    /// In English.
    pub city: Option<&'a str>,
    /// State or province, in English.
    pub region: Option<&'a str>,
    /// Degrees north.
    pub latitude: Option<f64>,
    /// Degrees east.
    pub longitude: Option<f64>,
}

/// A recorded scan of a QR code on the team's mail.
// In the order and with the names of the wire.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "QrScanned")]
struct QrScannedBody<'a> {
    /// Always `qr.scanned`.
    #[schemars(extend("const" = "qr.scanned"))]
    event: &'static str,
    /// The event's id, the same on every retry; that of a test event begins with `evt_test_`.
    id: String,
    /// Present, and true, only on a test event.
    #[schemars(extend("const" = true))]
    #[serde(skip_serializing_if = "is_false")]
    test: bool,
    /// UTC, ISO 8601.
    #[schemars(with = "DateTime<Utc>")]
    scanned_at: String,
    /// Of which campaign.
    campaign: EventCampaign<'a>,
    /// Who got the card.
    recipient: EventRecipient<'a>,
    /// Roughly where.
    location: EventLocation<'a>,
    /// Where the QR code sent the person.
    destination: &'a str,
    /// Present, and true, when a program that looks ahead made the scan, such as a link preview.
    #[schemars(extend("const" = true))]
    #[serde(skip_serializing_if = "is_false")]
    automated: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_false(value: &bool) -> bool {
    !*value
}

impl JsonSchema for QrScanned<'_> {
    fn schema_name() -> Cow<'static, str> {
        QrScannedBody::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        QrScannedBody::json_schema(generator)
    }
}

impl QrScanned<'_> {
    /// The body: JSON, in the order of the contract.
    ///
    /// # Errors
    /// None that this type can cause; the writer's are passed on.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&QrScannedBody {
            event: "qr.scanned",
            id: self.id.to_string(),
            test: self.id.is_test,
            scanned_at: self.scanned_at.to_rfc3339_opts(SecondsFormat::Millis, true),
            campaign: self.campaign,
            recipient: self.recipient,
            location: self.location,
            destination: self.destination,
            automated: self.is_automated,
        })
    }
}

/// A state of a mailpiece that events tell of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailpieceEventState {
    /// In a finished print file.
    Printed,
    /// Handed to the post.
    Entered,
    /// Seen by the post on its way.
    InTransit,
    /// Delivered.
    Delivered,
    /// Came back.
    Returned,
    /// In the mail, and not seen for longer than the campaign expects.
    Stalled,
    /// Will never print.
    Cancelled,
}

impl MailpieceEventState {
    /// All of them, in the order in which they come.
    pub const ALL: [Self; 7] = [
        Self::Printed,
        Self::Entered,
        Self::InTransit,
        Self::Delivered,
        Self::Returned,
        Self::Stalled,
        Self::Cancelled,
    ];

    /// The name of the state.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Printed => "printed",
            Self::Entered => "entered",
            Self::InTransit => "in_transit",
            Self::Delivered => "delivered",
            Self::Returned => "returned",
            Self::Stalled => "stalled",
            Self::Cancelled => "cancelled",
        }
    }

    /// The name of the event.
    pub const fn event_name(self) -> &'static str {
        match self {
            Self::Printed => "mailpiece.printed",
            Self::Entered => "mailpiece.entered",
            Self::InTransit => "mailpiece.in_transit",
            Self::Delivered => "mailpiece.delivered",
            Self::Returned => "mailpiece.returned",
            Self::Stalled => "mailpiece.stalled",
            Self::Cancelled => "mailpiece.cancelled",
        }
    }

    /// The state of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }

    /// The state of the event of this name.
    pub fn from_event_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|state| state.event_name() == name)
    }
}

/// A mailpiece came to a state.
#[derive(Debug, Clone, PartialEq)]
pub struct MailpieceChanged<'a> {
    /// The event's id.
    pub id: EventId,
    /// The state.
    pub state: MailpieceEventState,
    /// When.
    pub occurred_at: DateTime<Utc>,
    /// How it is known: `scanned` or `reported`.
    pub basis: &'a str,
    /// The mailpiece.
    pub mailpiece_id: Uuid,
    /// Of which campaign.
    pub campaign: EventCampaign<'a>,
    /// Who gets it.
    pub recipient: EventRecipient<'a>,
    /// The post's operation and place, or why.
    pub detail: Option<&'a str>,
}

/// What became of a mailpiece of the team.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MailpieceChanged")]
struct MailpieceChangedBody<'a> {
    /// `mailpiece.` and the state.
    #[schemars(extend("enum" = MailpieceEventState::ALL.map(MailpieceEventState::event_name)))]
    event: &'static str,
    /// The event's id, the same on every retry.
    id: String,
    /// Present, and true, only on a test event.
    #[schemars(extend("const" = true))]
    #[serde(skip_serializing_if = "is_false")]
    test: bool,
    /// When it happened, by the scan or report that tells of it: UTC, ISO 8601.
    #[schemars(with = "DateTime<Utc>")]
    occurred_at: String,
    /// `scanned`: the post saw it. `reported`: somebody or a program of ours did it, or says so.
    #[schemars(extend("enum" = ["scanned", "reported"]))]
    basis: &'a str,
    /// The mailpiece.
    mailpiece: EventMailpiece,
    /// Of which campaign.
    campaign: EventCampaign<'a>,
    /// Who gets it.
    recipient: EventRecipient<'a>,
    /// The post's operation code and place, or why, in words.
    detail: Option<&'a str>,
}

/// The mailpiece of an event.
#[derive(Serialize, JsonSchema)]
struct EventMailpiece {
    /// Its id.
    id: Uuid,
}

impl JsonSchema for MailpieceChanged<'_> {
    fn schema_name() -> Cow<'static, str> {
        MailpieceChangedBody::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        MailpieceChangedBody::json_schema(generator)
    }
}

impl MailpieceChanged<'_> {
    /// The body: JSON.
    ///
    /// # Errors
    /// None that this type can cause; the writer's are passed on.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&MailpieceChangedBody {
            event: self.state.event_name(),
            id: self.id.to_string(),
            test: self.id.is_test,
            occurred_at: self
                .occurred_at
                .to_rfc3339_opts(SecondsFormat::Millis, true),
            basis: self.basis,
            mailpiece: EventMailpiece {
                id: self.mailpiece_id,
            },
            campaign: self.campaign,
            recipient: self.recipient,
            detail: self.detail,
        })
    }
}

impl QrScanned<'static> {
    /// A test event: example data, and an id of its own.
    pub fn example(id: Uuid, scanned_at: DateTime<Utc>) -> Self {
        Self {
            id: EventId { id, is_test: true },
            scanned_at,
            campaign: EventCampaign {
                id: "PA-EXAMPL",
                name: "Example campaign",
            },
            recipient: EventRecipient {
                first_name: Some("Sam"),
                last_name: Some("Example"),
                email: Some("sam@example.com"),
                phone: None,
                address_1: Some("123 N Main St"),
                address_2: None,
                city: Some("Austin"),
                state: Some("TX"),
                zip: Some("78701"),
            },
            location: EventLocation {
                city: Some("Austin"),
                region: Some("Texas"),
                latitude: Some(30.27),
                longitude: Some(-97.74),
            },
            destination: "https://example.com/welcome",
            is_automated: false,
        }
    }
}

/// A text that is known; an empty one is not.
pub fn non_empty(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_is_that_of_the_contract_and_a_test_event_says_so() {
        let at = DateTime::from_timestamp(1_767_323_045, 60_000_000).unwrap();
        let mut event = QrScanned::example(Uuid::from_u128(7), at);
        event.recipient = EventRecipient {
            first_name: non_empty("Ann"),
            ..EventRecipient::default()
        };
        event.location = EventLocation::default();
        let body = |event: &QrScanned<'_>| event.to_json().unwrap();
        let tail = concat!(
            r#""scanned_at":"2026-01-02T03:04:05.060Z","campaign":{"id":"PA-EXAMPL","name":"Example campaign"},"#,
            r#""recipient":{"first_name":"Ann","last_name":null,"email":null,"phone":null,"address_1":null,"#,
            r#""address_2":null,"city":null,"state":null,"zip":null},"#,
            r#""location":{"city":null,"region":null,"latitude":null,"longitude":null},"#,
            r#""destination":"https://example.com/welcome"}"#,
        );
        let id = "00000000000000000000000000000007";
        assert_eq!(
            body(&event),
            format!(r#"{{"event":"qr.scanned","id":"evt_test_{id}","test":true,{tail}"#)
        );
        event.id.is_test = false;
        assert_eq!(
            body(&event),
            format!(r#"{{"event":"qr.scanned","id":"evt_{id}",{tail}"#)
        );
    }
}
