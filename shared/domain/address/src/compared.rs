//! What of an address is compared. Spellings that Publication 28 or everyday use takes for one and the same become one
//! here; what prints stays as it was sent. `docs/reference/addresses.md` lists the decisions.

use crate::{
    delivery::{SecondaryUnit, push_part},
    parsed::StreetParts,
    tables::unit,
};

/// Words of street names that are abbreviated as often as they are written out.
static WORDS: &[(&str, &str)] = &[
    ("DR", "DOCTOR"),
    ("FT", "FORT"),
    ("JR", "JUNIOR"),
    ("MT", "MOUNT"),
    ("REV", "REVEREND"),
    ("SR", "SENIOR"),
    ("ST", "SAINT"),
    ("STE", "SAINTE"),
    ("FIRST", "1ST"),
    ("SECOND", "2ND"),
    ("THIRD", "3RD"),
    ("FOURTH", "4TH"),
    ("FIFTH", "5TH"),
    ("SIXTH", "6TH"),
    ("SEVENTH", "7TH"),
    ("EIGHTH", "8TH"),
    ("NINTH", "9TH"),
    ("TENTH", "10TH"),
    ("ELEVENTH", "11TH"),
    ("TWELFTH", "12TH"),
    ("THIRTEENTH", "13TH"),
    ("FOURTEENTH", "14TH"),
    ("FIFTEENTH", "15TH"),
    ("SIXTEENTH", "16TH"),
    ("SEVENTEENTH", "17TH"),
    ("EIGHTEENTH", "18TH"),
    ("NINETEENTH", "19TH"),
    ("TWENTIETH", "20TH"),
];

/// Tens that an ordinal follows: `Forty Second` is the 42nd.
static TENS: &[(&str, char)] = &[
    ("TWENTY", '2'),
    ("THIRTY", '3'),
    ("FORTY", '4'),
    ("FIFTY", '5'),
    ("SIXTY", '6'),
    ("SEVENTY", '7'),
    ("EIGHTY", '8'),
    ("NINETY", '9'),
];

/// The ways in which the name of Martin Luther King is shortened, with neither title nor `Jr`.
static KING: &[&[&str]] = &[
    &["MARTIN", "LUTHER", "KING"],
    &["MARTIN", "L", "KING"],
    &["M", "L", "KING"],
    &["ML", "KING"],
    &["M", "L", "K"],
    &["MLK"],
];

/// The first three digits of the ZIPs of Queens and its border, whose house numbers have a hyphen that is often left out.
const QUEENS: [&str; 5] = ["110", "111", "113", "114", "116"];

/// A house on a street: number, directionals, name and suffix. `zip` has five digits.
pub(crate) fn comparable_house(number: &str, street: StreetParts<'_>, zip: &str) -> String {
    let mut line = comparable_house_number(number, zip);
    push_part(&mut line, &self::comparable_street(street));
    line
}

/// Directionals, name and suffix.
pub(crate) fn comparable_street(street: StreetParts<'_>) -> String {
    let mut line = street.predirectional.to_owned();
    push_part(&mut line, &comparable_name(street.name));
    push_part(&mut line, &street.suffix.to_ascii_uppercase());
    push_part(&mut line, street.postdirectional);
    line
}

/// The name of a street or of an urbanization.
pub(crate) fn comparable_name(name: &str) -> String {
    let plain = fold_to_capitals(name);
    let words: Vec<&str> = plain
        .split_ascii_whitespace()
        .map(expand_abbreviation)
        .collect();
    match words.as_slice() {
        ["FARM", "ROAD", number] => format!("FM {number}"),
        ["RANCH", "ROAD", number] => format!("RM {number}"),
        words if is_king_street_name(words) => "MLK".to_owned(),
        words => join_ordinal_words(words),
    }
}

/// A box, a route or general delivery: capitals, numbers without leading zeros.
pub(crate) fn comparable_box_line(line: &str) -> String {
    let line = fold_to_capitals(line);
    join_ordinal_words(
        &line
            .split_ascii_whitespace()
            .map(strip_leading_zeros)
            .collect::<Vec<_>>(),
    )
}

/// Units: one designator for all those that senders exchange (`#`, `Apt`, `Ste`, `Unit`).
pub(crate) fn comparable_units(units: &[SecondaryUnit]) -> String {
    let mut line = String::new();
    for unit in units {
        let designator = if unit::is_interchangeable_designator(unit.designator) {
            "#"
        } else {
            unit.designator
        };
        push_part(&mut line, &designator.to_ascii_uppercase());
        push_part(&mut line, &comparable_unit_identifier(&unit.identifier));
    }
    line
}

/// `1-B` is `1B`, `0200` is `200`; `1-2` is not `12`.
pub(crate) fn comparable_unit_identifier(identifier: &str) -> String {
    strip_letter_hyphens(strip_leading_zeros(identifier))
}

/// Capitals, hyphens between words as spaces, no apostrophes.
fn fold_to_capitals(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        match c {
            '\'' => continue,
            '-' if before.is_ascii_alphabetic() => line.push(' '),
            _ => line.push(c.to_ascii_uppercase()),
        }
        before = c;
    }
    line
}

/// Words with spaces between them; `Twenty First` becomes one.
fn join_ordinal_words(words: &[&str]) -> String {
    let mut line = String::with_capacity(40);
    let mut index = 0;
    while let Some(word) = words.get(index) {
        let ten = TENS.iter().find(|(ten, _)| ten == word);
        let ordinal = words
            .get(index + 1)
            .filter(|next| is_one_digit_ordinal(next));
        if let (Some((_, digit)), Some(ordinal)) = (ten, ordinal) {
            push_part(&mut line, &format!("{digit}{ordinal}"));
            index += 2;
        } else {
            push_part(&mut line, word);
            index += 1;
        }
    }
    line
}

fn is_one_digit_ordinal(word: &str) -> bool {
    word.len() == 3 && word.as_bytes()[0].is_ascii_digit() && !word.as_bytes()[1].is_ascii_digit()
}

fn expand_abbreviation(word: &str) -> &str {
    WORDS
        .iter()
        .find(|(short, _)| *short == word)
        .map_or(word, |(_, full)| full)
}

fn is_king_street_name(words: &[&str]) -> bool {
    let words = match words {
        ["DOCTOR" | "REVEREND", rest @ ..] => rest,
        _ => words,
    };
    let words = match words {
        [head @ .., "JUNIOR"] => head,
        _ => words,
    };
    KING.contains(&words)
}

pub(crate) fn comparable_house_number(number: &str, zip: &str) -> String {
    let number = strip_letter_hyphens(strip_leading_zeros(number));
    let is_queens = zip.get(..3).is_some_and(|prefix| QUEENS.contains(&prefix));
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    match number.split_once('-') {
        Some((block, house))
            if is_queens && house.len() == 2 && is_digits(block) && is_digits(house) =>
        {
            format!("{block}{house}")
        }
        _ => number,
    }
}

/// Leading zeros go, unless there is nothing else.
fn strip_leading_zeros(number: &str) -> &str {
    let kept = number.trim_start_matches('0');
    if kept.starts_with(|c: char| c.is_ascii_digit()) {
        kept
    } else {
        number
    }
}

/// Hyphens between a digit and a letter go.
fn strip_letter_hyphens(text: &str) -> String {
    let bytes = text.as_bytes();
    let parts_alike = |index: usize| {
        let around = index
            .checked_sub(1)
            .and_then(|before| bytes.get(before))
            .zip(bytes.get(index + 1));
        around.is_none_or(|(before, after)| before.is_ascii_digit() == after.is_ascii_digit())
    };
    let kept = text
        .char_indices()
        .filter(|&(index, c)| c != '-' || parts_alike(index));
    kept.map(|(_, c)| c).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_and_hyphens_that_mean_nothing_do_not_count() {
        for (sent, compared) in [
            ("1-B", "1B"),
            ("B-1", "B1"),
            ("1-2", "1-2"),
            ("A-B", "A-B"),
            ("0200", "200"),
            ("0", "0"),
            ("00A", "00A"),
        ] {
            assert_eq!(comparable_unit_identifier(sent), compared, "{sent}");
        }
    }

    #[test]
    fn a_hyphen_in_a_house_number_counts_outside_queens() {
        assert_eq!(comparable_house_number("45-17", "11101"), "4517");
        assert_eq!(comparable_house_number("45-17", "60601"), "45-17");
        assert_eq!(comparable_house_number("45-179", "11101"), "45-179");
        assert_eq!(comparable_house_number("123-A", "60601"), "123A");
    }

    #[test]
    fn names_are_compared_in_full() {
        for (sent, compared) in [
            ("St Charles", "SAINT CHARLES"),
            ("Twenty-First", "21ST"),
            ("Forty Second", "42ND"),
            ("Dr Martin Luther King Jr", "MLK"),
            ("King", "KING"),
            ("Martin Luther", "MARTIN LUTHER"),
            ("Farm Road 1325", "FM 1325"),
            ("O'Brien", "OBRIEN"),
            ("Winston-Salem", "WINSTON SALEM"),
        ] {
            assert_eq!(comparable_name(sent), compared, "{sent}");
        }
    }
}
