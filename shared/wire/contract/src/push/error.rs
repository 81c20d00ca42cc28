//! Why a push API request failed (contract: Errors, Push API).

use model::idempotency::IdempotencyKeyError;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::push::{OpenSync, SyncMode};
use model::limits::{
    BODY_BYTES, DECLARED_FIELDS, IDEMPOTENCY_KEY_CHARS, PAGE_ITEMS, RECORDS_PER_BATCH,
};

/// A declared field whose column keeps another type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockedField {
    /// The field's key.
    pub key: String,
    /// Why the column keeps its type.
    pub why: TypeLockReason,
}

/// Why a column keeps its type whatever an integration declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TypeLockReason {
    /// The owner has set it.
    Owner,
    /// The conditions of a campaign use the column as it is.
    Conditions,
    /// A formula uses the column as it is.
    Formula,
}

fn describe_locked_fields(fields: &[LockedField]) -> String {
    let reason = |why| match why {
        TypeLockReason::Owner => "The owner has set another type for these columns",
        TypeLockReason::Conditions => {
            "The filter conditions of campaigns use these columns with their present type"
        }
        TypeLockReason::Formula => "Formulas use these columns with their present type",
    };
    let sentence = |why| {
        let keys: Vec<&str> = fields
            .iter()
            .filter(|field| field.why == why)
            .map(|field| field.key.as_str())
            .collect();
        (!keys.is_empty()).then(|| format!("{}: {}.", reason(why), keys.join(", ")))
    };
    let sentences = [
        TypeLockReason::Owner,
        TypeLockReason::Conditions,
        TypeLockReason::Formula,
    ]
    .into_iter()
    .filter_map(sentence);
    sentences.collect::<Vec<_>>().join(" ")
}

fn describe_open_sync(open: &OpenSync) -> String {
    let expires_at = open.expires_at.format("%Y-%m-%d %H:%M");
    match open.mode {
        SyncMode::Full => format!(
            "A full sync is open already. Completing it removes every contact that it has not received: push all of them into it \
             before you do. Left alone it expires at {expires_at} UTC and removes nothing."
        ),
        SyncMode::Delta => format!(
            "A delta sync is open already. Push into it and complete it, or wait until it expires at {expires_at} UTC."
        ),
    }
}

/// A request that failed as a whole: it changed nothing. Only [`PushError::DeadlinePassed`] leaves that open,
/// and a retry with the same key settles it.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "code", content = "content", rename_all = "snake_case")]
pub enum PushError {
    /// The body is not JSON; the text says where.
    #[error("{0}")]
    InvalidJson(String),
    /// The body is JSON of another shape; the text says what is wanted.
    #[error("{0}")]
    InvalidRequest(String),
    /// A request that changes something came without `Idempotency-Key`.
    #[error(
        "This request needs an Idempotency-Key header: a new value for each request, the same on its retry."
    )]
    MissingIdempotencyKey,
    /// The key is too long. An added code: the contract gives the limit without one.
    #[error("An Idempotency-Key has 1 to {IDEMPOTENCY_KEY_CHARS} characters.")]
    InvalidIdempotencyKey,
    /// More declared fields than an integration may have.
    #[error(
        "An integration declares at most {DECLARED_FIELDS} fields; with these it would have {received}."
    )]
    TooManyFields {
        /// Fields that there would be, earlier ones counted.
        received: usize,
    },
    /// `syncId` is no sync id.
    #[error("syncId must be the id of a sync.")]
    InvalidSyncId,
    /// `type` of the rejections list is another word.
    #[error("type must be rejection or warning.")]
    InvalidType,
    /// `after` is no cursor.
    #[error("after must be the nextAfter of an earlier page.")]
    InvalidCursor,
    /// `limit` is no page size.
    #[error("limit must be a whole number from 1 to {PAGE_ITEMS}.")]
    InvalidLimit,
    /// The key is missing, wrong, revoked, of another kind, or its integration was removed.
    #[error("The API key is missing, wrong or revoked, or is not a key of an integration.")]
    InvalidKey,
    /// The owner paused or disconnected the integration.
    #[error("The integration is paused or disconnected. Its owner can resume it in the settings.")]
    IntegrationUnavailable,
    /// No sync with that id on this integration, or none at all.
    #[error("There is no such sync on this integration.")]
    SyncNotFound,
    /// No contact with that external id. An added code.
    #[error("There is no contact with this externalId on this integration.")]
    ContactNotFound,
    /// A push or complete without an open sync.
    #[error("No sync is open. Begin one first.")]
    NoOpenSync,
    /// A begin while a sync is open.
    #[error("{}", describe_open_sync(.0))]
    SyncInProgress(OpenSync),
    /// Declared types that differ from those that columns keep.
    #[error("{}", describe_locked_fields(fields))]
    FieldLocked {
        /// The fields, in the order of the declaration.
        fields: Vec<LockedField>,
    },
    /// The key was used for another request.
    #[error("This Idempotency-Key was used for a different request. Use a new key.")]
    IdempotencyKeyReused,
    /// The first attempt with the key is under way.
    #[error(
        "The first attempt with this Idempotency-Key is still running. Retry with the same key later."
    )]
    InProgress,
    /// Completing would remove more contacts than the owner allows unasked. An added code.
    #[error(
        "Completing would remove {count} contacts that this sync did not receive, more than the integration's removal guard \
         allows. Nothing was removed and the sync is still open: push what is missing, or send confirmRemoval: true to remove them."
    )]
    RemovalGuard {
        /// Contacts that would be removed.
        count: i64,
        /// Their share of the integration's contacts, 0 to 1.
        share: f64,
        /// The share that the owner allows, 0 to 1.
        limit: f64,
    },
    /// More records than a batch may have.
    #[error("A batch takes at most {RECORDS_PER_BATCH} records; this one has {received}.")]
    TooManyRecords {
        /// Records in the batch.
        received: usize,
    },
    /// A body over the limit.
    #[error("The body is over the limit of {BODY_BYTES} bytes.")]
    PayloadTooLarge,
    /// `Content-Encoding` names what is not taken, or several. An added code.
    #[error("Content-Encoding must be gzip or zstd, once, or be left out.")]
    UnsupportedEncoding,
    /// Over the requests per minute of the source address.
    #[error("Too many requests: wait a minute and send again.")]
    RateLimited,
    /// Something on our side failed; nothing was changed.
    #[error(
        "Something went wrong on our side. Nothing was changed; send the request again with the same key."
    )]
    InternalError,
    /// No answer within the deadline; the request may still finish.
    #[error(
        "The request was not finished in time. Retry it with the same Idempotency-Key: it is done once."
    )]
    DeadlinePassed,
}

impl From<IdempotencyKeyError> for PushError {
    fn from(error: IdempotencyKeyError) -> Self {
        match error {
            IdempotencyKeyError::Empty => Self::MissingIdempotencyKey,
            IdempotencyKeyError::Unusable => Self::InvalidIdempotencyKey,
        }
    }
}

impl PushError {
    /// The `code` of the contract's table. `timeout`, for a passed deadline, and `internal_error` are added codes.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::InvalidJson(_) => "invalid_json",
            Self::InvalidRequest(_) => "invalid_request",
            Self::MissingIdempotencyKey => "missing_idempotency_key",
            Self::InvalidIdempotencyKey => "invalid_idempotency_key",
            Self::TooManyFields { .. } => "too_many_fields",
            Self::InvalidSyncId => "invalid_sync_id",
            Self::InvalidType => "invalid_type",
            Self::InvalidCursor => "invalid_cursor",
            Self::InvalidLimit => "invalid_limit",
            Self::InvalidKey => "invalid_key",
            Self::IntegrationUnavailable => "integration_unavailable",
            Self::SyncNotFound => "sync_not_found",
            Self::ContactNotFound => "contact_not_found",
            Self::NoOpenSync => "no_open_sync",
            Self::SyncInProgress(_) => "sync_in_progress",
            Self::FieldLocked { .. } => "field_locked",
            Self::IdempotencyKeyReused => "idempotency_key_reused",
            Self::InProgress => "in_progress",
            Self::RemovalGuard { .. } => "removal_guard",
            Self::TooManyRecords { .. } => "too_many_records",
            Self::PayloadTooLarge => "payload_too_large",
            Self::UnsupportedEncoding => "unsupported_encoding",
            Self::RateLimited => "rate_limited",
            Self::InternalError => "internal_error",
            Self::DeadlinePassed => "timeout",
        }
    }

    /// The `details` of the codes that have some.
    pub fn details(&self) -> Option<Value> {
        match self {
            Self::TooManyFields { received } => {
                Some(json!({"limit": DECLARED_FIELDS, "received": received}))
            }
            Self::SyncInProgress(open) => Some(json!({
                "syncId": open.sync_id, "mode": open.mode, "expiresAt": open.expires_at
            })),
            Self::FieldLocked { fields } => {
                Some(json!({"fields": fields.iter().map(|field| &field.key).collect::<Vec<_>>()}))
            }
            Self::RemovalGuard {
                count,
                share,
                limit,
            } => Some(json!({"count": count, "share": share, "limit": limit})),
            Self::TooManyRecords { received } => {
                Some(json!({"limit": RECORDS_PER_BATCH, "received": received}))
            }
            Self::PayloadTooLarge => Some(json!({"limit": BODY_BYTES})),
            _ => None,
        }
    }
}
