//! Regular expressions, with an engine whose time is linear in the text.

use std::borrow::Cow;

use regex::RegexBuilder;

use super::{Definition, Gives, Parameter, Takes};
use crate::FunctionHelp;
use crate::limits::{MAX_PATTERN_CHARS, PATTERN_SIZES};
use crate::machine::{Answer, Halt, Machine};
use crate::node::{Node, Pattern};
use crate::value::{Cell, Type};

const CATEGORY: &str = "text";

/// Text and pattern, and more texts.
const fn takes(count: usize) -> Takes {
    Takes::exactly(count, |at, _| if at == 1 { Parameter::Pattern } else { Parameter::Text })
}

pub(super) static FUNCTIONS: [Definition; 3] = [
    Definition {
        help: FunctionHelp {
            name: "REGEXMATCH",
            category: CATEGORY,
            signature: "REGEXMATCH(text, pattern)",
            description: "Whether the regular expression matches somewhere in the text. r\"...\" keeps each \\ as it is.",
            example: "REGEXMATCH(\"78701\", r\"^\\d{5}$\")",
            result: "yes",
        },
        takes: takes(2),
        gives: Gives::Always(Type::YesNo),
        run: |machine, arguments| {
            let text = machine.text(&arguments[0])?;
            let pattern = machine.pattern(&arguments[1], text.len())?;
            Ok(Cell::YesNo(pattern.regex.is_match(&text)))
        },
    },
    Definition {
        help: FunctionHelp {
            name: "REGEXEXTRACT",
            category: CATEGORY,
            signature: "REGEXEXTRACT(text, pattern)",
            description: "What the regular expression matches first: its first group, or all of it; blank without a match.",
            example: "REGEXEXTRACT(\"Unit 12B\", r\"\\d+\")",
            result: "12",
        },
        takes: takes(2),
        gives: Gives::Always(Type::Text),
        run: extract,
    },
    Definition {
        help: FunctionHelp {
            name: "REGEXREPLACE",
            category: CATEGORY,
            signature: "REGEXREPLACE(text, pattern, new)",
            description: "The text with the new text, as it stands, at every match of the regular expression.",
            example: "REGEXREPLACE(\"(512) 555-0100\", \"[^0-9]\", \"\")",
            result: "5125550100",
        },
        takes: takes(3),
        gives: Gives::Always(Type::Text),
        run: replace,
    },
];

/// Compiles a regular expression within the bounds; the error is a sentence.
pub(crate) fn compile(source: &str) -> Result<Pattern, String> {
    if source.chars().count() > MAX_PATTERN_CHARS {
        return Err(format!("A regular expression has at most {MAX_PATTERN_CHARS} characters."));
    }
    let largest = PATTERN_SIZES.last().map_or(0, |(bytes, _)| *bytes);
    let build = |bytes: usize| {
        RegexBuilder::new(source).size_limit(bytes).dfa_size_limit(4 * largest).nest_limit(32).build()
    };
    for (bytes, steps) in PATTERN_SIZES {
        match build(bytes) {
            Ok(regex) => return Ok(Pattern { regex, steps }),
            Err(regex::Error::CompiledTooBig(_)) => {}
            Err(error) => {
                // The last line says what is wrong; those before it draw the place.
                let whole = error.to_string();
                let reason = whole.lines().last().unwrap_or_default().trim_start_matches("error: ");
                return Err(format!("This is not a regular expression: {reason}."));
            }
        }
    }
    Err("This regular expression is too large; fewer and smaller repetitions make it smaller.".to_owned())
}

fn extract<'a>(machine: &mut Machine<'a>, arguments: &'a [Node]) -> Answer<'a> {
    let text = machine.text(&arguments[0])?;
    let pattern = machine.pattern(&arguments[1], text.len())?;
    let nothing = Halt::Nothing("the regular expression matches nothing");
    let captures = pattern.regex.captures(&text).ok_or(nothing)?;
    let found = captures.get(1).or_else(|| captures.get(0));
    let found = found.ok_or(Halt::Nothing("the group of the regular expression matches nothing"))?;
    Ok(Cell::Text(Cow::Owned(found.as_str().to_owned())))
}

fn replace<'a>(machine: &mut Machine<'a>, arguments: &'a [Node]) -> Answer<'a> {
    let text = machine.text(&arguments[0])?;
    let pattern = machine.pattern(&arguments[1], text.len())?;
    let new = machine.text(&arguments[2])?;
    let mut made = String::with_capacity(text.len());
    let mut end = 0;
    for found in pattern.regex.find_iter(&text) {
        machine.append(&mut made, &text[end..found.start()])?;
        machine.append(&mut made, &new)?;
        end = found.end();
        // For the search that comes next.
        machine.spend_search(pattern, text.len() - end)?;
    }
    machine.append(&mut made, &text[end..])?;
    Ok(Cell::Text(Cow::Owned(made)))
}
