//! The value of a condition, read once as what its operator takes.

use chrono::NaiveDate;
use serde_json::Value as Json;

use super::limits::{MAX_ANNIVERSARY_DAYS, MAX_CHOICES, MAX_DAYS};
use crate::{
    birthday::Birthday,
    column::{ColumnType, MAX_VALUE_CHARS, fold_case},
    value::{self, ColumnValueError},
};

/// Why an operator and its value make no test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OperandError {
    /// The kind of column does not have the operator.
    Operator,
    /// The value is not what the operator takes: "must be ...".
    Value(String),
}

impl From<ColumnValueError> for OperandError {
    fn from(unreadable: ColumnValueError) -> Self {
        Self::Value(unreadable.to_string())
    }
}

/// The value of a condition; absent and null are the same.
#[derive(Clone, Copy)]
pub(super) struct ConditionOperand<'a>(&'a Json);

impl<'a> ConditionOperand<'a> {
    pub(super) fn new(value: Option<&'a Json>) -> Self {
        Self(value.unwrap_or(&Json::Null))
    }

    /// No value at all.
    pub(super) fn require_absent(self) -> Result<(), OperandError> {
        match self.0 {
            Json::Null => Ok(()),
            _ => Err(OperandError::Value("must be left out".to_owned())),
        }
    }

    /// Text in the form in which texts are compared.
    pub(super) fn parse_text(self) -> Result<String, OperandError> {
        self.scalar_text()
            .map(|text| fold_text(&text))
            .filter(|text| !text.is_empty() && text.chars().count() <= MAX_VALUE_CHARS)
            .ok_or_else(|| {
                OperandError::Value(format!("must be text of 1 to {MAX_VALUE_CHARS} characters"))
            })
    }

    /// A list of texts.
    pub(super) fn parse_texts<C: FromIterator<String>>(self) -> Result<C, OperandError> {
        match self.0 {
            Json::Array(items) if (1..=MAX_CHOICES).contains(&items.len()) => items
                .iter()
                .map(|item| ConditionOperand(item).parse_text())
                .collect(),
            _ => Err(OperandError::Value(format!(
                "must be an array of 1 to {MAX_CHOICES} texts"
            ))),
        }
    }

    pub(super) fn parse_number(self) -> Result<f64, OperandError> {
        self.parse_typed(ColumnType::Number, value::read_number)
    }

    pub(super) fn parse_date(self) -> Result<NaiveDate, OperandError> {
        self.parse_typed(ColumnType::Date, value::read_date)
    }

    pub(super) fn yes_no(self) -> Result<bool, OperandError> {
        self.parse_typed(ColumnType::YesNo, value::read_yes_no)
    }

    pub(super) fn parse_birthday(self) -> Result<Birthday, OperandError> {
        self.scalar_text()
            .and_then(|text| Birthday::parse(&text))
            .ok_or_else(|| {
                OperandError::Value("must be a birthday like 1/31 or 1990-01-31".to_owned())
            })
    }

    /// An array of two values, the first not beyond the second.
    pub(super) fn parse_pair<T: PartialOrd>(
        self,
        read: impl Fn(Self) -> Result<T, OperandError>,
    ) -> Result<(T, T), OperandError> {
        let refused =
            || OperandError::Value("must be an array of two values, the lower first".to_owned());
        let Json::Array(items) = self.0 else {
            return Err(refused());
        };
        let [low, high] = items.as_slice() else {
            return Err(refused());
        };
        let (low, high) = (read(ConditionOperand(low))?, read(ConditionOperand(high))?);
        if low <= high {
            Ok((low, high))
        } else {
            Err(refused())
        }
    }

    pub(super) fn parse_days(self) -> Result<u32, OperandError> {
        self.parse_integer(0, MAX_DAYS)
    }

    pub(super) fn anniversary_days(self) -> Result<u32, OperandError> {
        self.parse_integer(0, MAX_ANNIVERSARY_DAYS)
    }

    pub(super) fn parse_month(self) -> Result<u32, OperandError> {
        self.parse_integer(1, 12)
    }

    fn parse_integer(self, least: u32, most: u32) -> Result<u32, OperandError> {
        self.scalar_text()
            .and_then(|text| text.trim().parse().ok())
            .filter(|number| (least..=most).contains(number))
            .ok_or_else(|| {
                OperandError::Value(format!("must be a whole number from {least} to {most}"))
            })
    }

    fn parse_typed<T>(
        self,
        column_type: ColumnType,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<T, OperandError> {
        let value = self.scalar_text().and_then(|text| read(&text));
        value.ok_or_else(|| ColumnValueError { column_type }.into())
    }

    /// A string, or a number or boolean as its JSON text, as in the recipients of a send.
    fn scalar_text(self) -> Option<String> {
        match self.0 {
            Json::String(text) => Some(text.clone()),
            Json::Number(_) | Json::Bool(_) => Some(self.0.to_string()),
            Json::Null | Json::Array(_) | Json::Object(_) => None,
        }
    }
}

/// The form in which texts are compared; see [`crate::column::fold_case`].
pub(super) fn fold_text(text: &str) -> String {
    fold_case(text)
}
