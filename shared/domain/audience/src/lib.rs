//! Who is in: typed columns of the address book, the filter conditions and the map area of a
//! campaign.
//!
//! Everything here is pure: text, JSON and a date go in, a decision comes out. Nothing reads a
//! clock, a file or a database, so the live request and the daily re-check decide alike.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

pub mod area;
pub mod birthday;
pub mod column;
pub mod condition;
pub mod value;

pub use area::{AreaError, GeoArea};
pub use birthday::{Birthday, ParsedBirthday};
pub use column::{BuiltInColumn, ColumnType, fold_name};
pub use condition::{ConditionError, FilterConditions, Operator, ValueLookup};
pub use value::{ColumnValue, ColumnValueError};
