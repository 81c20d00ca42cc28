//! Functions and what their arguments must be.

use audience::{BuiltInColumn, value};

use super::blank::{self, IgnoredBlank};
use super::{TreeBuilder, TypedNode};
use crate::function;
use crate::function::definition::{FunctionDefinition, FunctionReturn, ParameterKind};
use crate::limits::MAX_PATTERNS;
use crate::nearest::find_nearest;
use crate::node::ExpressionNode;
use crate::problem::{FormulaDiagnostic, SourceSpan};
use crate::scan::FormulaToken;
use crate::syntax::SyntaxNode;
use crate::value::{CellValue, ValueType};

/// What spreadsheets have and formulas do not, what to write instead when one name does, and why.
const STRANGERS: [(&str, &str, &str); 28] = [
    ("TRUE", "TRUE", "True is written without brackets."),
    ("FALSE", "FALSE", "False is written without brackets."),
    ("NOW", "TODAY()", "A formula knows the day, not the time."),
    (
        "ISEMPTY",
        "ISBLANK",
        "Whether a value is blank is asked by ISBLANK.",
    ),
    ("IIF", "IF", "A choice is written IF."),
    (
        "SEARCH",
        "FIND",
        "The place of a part is found by FIND, in the same case.",
    ),
    (
        "REPLACE",
        "SUBSTITUTE",
        "A part of a text is replaced by SUBSTITUTE(text, old, new).",
    ),
    ("AVG", "AVERAGE", "The mean is AVERAGE."),
    ("SPLIT", "TEXTBEFORE", PARTS),
    ("TEXTSPLIT", "TEXTBEFORE", PARTS),
    ("INDEX", "", PARTS),
    (
        "JOIN",
        "TEXTJOIN",
        "Texts are joined by TEXTJOIN(separator, value, ...).",
    ),
    (
        "TRUNC",
        "ROUNDDOWN",
        "Digits are cut off by ROUNDDOWN(number, [digits]).",
    ),
    (
        "DOLLAR",
        "TEXT",
        "An amount is written TEXT(amount, \"$#,##0.00\").",
    ),
    (
        "FIXED",
        "TEXT",
        "A number is written TEXT(number, \"0.00\").",
    ),
    (
        "DATEADD",
        "EDATE",
        "Months later is EDATE(date, months); days later is date + days.",
    ),
    (
        "CHAR",
        "",
        "A sign stands in a text as it is, a new line as \\n.",
    ),
    (
        "COUNTIF",
        "",
        "A formula sees one person and no other rows.",
    ),
    ("SUMIF", "", "A formula sees one person and no other rows."),
    (
        "IFNA",
        "IFERROR",
        "What stands in for an error is said by IFERROR, and for a blank by IFBLANK.",
    ),
    (
        "XOR",
        "",
        "Whether just one of two conditions holds is written condition != other.",
    ),
    (
        "ISNUMBER",
        "",
        "A number column holds numbers or blanks: ask !ISBLANK(column); of a text, REGEXMATCH(text, pattern).",
    ),
    (
        "ISTEXT",
        "",
        "The types of columns are known; whether a value is blank is asked by ISBLANK.",
    ),
    (
        "ISERROR",
        "",
        "What stands in for an error is said by IFERROR(value, otherwise).",
    ),
    (
        "VLOOKUP",
        "",
        "A formula sees one person and no other rows; a few cases stand in SWITCH(value, case, result, ...).",
    ),
    (
        "HLOOKUP",
        "",
        "A formula sees one person and no other rows; a few cases stand in SWITCH(value, case, result, ...).",
    ),
    (
        "XLOOKUP",
        "",
        "A formula sees one person and no other rows; a few cases stand in SWITCH(value, case, result, ...).",
    ),
    (
        "CHOOSE",
        "",
        "Cases are written SWITCH(value, case, result, ...).",
    ),
];

/// There are no lists to take parts from.
const PARTS: &str = "A part of a text is TEXTBEFORE(text, separator) or TEXTAFTER(text, separator), by a pattern \
                     REGEXEXTRACT(text, pattern), and by its place MID(text, start, count).";

impl TreeBuilder<'_> {
    /// A call, also one written behind its first argument: `first_name.startsWith("A")`.
    pub(super) fn build_function(
        &mut self,
        function: &FormulaToken,
        written: &[SyntaxNode<'_>],
    ) -> TypedNode {
        let (name, place) = (function.source.as_str(), function.span);
        let mut arguments = self.build_arguments(name, written);
        let span = arguments
            .iter()
            .fold(place, |span, argument| span.union(argument.span));
        let Some(definition) = function::find_function(name) else {
            let problem = self.unknown_function(name, place);
            return self.reject_expression(problem);
        };
        if let Some(problem) = check_argument_count(definition, arguments.len(), place) {
            return self.reject_expression(problem);
        }
        let count = arguments.len();
        if matches!(
            (definition.takes.parameter)(0, count),
            ParameterKind::Ordered
        ) {
            self.read_dates(&mut arguments);
        }
        let of = self.result_type(definition, &arguments);
        let first = arguments.first().map_or(ValueType::Blank, |first| first.of);
        let fitted = arguments.into_iter().enumerate();
        let nodes = fitted
            .map(|(at, argument)| {
                let parameter = (definition.takes.parameter)(at, count);
                match parameter {
                    ParameterKind::Format => self.build_format(first, argument),
                    ParameterKind::Case => self.coerce_list_element(argument, first),
                    parameter => self.build_argument(definition, parameter, of, argument),
                }
            })
            .collect::<Vec<ExpressionNode>>();
        self.overlooked
            .extend(IgnoredBlank::from_call(definition.help.name, &nodes, span));
        self.warn_unknown_groups(definition, &nodes, span);
        TypedNode {
            node: ExpressionNode::Call(definition, nodes),
            of,
            span,
        }
    }

    /// The arguments of a function. Those of IF and IFS are looked at where their condition holds.
    fn build_arguments(&mut self, name: &str, written: &[SyntaxNode<'_>]) -> Vec<TypedNode> {
        let is_choice = ["IF", "IFS"]
            .iter()
            .any(|choice| choice.eq_ignore_ascii_case(name));
        let mut built: Vec<TypedNode> = Vec::with_capacity(written.len());
        // What is known where none of the conditions so far holds.
        let mut known_else = Vec::new();
        for (at, argument) in written.iter().enumerate() {
            let condition = built.last().filter(|_| is_choice && at % 2 == 1);
            let known_here = match condition {
                Some(condition) => [
                    &known_else[..],
                    &blank::find_non_blank_columns(&condition.node, true),
                ]
                .concat(),
                None => known_else.clone(),
            };
            if let Some(condition) = condition {
                known_else.extend(blank::find_non_blank_columns(&condition.node, false));
            }
            built.push(self.build_with_non_blank(&known_here, argument));
        }
        built
    }

    fn result_type(&self, definition: &FunctionDefinition, arguments: &[TypedNode]) -> ValueType {
        match definition.gives {
            FunctionReturn::Always(of) => of,
            FunctionReturn::Argument(is_result) => arguments
                .iter()
                .enumerate()
                .filter(|(at, _)| is_result(*at, arguments.len()))
                .fold(ValueType::Blank, |of, (_, argument)| {
                    of.common_type(argument.of)
                }),
        }
    }

    fn build_argument(
        &mut self,
        definition: &FunctionDefinition,
        parameter: ParameterKind,
        of: ValueType,
        argument: TypedNode,
    ) -> ExpressionNode {
        match parameter {
            ParameterKind::Any
            | ParameterKind::Text
            | ParameterKind::Format
            | ParameterKind::Case => argument.node,
            ParameterKind::Joined => match argument.node {
                ExpressionNode::Constant(CellValue::YesNo(_)) => {
                    let message = "TEXTJOIN leaves blanks out by itself and takes no TRUE or FALSE: TEXTJOIN(separator, value, ...).";
                    self.reject_expression(argument.span.to_problem(message))
                        .node
                }
                node => node,
            },
            ParameterKind::Number => self.coerce_to_number(argument),
            ParameterKind::Date => self.coerce_to_date(argument),
            ParameterKind::MonthAndDay => self.month_and_day(argument),
            ParameterKind::YesNo => self.coerce_to_condition(argument),
            ParameterKind::Ordered
                if matches!(of, ValueType::Number | ValueType::Date | ValueType::Blank) =>
            {
                argument.node
            }
            ParameterKind::Ordered => {
                let name = definition.help.name;
                let message = match argument.of {
                    ValueType::Number | ValueType::Date | ValueType::Blank => {
                        format!("{name} takes numbers, or dates, but not both.")
                    }
                    other => format!(
                        "{name} takes numbers or dates, and this is {}.",
                        other.describe()
                    ),
                };
                self.reject_expression(argument.span.to_problem(message))
                    .node
            }
            ParameterKind::Pattern => self.build_pattern(argument),
            ParameterKind::OneOf(choices) => match argument.node.constant_text() {
                Some(text)
                    if choices
                        .iter()
                        .any(|choice| choice.eq_ignore_ascii_case(text)) =>
                {
                    argument.node
                }
                _ => {
                    let message = format!("This must be one of \"{}\".", choices.join("\", \""));
                    self.reject_expression(argument.span.to_problem(message))
                        .node
                }
            },
        }
    }

    /// A date, or the column of birthdays, which often have no year.
    fn month_and_day(&mut self, argument: TypedNode) -> ExpressionNode {
        if is_birthday(&argument.node) {
            argument.node
        } else {
            self.coerce_to_date(argument)
        }
    }

    /// A new text that names groups in another way, or groups that there are not.
    fn warn_unknown_groups(
        &mut self,
        definition: &FunctionDefinition,
        nodes: &[ExpressionNode],
        span: SourceSpan,
    ) {
        if definition.help.name != "REGEXREPLACE" {
            return;
        }
        let [_, ExpressionNode::Pattern(pattern), new] = nodes else {
            return;
        };
        if let Some(message) = function::group_warning(pattern, new) {
            self.add_warning(span.to_problem(message));
        }
    }

    /// Beside a date a text that stands in the formula is read as one.
    fn read_dates(&mut self, arguments: &mut [TypedNode]) {
        if arguments
            .iter()
            .all(|argument| argument.of != ValueType::Date)
        {
            return;
        }
        for argument in arguments {
            if let Some(date) = argument.node.constant_text().and_then(value::read_date) {
                (argument.node, argument.of) = (ExpressionNode::date(date), ValueType::Date);
            }
        }
    }

    /// The format that a value of a type is written in.
    fn build_format(&mut self, of: ValueType, argument: TypedNode) -> ExpressionNode {
        let refused = match of {
            ValueType::Text => {
                Some("A text has no format; VALUE reads a number from it and DATEVALUE a date.")
            }
            ValueType::YesNo => {
                Some("Yes and no have no format; IF(condition, text, other) chooses a text.")
            }
            ValueType::Number | ValueType::Date | ValueType::Blank => None,
        };
        if let Some(message) = refused {
            return self
                .reject_expression(argument.span.to_problem(message))
                .node;
        }
        let format = argument.node.constant_text().unwrap_or_default();
        match function::check_format(of, format) {
            Ok(()) => argument.node,
            Err(fault) => {
                // Behind the quote, unless the text is written with escapes.
                let is_plain = self
                    .source_text(argument.span)
                    .chars()
                    .skip(1)
                    .take(format.chars().count())
                    .eq(format.chars());
                let span = match is_plain {
                    true => SourceSpan {
                        offset: argument.span.offset + 1 + fault.at,
                        length: 1,
                    },
                    false => argument.span,
                };
                self.reject_expression(span.to_problem(fault.message)).node
            }
        }
    }

    fn build_pattern(&mut self, argument: TypedNode) -> ExpressionNode {
        self.patterns += 1;
        if self.patterns > MAX_PATTERNS {
            let message = format!("A formula has at most {MAX_PATTERNS} regular expressions.");
            return self
                .reject_expression(argument.span.to_problem(message))
                .node;
        }
        let Some(source) = argument.node.constant_text() else {
            let message = "A regular expression stands in the formula as a text in quotes.";
            return self
                .reject_expression(argument.span.to_problem(message))
                .node;
        };
        match function::compile_pattern(source) {
            Ok(pattern) => ExpressionNode::Pattern(Box::new(pattern)),
            Err(message) => {
                self.reject_expression(argument.span.to_problem(message))
                    .node
            }
        }
    }

    pub(super) fn coerce_to_number(&mut self, one: TypedNode) -> ExpressionNode {
        self.coerce_to(one, ValueType::Number)
    }

    pub(super) fn coerce_to_date(&mut self, one: TypedNode) -> ExpressionNode {
        self.coerce_to(one, ValueType::Date)
    }

    pub(super) fn coerce_to_condition(&mut self, one: TypedNode) -> ExpressionNode {
        self.coerce_to(one, ValueType::YesNo)
    }

    /// The expression as one of the wanted type. A text that stands in the formula is read as a date, or as yes or
    /// no; other texts are read by a function, so that nobody compares "9" with "10" by chance.
    pub(super) fn coerce_to(&mut self, one: TypedNode, wanted: ValueType) -> ExpressionNode {
        if one.of == wanted || one.of == ValueType::Blank {
            return one.node;
        }
        if let Some(text) = one.node.constant_text() {
            let read = match wanted {
                ValueType::Date => value::read_date(text).map(ExpressionNode::date),
                ValueType::YesNo => value::read_yes_no(text).map(ExpressionNode::yes_no),
                _ => None,
            };
            if let Some(node) = read {
                return node;
            }
        }
        let problem = self.type_mismatch(&one, wanted);
        self.reject_expression(problem).node
    }

    fn type_mismatch(&self, one: &TypedNode, wanted: ValueType) -> FormulaDiagnostic {
        let written = self.source_text(one.span);
        let constant = one.node.constant_text();
        let needed = match wanted {
            ValueType::YesNo => "A condition is needed here",
            ValueType::Number => "A number is needed here",
            _ => "A date is needed here",
        };
        let refused = |why: &str| one.span.to_problem(format!("{needed}, and this is {why}."));
        match (one.of, wanted) {
            (ValueType::Text, ValueType::Number) => match constant.and_then(value::read_number) {
                Some(number) => refused("text; numbers stand without quotes").with_suggestion(number.to_string()),
                None if constant.is_some() => refused("text"),
                None => refused("text; VALUE reads a number from it").with_suggestion(format!("VALUE({written})")),
            },
            (ValueType::Text, ValueType::Date) if is_birthday(&one.node) => one.span.to_problem(
                "A date is needed here, and a birthday often has no year, such as 7/4. MONTH(birthday) and DAY(birthday) read \
                 every one; DATEVALUE(birthday) reads those with a year and is blank for the others.",
            ),
            (ValueType::Text, ValueType::Date) if constant.is_none() => {
                refused("text; DATEVALUE reads a date from it").with_suggestion(format!("DATEVALUE({written})"))
            }
            (ValueType::Text, ValueType::Date) => refused("text that is no date; one is written \"2026-01-31\""),
            (ValueType::Text, ValueType::YesNo) if constant.is_some() => {
                refused("text that reads neither as yes nor as no; write TRUE or FALSE")
            }
            (ValueType::Number, ValueType::Date) if value::read_date(&written).is_some() => {
                one.span.to_problem("A date stands in quotes.").with_suggestion(format!("\"{written}\""))
            }
            (ValueType::Text, ValueType::YesNo) => {
                refused("text; compare it with something").with_suggestion(format!("{written} != \"\""))
            }
            (ValueType::Number, ValueType::YesNo) => {
                refused("a number; compare it with something").with_suggestion(format!("{written} != 0"))
            }
            (ValueType::Date, ValueType::YesNo) => {
                refused("a date; compare it with something").with_suggestion(format!("!ISBLANK({written})"))
            }
            (ValueType::YesNo, ValueType::Number) => refused("yes or no").with_suggestion(format!("IF({written}, 1, 0)")),
            (ValueType::Date, ValueType::Number) => refused("a date; YEAR, DAYS or DATEDIF make a number of it"),
            (of, _) => refused(of.describe()),
        }
    }

    fn unknown_function(&self, name: &str, place: SourceSpan) -> FormulaDiagnostic {
        let upper = name.to_uppercase();
        if let Some((_, instead, message)) =
            STRANGERS.iter().find(|(stranger, ..)| *stranger == upper)
        {
            let problem = place.to_problem(*message);
            return if instead.is_empty() {
                problem
            } else {
                problem.with_suggestion(*instead)
            };
        }
        let message = format!("There is no function {upper}.");
        let names = function::list_help().iter().map(|help| help.name);
        match find_nearest(&upper, names) {
            Some(near) => place
                .to_problem(format!("{message} Did you mean {near}?"))
                .with_suggestion(near),
            None => place.to_problem(message),
        }
    }
}

/// Whether this is the column of birthdays.
fn is_birthday(node: &ExpressionNode) -> bool {
    matches!(node, ExpressionNode::Column(column) if column.key == BuiltInColumn::Birthday.key())
}

fn check_argument_count(
    definition: &FunctionDefinition,
    count: usize,
    place: SourceSpan,
) -> Option<FormulaDiagnostic> {
    let (takes, signature) = (&definition.takes, definition.help.signature);
    let what = if count < takes.least {
        "More arguments are needed"
    } else if count > takes.most {
        "These are too many arguments"
    } else {
        return None;
    };
    Some(place.to_problem(format!("{what}: {signature}.")))
}
