//! A compiled formula: a tree whose types were checked, small and flat.
//!
//! An engine for CEL would evaluate a tree too, but with its own idea of types: it joins no number to a text, compares
//! nothing with a blank and looks functions up by name each time. This tree is what the rules of
//! formulas need, and takes about a tenth of the time.

use chrono::NaiveDate;
use regex::Regex;

use crate::function::definition::FunctionDefinition;
use crate::value::{CellValue, ValueType};

/// An expression.
#[derive(Clone, Debug)]
pub(crate) enum ExpressionNode {
    /// `null`, and what stands in for an expression with a problem.
    Blank,
    Constant(CellValue<'static>),
    Column(Box<ColumnUse>),
    /// `+` with texts.
    Join(Vec<ExpressionNode>),
    /// `+` and `-` with numbers.
    Sum(Box<ExpressionNode>, Vec<(AdditiveOperator, ExpressionNode)>),
    /// `*`, `/` and `%`.
    Product(
        Box<ExpressionNode>,
        Vec<(MultiplicativeOperator, ExpressionNode)>,
    ),
    Negate(Box<ExpressionNode>),
    /// A date so many days later or earlier.
    Shift(Box<ExpressionNode>, AdditiveOperator, Box<ExpressionNode>),
    /// Days from the second date to the first.
    DaysBetween(Box<ExpressionNode>, Box<ExpressionNode>),
    Compare(ComparisonOperator, Box<ExpressionNode>, Box<ExpressionNode>),
    All(Vec<ExpressionNode>),
    Any(Vec<ExpressionNode>),
    Not(Box<ExpressionNode>),
    /// Condition, value, other value.
    Choose(Box<[ExpressionNode; 3]>),
    /// `in`.
    OneOf(Box<ExpressionNode>, Vec<ExpressionNode>),
    Call(&'static FunctionDefinition, Vec<ExpressionNode>),
    /// A regular expression, only as an argument.
    Pattern(Box<RegexPattern>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AdditiveOperator {
    Plus,
    Minus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MultiplicativeOperator {
    Times,
    Over,
    Modulo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ComparisonOperator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A column that a formula looks at.
#[derive(Clone, Debug)]
pub(crate) struct ColumnUse {
    /// Its folded name, by which a row finds the value.
    pub(crate) key: String,
    /// Its name as people write it.
    pub(crate) name: String,
    /// How the value is read.
    pub(crate) of: ValueType,
}

/// A regular expression with what a search costs.
#[derive(Clone, Debug)]
pub(crate) struct RegexPattern {
    pub(crate) regex: Regex,
    /// Steps for [`PATTERN_BYTES_PER_STEPS`](crate::limits::PATTERN_BYTES_PER_STEPS) of text.
    pub(crate) steps: u32,
}

impl ExpressionNode {
    pub(crate) fn text(text: &str) -> Self {
        Self::Constant(CellValue::Text(text.to_owned().into()))
    }

    pub(crate) const fn number(number: f64) -> Self {
        Self::Constant(CellValue::Number(number))
    }

    pub(crate) const fn date(date: NaiveDate) -> Self {
        Self::Constant(CellValue::Date(date))
    }

    pub(crate) const fn yes_no(yes: bool) -> Self {
        Self::Constant(CellValue::YesNo(yes))
    }

    /// The text, when this is one as it stands in the formula.
    pub(crate) fn constant_text(&self) -> Option<&str> {
        match self {
            Self::Constant(CellValue::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Levels of the tree. Recursive: only for the thread that compiles.
    pub(crate) fn depth(&self) -> usize {
        let deepest = |nodes: &[Self]| nodes.iter().map(Self::depth).max().unwrap_or(0);
        1 + match self {
            Self::Blank | Self::Constant(_) | Self::Column(_) | Self::Pattern(_) => 0,
            Self::Join(nodes) | Self::All(nodes) | Self::Any(nodes) | Self::Call(_, nodes) => {
                deepest(nodes)
            }
            Self::Choose(nodes) => deepest(nodes.as_slice()),
            Self::Sum(first, rest) => first
                .depth()
                .max(rest.iter().map(|(_, node)| node.depth()).max().unwrap_or(0)),
            Self::Product(first, rest) => first
                .depth()
                .max(rest.iter().map(|(_, node)| node.depth()).max().unwrap_or(0)),
            Self::Negate(node) | Self::Not(node) => node.depth(),
            Self::Shift(one, _, two) | Self::DaysBetween(one, two) | Self::Compare(_, one, two) => {
                one.depth().max(two.depth())
            }
            Self::OneOf(needle, list) => needle.depth().max(deepest(list)),
        }
    }
}
