//! Values while a formula runs.

use std::borrow::Cow;

use audience::{ColumnType, Value};
use chrono::NaiveDate;

/// What is known of a value before any row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Text,
    Number,
    Date,
    YesNo,
    /// Always blank: fits everywhere.
    Blank,
}

impl Type {
    /// The type of an expression that gives one or the other. Different ones meet as text.
    pub(crate) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Blank, one) | (one, Self::Blank) => one,
            (one, same) if one == same => one,
            _ => Self::Text,
        }
    }

    /// For messages: `a number`.
    pub(crate) const fn in_words(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "a number",
            Self::Date => "a date",
            Self::YesNo => "yes or no",
            Self::Blank => "blank",
        }
    }

    /// The type of a column that holds such values.
    pub(crate) const fn column_type(self) -> ColumnType {
        match self {
            Self::Text | Self::Blank => ColumnType::Text,
            Self::Number => ColumnType::Number,
            Self::Date => ColumnType::Date,
            Self::YesNo => ColumnType::YesNo,
        }
    }
}

impl From<ColumnType> for Type {
    fn from(column_type: ColumnType) -> Self {
        match column_type {
            ColumnType::Text => Self::Text,
            ColumnType::Number => Self::Number,
            ColumnType::Date => Self::Date,
            ColumnType::YesNo => Self::YesNo,
        }
    }
}

/// A value that is not blank, but for an empty text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    Text(Cow<'a, str>),
    Number(f64),
    Date(NaiveDate),
    YesNo(bool),
}

impl<'a> Cell<'a> {
    /// As it is joined to texts and printed.
    pub(crate) fn into_text(self) -> Cow<'a, str> {
        match self {
            Self::Text(text) => text,
            other => Cow::Owned(other.into_value().to_string()),
        }
    }

    /// The value by itself, with its number [tidied](tidy).
    pub(crate) fn into_value(self) -> Value {
        match self {
            Self::Text(text) => Value::Text(text.into_owned()),
            Self::Number(number) => Value::Number(tidy(number)),
            Self::Date(date) => Value::Date(date),
            Self::YesNo(yes) => Value::YesNo(yes),
        }
    }
}

/// The number with 15 significant digits, as spreadsheets show it: what 0.1 + 0.2 leaves behind those is
/// nobody's amount.
pub(crate) fn tidy(number: f64) -> f64 {
    const WHOLE: f64 = 1e15;
    if number.fract() == 0.0 && number.abs() < WHOLE {
        // Adding zero turns negative zero into zero.
        return number + 0.0;
    }
    format!("{number:.14e}").parse().unwrap_or(number)
}
