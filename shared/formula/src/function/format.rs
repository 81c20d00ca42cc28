//! TEXT: numbers and dates in a format.

use std::borrow::Cow;

use chrono::NaiveDate;

use super::number::round_to;
use crate::machine::{Answer, Halt, Machine};
use crate::node::Node;
use crate::value::Cell;

/// Most digits behind the point that a format may ask for.
const MAX_DECIMALS: usize = 15;

pub(super) fn text<'a>(machine: &mut Machine<'a>, arguments: &'a [Node]) -> Answer<'a> {
    let cell = machine.blankable(&arguments[0])?.ok_or(Halt::Nothing("the value to be written is blank"))?;
    let Some(node) = arguments.get(1) else {
        return Ok(Cell::Text(cell.into_text()));
    };
    let format = machine.text(node)?;
    machine.spend_text(format.len())?;
    Ok(Cell::Text(match cell {
        Cell::Number(number) => Cow::Owned(number_text(number, &format)),
        Cell::Date(date) => Cow::Owned(date_text(date, &format)),
        other => other.into_text(),
    }))
}

/// `$#,##0.00`: what stands before the first and behind the last of `#0,.` stays; a comma between the digits groups
/// thousands; zeros behind the point are shown, `#` only when needed; a `%` shows hundredths.
fn number_text(number: f64, format: &str) -> String {
    let is_placeholder = |one: char| matches!(one, '#' | '0');
    let Some(start) = format.find(is_placeholder) else {
        return format.to_owned();
    };
    // A placeholder is one byte.
    let end = format.rfind(is_placeholder).map_or(start, |at| at + 1);
    let (prefix, picture, suffix) = (&format[..start], &format[start..end], &format[end..]);
    let (whole, decimals) = picture.split_once('.').unwrap_or((picture, ""));
    let shown = decimals.chars().filter(|one| is_placeholder(*one)).count().min(MAX_DECIMALS);
    let needed = decimals.chars().filter(|one| *one == '0').count().min(shown);
    let number = if format.contains('%') { number * 100.0 } else { number };
    let rounded = round_to(number, shown as i32, f64::round);
    let digits = format!("{:.shown$}", rounded.abs());
    let (integer, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let least = whole.chars().filter(|one| *one == '0').count();
    let integer = integer_text(integer, least, whole.contains(','));
    let fraction = fraction_text(fraction, needed);
    let sign = if rounded < 0.0 { "-" } else { "" };
    format!("{sign}{prefix}{integer}{fraction}{suffix}")
}

/// At least so many digits, and perhaps a comma before every third from the right.
fn integer_text(digits: &str, least: usize, is_grouped: bool) -> String {
    let digits = if digits == "0" { "" } else { digits };
    let padded = format!("{digits:0>least$}");
    if !is_grouped {
        return padded;
    }
    let mut grouped = String::with_capacity(padded.len() * 4 / 3 + 1);
    for (at, digit) in padded.chars().enumerate() {
        if at > 0 && (padded.len() - at) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The point and the digits behind it, at least so many.
fn fraction_text(digits: &str, least: usize) -> String {
    let significant = digits.trim_end_matches('0').len().max(least).min(digits.len());
    if significant == 0 { String::new() } else { format!(".{}", &digits[..significant]) }
}

/// `MMMM D, YYYY`: runs of Y, M and D in any case; everything else stays.
fn date_text(date: NaiveDate, format: &str) -> String {
    let mut made = String::new();
    let mut rest = format;
    while let Some(first) = rest.chars().next() {
        let run = rest.chars().take_while(|one| one.eq_ignore_ascii_case(&first)).count();
        let part = match (first.to_ascii_uppercase(), run) {
            ('Y', 1 | 2) => Some(date.format("%y")),
            ('Y', _) => Some(date.format("%Y")),
            ('M', 1) => Some(date.format("%-m")),
            ('M', 2) => Some(date.format("%m")),
            ('M', 3) => Some(date.format("%b")),
            ('M', _) => Some(date.format("%B")),
            ('D', 1) => Some(date.format("%-d")),
            ('D', 2) => Some(date.format("%d")),
            ('D', 3) => Some(date.format("%a")),
            ('D', _) => Some(date.format("%A")),
            _ => None,
        };
        let length = if part.is_some() { run } else { first.len_utf8() };
        match part {
            Some(part) => made.push_str(&part.to_string()),
            None => made.push(first),
        }
        rest = &rest[length..];
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_their_format_shows() {
        let cases = [
            (1234.5, "0", "1235"),
            (1234.5, "#,##0.00", "1,234.50"),
            (-1234.5, "$#,##0.00", "-$1,234.50"),
            (0.256, "0%", "26%"),
            (0.256, "0.0%", "25.6%"),
            (7.0, "000", "007"),
            (0.5, "#.##", ".5"),
            (3.0, "0.##", "3"),
            (-0.001, "0.00", "0.00"),
            (1_234_567.0, "#,##0 points", "1,234,567 points"),
            (5.0, "five", "five"),
            (1e300, "0.0", &format!("{:.1}", 1e300)),
        ];
        for (number, format, expected) in cases {
            assert_eq!(number_text(number, format), expected, "{number} as {format}");
        }
    }

    #[test]
    fn dates_are_written_as_their_format_shows() {
        let date = NaiveDate::from_ymd_opt(2026, 7, 4).unwrap();
        let cases = [
            ("MMMM D, YYYY", "July 4, 2026"),
            ("m/d/yy", "7/4/26"),
            ("YYYY-MM-DD", "2026-07-04"),
            ("dddd, mmm d", "Saturday, Jul 4"),
            ("ddd", "Sat"),
            ("→ é", "→ é"),
        ];
        for (format, expected) in cases {
            assert_eq!(date_text(date, format), expected);
        }
    }
}
