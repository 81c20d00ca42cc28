//! Mailpieces that are cancelled, and campaigns that are held: an addition to the contract.

use chrono::{DateTime, SecondsFormat, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use uuid::Uuid;

/// The body of POST /api/v1/mailpieces/cancel.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct ReferenceToCancel {
    /// The campaign.
    pub campaign_id: String,
    /// The `reference` that the recipients were sent with, exactly.
    #[schemars(length(min = 1))]
    pub reference: String,
}

/// What a mailpiece is after it was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CancelledState {
    /// It never prints, and its price is given back.
    Cancelled,
}

/// A mailpiece that is cancelled, now or before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CancelledMailpiece {
    /// The mailpiece.
    pub id: Uuid,
    /// Always `cancelled`.
    pub state: CancelledState,
    /// What is given back for it, in US cents.
    pub refunded_cents: i64,
}

/// How the mailpieces stand that were to be cancelled together: the same however often it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CancelledMailpieces {
    /// Mailpieces that are cancelled, now or before.
    pub cancelled: i64,
    /// Mailpieces in a print run: they are mailed.
    pub already_printed: i64,
    /// What is given back for those that are cancelled, in US cents.
    pub refunded_cents: i64,
}

/// Whether a campaign is held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CampaignHoldAnswer {
    /// The campaign.
    pub campaign_id: String,
    /// Since when it is held, as RFC 3339 with milliseconds in UTC; null when it is not.
    #[serde(serialize_with = "write_time")]
    #[schemars(with = "Option<String>")]
    pub held_at: Option<DateTime<Utc>>,
}

fn write_time<S: Serializer>(
    time: &Option<DateTime<Utc>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let text = time.map(|time| time.to_rfc3339_opts(SecondsFormat::Millis, true));
    text.serialize(serializer)
}

/// Why mailpieces were not cancelled, or a campaign not held or released. Nothing has changed then; only of
/// [`WithholdError::DeadlinePassed`] that is not known, and asking again does nothing twice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "code", content = "message", rename_all = "snake_case")]
pub enum WithholdError {
    /// The key is wrong, revoked, or not a Full access key.
    #[error("The API key is missing, wrong or revoked, or is not a Full access key.")]
    InvalidApiKey,
    /// The body or an id cannot be read; the text says why.
    #[error("{0}")]
    InvalidPayload(String),
    /// More mailpieces than are cancelled at once, or a body over the limit; the text gives the limit.
    #[error("{0}")]
    PayloadTooLarge(String),
    /// The body is encoded in a way that is not taken.
    #[error("Content-Encoding must be gzip or zstd, once, or be left out.")]
    UnsupportedEncoding,
    /// No campaign with that id on the key's team.
    #[error("There is no campaign with this campaign_id on your team.")]
    CampaignNotFound,
    /// No mailpiece with that id on the key's team.
    #[error("There is no mailpiece with this id on your team.")]
    MailpieceNotFound,
    /// No request with that id on the key's team, or it was answered with an earlier one's stored response.
    #[error("There is no request with this id on your team that has mailed anybody.")]
    RequestNotFound,
    /// The mailpiece is in a print run.
    #[error("The mailpiece is in a print run already. It is mailed, and its price stays.")]
    AlreadyPrinted,
    /// The request that made the mailpieces has no answer yet.
    #[error("The request is still being worked on. Nothing was cancelled; try again in a moment.")]
    InProgress,
    /// Over the requests per minute of the key or of the source address.
    #[error("Too many requests: wait a minute and send again.")]
    RateLimited,
    /// Something on our side failed.
    #[error("Something went wrong on our side. Nothing was changed; send the request again.")]
    InternalError,
    /// No answer within the deadline; it may still be done.
    #[error(
        "The request was not finished in time, and may still be. Send it again: nothing is done twice."
    )]
    DeadlinePassed,
}

impl WithholdError {
    /// All of them; variable texts say when they are given.
    pub fn list_all() -> [Self; 12] {
        let text = str::to_owned;
        [
            Self::InvalidApiKey,
            Self::InvalidPayload(text("The body or an id cannot be read.")),
            Self::PayloadTooLarge(text(
                "More than 10000 mailpieces have this reference, or the body is too large.",
            )),
            Self::UnsupportedEncoding,
            Self::CampaignNotFound,
            Self::MailpieceNotFound,
            Self::RequestNotFound,
            Self::AlreadyPrinted,
            Self::InProgress,
            Self::RateLimited,
            Self::InternalError,
            Self::DeadlinePassed,
        ]
    }

    /// What a program branches on.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::InvalidApiKey => "invalid_api_key",
            Self::InvalidPayload(_) => "invalid_payload",
            Self::PayloadTooLarge(_) => "payload_too_large",
            Self::UnsupportedEncoding => "unsupported_encoding",
            Self::CampaignNotFound => "campaign_not_found",
            Self::MailpieceNotFound => "mailpiece_not_found",
            Self::RequestNotFound => "request_not_found",
            Self::AlreadyPrinted => "already_printed",
            Self::InProgress => "in_progress",
            Self::RateLimited => "rate_limited",
            Self::InternalError => "internal_error",
            Self::DeadlinePassed => "timeout",
        }
    }
}
