//! The operators and which columns have them.

use std::fmt;

use crate::column::{BuiltInColumn, ColumnType};

macro_rules! operators {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// What a condition asks of a value.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Operator { $($(#[$doc])* $variant,)* }

        impl Operator {
            /// Every operator.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name in the document.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

operators! {
    /// Equal to the value; without case in text.
    Is = "is",
    /// Not equal to the value, or blank.
    IsNot = "is_not",
    /// Has the text anywhere in it.
    Contains = "contains",
    /// Does not have the text in it, or is blank.
    DoesNotContain = "does_not_contain",
    /// Begins with the text.
    StartsWith = "starts_with",
    /// Ends with the text.
    EndsWith = "ends_with",
    /// Equal to one of a list of texts.
    IsOneOf = "is_one_of",
    /// A greater number.
    Greater = "greater",
    /// A greater or equal number.
    GreaterOrEqual = "greater_or_equal",
    /// A lesser number.
    Less = "less",
    /// A lesser or equal number.
    LessOrEqual = "less_or_equal",
    /// From the first to the second of two values, both included.
    Between = "between",
    /// An earlier day.
    Before = "before",
    /// A later day.
    After = "after",
    /// On one of the last days, today included: 0 is today alone.
    InLastDays = "in_last_days",
    /// On one of the next days, today included: 0 is today alone.
    InNextDays = "in_next_days",
    /// The birthday is kept today; takes no value.
    AnniversaryToday = "anniversary_today",
    /// The birthday is kept on one of the next days, today included.
    AnniversaryInNextDays = "anniversary_in_next_days",
    /// The birthday is in the month, 1 to 12.
    AnniversaryInMonth = "anniversary_in_month",
    /// Blank, or not readable as the column's type; takes no value.
    IsEmpty = "is_empty",
    /// Neither blank nor unreadable; takes no value.
    IsNotEmpty = "is_not_empty",
}

impl Operator {
    /// The operator of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|operator| operator.as_str() == name)
    }

    /// The operator without its "not", and whether there was one. Blanks are seen from the side of
    /// `is_not_empty`, whose opposite is `is_empty`.
    pub(super) const fn split_negation(self) -> (Self, bool) {
        match self {
            Self::IsNot => (Self::Is, true),
            Self::DoesNotContain => (Self::Contains, true),
            Self::IsEmpty => (Self::IsNotEmpty, true),
            other => (other, false),
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The operators of a column of the team, in the order in which people are offered them.
pub fn operators_for(column: &str, column_type: ColumnType) -> &'static [Operator] {
    ComparisonKind::for_column(column, column_type).operators()
}

/// How the values of a column are compared: by its type, except that the birthday has its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComparisonKind {
    Typed(ColumnType),
    Birthday,
}

impl ComparisonKind {
    pub(super) fn for_column(column: &str, column_type: ColumnType) -> Self {
        match BuiltInColumn::from_name(column) {
            Some(BuiltInColumn::Birthday) => Self::Birthday,
            Some(built_in) => Self::Typed(built_in.column_type()),
            None => Self::Typed(column_type),
        }
    }

    pub(super) const fn operators(self) -> &'static [Operator] {
        use Operator::*;
        match self {
            Self::Typed(ColumnType::Text) => &[
                Is,
                IsNot,
                Contains,
                DoesNotContain,
                StartsWith,
                EndsWith,
                IsOneOf,
                IsEmpty,
                IsNotEmpty,
            ],
            Self::Typed(ColumnType::Number) => &[
                Is,
                IsNot,
                Greater,
                GreaterOrEqual,
                Less,
                LessOrEqual,
                Between,
                IsEmpty,
                IsNotEmpty,
            ],
            Self::Typed(ColumnType::Date) => &[
                Is, IsNot, Before, After, Between, InLastDays, InNextDays, IsEmpty, IsNotEmpty,
            ],
            Self::Typed(ColumnType::YesNo) => &[Is, IsNot, IsEmpty, IsNotEmpty],
            Self::Birthday => &[
                Is,
                IsNot,
                AnniversaryToday,
                AnniversaryInNextDays,
                AnniversaryInMonth,
                IsEmpty,
                IsNotEmpty,
            ],
        }
    }
}
