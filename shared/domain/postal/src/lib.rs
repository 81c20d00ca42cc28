//! The post's own scans of mailpieces, as its tracking files tell of them (pure but for passing a file on).
//!
//! A file is Informed Visibility's CSV or JSON, or the five columns of the former Confirm service ([`PostalFileReader`]). Which
//! columns matter, what an operation means and how times are written is a [`ScanMapping`], because the post changes them. What
//! a row says is a [`PostalScan`]; a row that says nothing readable is kept as such and stops nothing.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod json;
mod lines;
mod mapping;
mod matching;
mod operation;
mod reader;
mod scan;
mod time;
mod tracking;
mod zone;

pub use self::lines::LINE_BYTES;
pub use self::mapping::{MappingError, ScanColumns, ScanMapping, ScanRules, UnknownOperations};
pub use self::matching::{MailedRun, MailedRuns, RunPlace};
pub use self::reader::{PostalFileError, PostalFileReader, PostalRow, RowOutcome};
pub use self::scan::{BrokenScan, PostalScan};
pub use self::tracking::TrackingCode;
pub use self::zone::find_zone;
