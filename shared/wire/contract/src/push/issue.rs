//! What was wrong with single records: rejections, dropped values, and the answers that carry them.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use model::limits::WARNING_EXAMPLES;

/// Whether the record was refused or only lost a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IssueKind {
    /// The record was refused.
    Rejection,
    /// The record was accepted without a value.
    Warning,
}

/// What is wrong with a record or a value.
// Contract: Rejection codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IssueCode {
    /// No `external_id`, or an empty one; or the record is not an object.
    MissingExternalId,
    /// `external_id` is too long, not a text, or cannot be stored.
    InvalidExternalId,
    /// `op` is another word, or `fields` is not an object.
    // An addition.
    InvalidRecord,
    /// A key that was not declared.
    UnknownField,
    /// A value that does not fit its field's type.
    InvalidType,
    /// A value of an e-mail field that is not a complete address.
    InvalidEmail,
    /// The same contact stood in this batch before.
    DuplicateInBatch,
    /// Over the limit of bytes.
    RecordTooLarge,
}

/// A refused record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Rejection")]
pub struct RecordRejection {
    /// Position in the batch.
    pub index: usize,
    /// The record's `external_id`, where it can be read.
    pub external_id: Option<String>,
    /// Why.
    pub code: IssueCode,
    /// The field at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// A sentence for people.
    pub message: String,
}

/// A value that was dropped from an accepted record. A batch can have half a million of them: their texts are shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedValue {
    /// Position in the batch.
    pub index: usize,
    /// The record's `external_id`.
    pub external_id: Arc<str>,
    /// Why.
    pub code: IssueCode,
    /// The field that lost its value.
    pub field: Arc<str>,
    /// A sentence for people; the same for each value of a field.
    pub message: Arc<str>,
}

/// The dropped values of one field and code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WarningGroup {
    /// Position of the first record.
    pub index: usize,
    /// `external_id` of the first record.
    pub external_id: String,
    /// Why.
    pub code: IssueCode,
    /// The field.
    pub field: String,
    /// A sentence for people.
    pub message: String,
    /// Accepted records that lost a value of this field.
    #[schemars(range(min = 1))]
    pub count: usize,
    /// The first of them, at most 5, in the order of the batch.
    #[schemars(length(min = 1, max = WARNING_EXAMPLES))]
    pub external_ids: Vec<String>,
}

/// Answer to a push.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PushAnswer {
    /// Upserts that were applied.
    pub accepted: usize,
    /// Deletes that were applied.
    pub deleted: usize,
    /// Records that were refused.
    pub rejected: usize,
    /// Each of them.
    pub rejections: Vec<RecordRejection>,
    /// Values dropped from accepted records.
    pub warnings: Vec<WarningGroup>,
}

/// Answer to a dry run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DryRunAnswer {
    /// Always true.
    #[schemars(extend("const" = true))]
    pub validated: bool,
    /// Records that a push would apply, deletes too.
    pub accepted: usize,
    /// Records that it would refuse.
    pub rejected: usize,
    /// Each of them.
    pub rejections: Vec<RecordRejection>,
    /// Values that it would drop.
    pub warnings: Vec<WarningGroup>,
}

impl IssueKind {
    /// The name on the wire and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rejection => "rejection",
            Self::Warning => "warning",
        }
    }
}

impl FromStr for IssueKind {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        [Self::Rejection, Self::Warning]
            .into_iter()
            .find(|kind| kind.as_str() == name)
            .ok_or(())
    }
}

impl IssueCode {
    /// The name on the wire and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MissingExternalId => "missing_external_id",
            Self::InvalidExternalId => "invalid_external_id",
            Self::InvalidRecord => "invalid_record",
            Self::UnknownField => "unknown_field",
            Self::InvalidType => "invalid_type",
            Self::InvalidEmail => "invalid_email",
            Self::DuplicateInBatch => "duplicate_in_batch",
            Self::RecordTooLarge => "record_too_large",
        }
    }
}

/// Groups dropped values by field and code, in the order in which they first occur.
pub fn group_warnings(warnings: &[DroppedValue]) -> Vec<WarningGroup> {
    let mut groups: Vec<WarningGroup> = Vec::new();
    let mut places: HashMap<(&str, IssueCode), usize> = HashMap::new();
    for warning in warnings {
        let place = *places
            .entry((&warning.field, warning.code))
            .or_insert_with(|| {
                groups.push(WarningGroup {
                    index: warning.index,
                    external_id: warning.external_id.to_string(),
                    code: warning.code,
                    field: warning.field.to_string(),
                    message: warning.message.to_string(),
                    count: 0,
                    external_ids: Vec::new(),
                });
                groups.len() - 1
            });
        let group = &mut groups[place];
        group.count += 1;
        if group.external_ids.len() < WARNING_EXAMPLES {
            group.external_ids.push(warning.external_id.to_string());
        }
    }
    groups
}
