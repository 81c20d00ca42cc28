//! Columns of the address book: their types, their names and the ones that every team has.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

/// The longest value that is stored, in characters (the API contract, "Limits").
pub const MAX_VALUE_CHARS: usize = 600;

/// How the values of a column are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnType {
    /// Any text.
    Text,
    /// A number or an amount of dollars.
    Number,
    /// A day of the calendar, without a time.
    Date,
    /// A yes or a no.
    YesNo,
}

impl ColumnType {
    /// Every type, in the order in which people are offered them.
    pub const ALL: [Self; 4] = [Self::Text, Self::Number, Self::Date, Self::YesNo];

    /// The name in JSON and in the database: `text`, `number`, `date` or `yes_no`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::Date => "date",
            Self::YesNo => "yes_no",
        }
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for ColumnType {
    type Err = ParseColumnTypeError;

    /// Reads a name exactly as [`ColumnType::as_str`] writes it.
    fn from_str(name: &str) -> Result<Self, ParseColumnTypeError> {
        Self::ALL
            .into_iter()
            .find(|column_type| column_type.as_str() == name)
            .ok_or(ParseColumnTypeError)
    }
}

/// The text is not the name of a column type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a column type is one of text, number, date, yes_no")]
pub struct ParseColumnTypeError;

/// A column that every address book has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BuiltInColumn {
    /// `first_name`
    FirstName,
    /// `last_name`
    LastName,
    /// `address_1`: the street line.
    Address1,
    /// `address_2`: the unit line.
    Address2,
    /// `city`
    City,
    /// `state`
    State,
    /// `zip`: text, because a ZIP code may begin with a zero.
    Zip,
    /// `birthday`: text in one of the forms of [`crate::Birthday`].
    Birthday,
    /// `email`
    Email,
    /// `phone`
    Phone,
    /// `organization`
    Organization,
}

impl BuiltInColumn {
    /// Every built-in column, in the order in which people are shown them.
    pub const ALL: [Self; 11] = [
        Self::FirstName,
        Self::LastName,
        Self::Address1,
        Self::Address2,
        Self::City,
        Self::State,
        Self::Zip,
        Self::Birthday,
        Self::Email,
        Self::Phone,
        Self::Organization,
    ];

    /// The key in requests, which is also the folded name of the column.
    pub const fn key(self) -> &'static str {
        match self {
            Self::FirstName => "first_name",
            Self::LastName => "last_name",
            Self::Address1 => "address_1",
            Self::Address2 => "address_2",
            Self::City => "city",
            Self::State => "state",
            Self::Zip => "zip",
            Self::Birthday => "birthday",
            Self::Email => "email",
            Self::Phone => "phone",
            Self::Organization => "organization",
        }
    }

    /// The built-in column of this name, in any case and with spaces around it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::from_key(&fold_name(name))
    }

    /// The built-in column whose key is exactly this; for names that are folded already.
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.key() == key)
    }

    /// The type of its values. A birthday counts as text too: it often has no year and then is
    /// no date.
    pub const fn column_type(self) -> ColumnType {
        ColumnType::Text
    }
}

/// What makes two names the same column: the name without outer white space, in lower case, its characters composed
/// (Unicode NFC).
pub fn fold_name(name: &str) -> String {
    fold_case(name)
}

/// The form in which texts are compared: without outer white space, in lower case, composed (Unicode NFC), so that an é
/// is an é whether it was typed as one character or as two.
pub(crate) fn fold_case(text: &str) -> String {
    let text = text.trim();
    if text.is_ascii() {
        text.to_ascii_lowercase()
    } else {
        text.to_lowercase().nfc().collect()
    }
}

/// The first [`MAX_VALUE_CHARS`] characters of a value: what is stored of it.
pub fn cut_value(value: &str) -> &str {
    match value.char_indices().nth(MAX_VALUE_CHARS) {
        Some((end, _)) => &value[..end],
        None => value,
    }
}

/// Whether a value is as long as one can be. It may be the beginning of a longer one, so no link is made of it: it would lead
/// somewhere else.
pub fn may_be_cut(value: &str) -> bool {
    value.len() >= MAX_VALUE_CHARS && value.chars().nth(MAX_VALUE_CHARS - 1).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_value_of_600_characters_may_have_been_cut() {
        assert!(!may_be_cut(&"é".repeat(599)));
        assert!(may_be_cut(&"é".repeat(600)));
        assert!(may_be_cut(cut_value(&"é".repeat(601))));
    }

    #[test]
    fn names_are_one_column_however_their_characters_are_composed() {
        assert_eq!(fold_name(" Pre\u{301}nom"), fold_name("PR\u{c9}NOM"));
        assert_ne!(fold_name("prenom"), fold_name("pr\u{e9}nom"));
    }

    #[test]
    fn a_column_type_has_one_name_in_json_and_in_text() {
        for column_type in ColumnType::ALL {
            assert_eq!(column_type.as_str().parse(), Ok(column_type));
            let json = serde_json::to_value(column_type).unwrap();
            assert_eq!(json, column_type.as_str());
        }
        assert_eq!("Text".parse::<ColumnType>(), Err(ParseColumnTypeError));
    }

    #[test]
    fn names_that_differ_in_case_or_outer_space_are_the_same_column() {
        assert_eq!(fold_name("  Größe M\u{a0}"), "größe m");
        assert_eq!(fold_name("ÉTAGE"), fold_name("étage"));
        assert_ne!(fold_name("first name"), fold_name("first_name"));
    }

    #[test]
    fn a_built_in_column_is_found_by_its_name_in_any_case() {
        for column in BuiltInColumn::ALL {
            let shouted = format!(" {} ", column.key().to_uppercase());
            assert_eq!(BuiltInColumn::from_name(&shouted), Some(column));
        }
        assert_eq!(BuiltInColumn::from_name("loyalty"), None);
    }

    proptest! {
        #[test]
        fn a_cut_value_is_the_first_600_characters(value in "\\PC{0,50}", copies in 0usize..40) {
            let long = value.repeat(copies);
            let expected: String = long.chars().take(600).collect();
            prop_assert_eq!(cut_value(&long), expected);
        }
    }
}
