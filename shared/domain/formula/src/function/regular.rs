//! Regular expressions, with an engine whose time is linear in the text.

use std::borrow::Cow;

use regex::{Captures, RegexBuilder};

use super::definition::{
    FunctionDefinition, FunctionHelp, FunctionParameters, FunctionReturn, ParameterKind,
};
use crate::limits::{MAX_PATTERN_CHARS, PATTERN_SIZES};
use crate::machine::{EvaluationError, EvaluationResult, FormulaEvaluator};
use crate::node::{ExpressionNode, RegexPattern};
use crate::value::{CellValue, ValueType};

const CATEGORY: &str = "text";

/// Text and pattern, and more texts.
const fn regex_parameters(count: usize) -> FunctionParameters {
    FunctionParameters::exactly(count, |at, _| {
        if at == 1 {
            ParameterKind::Pattern
        } else {
            ParameterKind::Text
        }
    })
}

pub(super) static FUNCTIONS: [FunctionDefinition; 3] = [
    FunctionDefinition {
        help: FunctionHelp {
            name: "REGEXMATCH",
            category: CATEGORY,
            signature: "REGEXMATCH(text, pattern)",
            description: "Whether the regular expression matches somewhere in the text. r\"...\" keeps each \\ as it is.",
            example: "REGEXMATCH(\"78701\", r\"^\\d{5}$\")",
            result: "yes",
        },
        takes: regex_parameters(2),
        gives: FunctionReturn::Always(ValueType::YesNo),
        run: |machine, arguments| {
            let text = machine.evaluate_text(&arguments[0])?;
            let pattern = machine.evaluate_pattern(&arguments[1], text.len())?;
            Ok(CellValue::YesNo(pattern.regex.is_match(&text)))
        },
    },
    FunctionDefinition {
        help: FunctionHelp {
            name: "REGEXEXTRACT",
            category: CATEGORY,
            signature: "REGEXEXTRACT(text, pattern)",
            description: "What the regular expression matches first: its first group, or all of it; blank without a match.",
            example: "REGEXEXTRACT(\"Unit 12B\", r\"\\d+\")",
            result: "12",
        },
        takes: regex_parameters(2),
        gives: FunctionReturn::Always(ValueType::Text),
        run: extract_match,
    },
    FunctionDefinition {
        help: FunctionHelp {
            name: "REGEXREPLACE",
            category: CATEGORY,
            signature: "REGEXREPLACE(text, pattern, new)",
            description: "The text with the new text at every match of the regular expression. $1 in a new text that stands in the formula is what the first group matched, $2 the second; $$1 prints $1.",
            example: r#"REGEXREPLACE("5125550100", r"^(\d{3})(\d{3})", "($1) $2-")"#,
            result: "(512) 555-0100",
        },
        takes: regex_parameters(3),
        gives: FunctionReturn::Always(ValueType::Text),
        run: replace_matches,
    },
];

/// Compiles a regular expression within the bounds; the error is a sentence.
pub(crate) fn compile_pattern(source: &str) -> Result<RegexPattern, String> {
    if source.chars().count() > MAX_PATTERN_CHARS {
        return Err(format!(
            "A regular expression has at most {MAX_PATTERN_CHARS} characters."
        ));
    }
    let largest = PATTERN_SIZES.last().map_or(0, |(bytes, _)| *bytes);
    let build = |bytes: usize| {
        RegexBuilder::new(source)
            .size_limit(bytes)
            .dfa_size_limit(4 * largest)
            .nest_limit(32)
            .build()
    };
    for (bytes, steps) in PATTERN_SIZES {
        match build(bytes) {
            Ok(regex) => return Ok(RegexPattern { regex, steps }),
            Err(regex::Error::CompiledTooBig(_)) => {}
            Err(error) => {
                // The last line says what is wrong; those before it draw the place.
                let whole = error.to_string();
                let reason = whole
                    .lines()
                    .last()
                    .unwrap_or_default()
                    .trim_start_matches("error: ");
                return Err(format!("This is not a regular expression: {reason}."));
            }
        }
    }
    Err(
        "This regular expression is too large; fewer and smaller repetitions make it smaller."
            .to_owned(),
    )
}

/// A piece of a new text.
enum ReplacementPart<'t> {
    /// It prints as it stands.
    Text(&'t str),
    /// `$1` to `$9`.
    Group(usize),
}

/// Splits a new text at its groups. `$$1` is the text `$1`; any other `$` is itself.
fn split_replacement(new: &str) -> impl Iterator<Item = ReplacementPart<'_>> {
    let mut rest = new;
    std::iter::from_fn(move || {
        let bytes = rest.as_bytes();
        let digit = |at: usize| bytes.get(at).filter(|byte| (b'1'..=b'9').contains(byte));
        let (part, length) = match bytes {
            [] => return None,
            [b'$', b'$', ..] if digit(2).is_some() => (ReplacementPart::Text(&rest[1..3]), 3),
            [b'$', ..] if digit(1).is_some() => {
                (ReplacementPart::Group(usize::from(bytes[1] - b'0')), 2)
            }
            _ => {
                let end = rest
                    .char_indices()
                    .skip(1)
                    .find(|(_, one)| *one == '$')
                    .map_or(rest.len(), |(at, _)| at);
                (ReplacementPart::Text(&rest[..end]), end)
            }
        };
        rest = &rest[length..];
        Some(part)
    })
}

/// The new text with what the groups matched. A group that the pattern does not have prints as it stands.
fn expand_replacement(new: &str, pattern: &RegexPattern, groups: Option<&Captures<'_>>) -> String {
    let mut made = String::new();
    for part in split_replacement(new) {
        match part {
            ReplacementPart::Text(text) => made.push_str(text),
            ReplacementPart::Group(number) if number < pattern.regex.captures_len() => {
                made.push_str(
                    groups
                        .and_then(|groups| groups.get(number))
                        .map_or("", |group| group.as_str()),
                );
            }
            ReplacementPart::Group(number) => made.push_str(&format!("${number}")),
        }
    }
    made
}

/// Whether a text stands in the formula as it is.
fn is_written(node: &ExpressionNode) -> bool {
    node.constant_text().is_some()
}

/// What is likely to be meant otherwise in a new text.
pub(crate) fn group_warning(pattern: &RegexPattern, new: &ExpressionNode) -> Option<String> {
    let written: Vec<&str> = match new {
        ExpressionNode::Join(parts) => parts
            .iter()
            .filter_map(ExpressionNode::constant_text)
            .collect(),
        node => node.constant_text().into_iter().collect(),
    };
    let groups = pattern.regex.captures_len() - 1;
    let named = || written.iter().flat_map(|text| split_replacement(text));
    let asks = |number: &usize| {
        named().any(|part| matches!(part, ReplacementPart::Group(asked) if asked == *number))
    };
    if written.iter().any(|text| {
        text.as_bytes()
            .windows(2)
            .any(|two| two[0] == b'\\' && (b'1'..=b'9').contains(&two[1]))
    }) {
        return Some(
            "A group of the regular expression is written $1 in the new text; \\1 prints as it stands."
                .to_owned(),
        );
    }
    if !is_written(new)
        && groups > 0
        && named().any(|part| matches!(part, ReplacementPart::Group(_)))
    {
        return Some(
            "Groups are filled in only when the new text is one text in quotes; here $1 prints as it stands."
                .to_owned(),
        );
    }
    let missing = (groups + 1..=9).find(asks)?;
    is_written(new).then(|| match groups {
        0 => {
            format!("The regular expression has no group (...), so ${missing} prints as it stands.")
        }
        _ => format!(
            "The regular expression has no group {missing}, so ${missing} prints as it stands."
        ),
    })
}

fn extract_match<'a>(
    machine: &mut FormulaEvaluator<'a>,
    arguments: &'a [ExpressionNode],
) -> EvaluationResult<'a> {
    let text = machine.evaluate_text(&arguments[0])?;
    let pattern = machine.evaluate_pattern(&arguments[1], text.len())?;
    let nothing = EvaluationError::Nothing("the regular expression matches nothing");
    let captures = pattern.regex.captures(&text).ok_or(nothing)?;
    let found = captures.get(1).or_else(|| captures.get(0));
    let found = found.ok_or(EvaluationError::Nothing(
        "the group of the regular expression matches nothing",
    ))?;
    Ok(CellValue::Text(Cow::Owned(found.as_str().to_owned())))
}

fn replace_matches<'a>(
    machine: &mut FormulaEvaluator<'a>,
    arguments: &'a [ExpressionNode],
) -> EvaluationResult<'a> {
    let text = machine.evaluate_text(&arguments[0])?;
    let pattern = machine.evaluate_pattern(&arguments[1], text.len())?;
    let new = machine.evaluate_text(&arguments[2])?;
    let mut made = String::with_capacity(text.len());
    let mut end = 0;
    // Groups cost a second search: only a text of the formula's own asks for them, never one that somebody sent.
    let has_groups = is_written(&arguments[2])
        && split_replacement(&new).any(|part| matches!(part, ReplacementPart::Group(_)));
    for found in pattern.regex.find_iter(&text) {
        machine.append_text(&mut made, &text[end..found.start()])?;
        if has_groups {
            machine.spend_search(pattern, text.len() - found.start())?;
            let groups = pattern.regex.captures_at(&text, found.start());
            machine.append_text(
                &mut made,
                &expand_replacement(&new, pattern, groups.as_ref()),
            )?;
        } else {
            machine.append_text(&mut made, &new)?;
        }
        end = found.end();
        // For the search that comes next.
        machine.spend_search(pattern, text.len() - end)?;
    }
    machine.append_text(&mut made, &text[end..])?;
    Ok(CellValue::Text(Cow::Owned(made)))
}
