//! GET /api/v1/mailpieces and /api/v1/mailpieces/{id}.

use chrono::{DateTime, NaiveDate, Utc};
use model::mailpiece_state::{MailpieceBasis, MailpieceState};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

/// Mailpieces of a team.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MailpiecesAnswer {
    /// In the order that was asked for. Fewer than `limit`, or none, do not mean that there are no more.
    pub mailpieces: Vec<Mailpiece>,
    /// To be passed back as `cursor`: behind the last of them. At the end it is what later answers go on from.
    pub next_cursor: String,
    /// Whether there is more behind it now.
    pub has_more: bool,
}

/// A mailpiece as it is now.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Mailpiece {
    /// Its id.
    pub id: Uuid,
    /// `PA-` and six characters.
    pub campaign_id: String,
    /// The campaign's step, from 1.
    pub step: i16,
    /// What the sender called its recipient when it was sent last; absent when it gave nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// How far it is.
    pub state: MailpieceState,
    /// How that is known.
    pub state_basis: MailpieceBasis,
    /// Since when; absent when nobody noted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DateTime<Utc>>")]
    pub state_since: Option<DateTime<Utc>>,
    /// What it costs, in US cents.
    pub price_cents: i64,
    /// `standard` or `first_class`.
    pub postage: String,
    /// Format of the paper, such as `postcard_4x6`.
    pub product: String,
    /// What it prints with.
    pub design: MailpieceDesign,
    /// The day on which it is to mail at the latest.
    #[schemars(with = "NaiveDate")]
    pub mail_by_date: NaiveDate,
    /// It does not print before; absent when it need not wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DateTime<Utc>>")]
    pub print_after: Option<DateTime<Utc>>,
    /// Whether it came from a test send, and never prints.
    pub test: bool,
    /// When it was made.
    #[schemars(with = "DateTime<Utc>")]
    pub created_at: DateTime<Utc>,
    /// Whom it goes to, as sent; may be empty.
    pub name: String,
    /// Where it goes to, as printed.
    pub address: MailpieceAddress,
}

/// The design of a mailpiece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MailpieceDesign {
    /// Its id.
    pub id: Uuid,
    /// The version that was the newest when the mailpiece was made.
    pub version: i32,
}

/// The address of a mailpiece, as printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MailpieceAddress {
    /// The delivery line.
    pub line_1: String,
    /// The second line; may be empty.
    pub line_2: String,
    /// City.
    pub city: String,
    /// Two letters.
    pub state: String,
    /// Five digits, or nine with a hyphen.
    pub zip: String,
}

/// A mailpiece with all that is known of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MailpieceAnswer {
    /// The mailpiece.
    pub mailpiece: Mailpiece,
    /// What happened to it, the oldest first; then what is expected.
    pub history: Vec<HistoryEntry>,
    /// The charge that paid for it; of a mailpiece that a request made, the request's `X-Request-Id`.
    pub charge_id: Uuid,
    /// Once it is cancelled: what is given back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refund: Option<MailpieceRefund>,
}

/// Something that happened to a mailpiece, or is expected to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HistoryEntry {
    /// What it became by it, also when it was further already.
    pub state: MailpieceState,
    /// `scanned` by the post, `reported` by somebody or by a program of ours, or `estimated` from calendars: nobody has seen that.
    pub basis: MailpieceBasis,
    /// When; absent from an estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DateTime<Utc>>")]
    pub at: Option<DateTime<Utc>>,
    /// Of an estimate: the day, in the team's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<NaiveDate>")]
    pub expected_on: Option<NaiveDate>,
    /// Who did it or says so: `api`, `console`, `operator`, `do_not_mail`, `removal`, `usps` or `system`.
    pub source: String,
    /// Why, or the post's code and place; may be empty.
    pub detail: String,
}

/// What is given back for a mailpiece.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MailpieceRefund {
    /// In US cents.
    pub amount_cents: i64,
    /// When it was given back; absent while it is owed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DateTime<Utc>>")]
    pub settled_at: Option<DateTime<Utc>>,
}
