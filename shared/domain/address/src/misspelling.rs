//! Names of streets that are one slip of the pen apart: a letter too many, one missing, another one, or two that
//! changed places. Pure.

use crate::tables::{direction, suffix};

/// Letters that a word must have before a slip in it is one: `Oak` and `Oaks`, `Elm` and `Elk` are two names.
const LETTERS_MIN: usize = 4;

/// What a name that is one slip from a written one shares with it: one slip leaves the beginning or the end as it is.
/// Small letters, as [`crate::StandardStreet::name`] has them otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameEnds {
    /// The first letters.
    pub beginning: String,
    /// The last letters, the last one first.
    pub reversed_end: String,
    /// Characters of the written name; the other has one more or less at the most.
    pub length: i32,
}

impl NameEnds {
    /// What to look for; `None` for a name in which no slip is taken for one.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        if !name.split([' ', '-']).any(may_be_misspelled) {
            return None;
        }
        let letters: Vec<char> = name.to_lowercase().chars().collect();
        // Two letters that changed places touch one of the halves only if one letter in the middle belongs to neither.
        let half = (letters.len() - 1) / 2;
        Some(Self {
            beginning: letters[..half].iter().collect(),
            reversed_end: letters.iter().rev().take(half).collect(),
            length: i32::try_from(letters.len()).ok()?,
        })
    }
}

/// Whether two names, in the form in which they are compared, are the same but for one slip in one word, or for a space.
pub(crate) fn is_one_slip_apart(written: &str, known: &str) -> bool {
    let (left, right): (Vec<&str>, Vec<&str>) =
        (written.split(' ').collect(), known.split(' ').collect());
    if left.len() != right.len() {
        return is_one_space_apart((written, left.len()), (known, right.len()));
    }
    let mut different = left.iter().zip(&right).filter(|(one, other)| one != other);
    let only = different.next().filter(|_| different.next().is_none());
    only.is_some_and(|(one, other)| {
        may_be_misspelled(one)
            && may_be_misspelled(other)
            && suffix::is_one_edit_apart(one.as_bytes(), other.as_bytes())
    })
}

/// Figures, directions and short words are never slips of each other.
fn may_be_misspelled(word: &str) -> bool {
    word.len() >= LETTERS_MIN
        && word.bytes().all(|byte| byte.is_ascii_alphabetic())
        && direction::abbreviate_directional(&word.to_ascii_uppercase()).is_none()
}

/// The same letters, with one space more or less.
fn is_one_space_apart(written: (&str, usize), known: (&str, usize)) -> bool {
    let letters = |name: &str| {
        name.bytes()
            .filter(|byte| *byte != b' ')
            .collect::<Vec<_>>()
    };
    let (left, right) = (letters(written.0), letters(known.0));
    written.1.abs_diff(known.1) == 1
        && left.len() > LETTERS_MIN
        && left == right
        && left.iter().all(u8::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_slip_is_one_letter_of_one_longer_word() {
        for (written, known) in [
            ("HOLLLY", "HOLLY"),
            ("HOLY", "HOLLY"),
            ("HALLY", "HOLLY"),
            ("OHLLY", "HOLLY"),
            ("HOLYL", "HOLLY"),
            ("CARROLL MANER", "CARROLL MANOR"),
            ("OLDCOURT", "OLD COURT"),
            ("OLD COURT", "OLDCOURT"),
        ] {
            assert!(is_one_slip_apart(written, known), "{written}");
            assert!(is_one_slip_apart(known, written), "{known}");
        }
        for (written, known) in [
            ("HOLLY", "HOLLY"),
            ("HALLI", "HOLLY"),
            ("OAK", "OAKS"),
            ("ELM", "ELK"),
            ("7TH", "8TH"),
            ("US HIGHWAY 40", "US HIGHWAY 41"),
            ("AVENUE A", "AVENUE B"),
            ("PARK EAST", "PARK EASTS"),
            ("HOLLY HILL", "HOLY HILLS"),
            ("A B C", "AB C"),
        ] {
            assert!(!is_one_slip_apart(written, known), "{written}");
            assert!(!is_one_slip_apart(known, written), "{known}");
        }
    }

    proptest! {
        #[test]
        fn a_name_one_slip_apart_begins_or_ends_alike(
            name in "[A-Z]{4,9}( [A-Z]{4,7})?", at in 0_usize..16, letter in "[A-Z]", kind in 0..4,
        ) {
            let mut letters: Vec<char> = name.chars().collect();
            let at = at % letters.len();
            let letter = letter.chars().next().expect("one");
            match kind {
                0 => letters[at] = letter,
                1 => letters.insert(at, letter),
                2 => { letters.remove(at); }
                _ => { let next = (at + 1).min(letters.len() - 1); letters.swap(at, next); }
            }
            let written: String = letters.iter().collect();
            if is_one_slip_apart(&written, &name) {
                let ends = NameEnds::from_name(&written).expect("a slip in it");
                let known = name.to_lowercase();
                let reversed: String = known.chars().rev().collect();
                prop_assert!(known.starts_with(&ends.beginning) || reversed.starts_with(&ends.reversed_end));
                prop_assert!((ends.length - known.len() as i32).abs() <= 1);
            }
        }

        #[test]
        fn a_slip_is_one_from_both_sides(left in "[AB]{4,6}", right in "[AB]{4,6}") {
            prop_assert_eq!(is_one_slip_apart(&left, &right), is_one_slip_apart(&right, &left));
        }
    }
}
