//! Values while a formula runs.

use std::borrow::Cow;
use std::cmp::Ordering;

use audience::{ColumnType, ColumnValue};
use chrono::NaiveDate;

/// What is known of a value before any row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueType {
    Text,
    Number,
    Date,
    YesNo,
    /// Always blank: fits everywhere.
    Blank,
}

impl ValueType {
    /// The type of an expression that gives one or the other. Different ones meet as text.
    pub(crate) fn common_type(self, other: Self) -> Self {
        match (self, other) {
            (Self::Blank, one) | (one, Self::Blank) => one,
            (one, same) if one == same => one,
            _ => Self::Text,
        }
    }

    /// For messages: `a number`.
    pub(crate) const fn describe(self) -> &'static str {
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

impl From<ColumnType> for ValueType {
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
pub(crate) enum CellValue<'a> {
    Text(Cow<'a, str>),
    Number(f64),
    Date(NaiveDate),
    YesNo(bool),
}

impl<'a> CellValue<'a> {
    /// As it is joined to texts and printed.
    pub(crate) fn into_text(self) -> Cow<'a, str> {
        match self {
            Self::Text(text) => text,
            other => Cow::Owned(other.into_value().to_string()),
        }
    }

    /// The value by itself, with its number [tidied](round_significant).
    pub(crate) fn into_value(self) -> ColumnValue {
        match self {
            Self::Text(text) => ColumnValue::Text(text.into_owned()),
            Self::Number(number) => ColumnValue::Number(round_significant(number)),
            Self::Date(date) => ColumnValue::Date(date),
            Self::YesNo(yes) => ColumnValue::YesNo(yes),
        }
    }
}

/// The number with 15 significant digits, as spreadsheets show it: what 0.1 + 0.2 leaves behind those is
/// nobody's amount.
pub(crate) fn round_significant(number: f64) -> f64 {
    const WHOLE: f64 = 1e15;
    if number.fract() == 0.0 && number.abs() < WHOLE {
        // Adding zero turns negative zero into zero.
        return number + 0.0;
    }
    format!("{number:.14e}").parse().unwrap_or(number)
}

/// Digits that a number has.
const SIGNIFICANT_DIGITS: i32 = 15;

/// How two numbers stand with the digits that people see of them: 0.1 + 0.2 is 0.3.
pub(crate) fn order_numbers(left: f64, right: f64) -> Ordering {
    // A step of the last digit is no larger part of a number than this.
    const LAST_DIGIT: f64 = 1e-14;
    let order = |left: f64, right: f64| left.partial_cmp(&right).unwrap_or(Ordering::Equal);
    let are_whole = left.fract() == 0.0 && right.fract() == 0.0;
    if are_whole || (left - right).abs() > LAST_DIGIT * left.abs().max(right.abs()) {
        return order(left, right);
    }
    order(round_significant(left), round_significant(right))
}

/// A sum without what its largest part has behind its last digit: 100.1 - 100 is 0.1.
pub(crate) fn round_sum(sum: f64, largest: f64) -> f64 {
    if sum.fract() == 0.0 || sum.abs() >= largest {
        sum
    } else {
        to_digits_of(largest, sum)
    }
}

/// What is left of a division, with the sign of the number: of 0.3 by 0.1 nothing is.
pub(crate) fn compute_remainder(number: f64, divisor: f64) -> f64 {
    let rest = number % divisor;
    if number.fract() == 0.0 && divisor.fract() == 0.0 {
        return rest;
    }
    let rest = to_digits_of(number, rest);
    if order_numbers(rest.abs(), divisor.abs()).is_lt() {
        rest
    } else {
        0.0
    }
}

/// A result rounded where the last digit of what it was made from stands.
fn to_digits_of(source: f64, result: f64) -> f64 {
    // Zero and what has no digits here has nothing to round.
    if source == 0.0 || !source.is_finite() {
        return result;
    }
    // Between -308 and 308.
    let magnitude = source.abs().log10().floor() as i32;
    round_to(result, SIGNIFICANT_DIGITS - 1 - magnitude, f64::round)
}

/// The number rounded to a count of digits: 1.005 is exactly in the middle for people, if not for the machine.
pub(crate) fn round_to(number: f64, digits: i32, round: fn(f64) -> f64) -> f64 {
    let magnitude = number.abs().log10();
    // The digits that a number has end here. Zero has none: its magnitude is minus infinity.
    if number == 0.0 || f64::from(digits) + magnitude >= f64::from(SIGNIFICANT_DIGITS) {
        return round_significant(number);
    }
    let scale = power_of_ten(digits.abs());
    if digits < 0 {
        round(round_significant(number / scale)) * scale
    } else {
        round_significant(round(round_significant(number * scale)) / scale)
    }
}

/// The nearest number to a power of ten: multiplying tens adds up errors from 10^23 on.
fn power_of_ten(exponent: i32) -> f64 {
    const EXACT: i32 = 22;
    if exponent <= EXACT {
        10f64.powi(exponent)
    } else {
        format!("1e{exponent}").parse().unwrap_or(f64::MAX)
    }
}
