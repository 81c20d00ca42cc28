//! What a formula gives for one row: a value, or blank and why.

use std::fmt;

use audience::{ColumnType, ColumnValue};
use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::value::ValueType;

/// The result of a formula for one row. As JSON: `{"value": "..."}`, the value as text, or
/// `{"value": null, "reason": "..."}`.
#[derive(Clone, Debug, PartialEq)]
pub enum EvaluatedCell {
    /// A value of the formula's result type, at most [`audience::column::MAX_VALUE_CHARS`] long.
    Value(ColumnValue),
    /// No value.
    Blank(BlankReason),
}

impl EvaluatedCell {
    /// The value as text, as it is printed, compared and shown; `None` for blank.
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Value(value) => Some(value.to_string()),
            Self::Blank(_) => None,
        }
    }
}

impl Serialize for EvaluatedCell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("value", &self.text())?;
        if let Self::Blank(reason) = self {
            map.serialize_entry("reason", &reason.to_string())?;
        }
        map.end()
    }
}

/// Why a formula gave no value. Displays as a sentence without a full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlankReason {
    /// Nothing went wrong: the formula's own answer is an empty text.
    Empty,
    /// Nothing went wrong: a function of the formula has nothing to give; the sentence says why.
    Nothing(&'static str),
    /// The value of this column is needed and blank.
    BlankColumn(String),
    /// The value of this column is needed, and it does not read as the column's type.
    UnreadableColumn(String, ColumnType),
    /// A calculation has no result, such as a division by zero.
    Error(String),
    /// The formula was stopped at one of its bounds.
    Stopped(String),
}

impl fmt::Display for BlankReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => formatter.write_str("the formula gives an empty text here"),
            Self::Nothing(sentence) => formatter.write_str(sentence),
            Self::BlankColumn(column) => write!(formatter, "{column} is blank"),
            Self::UnreadableColumn(column, column_type) => {
                let wanted = ValueType::from(*column_type).describe();
                write!(formatter, "the value of {column} does not read as {wanted}")
            }
            Self::Error(sentence) | Self::Stopped(sentence) => formatter.write_str(sentence),
        }
    }
}
