//! The functions: what people read about them, what they take, what they give and what they do.
//!
//! A function evaluates its own arguments, so IF never looks at the branch that it does not take.

mod date;
mod format;
mod logic;
mod number;
mod regular;
mod text;

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::FunctionHelp;
use crate::machine::{EvaluationResult, FormulaEvaluator};
use crate::node::ExpressionNode;
use crate::value::ValueType;

pub(crate) use format::check_format;
pub(crate) use regular::{compile_pattern, group_warning};

/// Most arguments of a function that takes any number.
const ANY_NUMBER: usize = usize::MAX;

/// A function.
#[derive(Debug)]
pub(crate) struct FunctionDefinition {
    pub(crate) help: FunctionHelp,
    pub(crate) takes: FunctionParameters,
    pub(crate) gives: FunctionReturn,
    pub(crate) run:
        for<'a> fn(&mut FormulaEvaluator<'a>, &'a [ExpressionNode]) -> EvaluationResult<'a>,
}

/// What a function takes.
#[derive(Debug)]
pub(crate) struct FunctionParameters {
    pub(crate) least: usize,
    pub(crate) most: usize,
    /// By the argument's position and the number of arguments.
    pub(crate) parameter: fn(usize, usize) -> ParameterKind,
}

/// What an argument must be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ParameterKind {
    Any,
    /// Everything can be text.
    Text,
    /// A text, but no yes or no that stands in the formula: spreadsheets have one here.
    Joined,
    /// What the first argument is compared with.
    Case,
    /// How the first argument is written as text.
    Format,
    Number,
    Date,
    /// A date, or a birthday, which often has no year.
    MonthAndDay,
    /// A number or a date, all arguments alike.
    Ordered,
    /// A condition.
    YesNo,
    /// A regular expression that stands in the formula as text.
    Pattern,
    /// One of these texts, in any case.
    OneOf(&'static [&'static str]),
}

/// The type of a function's values.
#[derive(Debug)]
pub(crate) enum FunctionReturn {
    Always(ValueType),
    /// That of the arguments for which this holds, by position and number of arguments.
    Argument(fn(usize, usize) -> bool),
}

impl FunctionParameters {
    const fn exactly(count: usize, parameter: fn(usize, usize) -> ParameterKind) -> Self {
        Self {
            least: count,
            most: count,
            parameter,
        }
    }

    const fn between(
        least: usize,
        most: usize,
        parameter: fn(usize, usize) -> ParameterKind,
    ) -> Self {
        Self {
            least,
            most,
            parameter,
        }
    }
}

/// Other names under which CEL or spreadsheets know a function.
const ALIASES: [(&str, &str); 9] = [
    ("MATCHES", "REGEXMATCH"),
    ("SIZE", "LEN"),
    ("STRING", "TEXT"),
    ("DOUBLE", "VALUE"),
    ("LOWERASCII", "LOWER"),
    ("UPPERASCII", "UPPER"),
    ("CONCATENATE", "CONCAT"),
    ("LENGTH", "LEN"),
    ("COALESCE", "IFBLANK"),
];

static SORTED: LazyLock<Vec<&'static FunctionDefinition>> = LazyLock::new(|| {
    let mut all: Vec<_> = [
        &logic::FUNCTIONS[..],
        &text::FUNCTIONS,
        &regular::FUNCTIONS,
        &number::FUNCTIONS,
        &date::FUNCTIONS,
    ]
    .into_iter()
    .flatten()
    .collect();
    all.sort_by_key(|function| function.help.name);
    all
});

static HELP: LazyLock<Vec<FunctionHelp>> =
    LazyLock::new(|| SORTED.iter().map(|function| function.help).collect());

static BY_NAME: LazyLock<HashMap<&'static str, &'static FunctionDefinition>> =
    LazyLock::new(|| {
        let mut by_name: HashMap<_, _> = SORTED
            .iter()
            .map(|function| (function.help.name, *function))
            .collect();
        for (alias, name) in ALIASES {
            if let Some(function) = by_name.get(name).copied() {
                by_name.insert(alias, function);
            }
        }
        by_name
    });

/// The function of this name, in any case.
pub(crate) fn find_function(name: &str) -> Option<&'static FunctionDefinition> {
    BY_NAME.get(name.to_uppercase().as_str()).copied()
}

/// What people read about all of them, in alphabetical order.
pub(crate) fn list_help() -> &'static [FunctionHelp] {
    &HELP
}
