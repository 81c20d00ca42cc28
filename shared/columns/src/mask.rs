//! People as a key sees them that opens no address book: enough to see that a formula works, too little to know them by.

use std::collections::BTreeMap;

use audience::value::fits;
use audience::{BuiltIn, ColumnType};

/// What a preview shows of people in the address book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum People {
    /// All that the formula uses.
    Shown,
    /// Texts by the first letters of their words. The formula is computed from these: whatever it takes apart, counts or
    /// compares, it finds nothing else.
    Masked,
}

/// Stands for the rest of a word, of whatever length.
const REST: char = '…';

/// Masks the values of a row, by folded column name. States stay, and numbers, dates and yes or no of columns that hold
/// these; a value that does not read as its column's type is a text.
pub(crate) fn mask(row: &mut BTreeMap<String, String>, column_type: impl Fn(&str) -> Option<ColumnType>) {
    for (name, value) in row.iter_mut() {
        let column_type = column_type(name).unwrap_or(ColumnType::Text);
        let is_plain =
            name == BuiltIn::State.key() || column_type != ColumnType::Text && fits(column_type, value);
        if !is_plain {
            *value = masked(value);
        }
    }
}

/// Of each word its first letter; of a word that begins with a digit nothing.
fn masked(text: &str) -> String {
    let mut shown = String::new();
    let mut is_inside = false;
    for character in text.chars() {
        if !character.is_alphanumeric() {
            shown.push(character);
        } else if !is_inside {
            shown.extend(Some(character).filter(|one| one.is_alphabetic() && !one.is_numeric()));
            shown.push(REST);
        }
        is_inside = character.is_alphanumeric();
    }
    shown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_shows_the_first_letters_of_its_words() {
        for (text, shown) in [
            ("Ann", "A…"),
            ("O'Neil-Lee", "O…'N…-L…"),
            ("1100 Congress Ave, Apt 5B", "… C… A…, A… …"),
            ("ann.lee@example.com", "a….l…@e….c…"),
            ("(512) 555-0100", "(…) …-…"),
            ("7/4", "…/…"),
            ("Åsa 李", "Å… 李…"),
            ("", ""),
        ] {
            assert_eq!(masked(text), shown, "{text}");
        }
    }

    #[test]
    fn numbers_and_dates_of_their_columns_stay_and_what_only_looks_like_them_does_not() {
        let of = [("spent", ColumnType::Number), ("since", ColumnType::Date), ("vip", ColumnType::YesNo)];
        let column_type = |name: &str| of.iter().find(|(known, _)| *known == name).map(|(_, found)| *found);
        let row = |values: &[(&str, &str)]| -> BTreeMap<String, String> {
            values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let mut people = row(&[
            ("spent", "1,250.50"),
            ("since", "2019-07-04"),
            ("vip", "yes"),
            ("state", "TX"),
            ("zip", "78701"),
            ("birthday", "1990-07-04"),
        ]);
        mask(&mut people, column_type);
        assert_eq!(
            people,
            row(&[
                ("spent", "1,250.50"),
                ("since", "2019-07-04"),
                ("vip", "yes"),
                ("state", "TX"),
                ("zip", "…"),
                ("birthday", "…-…-…"),
            ])
        );
        let mut strays = row(&[("spent", "Ann Lee"), ("since", "next week")]);
        mask(&mut strays, column_type);
        assert_eq!(strays, row(&[("spent", "A… L…"), ("since", "n… w…")]));
    }

    proptest! {
        #[test]
        fn no_two_letters_stand_beside_each_other_and_no_digit_is_left(text in "\\PC{0,40}") {
            let shown = masked(&text);
            prop_assert!(!shown.chars().any(char::is_numeric));
            let letters: Vec<char> = shown.chars().collect();
            prop_assert!(!letters.windows(2).any(|two| two.iter().all(|one| one.is_alphabetic())));
        }
    }
}
