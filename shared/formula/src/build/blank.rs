//! Blanks that a formula passes over without a word: MIN(30, spend) is 30 for somebody without spend, and "$" + spend is "$".
//! The formula stands; whoever writes it is told.

use crate::node::{ColumnUse, Comparison, Node};
use crate::problem::{Problem, Span};
use crate::value::Type;

/// A place where a blank changes what is given, instead of making it blank.
pub(super) struct Overlooked {
    pub(super) span: Span,
    /// Folded names and names of the columns that can be blank there.
    columns: Vec<(String, String)>,
    how: How,
}

/// What becomes of the blank.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// The function gives what its other values give.
    PassedOver(&'static str),
    /// The text around it stands alone.
    Joined,
}

impl Overlooked {
    /// In the arguments of a function.
    pub(super) fn in_call(name: &'static str, arguments: &[Node], span: Span) -> Option<Self> {
        match name {
            "MIN" | "MAX" if arguments.len() > 1 => {
                Self::of(How::PassedOver(name), span, arguments.iter().flat_map(blanks))
            }
            "CONCAT" => Self::in_join(arguments, span),
            _ => None,
        }
    }

    /// In a join of texts. That a name is missing in a sentence is to be seen; that a number is, looks like a price.
    pub(super) fn in_join(parts: &[Node], span: Span) -> Option<Self> {
        let has_text = parts.iter().any(|part| part.constant_text().is_some());
        let values = parts.iter().flat_map(blanks).filter(|column| column.of != Type::Text);
        if has_text { Self::of(How::Joined, span, values) } else { None }
    }

    fn of<'n>(how: How, span: Span, columns: impl Iterator<Item = &'n ColumnUse>) -> Option<Self> {
        let mut named: Vec<(String, String)> = Vec::new();
        for column in columns {
            if named.iter().all(|(key, _)| *key != column.key) {
                named.push((column.key.clone(), super::spelling(&column.name)));
            }
        }
        (!named.is_empty()).then_some(Self { span, columns: named, how })
    }

    /// Whether it is a join, which a longer one takes in.
    pub(super) fn is_join(&self) -> bool {
        self.how == How::Joined
    }

    /// Takes out columns that are known not to be blank there. Whether any is left.
    pub(super) fn without(&mut self, known: &[String]) -> bool {
        self.columns.retain(|(key, _)| !known.contains(key));
        !self.columns.is_empty()
    }

    /// As its writer is told.
    pub(super) fn warning(&self) -> Problem {
        let names: Vec<&str> = self.columns.iter().map(|(_, name)| name.as_str()).collect();
        let (first, names) = (names.first().copied().unwrap_or_default(), names.join(" or "));
        let what = match self.how {
            How::PassedOver(function) => {
                format!("{function} passes a blank over: who has no {names} gets what the other values give.")
            }
            How::Joined => format!("Who has no {names} gets the text around it alone."),
        };
        self.span.problem(format!("{what} IF(ISBLANK({first}), ..., ...) says what they get instead."))
    }
}

/// The columns whose blank makes this blank.
fn blanks(node: &Node) -> Vec<&ColumnUse> {
    match node {
        Node::Column(column) => vec![column],
        Node::Negate(one) => blanks(one),
        Node::Sum(first, rest) => {
            blanks(first).into_iter().chain(rest.iter().flat_map(|(_, one)| blanks(one))).collect()
        }
        Node::Product(first, rest) => {
            blanks(first).into_iter().chain(rest.iter().flat_map(|(_, one)| blanks(one))).collect()
        }
        Node::Shift(one, _, two) | Node::DaysBetween(one, two) => [blanks(one), blanks(two)].concat(),
        Node::Call(function, arguments) => match function.help.name {
            // They choose for themselves what a blank comes to.
            "IF" | "IFS" | "SWITCH" | "IFBLANK" | "ISBLANK" | "AND" | "OR" | "NOT" | "CONCAT"
            | "TEXTJOIN" | "MIN" | "MAX" | "SUM" | "AVERAGE" => Vec::new(),
            _ => arguments.iter().flat_map(blanks).collect(),
        },
        Node::Blank
        | Node::Constant(_)
        | Node::Join(_)
        | Node::Compare(..)
        | Node::All(_)
        | Node::Any(_)
        | Node::Not(_)
        | Node::Choose(_)
        | Node::OneOf(..)
        | Node::Pattern(_) => Vec::new(),
    }
}

/// The folded names of the columns that are not blank when this condition holds, or when it does not.
pub(super) fn known(condition: &Node, holds: bool) -> Vec<String> {
    let keys = |node: &Node| blanks(node).into_iter().map(|column| column.key.clone()).collect::<Vec<_>>();
    let all = |nodes: &[Node]| nodes.iter().flat_map(|node| known(node, holds)).collect();
    match (condition, holds) {
        (Node::Not(one), _) => known(one, !holds),
        (Node::All(nodes), true) | (Node::Any(nodes), false) => all(nodes),
        (Node::Compare(comparison, one, two), _) => match (comparison, is_blank(one), is_blank(two)) {
            (Comparison::Equal, true, _) if !holds => keys(two),
            (Comparison::Equal, _, true) if !holds => keys(one),
            (Comparison::NotEqual, true, _) if holds => keys(two),
            (Comparison::NotEqual, _, true) if holds => keys(one),
            (Comparison::NotEqual, ..) => Vec::new(),
            // A blank is equal to a blank only, and neither less nor greater than anything.
            (Comparison::Equal, ..)
                if holds && !matches!((&**one, &**two), (Node::Constant(_), _) | (_, Node::Constant(_))) =>
            {
                Vec::new()
            }
            _ if holds => [keys(one), keys(two)].concat(),
            _ => Vec::new(),
        },
        (Node::OneOf(needle, list), true) if !list.iter().any(is_blank) => keys(needle),
        (Node::Call(function, arguments), _) => match (function.help.name, holds) {
            ("NOT", _) => arguments.iter().flat_map(|one| known(one, !holds)).collect(),
            ("AND", true) | ("OR", false) => all(arguments),
            ("ISBLANK", false) => arguments.iter().flat_map(keys).collect(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn is_blank(node: &Node) -> bool {
    matches!(node, Node::Blank) || node.constant_text().is_some_and(|text| text.trim().is_empty())
}
