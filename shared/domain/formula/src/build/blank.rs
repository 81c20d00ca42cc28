//! Blanks that a formula passes over without a word: MIN(30, spend) is 30 for somebody without spend, and "$" + spend is "$".
//! The formula stands; whoever writes it is told.

use crate::node::{ColumnUse, ComparisonOperator, ExpressionNode};
use crate::problem::{FormulaDiagnostic, SourceSpan};
use crate::value::ValueType;

/// A place where a blank changes what is given, instead of making it blank.
pub(super) struct IgnoredBlank {
    pub(super) span: SourceSpan,
    /// Folded names and names of the columns that can be blank there.
    columns: Vec<(String, String)>,
    how: BlankEffect,
}

/// What becomes of the blank.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BlankEffect {
    /// The function gives what its other values give.
    PassedOver(&'static str),
    /// The text around it stands alone.
    Joined,
}

impl IgnoredBlank {
    /// In the arguments of a function.
    pub(super) fn from_call(
        name: &'static str,
        arguments: &[ExpressionNode],
        span: SourceSpan,
    ) -> Option<Self> {
        match name {
            "MIN" | "MAX" if arguments.len() > 1 => Self::from_columns(
                BlankEffect::PassedOver(name),
                span,
                arguments.iter().flat_map(find_blank_sources),
            ),
            "CONCAT" => Self::from_join(arguments, span),
            _ => None,
        }
    }

    /// In a join of texts. That a name is missing in a sentence is to be seen; that a number is, looks like a price.
    pub(super) fn from_join(parts: &[ExpressionNode], span: SourceSpan) -> Option<Self> {
        let has_text = parts.iter().any(|part| part.constant_text().is_some());
        let values = parts
            .iter()
            .flat_map(find_blank_sources)
            .filter(|column| column.of != ValueType::Text);
        if has_text {
            Self::from_columns(BlankEffect::Joined, span, values)
        } else {
            None
        }
    }

    fn from_columns<'n>(
        how: BlankEffect,
        span: SourceSpan,
        columns: impl Iterator<Item = &'n ColumnUse>,
    ) -> Option<Self> {
        let mut named: Vec<(String, String)> = Vec::new();
        for column in columns {
            if named.iter().all(|(key, _)| *key != column.key) {
                named.push((column.key.clone(), super::format_column_name(&column.name)));
            }
        }
        (!named.is_empty()).then_some(Self {
            span,
            columns: named,
            how,
        })
    }

    /// Whether it is a join, which a longer one takes in.
    pub(super) fn is_join(&self) -> bool {
        self.how == BlankEffect::Joined
    }

    /// Takes out columns that are known not to be blank there. Whether any is left.
    pub(super) fn remove_known(&mut self, known: &[String]) -> bool {
        self.columns.retain(|(key, _)| !known.contains(key));
        !self.columns.is_empty()
    }

    /// As its writer is told.
    pub(super) fn to_warning(&self) -> FormulaDiagnostic {
        let names: Vec<&str> = self.columns.iter().map(|(_, name)| name.as_str()).collect();
        let (first, names) = (
            names.first().copied().unwrap_or_default(),
            names.join(" or "),
        );
        let what = match self.how {
            BlankEffect::PassedOver(function) => {
                format!(
                    "{function} passes a blank over: who has no {names} gets what the other values give."
                )
            }
            BlankEffect::Joined => format!("Who has no {names} gets the text around it alone."),
        };
        self.span.to_problem(format!(
            "{what} IF(ISBLANK({first}), ..., ...) says what they get instead."
        ))
    }
}

/// The columns whose blank makes this blank.
fn find_blank_sources(node: &ExpressionNode) -> Vec<&ColumnUse> {
    match node {
        ExpressionNode::Column(column) => vec![column],
        ExpressionNode::Negate(one) => find_blank_sources(one),
        ExpressionNode::Sum(first, rest) => find_blank_sources(first)
            .into_iter()
            .chain(rest.iter().flat_map(|(_, one)| find_blank_sources(one)))
            .collect(),
        ExpressionNode::Product(first, rest) => find_blank_sources(first)
            .into_iter()
            .chain(rest.iter().flat_map(|(_, one)| find_blank_sources(one)))
            .collect(),
        ExpressionNode::Shift(one, _, two) | ExpressionNode::DaysBetween(one, two) => {
            [find_blank_sources(one), find_blank_sources(two)].concat()
        }
        ExpressionNode::Call(function, arguments) => match function.help.name {
            // They choose for themselves what a blank comes to.
            "IF" | "IFS" | "SWITCH" | "IFBLANK" | "ISBLANK" | "AND" | "OR" | "NOT" | "CONCAT"
            | "TEXTJOIN" | "MIN" | "MAX" | "SUM" | "AVERAGE" => Vec::new(),
            _ => arguments.iter().flat_map(find_blank_sources).collect(),
        },
        ExpressionNode::Blank
        | ExpressionNode::Constant(_)
        | ExpressionNode::Join(_)
        | ExpressionNode::Compare(..)
        | ExpressionNode::All(_)
        | ExpressionNode::Any(_)
        | ExpressionNode::Not(_)
        | ExpressionNode::Choose(_)
        | ExpressionNode::OneOf(..)
        | ExpressionNode::Pattern(_) => Vec::new(),
    }
}

/// The folded names of the columns that are not blank when this condition holds, or when it does not.
pub(super) fn find_non_blank_columns(condition: &ExpressionNode, holds: bool) -> Vec<String> {
    let keys = |node: &ExpressionNode| {
        find_blank_sources(node)
            .into_iter()
            .map(|column| column.key.clone())
            .collect::<Vec<_>>()
    };
    let all = |nodes: &[ExpressionNode]| {
        nodes
            .iter()
            .flat_map(|node| find_non_blank_columns(node, holds))
            .collect()
    };
    match (condition, holds) {
        (ExpressionNode::Not(one), _) => find_non_blank_columns(one, !holds),
        (ExpressionNode::All(nodes), true) | (ExpressionNode::Any(nodes), false) => all(nodes),
        (ExpressionNode::Compare(comparison, one, two), _) => {
            match (comparison, is_blank(one), is_blank(two)) {
                (ComparisonOperator::Equal, true, _) if !holds => keys(two),
                (ComparisonOperator::Equal, _, true) if !holds => keys(one),
                (ComparisonOperator::NotEqual, true, _) if holds => keys(two),
                (ComparisonOperator::NotEqual, _, true) if holds => keys(one),
                (ComparisonOperator::NotEqual, ..) => Vec::new(),
                // A blank is equal to a blank only, and neither less nor greater than anything.
                (ComparisonOperator::Equal, ..)
                    if holds
                        && !matches!(
                            (&**one, &**two),
                            (ExpressionNode::Constant(_), _) | (_, ExpressionNode::Constant(_))
                        ) =>
                {
                    Vec::new()
                }
                _ if holds => [keys(one), keys(two)].concat(),
                _ => Vec::new(),
            }
        }
        (ExpressionNode::OneOf(needle, list), true) if !list.iter().any(is_blank) => keys(needle),
        (ExpressionNode::Call(function, arguments), _) => match (function.help.name, holds) {
            ("NOT", _) => arguments
                .iter()
                .flat_map(|one| find_non_blank_columns(one, !holds))
                .collect(),
            ("AND", true) | ("OR", false) => all(arguments),
            ("ISBLANK", false) => arguments.iter().flat_map(keys).collect(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn is_blank(node: &ExpressionNode) -> bool {
    matches!(node, ExpressionNode::Blank)
        || node
            .constant_text()
            .is_some_and(|text| text.trim().is_empty())
}
