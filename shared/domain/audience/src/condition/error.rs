//! What can be wrong with a tree of conditions.

use std::fmt;

use super::limits::{MAX_DEPTH, MAX_NODES};
use super::operator::Operator;

/// A tree of conditions that cannot be used: where, and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("conditions{}: {problem}", ConditionPath(path))]
pub struct ConditionError {
    /// The place in the tree, such as `all[1].any[0]`; empty for the root.
    pub path: String,
    /// What is wrong there.
    pub problem: ConditionErrorKind,
}

/// What is wrong at one place of a tree of conditions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConditionErrorKind {
    /// Neither a group nor a condition.
    #[error("must be an object with `all`, `any`, or `column`, `operator` and `value`")]
    Shape,
    /// A key that the group or condition does not have.
    #[error("has an unknown key `{0}`")]
    UnknownKey(String),
    /// A group that is not a list.
    #[error("`{0}` must be an array")]
    NotAList(&'static str),
    /// Groups nested deeper than [`MAX_DEPTH`].
    #[error("is nested more than {MAX_DEPTH} groups deep")]
    TooDeep,
    /// More than [`MAX_NODES`] groups and conditions.
    #[error("has more than {MAX_NODES} groups and conditions")]
    TooMany,
    /// A column name that is no text, or blank.
    #[error("`column` must be the name of a column")]
    Column,
    /// No such operator, or not one of those that the column has.
    #[error(
        "column `{column}` has no operator `{operator}`; it has {}",
        OperatorList(allowed)
    )]
    Operator {
        /// The column as given.
        column: String,
        /// The operator as given.
        operator: String,
        /// The operators of the column.
        allowed: Vec<Operator>,
    },
    /// A value that the operator cannot take.
    #[error("the value of `{operator}` on column `{column}` {expected}")]
    Value {
        /// The column as given.
        column: String,
        /// The operator.
        operator: Operator,
        /// What the value must be: "must be ...".
        expected: String,
    },
}

/// A path after the word "conditions", with a space unless it is the root.
struct ConditionPath<'a>(&'a str);

impl fmt::Display for ConditionPath<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => Ok(()),
            path => write!(formatter, " at {path}"),
        }
    }
}

/// Operators with commas between them.
struct OperatorList<'a>(&'a [Operator]);

impl fmt::Display for OperatorList<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.0.iter().map(|operator| operator.as_str()).collect();
        formatter.write_str(&names.join(", "))
    }
}
