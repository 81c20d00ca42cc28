//! TEXT: numbers and dates in a format.

mod date;
mod number;

use std::borrow::Cow;

use crate::machine::{EvaluationError, EvaluationResult, FormulaEvaluator, error};
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
pub(crate) fn check(of: ValueType, format: &str) -> Result<(), FormatError> {
    if format.is_empty() {
        return Ok(());
    }
    match of {
        ValueType::Number => number::NumberFormat::read(format).map(drop),
        ValueType::Date => date::DateFormat::read(format).map(drop),
        ValueType::Text | ValueType::YesNo | ValueType::Blank => Ok(()),
    }
}

pub(super) fn text<'a>(
    machine: &mut FormulaEvaluator<'a>,
    arguments: &'a [ExpressionNode],
) -> EvaluationResult<'a> {
    let cell = machine
        .blankable(&arguments[0])?
        .ok_or(EvaluationError::Nothing("the value to be written is blank"))?;
    let Some(node) = arguments.get(1) else {
        return Ok(CellValue::Text(cell.into_text()));
    };
    let format = machine.text(node)?;
    machine.spend_text(format.len())?;
    let written = match cell {
        _ if format.is_empty() => Ok(String::new()),
        CellValue::Number(number) => {
            number::NumberFormat::read(&format).map(|format| format.write(number))
        }
        CellValue::Date(date) => date::DateFormat::read(&format).map(|format| format.write(date)),
        other => return Ok(CellValue::Text(other.into_text())),
    };
    match written {
        Ok(text) => Ok(CellValue::Text(Cow::Owned(text))),
        Err(fault) => error(format!(
            "the format is not understood: {}",
            fault.message.trim_end_matches('.')
        )),
    }
}

/// The characters of a format with their places, without quotes and backslashes.
fn pieces(format: &str) -> Result<Vec<(usize, FormatCharacter)>, FormatError> {
    let mut read = Vec::new();
    let mut characters = format.chars().enumerate();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => loop {
                match characters.next() {
                    Some((_, '"')) => break,
                    Some((at, quoted)) => read.push((at, FormatCharacter::Literal(quoted))),
                    None => return fault(at, "A quote that opens in a format has to close."),
                }
            },
            '\\' => match characters.next() {
                Some((at, escaped)) => read.push((at, FormatCharacter::Literal(escaped))),
                None => return fault(at, "Behind a backslash in a format stands a character."),
            },
            sign => read.push((at, FormatCharacter::Sign(sign))),
        }
    }
    Ok(read)
}

/// Signs that spreadsheets give a meaning, and formulas none.
fn refuse_strange(at: usize, sign: char) -> Result<(), FormatError> {
    match sign {
        '?' => fault(
            at,
            "Formats have no fractions and no ? for a space; digits are 0 or #.",
        ),
        '*' | '_' => fault(
            at,
            format!("Formats fill no space; a {sign} that is to print stands in quotes."),
        ),
        '[' | ']' | '@' => fault(
            at,
            format!("Formats have no {sign}; one that is to print stands in quotes."),
        ),
        _ => Ok(()),
    }
}

fn fault<T>(at: usize, message: impl Into<String>) -> Result<T, FormatError> {
    Err(FormatError {
        at,
        message: message.into(),
    })
}
