//! What the functions on texts do.

use std::borrow::Cow;

use crate::machine::{EvaluationResult, FormulaEvaluator, evaluation_error};
use crate::node::ExpressionNode;
use crate::value::CellValue;

/// The beginning of a text, for a message.
pub(crate) fn truncate_text(text: &str) -> String {
    const SHOWN_CHARS: usize = 40;
    text.chars().take(SHOWN_CHARS).collect()
}

/// A text that is going to be searched, with the steps for it taken.
pub(crate) fn evaluate_searched_text<'a>(
    machine: &mut FormulaEvaluator<'a>,
    node: &'a ExpressionNode,
) -> EvaluationResult<'a, Cow<'a, str>> {
    let text = machine.evaluate_text(node)?;
    machine.spend_text(text.len())?;
    Ok(text)
}

pub(super) fn change_text<'a>(
    machine: &mut FormulaEvaluator<'a>,
    node: &'a ExpressionNode,
    change: fn(&str) -> String,
) -> EvaluationResult<'a> {
    let text = evaluate_searched_text(machine, node)?;
    // A change of case makes a text three times as long at the most.
    Ok(CellValue::Text(Cow::Owned(change(&text))))
}

pub(super) fn compare_texts<'a>(
    machine: &mut FormulaEvaluator<'a>,
    arguments: &'a [ExpressionNode],
    compare: fn(&str, &str) -> bool,
) -> EvaluationResult<'a> {
    let (text, part) = (
        evaluate_searched_text(machine, &arguments[0])?,
        evaluate_searched_text(machine, &arguments[1])?,
    );
    Ok(CellValue::YesNo(compare(&text, &part)))
}

pub(super) fn split_text<'a>(
    machine: &mut FormulaEvaluator<'a>,
    arguments: &'a [ExpressionNode],
    pick: for<'t> fn(&'t str, &str) -> &'t str,
) -> EvaluationResult<'a> {
    let (text, separator) = (
        evaluate_searched_text(machine, &arguments[0])?,
        evaluate_searched_text(machine, &arguments[1])?,
    );
    if separator.is_empty() {
        return evaluation_error("the separator is blank");
    }
    Ok(CellValue::Text(match text {
        Cow::Borrowed(text) => Cow::Borrowed(pick(text, &separator)),
        Cow::Owned(text) => Cow::Owned(pick(&text, &separator).to_owned()),
    }))
}

/// A count of characters, one when there is none.
pub(super) fn evaluate_count<'a>(
    machine: &mut FormulaEvaluator<'a>,
    node: Option<&'a ExpressionNode>,
) -> EvaluationResult<'a, usize> {
    let Some(node) = node else {
        return Ok(1);
    };
    match usize::try_from(machine.evaluate_integer(node)?) {
        Ok(count) => Ok(count),
        Err(_) => evaluation_error("a count of characters is not negative"),
    }
}

/// A part of a text: the window tells the first character, from 0, and the count, of the text's length.
pub(super) fn slice_text<'a>(
    machine: &mut FormulaEvaluator<'a>,
    node: &'a ExpressionNode,
    window: impl Fn(usize) -> (usize, usize),
) -> EvaluationResult<'a> {
    let text = evaluate_searched_text(machine, node)?;
    let (skipped, count) = window(text.chars().count());
    let byte = |text: &str, chars: usize| {
        text.char_indices()
            .nth(chars)
            .map_or(text.len(), |(at, _)| at)
    };
    let start = byte(&text, skipped);
    let end = start + byte(&text[start..], count);
    Ok(CellValue::Text(match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[start..end]),
        Cow::Owned(text) => Cow::Owned(text[start..end].to_owned()),
    }))
}

pub(super) fn join_with<'a>(
    machine: &mut FormulaEvaluator<'a>,
    arguments: &'a [ExpressionNode],
) -> EvaluationResult<'a> {
    let separator = machine.evaluate_text(&arguments[0])?;
    let mut joined = String::new();
    for node in &arguments[1..] {
        let text = machine.evaluate_text(node)?;
        if text.is_empty() {
            continue;
        }
        if !joined.is_empty() {
            machine.append_text(&mut joined, &separator)?;
        }
        machine.append_text(&mut joined, &text)?;
    }
    Ok(CellValue::Text(Cow::Owned(joined)))
}

pub(super) fn substitute_text<'a>(
    machine: &mut FormulaEvaluator<'a>,
    arguments: &'a [ExpressionNode],
) -> EvaluationResult<'a> {
    let text = evaluate_searched_text(machine, &arguments[0])?;
    let (old, new) = (
        machine.evaluate_text(&arguments[1])?,
        machine.evaluate_text(&arguments[2])?,
    );
    if old.is_empty() {
        return Ok(CellValue::Text(text));
    }
    let mut made = String::with_capacity(text.len());
    for (at, piece) in text.split(&*old).enumerate() {
        if at > 0 {
            machine.append_text(&mut made, &new)?;
        }
        machine.append_text(&mut made, piece)?;
        machine.spend_steps(1)?;
    }
    Ok(CellValue::Text(Cow::Owned(made)))
}

pub(super) fn repeat_text<'a>(
    machine: &mut FormulaEvaluator<'a>,
    arguments: &'a [ExpressionNode],
) -> EvaluationResult<'a> {
    let text = machine.evaluate_text(&arguments[0])?;
    let count = evaluate_count(machine, arguments.get(1))?;
    machine.spend_text(text.len().saturating_mul(count))?;
    Ok(CellValue::Text(Cow::Owned(text.repeat(count))))
}

/// One space for each run of white space, none outside.
pub(super) fn collapse_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Words begin behind whatever is no letter. What follows an apostrophe is a word when it has more than one
/// letter: O'Neil, but Ada's.
pub(super) fn capitalise_words(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut is_start = true;
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        if is_start {
            // The upper case of ß is two letters, of which one begins the word.
            let mut upper = character.to_uppercase();
            made.extend(upper.next());
            made.extend(upper.flat_map(char::to_lowercase));
        } else {
            made.extend(character.to_lowercase());
        }
        is_start = match character {
            '\'' | '’' => {
                rest.clone()
                    .take_while(|next| next.is_alphabetic())
                    .take(2)
                    .count()
                    > 1
            }
            // A digit's letters belong to it: 3rd.
            _ => !character.is_alphanumeric(),
        };
    }
    made
}
