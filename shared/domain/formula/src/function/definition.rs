//! What a function is: what people read about it, what it takes, what it gives and what it does.

use serde::Serialize;

use crate::machine::{EvaluationResult, FormulaEvaluator};
use crate::node::ExpressionNode;
use crate::value::ValueType;

/// What people read about a function. Serialises to an object of these keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FunctionHelp {
    /// The name, in upper case: `PROPER`.
    pub name: &'static str,
    /// `text`, `number`, `date` or `logic`.
    pub category: &'static str,
    /// How it is called: `PROPER(text)`. Square brackets hold what may be left out.
    pub signature: &'static str,
    /// What it does, in a sentence or two.
    pub description: &'static str,
    /// A whole formula, without columns.
    pub example: &'static str,
    /// What the example gives as text on 2026-01-31.
    pub result: &'static str,
}

/// Most arguments of a function that takes any number.
pub(super) const ANY_NUMBER: usize = usize::MAX;

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
    pub(super) const fn exactly(
        count: usize,
        parameter: fn(usize, usize) -> ParameterKind,
    ) -> Self {
        Self {
            least: count,
            most: count,
            parameter,
        }
    }

    pub(super) const fn between(
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
