//! Texts. Positions count characters from 1, as in spreadsheets.

mod work;

use super::definition::{
    ANY_NUMBER, FunctionDefinition, FunctionHelp, FunctionParameters, FunctionReturn, ParameterKind,
};
use super::format;
use crate::machine::{EvaluationError, evaluation_error};
use crate::value::{CellValue, ValueType};

use self::work::{
    capitalise_words, change_text, collapse_spaces, compare_texts, evaluate_count, join_with,
    repeat_text, slice_text, split_text, substitute_text,
};
pub(super) use self::work::{evaluate_searched_text, truncate_text};

const CATEGORY: &str = "text";
const GIVES: FunctionReturn = FunctionReturn::Always(ValueType::Text);

/// A help of a function on texts: name, signature, description, example and its result.
const fn function_help(
    [name, signature, description]: [&'static str; 3],
    [example, result]: [&'static str; 2],
) -> FunctionHelp {
    FunctionHelp {
        name,
        category: CATEGORY,
        signature,
        description,
        example,
        result,
    }
}

/// Takes this many texts.
const fn text_parameters(count: usize) -> FunctionParameters {
    FunctionParameters::exactly(count, |_, _| ParameterKind::Text)
}

/// Takes a text, and perhaps so many characters.
const COUNTED: FunctionParameters = FunctionParameters::between(1, 2, |at, _| {
    if at == 0 {
        ParameterKind::Text
    } else {
        ParameterKind::Number
    }
});

pub(super) static FUNCTIONS: [FunctionDefinition; 21] = [
    FunctionDefinition {
        help: function_help(
            [
                "CONCAT",
                "CONCAT(value, [value, ...])",
                "Joins values to one text; also written +. A blank joins as nothing.",
            ],
            ["CONCAT(\"Dear \", \"Ada\", \"!\")", "Dear Ada!"],
        ),
        takes: FunctionParameters::between(1, ANY_NUMBER, |_, _| ParameterKind::Text),
        gives: GIVES,
        run: |machine, arguments| machine.evaluate_join(arguments),
    },
    FunctionDefinition {
        help: function_help(
            [
                "TEXTJOIN",
                "TEXTJOIN(separator, value, [value, ...])",
                "Joins the values that are not blank, with the separator between them.",
            ],
            ["TEXTJOIN(\", \", \"Austin\", \"\", \"TX\")", "Austin, TX"],
        ),
        takes: FunctionParameters::between(2, ANY_NUMBER, |at, _| {
            if at == 1 {
                ParameterKind::Joined
            } else {
                ParameterKind::Text
            }
        }),
        gives: GIVES,
        run: join_with,
    },
    FunctionDefinition {
        help: function_help(
            ["UPPER", "UPPER(text)", "The text in upper case."],
            ["UPPER(\"Ada\")", "ADA"],
        ),
        takes: text_parameters(1),
        gives: GIVES,
        run: |machine, arguments| change_text(machine, &arguments[0], str::to_uppercase),
    },
    FunctionDefinition {
        help: function_help(
            ["LOWER", "LOWER(text)", "The text in lower case."],
            ["LOWER(\"Ada\")", "ada"],
        ),
        takes: text_parameters(1),
        gives: GIVES,
        run: |machine, arguments| change_text(machine, &arguments[0], str::to_lowercase),
    },
    FunctionDefinition {
        help: function_help(
            [
                "PROPER",
                "PROPER(text)",
                "The text with each word's first letter in upper case and the others in lower case.",
            ],
            ["PROPER(\"ada LOVELACE-o'neil\")", "Ada Lovelace-O'Neil"],
        ),
        takes: text_parameters(1),
        gives: GIVES,
        run: |machine, arguments| change_text(machine, &arguments[0], capitalise_words),
    },
    FunctionDefinition {
        help: function_help(
            [
                "TRIM",
                "TRIM(text)",
                "The text without spaces around it, and with one space where there are several.",
            ],
            ["TRIM(\"  Ada   Lovelace \")", "Ada Lovelace"],
        ),
        takes: text_parameters(1),
        gives: GIVES,
        run: |machine, arguments| change_text(machine, &arguments[0], collapse_spaces),
    },
    FunctionDefinition {
        help: function_help(
            [
                "LEFT",
                "LEFT(text, [count])",
                "The first characters of the text, one when no count is given.",
            ],
            ["LEFT(\"78701-1234\", 5)", "78701"],
        ),
        takes: COUNTED,
        gives: GIVES,
        run: |machine, arguments| {
            let count = evaluate_count(machine, arguments.get(1))?;
            slice_text(machine, &arguments[0], |_| (0, count))
        },
    },
    FunctionDefinition {
        help: function_help(
            [
                "RIGHT",
                "RIGHT(text, [count])",
                "The last characters of the text, one when no count is given.",
            ],
            ["RIGHT(\"78701-1234\", 4)", "1234"],
        ),
        takes: COUNTED,
        gives: GIVES,
        run: |machine, arguments| {
            let count = evaluate_count(machine, arguments.get(1))?;
            slice_text(machine, &arguments[0], |length| {
                (length.saturating_sub(count), count)
            })
        },
    },
    FunctionDefinition {
        help: function_help(
            [
                "MID",
                "MID(text, start, count)",
                "So many characters of the text from a position on; the first is 1.",
            ],
            ["MID(\"(512) 555-0100\", 2, 3)", "512"],
        ),
        takes: FunctionParameters::exactly(3, |at, _| {
            if at == 0 {
                ParameterKind::Text
            } else {
                ParameterKind::Number
            }
        }),
        gives: GIVES,
        run: |machine, arguments| {
            let start = machine.evaluate_integer(&arguments[1])?;
            if start < 1 {
                return evaluation_error("MID starts at 1");
            }
            let count = evaluate_count(machine, arguments.get(2))?;
            slice_text(machine, &arguments[0], |_| {
                (start.unsigned_abs() as usize - 1, count)
            })
        },
    },
    FunctionDefinition {
        help: function_help(
            ["LEN", "LEN(text)", "How many characters the text has."],
            ["LEN(\"Zoë\")", "3"],
        ),
        takes: text_parameters(1),
        gives: FunctionReturn::Always(ValueType::Number),
        run: |machine, arguments| {
            let text = evaluate_searched_text(machine, &arguments[0])?;
            Ok(CellValue::Number(text.chars().count() as f64))
        },
    },
    FunctionDefinition {
        help: function_help(
            [
                "SUBSTITUTE",
                "SUBSTITUTE(text, old, new)",
                "The text with the new text at every place of the old one.",
            ],
            ["SUBSTITUTE(\"555.010.0\", \".\", \"-\")", "555-010-0"],
        ),
        takes: text_parameters(3),
        gives: GIVES,
        run: substitute_text,
    },
    FunctionDefinition {
        help: function_help(
            ["REPT", "REPT(text, count)", "The text so many times."],
            ["REPT(\"*\", 5)", "*****"],
        ),
        takes: FunctionParameters::exactly(2, |at, _| {
            if at == 0 {
                ParameterKind::Text
            } else {
                ParameterKind::Number
            }
        }),
        gives: GIVES,
        run: repeat_text,
    },
    FunctionDefinition {
        help: function_help(
            [
                "FIND",
                "FIND(part, text)",
                "At which character the part begins in the text; blank when it is not there.",
            ],
            ["FIND(\"@\", \"ada@example.com\")", "4"],
        ),
        takes: text_parameters(2),
        gives: FunctionReturn::Always(ValueType::Number),
        run: |machine, arguments| {
            let (part, text) = (
                evaluate_searched_text(machine, &arguments[0])?,
                evaluate_searched_text(machine, &arguments[1])?,
            );
            match text.find(&*part) {
                Some(at) => Ok(CellValue::Number(text[..at].chars().count() as f64 + 1.0)),
                None => Err(EvaluationError::Nothing("FIND does not find the part")),
            }
        },
    },
    FunctionDefinition {
        help: function_help(
            [
                "CONTAINS",
                "CONTAINS(text, part)",
                "Whether the part is somewhere in the text, in the same case.",
            ],
            ["CONTAINS(\"ada@example.com\", \"example\")", "yes"],
        ),
        takes: text_parameters(2),
        gives: FunctionReturn::Always(ValueType::YesNo),
        run: |machine, arguments| {
            compare_texts(machine, arguments, |text, part| text.contains(part))
        },
    },
    FunctionDefinition {
        help: function_help(
            [
                "STARTSWITH",
                "STARTSWITH(text, part)",
                "Whether the text begins with the part, in the same case.",
            ],
            ["STARTSWITH(\"Austin\", \"Aus\")", "yes"],
        ),
        takes: text_parameters(2),
        gives: FunctionReturn::Always(ValueType::YesNo),
        run: |machine, arguments| {
            compare_texts(machine, arguments, |text, part| text.starts_with(part))
        },
    },
    FunctionDefinition {
        help: function_help(
            [
                "ENDSWITH",
                "ENDSWITH(text, part)",
                "Whether the text ends with the part, in the same case.",
            ],
            ["ENDSWITH(\"ada@example.com\", \".com\")", "yes"],
        ),
        takes: text_parameters(2),
        gives: FunctionReturn::Always(ValueType::YesNo),
        run: |machine, arguments| {
            compare_texts(machine, arguments, |text, part| text.ends_with(part))
        },
    },
    FunctionDefinition {
        help: function_help(
            [
                "TEXTBEFORE",
                "TEXTBEFORE(text, separator)",
                "What stands before the separator, where it comes first; the whole text without one.",
            ],
            ["TEXTBEFORE(\"Ada Lovelace\", \" \")", "Ada"],
        ),
        takes: text_parameters(2),
        gives: GIVES,
        run: |machine, arguments| {
            split_text(machine, arguments, |text, separator| {
                text.split_once(separator)
                    .map_or(text, |(before, _)| before)
            })
        },
    },
    FunctionDefinition {
        help: function_help(
            [
                "TEXTAFTER",
                "TEXTAFTER(text, separator)",
                "What stands behind the separator, where it comes first; nothing without one.",
            ],
            ["TEXTAFTER(\"ada@example.com\", \"@\")", "example.com"],
        ),
        takes: text_parameters(2),
        gives: GIVES,
        run: |machine, arguments| {
            split_text(machine, arguments, |text, separator| {
                text.split_once(separator).map_or("", |(_, after)| after)
            })
        },
    },
    FunctionDefinition {
        help: function_help(
            [
                "EXACT",
                "EXACT(text, other)",
                "Whether two texts are the same, in the same case; so is ==.",
            ],
            ["EXACT(\"tx\", \"TX\")", "no"],
        ),
        takes: text_parameters(2),
        gives: FunctionReturn::Always(ValueType::YesNo),
        run: |machine, arguments| compare_texts(machine, arguments, |text, other| text == other),
    },
    FunctionDefinition {
        help: function_help(
            [
                "TEXT",
                "TEXT(value, [format])",
                "A number or a date as text, in a format such as $#,##0.00, 0%, MMMM D, YYYY or M/D/YY.",
            ],
            ["TEXT(1234.5, \"$#,##0.00\")", "$1,234.50"],
        ),
        takes: FunctionParameters::between(1, 2, |at, _| {
            if at == 0 {
                ParameterKind::Any
            } else {
                ParameterKind::Format
            }
        }),
        gives: GIVES,
        run: format::format_value,
    },
    FunctionDefinition {
        help: function_help(
            [
                "VALUE",
                "VALUE(text)",
                "The number that a text is, such as 1,234.50 or $12.",
            ],
            ["VALUE(\"$1,234.50\")", "1234.5"],
        ),
        takes: text_parameters(1),
        gives: FunctionReturn::Always(ValueType::Number),
        run: |machine, arguments| {
            let text = evaluate_searched_text(machine, &arguments[0])?;
            match audience::value::read_number(&text) {
                Some(number) => Ok(CellValue::Number(number)),
                None if text.trim().is_empty() => {
                    Err(EvaluationError::Nothing("the text to be read is blank"))
                }
                None => evaluation_error(format!("“{}” is not a number", truncate_text(&text))),
            }
        },
    },
];
