//! Reading a text as a typed value.
//!
//! What does not read is not lost: it is stored as sent and counted (`unparseableTypedValues` of
//! the API contract). A blank value, empty after trimming, is neither readable nor unreadable.

use std::fmt;

use chrono::{DateTime, Datelike, NaiveDate};

use crate::column::ColumnType;

/// A value read as its column's type.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnValue {
    /// The text without outer white space, never empty.
    Text(String),
    /// A finite number, never negative zero.
    ///
    /// Binary floating point and not a decimal, because numbers are only compared here, and
    /// formulas and JSON use the same kind. Reading rounds correctly: equal decimals stay equal,
    /// and of two numbers with up to 15 digits the greater stays the greater.
    Number(f64),
    /// A day in the years 1 to 9999.
    Date(NaiveDate),
    /// Yes is true.
    YesNo(bool),
}

impl fmt::Display for ColumnValue {
    /// Writes it so that it reads as the same value again: numbers plain, dates as `YYYY-MM-DD`,
    /// yes and no as `yes` and `no`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => formatter.write_str(text),
            Self::Number(number) => write!(formatter, "{number}"),
            Self::Date(date) => write!(formatter, "{}", date.format("%Y-%m-%d")),
            Self::YesNo(yes) => formatter.write_str(if *yes { "yes" } else { "no" }),
        }
    }
}

/// The text does not read as the type of its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", expected_form(*column_type))]
pub struct ColumnValueError {
    /// The type that was asked for.
    pub column_type: ColumnType,
}

/// What a value of the type looks like, for messages.
const fn expected_form(column_type: ColumnType) -> &'static str {
    match column_type {
        ColumnType::Text => "must be text",
        ColumnType::Number => "must be a number like 1,234.50 or $12",
        ColumnType::Date => "must be a date like 2026-01-31 or 1/31/2026",
        ColumnType::YesNo => "must be yes or no (or true/false, y/n, 1/0)",
    }
}

/// Reads a text as a value of the type; `None` is a blank.
pub fn parse_typed(
    column_type: ColumnType,
    text: &str,
) -> Result<Option<ColumnValue>, ColumnValueError> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let value = match column_type {
        ColumnType::Text => Some(ColumnValue::Text(text.to_owned())),
        ColumnType::Number => read_number(text).map(ColumnValue::Number),
        ColumnType::Date => read_date(text).map(ColumnValue::Date),
        ColumnType::YesNo => read_yes_no(text).map(ColumnValue::YesNo),
    };
    value.map(Some).ok_or(ColumnValueError { column_type })
}

/// Whether the text is blank or reads as a value of the type.
pub fn is_valid(column_type: ColumnType, text: &str) -> bool {
    parse_typed(column_type, text).is_ok()
}

/// Reads a decimal number: `1,234.50`, `$12`, `-5`, `-$5`, `$-5`, `.5`, `1e3`.
///
/// Commas must part whole groups of three digits. What is beyond the range of a 64-bit float is
/// refused, as are `NaN`, `inf` and hexadecimal.
pub fn read_number(text: &str) -> Option<f64> {
    let (outer_sign, rest) = take_sign(text.trim());
    let (inner_sign, digits) = match rest.strip_prefix('$') {
        Some(amount) => take_sign(amount),
        None => (None, rest),
    };
    let sign = match (outer_sign, inner_sign) {
        (Some(_), Some(_)) => return None,
        (outer, inner) => outer.or(inner).unwrap_or(1.0),
    };
    let magnitude: f64 = plain_decimal(digits)?.parse().ok()?;
    // Adding zero turns negative zero into zero.
    magnitude.is_finite().then_some(sign * magnitude + 0.0)
}

/// A leading `+` or `-` as a factor, and the text after it.
fn take_sign(text: &str) -> (Option<f64>, &str) {
    if let Some(rest) = text.strip_prefix('-') {
        (Some(-1.0), rest)
    } else if let Some(rest) = text.strip_prefix('+') {
        (Some(1.0), rest)
    } else {
        (None, text)
    }
}

/// The unsigned number without its commas, if it is well-formed.
fn plain_decimal(text: &str) -> Option<String> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let whole_fits =
        is_digits(whole) || is_grouped(whole) || (whole.is_empty() && fraction.is_some());
    let fraction_fits = fraction.is_none_or(is_digits);
    let exponent_fits = exponent.is_none_or(|exponent| is_digits(take_sign(exponent).1));
    (whole_fits && fraction_fits && exponent_fits).then(|| text.replace(',', ""))
}

/// Whether the text is one or more of the digits 0 to 9.
pub(crate) fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether the text is digits in groups of three, the first of one to three: `12,345,678`.
fn is_grouped(text: &str) -> bool {
    let mut groups = text.split(',');
    let first = groups.next().unwrap_or_default();
    is_digits(first) && first.len() <= 3 && groups.all(|group| is_digits(group) && group.len() == 3)
}

/// Reads a day: `YYYY-MM-DD`, `M/D/YYYY`, or the date in an RFC 3339 time as it is written there,
/// whatever its offset from UTC.
pub fn read_date(text: &str) -> Option<NaiveDate> {
    let text = text.trim();
    iso_date(text)
        .or_else(|| us_date(text))
        .or_else(|| {
            DateTime::parse_from_rfc3339(text)
                .ok()
                .map(|time| time.date_naive())
        })
        .filter(|date| date.year() >= 1)
}

fn iso_date(text: &str) -> Option<NaiveDate> {
    let [year, month, day] = split_three(text, '-')?;
    NaiveDate::from_ymd_opt(
        four_digits(year)?,
        two_digits(month).filter(|_| month.len() == 2)?,
        two_digits(day).filter(|_| day.len() == 2)?,
    )
}

fn us_date(text: &str) -> Option<NaiveDate> {
    let [month, day, year] = split_three(text, '/')?;
    NaiveDate::from_ymd_opt(four_digits(year)?, two_digits(month)?, two_digits(day)?)
}

fn split_three(text: &str, separator: char) -> Option<[&str; 3]> {
    let mut parts = text.split(separator);
    let three = [parts.next()?, parts.next()?, parts.next()?];
    parts.next().is_none().then_some(three)
}

fn four_digits(text: &str) -> Option<i32> {
    (is_digits(text) && text.len() == 4).then(|| text.parse().ok())?
}

/// A number of one or two digits, such as a month.
pub(crate) fn two_digits(text: &str) -> Option<u32> {
    (is_digits(text) && text.len() <= 2).then(|| text.parse().ok())?
}

/// Reads a yes or a no, in any case: yes/no, true/false, y/n, 1/0.
pub fn read_yes_no(text: &str) -> Option<bool> {
    const YES: [&str; 4] = ["yes", "true", "y", "1"];
    const NO: [&str; 4] = ["no", "false", "n", "0"];
    let is = |word: &&str| word.eq_ignore_ascii_case(text.trim());
    if YES.iter().any(is) {
        Some(true)
    } else if NO.iter().any(is) {
        Some(false)
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
