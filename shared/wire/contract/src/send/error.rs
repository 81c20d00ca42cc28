//! Why a whole request failed (contract: Errors, Dynamic Audience API).

use serde::{Deserialize, Serialize};

use super::request::SendRequestError;

/// A request that failed as a whole: nothing was mailed, nothing charged. Only
/// [`SendError::DeadlinePassed`] leaves open whether some recipients were mailed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "code", content = "message", rename_all = "snake_case")]
pub enum SendError {
    /// The key is wrong, revoked, or not a Full access key.
    #[error("The API key is missing, wrong or revoked, or is not a Full access key.")]
    InvalidApiKey,
    /// No campaign with that id on the key's team, or no usable `campaign_id`.
    #[error("There is no campaign with this campaign_id on your team.")]
    CampaignNotFound,
    /// The campaign cannot take recipients now; the text says why.
    #[error("{0}")]
    CampaignNotActive(String),
    /// A design cannot print; the text names the item, surface and template.
    #[error("{0}")]
    DesignCannotRender(String),
    /// The cards would cost another sum than the request's `expect_total`.
    #[error(
        "The cards would cost {total_cents} cents together, and not {expected_cents} as expect_total says. Nothing was mailed or charged."
    )]
    PriceChanged {
        /// What the request expects, in whole US cents.
        expected_cents: i64,
        /// What the cards would cost now, in whole US cents.
        total_cents: i64,
    },
    /// Too many recipients, or a body over the limit; the text gives the limit.
    #[error("{0}")]
    PayloadTooLarge(String),
    /// `Content-Encoding` names what is not taken, or several.
    #[error("Content-Encoding must be gzip or zstd, once, or be left out.")]
    UnsupportedEncoding,
    /// The body cannot be read; the text says where and why.
    #[error("{0}")]
    InvalidPayload(String),
    /// The `Idempotency-Key` header cannot be used.
    #[error("The Idempotency-Key must be text of at most 200 characters.")]
    InvalidIdempotencyKey,
    /// The `Idempotency-Key` was sent with another request before.
    #[error(
        "This Idempotency-Key was used for another request. Nothing was mailed or charged; send each request with a key of its own."
    )]
    IdempotencyKeyReused,
    /// The first request with this `Idempotency-Key` has no answer yet.
    #[error(
        "The first request with this Idempotency-Key is still being worked on: send it again with the same key in a moment."
    )]
    InProgress,
    /// Over the requests per minute of the key or of the source address.
    #[error("Too many requests: wait a minute and send again.")]
    RateLimited,
    /// Something on our side failed before anything was mailed.
    #[error(
        "Something went wrong on our side. Nothing was mailed or charged; send the request again."
    )]
    InternalError,
    /// No answer within the deadline; the request may still finish.
    #[error(
        "The request was not finished in time. Some recipients may have been mailed: wait 20 minutes, then \
         send the same request again; nobody is mailed twice."
    )]
    DeadlinePassed,
    /// No mailpiece with that id on the key's team.
    #[error("There is no mailpiece with this id on your team.")]
    MailpieceNotFound,
    /// The cursor of a list cannot be used.
    #[error(
        "This is no cursor of this list with these filters, or it is another team's. Begin again without one."
    )]
    InvalidCursor,
    /// No state of a mailpiece has that name.
    #[error("There is no state of a mailpiece with this name.")]
    InvalidState,
    /// Addresses cannot be checked now.
    #[error(
        "Addresses cannot be checked at the moment. Nothing was mailed or charged; try again later."
    )]
    ValidationUnavailable,
}

impl From<SendRequestError> for SendError {
    fn from(error: SendRequestError) -> Self {
        match error {
            SendRequestError::Shape(message) => Self::InvalidPayload(message),
            SendRequestError::TooManyRecipients(_) => Self::PayloadTooLarge(error.to_string()),
        }
    }
}

impl SendError {
    /// The `code` of the contract's table. Added are `timeout`, for a passed deadline (the contract gives the status
    /// 504 without one), `unsupported_encoding`, `price_changed`, those about an `Idempotency-Key`, which are named as the push API's,
    /// and those of what a team reads.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::InvalidApiKey => "invalid_api_key",
            Self::CampaignNotFound => "campaign_not_found",
            Self::CampaignNotActive(_) => "campaign_not_active",
            Self::DesignCannotRender(_) => "design_cannot_render",
            Self::PriceChanged { .. } => "price_changed",
            Self::PayloadTooLarge(_) => "payload_too_large",
            Self::UnsupportedEncoding => "unsupported_encoding",
            Self::InvalidPayload(_) => "invalid_payload",
            Self::InvalidIdempotencyKey => "invalid_idempotency_key",
            Self::IdempotencyKeyReused => "idempotency_key_reused",
            Self::InProgress => "in_progress",
            Self::RateLimited => "rate_limited",
            Self::InternalError => "internal_error",
            Self::DeadlinePassed => "timeout",
            Self::ValidationUnavailable => "validation_unavailable",
            Self::MailpieceNotFound => "mailpiece_not_found",
            Self::InvalidCursor => "invalid_cursor",
            Self::InvalidState => "invalid_state",
        }
    }
}
