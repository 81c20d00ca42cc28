//! GET /api/v1/ledger.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

/// Bookings of a team.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LedgerAnswer {
    /// In the order in which they were booked.
    pub bookings: Vec<LedgerBooking>,
    /// To be passed back as `cursor`: behind the last of them. At the end it is what later answers go on from.
    pub next_cursor: String,
    /// Whether there is more behind it now.
    pub has_more: bool,
}

/// A booking.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LedgerBooking {
    /// Its id.
    pub id: Uuid,
    /// Why money moved.
    pub kind: LedgerBookingKind,
    /// How much, in US cents; never less than 0.
    pub amount_cents: i64,
    /// What it adds to the prepaid balance, in US cents; 0 where a payment card was used.
    pub balance_change_cents: i64,
    /// What was paid, or is given back of; of a charge that a request made, the request's `X-Request-Id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub charge_id: Option<Uuid>,
    /// What is given back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refund_id: Option<Uuid>,
    /// The campaign of the charge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub campaign_id: Option<String>,
    /// What a top-up was booked with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// When.
    #[schemars(with = "DateTime<Utc>")]
    pub created_at: DateTime<Utc>,
}

/// Why money moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LedgerBookingKind {
    /// It came in.
    TopUp,
    /// Mailpieces were paid for.
    Charge,
    /// Mailpieces were cancelled, and their price given back.
    Refund,
}
