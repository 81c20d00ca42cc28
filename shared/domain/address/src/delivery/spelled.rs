//! House numbers in words: `One Twenty-Five High Street`, `Ten Downing Street`.

use crate::{
    line::AddressWord,
    tables::{direction, suffix},
};

const ONES: [&str; 9] = [
    "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE",
];
const TEENS: [&str; 10] = [
    "TEN",
    "ELEVEN",
    "TWELVE",
    "THIRTEEN",
    "FOURTEEN",
    "FIFTEEN",
    "SIXTEEN",
    "SEVENTEEN",
    "EIGHTEEN",
    "NINETEEN",
];
const TENS: [&str; 8] = [
    "TWENTY", "THIRTY", "FORTY", "FIFTY", "SIXTY", "SEVENTY", "EIGHTY", "NINETY",
];

/// The most words that a house number takes: `Two Thousand Five Hundred and Twenty Five`.
const WORDS_MAX: usize = 7;

/// What streets are called by how many there are of it: `Seven Mile Rd`, `Two Notch Rd`.
static COUNTED: [&str; 8] = [
    "MILE", "NOTCH", "ACRE", "CORNER", "FORK", "FOOT", "ROD", "CHOP",
];

/// The house number that the words begin with in words, and how many it takes. `is_short` leaves the name whatever can be
/// its own: `One Twenty-Five High St` is then number one of a street named by a number.
pub(super) fn read_spelled_number(
    words: &[AddressWord<'_>],
    is_short: bool,
) -> Option<(u32, usize)> {
    // Whatever does not begin with one of these words costs no more than this look.
    words
        .first()
        .filter(|word| !word.starts_with_digit() && is_number_word(word.upper))?;
    let ends = words
        .iter()
        .take(WORDS_MAX)
        .take_while(|word| is_number_word(word.upper) || word.upper == "AND")
        .count();
    let mut lengths = 1..=ends;
    let fits =
        |&used: &usize| is_street_behind(words, used) && read_value(&words[..used]).is_some();
    let used = if is_short {
        lengths.find(fits)?
    } else {
        lengths.rfind(fits)?
    };
    Some((read_value(&words[..used])?, used))
}

/// True when the words behind a number of `used` words are a street: one that ends as streets do, is no count itself, or,
/// behind `One`, a building's name.
fn is_street_behind(words: &[AddressWord<'_>], used: usize) -> bool {
    let [street, rest @ ..] = &words[used..] else {
        return false;
    };
    if rest.is_empty() || words[..used].iter().any(|word| word.ends_segment) {
        return false;
    }
    let is_directional = direction::abbreviate_directional(street.upper).is_some();
    let is_one = used == 1 && words[0].upper == "ONE";
    let end = rest.iter().position(|word| word.ends_segment);
    let rest = &rest[..end.map_or(rest.len(), |end| end + 1)];
    let has_type = rest
        .iter()
        .any(|word| suffix::standard_suffix(word.upper).is_some());
    is_directional || is_one || (has_type && !is_counted(street.upper))
}

/// True for what is counted: `Oaks`, `Mile`. A street may be named after so many of them.
pub(super) fn is_counted(word: &str) -> bool {
    let is_plural = word.len() > 3 && word.ends_with('S') && !word.ends_with("SS");
    is_plural || COUNTED.contains(&word)
}

fn is_number_word(word: &str) -> bool {
    word.split('-')
        .all(|part| small_value(part).is_some() || matches!(part, "HUNDRED" | "THOUSAND"))
}

/// Up to ninety.
fn small_value(word: &str) -> Option<u32> {
    let place = |list: &[&str]| list.iter().position(|name| *name == word);
    let value = place(&ONES)
        .map(|at| at + 1)
        .or_else(|| place(&TEENS).map(|at| at + 10))
        .or_else(|| place(&TENS).map(|at| (at + 2) * 10))?;
    u32::try_from(value).ok()
}

/// The number that all of the words spell: as it is counted (`Two Thousand and Ten`) or in pairs of digits, as it is
/// spoken (`Five Fifty`, `Twenty Twenty`, `One One One`).
fn read_value(words: &[AddressWord<'_>]) -> Option<u32> {
    let (mut thousands, mut value) = (0_u32, 0_u32);
    let mut before = "";
    for part in words.iter().flat_map(|word| word.upper.split('-')) {
        match (part, small_value(part)) {
            ("THOUSAND", _) if thousands == 0 && value > 0 => {
                thousands = value.checked_mul(1_000)?;
                value = 0;
            }
            ("HUNDRED", _) if (1..100).contains(&value) => value *= 100,
            ("HUNDRED", _) if value == 0 && thousands == 0 => value = 100,
            ("AND", _) if matches!(before, "HUNDRED" | "THOUSAND") => {}
            (_, Some(small)) => {
                let is_sum = value == 0
                    || (matches!(before, "HUNDRED" | "AND") && small < 100)
                    || (TENS.contains(&before) && small < 10);
                let is_spoken = small >= 10 || ONES.contains(&before);
                value = if is_sum {
                    value + small
                } else if is_spoken && thousands == 0 && value < 100 {
                    value * if small < 10 { 10 } else { 100 } + small
                } else {
                    return None;
                };
            }
            _ => return None,
        }
        before = part;
    }
    (before != "AND").then_some(thousands + value)
}

#[cfg(test)]
mod tests {
    use crate::line::FoldedLine;

    use super::*;

    #[test]
    fn numbers_are_counted_and_spoken() {
        for (text, value) in [
            ("one", Some(1)),
            ("twenty-five", Some(25)),
            ("twenty five", Some(25)),
            ("one twenty-five", Some(125)),
            ("five fifty", Some(550)),
            ("two ten", Some(210)),
            ("one one one", Some(111)),
            ("twenty twenty", Some(2020)),
            ("nineteen hundred", Some(1900)),
            ("hundred", Some(100)),
            ("two hundred and six", Some(206)),
            ("two thousand ten", Some(2010)),
            ("five thousand five hundred fifty-five", Some(5555)),
            ("one and", None),
            ("thousand", None),
            ("ten one", None),
        ] {
            let line = FoldedLine::fold(text);
            assert_eq!(read_value(&line.words()), value, "{text}");
        }
    }
}
