//! What the columns of a file are called, what its operations mean, and how it writes times.

use std::collections::{BTreeMap, HashMap};

use chrono_tz::Tz;
use model::mailpiece_state::MailpieceState;
use serde::Deserialize;

use crate::operation::{OPERATIONS, WORDS, normalise_code};

/// Codes that a range of a mapping may have.
const RANGE_CODES: u32 = 1_000;

/// How a file is read. Everything has a default, so that a mapping file has only what differs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScanMapping {
    /// Names of columns and of members of JSON.
    pub columns: ScanColumns,
    /// What a mailpiece is after an operation: codes, ranges such as "891-899", or words, with the name of a state, or "unknown" for
    /// one that the defaults know and this file must not. They come before the defaults.
    pub operations: BTreeMap<String, String>,
    /// What is made of an operation that nobody knows.
    pub unknown_operations: UnknownOperations,
    /// How times are written besides RFC 3339, in the order in which they are tried, as `strftime` has it. A time without its
    /// distance from UTC is one of the facility's zone.
    pub time_formats: Vec<String>,
    /// The zone of facilities whose ZIP is missing or not known.
    pub fallback_zone: Tz,
}

/// Names of columns: of each the first that a file has. Case, spaces and punctuation do not count.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScanColumns {
    /// The barcode's digits, or its tracking code.
    pub tracking: Vec<String>,
    /// The operation's code.
    pub operation: Vec<String>,
    /// When.
    pub time: Vec<String>,
    /// The facility's ZIP; may be missing.
    pub facility: Vec<String>,
}

/// What is made of an operation that nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownOperations {
    /// It is counted and left out.
    Count,
    /// The post saw the mailpiece, so it is on its way.
    InTransit,
}

/// Why a mapping cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MappingError {
    /// No state that the post tells of.
    #[error(
        "operations: {code:?} leads to {state:?}, which is none of entered, in_transit, forwarded, out_for_delivery, delivered, \
         returned and unknown"
    )]
    State {
        /// The operation.
        code: String,
        /// What it is to lead to.
        state: String,
    },
    /// A range that is none.
    #[error("operations: {0:?} is no range of codes, such as \"891-899\"")]
    Range(String),
    /// A column without a name.
    #[error("columns: {0} has no name")]
    Column(&'static str),
}

/// A mapping that was checked.
#[derive(Debug, Clone)]
pub struct ScanRules {
    pub(crate) columns: ScanColumns,
    operations: HashMap<String, Option<MailpieceState>>,
    unknown: UnknownOperations,
    pub(crate) time_formats: Vec<String>,
    pub(crate) fallback_zone: Tz,
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

impl Default for ScanColumns {
    fn default() -> Self {
        Self {
            tracking: owned(&["imb", "imb_tracking_code", "tracking_code", "imb_code"]),
            operation: owned(&[
                "scan_event_code",
                "operation_code",
                "op_code",
                "scan_operation_code",
            ]),
            time: owned(&["scan_datetime", "scan_date_time", "scanned_at"]),
            facility: owned(&[
                "scan_facility_zip",
                "facility_zip",
                "scan_facility_zip_code",
                "facility_id",
            ]),
        }
    }
}

impl Default for ScanMapping {
    fn default() -> Self {
        Self {
            columns: ScanColumns::default(),
            operations: BTreeMap::new(),
            unknown_operations: UnknownOperations::Count,
            time_formats: owned(&[
                "%Y-%m-%d %H:%M:%S%.f %z",
                "%Y-%m-%d %H:%M:%S%.f",
                "%Y-%m-%dT%H:%M:%S%.f%z",
                "%Y-%m-%dT%H:%M:%S%.f",
                "%m/%d/%Y %I:%M:%S %p",
                "%m/%d/%Y %H:%M:%S",
                "%m/%d/%Y %H:%M",
                "%Y-%m-%d %H:%M",
                "%Y-%m-%dT%H:%M",
                "%Y%m%d%H%M%S",
            ]),
            fallback_zone: Tz::America__New_York,
        }
    }
}

impl ScanMapping {
    /// Checks it.
    ///
    /// # Errors
    /// [`MappingError`].
    pub fn to_rules(&self) -> Result<ScanRules, MappingError> {
        let mut operations = HashMap::new();
        for (first, last, state) in OPERATIONS {
            for code in codes_between(first, last).unwrap_or_default() {
                operations.insert(code, Some(*state));
            }
        }
        operations.extend(
            WORDS
                .iter()
                .map(|(word, state)| ((*word).to_owned(), Some(*state))),
        );
        for (code, state) in &self.operations {
            let state = find_state(code, state)?;
            match code.split_once('-') {
                Some((first, last)) if is_number(first.trim()) => {
                    let codes = codes_between(first.trim(), last.trim());
                    for code in codes.ok_or_else(|| MappingError::Range(code.clone()))? {
                        operations.insert(code, state);
                    }
                }
                _ => {
                    operations.insert(normalise_code(code), state);
                }
            }
        }
        let columns = &self.columns;
        for (name, names) in [
            ("tracking", &columns.tracking),
            ("operation", &columns.operation),
            ("time", &columns.time),
        ] {
            if names.iter().all(String::is_empty) {
                return Err(MappingError::Column(name));
            }
        }
        Ok(ScanRules {
            columns: columns.clone(),
            operations,
            unknown: self.unknown_operations,
            time_formats: self.time_formats.clone(),
            fallback_zone: self.fallback_zone,
        })
    }
}

impl ScanRules {
    /// What a mailpiece is after the operation; `None` when nobody knows.
    pub(crate) fn find_operation(&self, code: &str) -> Option<MailpieceState> {
        let known = match self.operations.get(code) {
            Some(known) => *known,
            None => *self.operations.get(&normalise_code(code)).unwrap_or(&None),
        };
        match self.unknown {
            UnknownOperations::InTransit => known.or(Some(MailpieceState::InTransit)),
            UnknownOperations::Count => known,
        }
    }
}

fn find_state(code: &str, state: &str) -> Result<Option<MailpieceState>, MappingError> {
    if state == "unknown" {
        return Ok(None);
    }
    let found = MailpieceState::from_name(state).filter(|state| state.is_postal());
    found.map(Some).ok_or_else(|| MappingError::State {
        code: code.to_owned(),
        state: state.to_owned(),
    })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.len() <= 6 && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn codes_between(first: &str, last: &str) -> Option<Vec<String>> {
    let (low, high): (u32, u32) = (
        is_number(first).then(|| first.parse().ok())??,
        is_number(last).then(|| last.parse().ok())??,
    );
    (low <= high && high - low < RANGE_CODES)
        .then(|| (low..=high).map(|code| format!("{code:03}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(operations: &[(&str, &str)]) -> ScanMapping {
        let operations = operations
            .iter()
            .map(|(code, state)| ((*code).to_owned(), (*state).to_owned()));
        ScanMapping {
            operations: operations.collect(),
            ..ScanMapping::default()
        }
    }

    #[test]
    fn operations_are_known_by_code_by_word_and_by_the_file() {
        let rules = mapping(&[
            ("300-302", "forwarded"),
            ("PX", "returned"),
            ("891", "unknown"),
        ])
        .to_rules()
        .unwrap();
        for (code, state) in [
            ("892", Some(MailpieceState::InTransit)),
            ("919", Some(MailpieceState::OutForDelivery)),
            (" out_for_delivery ", Some(MailpieceState::OutForDelivery)),
            ("Delivered", Some(MailpieceState::Delivered)),
            ("301", Some(MailpieceState::Forwarded)),
            ("px", Some(MailpieceState::Returned)),
            ("891", None),
            ("1", None),
        ] {
            assert_eq!(rules.find_operation(code), state, "{code}");
        }
        let lenient = ScanMapping {
            unknown_operations: UnknownOperations::InTransit,
            ..ScanMapping::default()
        };
        let rules = lenient.to_rules().unwrap();
        assert_eq!(rules.find_operation("1"), Some(MailpieceState::InTransit));
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (code, state) in [
            ("891", "printed"),
            ("891", "lost"),
            ("899-891", "in_transit"),
            ("1-100000", "in_transit"),
        ] {
            assert!(mapping(&[(code, state)]).to_rules().is_err(), "{code}");
        }
    }
}
