//! TEXT: numbers and dates in a format.

mod date;
mod number;

use std::borrow::Cow;

use crate::machine::{EvaluationError, EvaluationResult, FormulaEvaluator, evaluation_error};
use crate::node::ExpressionNode;
use crate::value::{CellValue, ValueType};

/// What is wrong with a format, and at which character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FormatError {
    pub(crate) at: usize,
    pub(crate) message: String,
}

/// A character of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FormatCharacter {
    /// Stands for itself: it was quoted, or has a backslash before it.
    Literal(char),
    /// Means what the format's kind says.
    Sign(char),
}

/// Checks a format that stands in a formula, for values of a type.
pub(crate) fn check_format(of: ValueType, format: &str) -> Result<(), FormatError> {
    if format.is_empty() {
        return Ok(());
    }
    match of {
        ValueType::Number => number::NumberFormat::parse(format).map(drop),
        ValueType::Date => date::DateFormat::parse(format).map(drop),
        ValueType::Text | ValueType::YesNo | ValueType::Blank => Ok(()),
    }
}

pub(super) fn format_value<'a>(
    machine: &mut FormulaEvaluator<'a>,
    arguments: &'a [ExpressionNode],
) -> EvaluationResult<'a> {
    let cell = machine
        .evaluate_optional(&arguments[0])?
        .ok_or(EvaluationError::Nothing("the value to be written is blank"))?;
    let Some(node) = arguments.get(1) else {
        return Ok(CellValue::Text(cell.into_text()));
    };
    let format = machine.evaluate_text(node)?;
    machine.spend_text(format.len())?;
    let written = match cell {
        _ if format.is_empty() => Ok(String::new()),
        CellValue::Number(number) => {
            number::NumberFormat::parse(&format).map(|format| format.format(number))
        }
        CellValue::Date(date) => date::DateFormat::parse(&format).map(|format| format.format(date)),
        other => return Ok(CellValue::Text(other.into_text())),
    };
    match written {
        Ok(text) => Ok(CellValue::Text(Cow::Owned(text))),
        Err(fault) => evaluation_error(format!(
            "the format is not understood: {}",
            fault.message.trim_end_matches('.')
        )),
    }
}

/// The characters of a format with their places, without quotes and backslashes.
fn split_format(format: &str) -> Result<Vec<(usize, FormatCharacter)>, FormatError> {
    let mut read = Vec::new();
    let mut characters = format.chars().enumerate();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => loop {
                match characters.next() {
                    Some((_, '"')) => break,
                    Some((at, quoted)) => read.push((at, FormatCharacter::Literal(quoted))),
                    None => {
                        return invalid_format(at, "A quote that opens in a format has to close.");
                    }
                }
            },
            '\\' => match characters.next() {
                Some((at, escaped)) => read.push((at, FormatCharacter::Literal(escaped))),
                None => {
                    return invalid_format(
                        at,
                        "Behind a backslash in a format stands a character.",
                    );
                }
            },
            sign => read.push((at, FormatCharacter::Sign(sign))),
        }
    }
    Ok(read)
}

/// Signs that spreadsheets give a meaning, and formulas none.
fn reject_unsupported_sign(at: usize, sign: char) -> Result<(), FormatError> {
    match sign {
        '?' => invalid_format(
            at,
            "Formats have no fractions and no ? for a space; digits are 0 or #.",
        ),
        '*' | '_' => invalid_format(
            at,
            format!("Formats fill no space; a {sign} that is to print stands in quotes."),
        ),
        '[' | ']' | '@' => invalid_format(
            at,
            format!("Formats have no {sign}; one that is to print stands in quotes."),
        ),
        _ => Ok(()),
    }
}

fn invalid_format<T>(at: usize, message: impl Into<String>) -> Result<T, FormatError> {
    Err(FormatError {
        at,
        message: message.into(),
    })
}
