//! What a row says.

use chrono::{DateTime, Utc};
use model::mailpiece_state::MailpieceState;
use uuid::Uuid;

use crate::mapping::ScanRules;
use crate::time::parse_time;
use crate::tracking::TrackingCode;
use crate::zone::find_zone;

/// Characters of an operation's code that are kept.
const OPERATION_CHARS: usize = 32;

/// A scan of a mailpiece by the post.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostalScan {
    /// Whose mailpiece it is, and which.
    pub tracking: TrackingCode,
    /// The operation's code, as the file has it.
    pub operation: String,
    /// What the mailpiece is after it; `None` for an operation that nobody knows.
    pub state: Option<MailpieceState>,
    /// When.
    pub scanned_at: DateTime<Utc>,
    /// Five digits of the facility's ZIP; empty when the file does not say.
    pub facility: String,
}

/// Why a row says nothing readable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BrokenScan {
    /// No barcode, or none of 20, 25, 29 or 31 digits.
    #[error("the tracking code is not twenty digits")]
    Tracking,
    /// No operation.
    #[error("the operation code is missing")]
    Operation,
    /// No time, or one in no known form.
    #[error("the time cannot be read")]
    Time,
    /// Other columns than the file's first line.
    #[error("the row has not the columns of the file")]
    Columns,
    /// No JSON.
    #[error("the row is no JSON object")]
    Json,
    /// A row past the bytes that one may have, or without its end.
    #[error("the row has no end, or is too long")]
    TooLong,
    /// Bytes that are no UTF-8.
    #[error("the row is not UTF-8")]
    Encoding,
}

/// The texts of a row.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RawScan<'a> {
    pub(crate) tracking: &'a str,
    pub(crate) operation: &'a str,
    pub(crate) time: &'a str,
    pub(crate) facility: &'a str,
}

impl RawScan<'_> {
    pub(crate) fn parse_scan(self, rules: &ScanRules) -> Result<PostalScan, BrokenScan> {
        let tracking = TrackingCode::parse(self.tracking.trim()).ok_or(BrokenScan::Tracking)?;
        let operation: String = self
            .operation
            .trim()
            .chars()
            .take(OPERATION_CHARS)
            .collect();
        if operation.is_empty() || operation.contains(char::is_control) {
            return Err(BrokenScan::Operation);
        }
        let time = parse_time(self.time.trim(), &rules.time_formats).ok_or(BrokenScan::Time)?;
        let facility = facility_zip(self.facility.trim());
        let zone = find_zone(&facility).unwrap_or(rules.fallback_zone);
        Ok(PostalScan {
            state: rules.find_operation(&operation),
            tracking,
            operation,
            scanned_at: time.to_moment(zone),
            facility,
        })
    }
}

/// The first five digits; spreadsheet programs lose zeros at the beginning. Empty for what is no ZIP.
fn facility_zip(text: &str) -> String {
    let digits: String = text
        .bytes()
        .take_while(u8::is_ascii_digit)
        .map(char::from)
        .collect();
    match digits.len() {
        3..=5 => format!("{digits:0>5}"),
        9 | 11 => digits[..5].to_owned(),
        _ => String::new(),
    }
}

impl PostalScan {
    /// An id made of what the scan says: the same scan has the same one, in whichever file and form it comes.
    pub fn event_id(&self) -> Uuid {
        let mut hasher = blake3::Hasher::new();
        for part in [
            "pillarbox postal scan",
            self.tracking.as_str(),
            &self.operation.to_uppercase(),
            &self.scanned_at.timestamp().to_string(),
            &self.facility,
        ] {
            hasher.update(part.as_bytes());
            hasher.update(b"\0");
        }
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        uuid::Builder::from_custom_bytes(bytes).into_uuid()
    }

    /// The operation and the place, for people.
    pub fn describe_operation(&self) -> String {
        if self.facility.is_empty() {
            format!("operation {}", self.operation)
        } else {
            format!("operation {} at {}", self.operation, self.facility)
        }
    }
}
