//! Filter conditions: data, not code.
//!
//! A tree of `{"all": [...]}` and `{"any": [...]}` over conditions
//! `{"column": "loyalty", "operator": "greater", "value": 100}`. It is read once against the
//! team's columns, with every operand already of its type, and then asked once per recipient.

mod compare;
mod error;
mod limits;
mod operand;
mod operator;
mod parse;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    hash::BuildHasher,
};

use chrono::NaiveDate;
use serde::{Serialize, Serializer};

pub use error::{ConditionError, ConditionErrorKind};
pub use limits::{MAX_ANNIVERSARY_DAYS, MAX_CHOICES, MAX_DAYS, MAX_DEPTH, MAX_NODES};
pub use operator::{Operator, operators_for};

use crate::column::{BuiltInColumn, ColumnType};
use compare::ValueTest;

/// Where conditions find the values of one recipient.
pub trait ValueLookup {
    /// The value as stored, by the folded name of its column (see [`crate::fold_name`]); `None`
    /// when there is no value or no such column.
    fn value(&self, folded_column: &str) -> Option<&str>;
}

impl<L: ValueLookup + ?Sized> ValueLookup for &L {
    fn value(&self, folded_column: &str) -> Option<&str> {
        (**self).value(folded_column)
    }
}

impl<S: BuildHasher> ValueLookup for HashMap<String, String, S> {
    fn value(&self, folded_column: &str) -> Option<&str> {
        self.get(folded_column).map(String::as_str)
    }
}

impl ValueLookup for BTreeMap<String, String> {
    fn value(&self, folded_column: &str) -> Option<&str> {
        self.get(folded_column).map(String::as_str)
    }
}

/// The filter conditions of a campaign, ready to be asked. Serialises to the document that it was
/// read from; two are equal when their documents are.
#[derive(Clone, Debug)]
pub struct FilterConditions {
    document: serde_json::Value,
    root: Option<ConditionNode>,
    columns: BTreeSet<String>,
}

/// A group that is never empty, or a condition.
#[derive(Clone, Debug)]
enum ConditionNode {
    All(Vec<ConditionNode>),
    Any(Vec<ConditionNode>),
    Condition(ColumnCondition),
}

/// A test of one column, or its opposite.
///
/// Every test fails on a blank, so that its opposite (`is_not`, `is_empty`, ...) holds there.
#[derive(Clone, Debug)]
struct ColumnCondition {
    column: String,
    test: ValueTest,
    negated: bool,
}

impl FilterConditions {
    /// Reads a tree. `columns` gives the type of a column of the team by its folded name; the
    /// built-in columns are known without it.
    ///
    /// A column that is unknown to both is allowed, since a condition may be written before the
    /// first value arrives and outlive its column: it is read as the first type that takes the
    /// operator and its value, and whatever [`ValueLookup`] has for it (mostly nothing) is compared.
    ///
    /// The error names the place in the tree and what is allowed there.
    pub fn parse(
        document: &serde_json::Value,
        columns: impl Fn(&str) -> Option<ColumnType>,
    ) -> Result<Self, ConditionError> {
        parse::parse(document, &columns)
    }

    /// Whether a recipient is in. `today` is the day in the team's time zone.
    ///
    /// Text compares without case and outer white space. A value that does not read as its
    /// column's type counts as blank. A group without conditions counts for nothing, so that a
    /// tree without conditions takes everybody.
    pub fn matches(&self, recipient: &dyn ValueLookup, today: NaiveDate) -> bool {
        self.root
            .as_ref()
            .is_none_or(|root| root.matches(recipient, today))
    }

    /// The folded names of the columns that are used, in alphabetical order.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(String::as_str)
    }

    /// The first column that is used and that neither every address book nor, by its folded name, this one has.
    pub fn unknown_column(&self, columns: impl Fn(&str) -> Option<ColumnType>) -> Option<&str> {
        self.columns()
            .find(|name| BuiltInColumn::from_key(name).is_none() && columns(name).is_none())
    }

    /// Whether there is no condition, so that everybody is in.
    pub const fn is_empty(&self) -> bool {
        self.root.is_none()
    }
}

impl Default for FilterConditions {
    /// No conditions: `{"all": []}`.
    fn default() -> Self {
        Self {
            document: serde_json::json!({ "all": [] }),
            root: None,
            columns: BTreeSet::new(),
        }
    }
}

impl PartialEq for FilterConditions {
    fn eq(&self, other: &Self) -> bool {
        self.document == other.document
    }
}

impl Serialize for FilterConditions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.document.serialize(serializer)
    }
}

impl ConditionNode {
    fn matches(&self, recipient: &dyn ValueLookup, today: NaiveDate) -> bool {
        match self {
            Self::All(nodes) => nodes.iter().all(|node| node.matches(recipient, today)),
            Self::Any(nodes) => nodes.iter().any(|node| node.matches(recipient, today)),
            Self::Condition(condition) => condition.matches(recipient, today),
        }
    }
}

impl ColumnCondition {
    fn matches(&self, recipient: &dyn ValueLookup, today: NaiveDate) -> bool {
        let value = recipient.value(&self.column).unwrap_or_default();
        self.test.matches(value, today) != self.negated
    }
}

#[cfg(test)]
mod tests;
