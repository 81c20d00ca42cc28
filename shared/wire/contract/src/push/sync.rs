//! Beginning and completing a sync, declaring fields, and what travels with a call to a syncer.

use std::str::FromStr;

use chrono::{DateTime, SecondsFormat, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::push::PushError;
use crate::push::body::{parse_json_string, read_optional_object};
use model::id::SyncId;
use model::idempotency::RequestHash;

/// What a sync does with contacts that it did not receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SyncMode {
    /// They are removed when it completes.
    Full,
    /// They stay.
    Delta,
}

/// Where a sync stands. `open` moves to one of the other two, for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SyncStatus {
    /// It takes batches.
    Open,
    /// The client completed it.
    Completed,
    /// Its time passed before the client completed it; it removed nothing.
    Expired,
}

/// The open sync, as errors and answers name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenSync {
    /// Its id.
    pub sync_id: SyncId,
    /// Its mode.
    pub mode: SyncMode,
    /// When it expires.
    #[serde(with = "timestamp")]
    #[schemars(with = "DateTime<Utc>")]
    pub expires_at: DateTime<Utc>,
}

/// Answer to a begin.
pub type BeginAnswer = OpenSync;

/// Body of a begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BeginSyncRequest {
    /// `full` unless the body says otherwise.
    pub mode: SyncMode,
}

/// Body of a complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompleteSyncRequest {
    /// The sync that the client means; the open one when absent.
    pub sync_id: Option<SyncId>,
    /// Goes through with a removal that the guard would stop. An addition.
    pub confirm_removal: bool,
}

/// Answer to a complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompleteAnswer {
    /// Always true.
    #[schemars(extend("const" = true))]
    pub ok: bool,
    /// The completed sync.
    pub sync_id: SyncId,
    /// Its mode.
    pub mode: SyncMode,
    /// Upserts that it applied.
    pub records_upserted: i64,
    /// Deletes that it applied.
    pub records_deleted: i64,
    /// Records that it refused.
    pub records_rejected: i64,
    /// Contacts that a full sync did not receive; 0 of a delta sync.
    pub marked_removed: i64,
}

/// Answer to a complete with `validate=1`: what completing now would do.
// An addition.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValidatedComplete {
    /// Always true.
    #[schemars(extend("const" = true))]
    pub validated: bool,
    /// The open sync.
    pub sync_id: SyncId,
    /// Its mode.
    pub mode: SyncMode,
    /// Upserts that it applied so far.
    pub records_upserted: i64,
    /// Deletes that it applied so far.
    pub records_deleted: i64,
    /// Records that it refused so far.
    pub records_rejected: i64,
    /// Contacts that would be removed.
    pub would_remove: i64,
    /// Their share of the integration's contacts, 0 to 1.
    pub share: f64,
}

/// Answer to a declaration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeclareAnswer {
    /// Always true.
    #[schemars(extend("const" = true))]
    pub ok: bool,
    /// Fields declared for the first time.
    pub added: usize,
    /// Keys of declared fields that this declaration does not mention.
    pub no_longer_sent: Vec<String>,
}

impl SyncMode {
    /// The name on the wire and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Delta => "delta",
        }
    }
}

impl FromStr for SyncMode {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        [Self::Full, Self::Delta]
            .into_iter()
            .find(|mode| mode.as_str() == name)
            .ok_or(())
    }
}

impl SyncStatus {
    /// The name on the wire and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Completed => "completed",
            Self::Expired => "expired",
        }
    }
}

impl FromStr for SyncStatus {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        [Self::Open, Self::Completed, Self::Expired]
            .into_iter()
            .find(|status| status.as_str() == name)
            .ok_or(())
    }
}

#[derive(Deserialize)]
struct BeginBody<'a> {
    #[serde(borrow)]
    mode: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CompleteBody<'a> {
    #[serde(borrow)]
    sync_id: Option<&'a RawValue>,
    confirm_removal: Option<&'a RawValue>,
}

/// A value that is there and not null.
fn non_null(raw: Option<&RawValue>) -> Option<&RawValue> {
    raw.filter(|raw| raw.get() != "null")
}

impl BeginSyncRequest {
    /// Reads a body; an empty one is `{}`. Errors: `invalid_json`, `invalid_request`.
    pub fn parse(body: &[u8]) -> Result<Self, PushError> {
        let body: BeginBody<'_> = read_optional_object(body)?;
        let mode = match non_null(body.mode) {
            None => Some(SyncMode::Full),
            Some(raw) => parse_json_string(raw).and_then(|name| name.parse().ok()),
        };
        let mode = mode
            .ok_or_else(|| PushError::InvalidRequest("mode must be full or delta.".to_owned()))?;
        Ok(Self { mode })
    }

    /// What makes a retry the same request.
    pub fn request_hash(&self) -> RequestHash {
        RequestHash::hash_words("begin", &[Some(self.mode.as_str())])
    }
}

impl CompleteSyncRequest {
    /// Reads a body; an empty one is `{}`. Errors: `invalid_json`, `invalid_request`, `invalid_sync_id`.
    pub fn parse(body: &[u8]) -> Result<Self, PushError> {
        let body: CompleteBody<'_> = read_optional_object(body)?;
        let sync_id = match non_null(body.sync_id) {
            None => None,
            Some(raw) => {
                let sync_id = parse_json_string(raw).and_then(|text| text.parse().ok());
                Some(sync_id.ok_or(PushError::InvalidSyncId)?)
            }
        };
        let confirm_removal = match non_null(body.confirm_removal).map(RawValue::get) {
            None | Some("false") => false,
            Some("true") => true,
            Some(_) => {
                return Err(PushError::InvalidRequest(
                    "confirmRemoval must be true or false.".to_owned(),
                ));
            }
        };
        Ok(Self {
            sync_id,
            confirm_removal,
        })
    }

    /// What makes a retry the same request.
    pub fn request_hash(&self) -> RequestHash {
        let sync_id = self.sync_id.map(|id| id.to_string());
        let confirmed = self.confirm_removal.then_some("confirmed");
        RequestHash::hash_words("complete", &[sync_id.as_deref(), confirmed])
    }
}

/// A time as answers carry it: RFC 3339 in UTC, to the millisecond.
pub mod timestamp {
    use serde::{Deserializer, Serializer};

    use super::{DateTime, Deserialize, SecondsFormat, Utc};

    /// Writes a time.
    pub fn serialize<S: Serializer>(
        time: &DateTime<Utc>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&time.to_rfc3339_opts(SecondsFormat::Millis, true))
    }

    /// Reads a time.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<DateTime<Utc>, D::Error> {
        DateTime::<Utc>::deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn begin_is_full_unless_it_says_delta() {
        for body in [
            "",
            " ",
            "{}",
            r#"{"mode":null}"#,
            r#"{"mode":"full","more":[1]}"#,
        ] {
            assert_eq!(
                BeginSyncRequest::parse(body.as_bytes()).unwrap().mode,
                SyncMode::Full,
                "{body}"
            );
        }
        assert_eq!(
            BeginSyncRequest::parse(br#"{"mode":"delta"}"#)
                .unwrap()
                .mode,
            SyncMode::Delta
        );
        for body in [
            r#"{"mode":"FULL"}"#,
            r#"{"mode":7}"#,
            "[]",
            "null",
            r#"{"mode":{}}"#,
        ] {
            assert_eq!(
                BeginSyncRequest::parse(body.as_bytes()).unwrap_err().code(),
                "invalid_request",
                "{body}"
            );
        }
        assert_eq!(
            BeginSyncRequest::parse(b"{").unwrap_err().code(),
            "invalid_json"
        );
    }

    #[test]
    fn complete_takes_a_sync_id_and_a_confirmation() {
        let id = SyncId::new();
        let read = |body: &str| CompleteSyncRequest::parse(body.as_bytes());
        assert_eq!(
            read("").unwrap(),
            CompleteSyncRequest {
                sync_id: None,
                confirm_removal: false
            }
        );
        let body = format!(r#"{{"syncId":"{id}","confirmRemoval":true}}"#);
        assert_eq!(
            read(&body).unwrap(),
            CompleteSyncRequest {
                sync_id: Some(id),
                confirm_removal: true
            }
        );
        for body in [r#"{"syncId":"x"}"#, r#"{"syncId":7}"#, r#"{"syncId":""}"#] {
            assert_eq!(read(body).unwrap_err(), PushError::InvalidSyncId, "{body}");
        }
        assert_eq!(
            read(r#"{"confirmRemoval":"yes"}"#).unwrap_err().code(),
            "invalid_request"
        );
    }
}
