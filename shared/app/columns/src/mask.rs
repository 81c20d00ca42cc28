//! People as a key sees them that opens no address book: enough to see that a formula works, too little to know them by.

use std::collections::BTreeMap;

use audience::value::{is_valid, read_date};
use audience::{BuiltInColumn, ColumnType};
use chrono::Datelike;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// What a preview shows of people in the address book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeopleMasking {
    /// All that the formula uses.
    Shown,
    /// Texts by the first letters of their words, numbers by their first digit, dates by their year. The formula is computed from
    /// these: whatever it takes apart, counts or compares, it finds nothing else.
    Masked,
}

/// Stands for the rest of a word, of whatever length.
const REST: char = '…';

/// Masks the values of a row, by folded column name. States stay, and yes or no of columns that hold these; a value that does not
/// read as its column's type is a text.
pub(crate) fn mask_row(
    row: &mut BTreeMap<String, String>,
    column_type: impl Fn(&str) -> Option<ColumnType>,
) {
    for (name, value) in row
        .iter_mut()
        .filter(|(name, _)| *name != BuiltInColumn::State.key())
    {
        let column_type = column_type(name)
            .filter(|one| is_valid(*one, value))
            .unwrap_or(ColumnType::Text);
        *value = match column_type {
            ColumnType::Text => mask_text(value),
            ColumnType::Number => round_number(value),
            ColumnType::Date => round_to_year(value),
            ColumnType::YesNo => continue,
        };
    }
}

/// Of each word its first letter; of a word that begins with a digit nothing. Accents and what is not seen belong to the letter
/// before them: they end no word, behind which another letter would show.
fn mask_text(text: &str) -> String {
    let mut shown = String::new();
    let mut is_inside = false;
    for character in text.chars().filter(|one| !is_attached(*one)) {
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

fn is_attached(character: char) -> bool {
    character.general_category_group() == GeneralCategoryGroup::Mark
        || character.general_category() == GeneralCategory::Format
}

/// A number with its first digit that is not zero, and zeros for those behind it: a phone number is one, too.
fn round_number(number: &str) -> String {
    let mut is_behind = false;
    let digit = |one: char| {
        let shown = if is_behind && one.is_ascii_digit() {
            '0'
        } else {
            one
        };
        is_behind |= ('1'..='9').contains(&one);
        shown
    };
    number.chars().map(digit).collect()
}

/// The first day of a date's year.
fn round_to_year(date: &str) -> String {
    read_date(date).map_or_else(String::new, |date| format!("{:04}-01-01", date.year()))
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
            ("E\u{301}ric Jose\u{301} Zoe\u{308}", "E… J… Z…"),
            ("Al\u{200c}ice Bo\u{ad}bby C\u{2060}ara", "A… B… C…"),
            ("1\u{fe0f}\u{20e3}2 Ⅷ½", "… …"),
            ("", ""),
        ] {
            assert_eq!(mask_text(text), shown, "{text}");
        }
    }

    #[test]
    fn numbers_and_dates_of_their_columns_keep_their_size_and_what_only_looks_like_them_is_a_text()
    {
        let of = [
            ("spent", ColumnType::Number),
            ("since", ColumnType::Date),
            ("vip", ColumnType::YesNo),
        ];
        let column_type = |name: &str| {
            of.iter()
                .find(|(known, _)| *known == name)
                .map(|(_, found)| *found)
        };
        let row = |values: &[(&str, &str)]| -> BTreeMap<String, String> {
            values
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect()
        };
        for (name, value, shown) in [
            ("spent", "1,250.50", "1,000.00"),
            ("spent", "5125550100", "5000000000"),
            ("spent", "-$0.0521", "-$0.0500"),
            ("spent", "2.5e12", "2.0e00"),
            ("spent", "Ann Lee", "A… L…"),
            ("since", "2019-07-04", "2019-01-01"),
            ("since", "7/4/1990", "1990-01-01"),
            ("since", "next week", "n… w…"),
            ("since", "", ""),
            ("vip", "yes", "yes"),
            ("state", "TX", "TX"),
            ("zip", "78701", "…"),
            ("birthday", "1990-07-04", "…-…-…"),
        ] {
            let mut people = row(&[(name, value)]);
            mask_row(&mut people, column_type);
            assert_eq!(people, row(&[(name, shown)]));
        }
    }

    proptest! {
        #[test]
        fn no_two_letters_stand_beside_each_other_and_no_digit_is_left(text in "\\PC{0,40}") {
            let shown = mask_text(&text);
            prop_assert!(!shown.chars().any(char::is_numeric));
            let letters: Vec<char> = shown.chars().collect();
            prop_assert!(!letters.windows(2).any(|two| two.iter().all(|one| one.is_alphabetic())));
        }

        #[test]
        fn a_masked_number_is_a_number_with_one_digit(number in "-?\\$?[0-9]{1,12}(\\.[0-9]{1,6})?(e[0-9]{1,2})?") {
            let shown = round_number(&number);
            prop_assert!(is_valid(ColumnType::Number, &shown));
            prop_assert!(shown.chars().filter(|one| ('1'..='9').contains(one)).count() <= 1);
        }
    }
}
