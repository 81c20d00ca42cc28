//! Secondary units in the words of a line: Publication 28 §213 and §285.

use std::borrow::Cow;

use super::{InputLine, highways};
use crate::{
    casing,
    line::AddressWord,
    tables::{
        direction, suffix,
        unit::{self, UnitDesignator},
    },
};

/// One secondary unit: `Apt 4B`, `Rear`, `# 12`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SecondaryUnit {
    /// `Apt`, `Ste`, ..., or `#` when the sender named none.
    pub designator: &'static str,
    /// Capitals; empty for designators that stand alone.
    pub identifier: String,
    /// The part of the input it was sent in.
    pub source: InputLine,
}

impl SecondaryUnit {
    /// A unit of which only the identifier is known.
    pub fn without_designator(identifier: String, source: InputLine) -> Self {
        Self {
            designator: "#",
            identifier,
            source,
        }
    }

    /// True when this unit, `used` words long, stands between the house number and the street.
    pub fn is_named_early(&self, words: &[AddressWord<'_>], used: usize) -> bool {
        let is_sure = self.designator == "#" || self.designator == "Apt";
        is_sure && words.len() > used + 1
    }
}

/// The unit that words standing alone give, where there is nothing else: `4B`, `106 D`, `Un 4`.
pub(super) fn read_bare_unit(
    words: &[AddressWord<'_>],
    source: InputLine,
) -> Option<SecondaryUnit> {
    let unit = |identifier| SecondaryUnit::without_designator(identifier, source);
    match words {
        [only] if is_identifier(only.upper) => Some(unit(only.upper.to_owned())),
        [number, letter] if number.is_number() && letter.is_letter() => {
            Some(unit(format!("{}{}", number.upper, letter.upper)))
        }
        [short, identifier] if short.upper == "UN" && identifier.has_digit() => {
            Some(SecondaryUnit {
                designator: "Unit",
                identifier: identifier.upper.to_owned(),
                source,
            })
        }
        _ => None,
    }
}

/// True for what identifies a unit: anything with a digit, one or two letters that are no suffix, or letters between
/// hyphens (`C-D`).
pub(super) fn is_identifier(word: &str) -> bool {
    if word.bytes().any(|byte| byte.is_ascii_digit()) {
        return !casing::is_ordinal(word);
    }
    let is_letters = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphabetic());
    word.split('-')
        .all(|part| part.len() == 1 && is_letters(part))
        || (word.len() == 2 && is_letters(word) && suffix::standard_suffix(word).is_none())
}

/// The unit at the beginning of the words, and how many words it takes.
pub(super) fn read_unit(
    words: &[AddressWord<'_>],
    source: InputLine,
) -> Option<(SecondaryUnit, usize)> {
    if let Some(floor) = read_ordinal_floor(words, source) {
        return Some(floor);
    }
    // `St 310` at the end is a suite.
    if let [suite, number] = words
        && suite.upper == "ST"
        && number.is_number()
    {
        let unit = SecondaryUnit {
            designator: "Ste",
            identifier: number.upper.to_owned(),
            source,
        };
        return Some((unit, 2));
    }
    // `# Apt 200`.
    if let [sign, rest @ ..] = words
        && sign.upper == "#"
        && begins_with_unit(rest)
    {
        return read_unit(rest, source).map(|(unit, used)| (unit, used + 1));
    }
    let (designator, glued) = find_designator(words.first()?)?;
    let unit = |identifier: String| SecondaryUnit {
        designator: designator.standard,
        identifier,
        source,
    };
    if let Some(identifier) = glued {
        return Some((unit(identifier.to_owned()), 1));
    }
    let ends = words[0].ends_segment;
    // `Rear # 7` is two units, `Apt # 7` is one.
    let takes_sign = !ends && designator.is_plain;
    let signs = words[1..]
        .iter()
        .take_while(|word| takes_sign && is_number_sign(word.upper));
    let skipped = 1 + signs.count();
    // `Front S` is a street with its directional.
    let may_be_letters = |word: &AddressWord<'_>| {
        designator.is_plain || direction::abbreviate_directional(word.upper).is_none()
    };
    let identifier = (words.get(skipped))
        .filter(|word| !ends && is_identifier(word.upper) && may_be_letters(word));
    let Some(identifier) = identifier else {
        let whole_segment = ends || words.len() == 1 || read_unit(&words[1..], source).is_some();
        return (designator.may_stand_alone && whole_segment).then(|| (unit(String::new()), 1));
    };
    let used = skipped + 1;
    // `Unit 3 North East` is `Unit 3NE`.
    if let [first, second, rest @ ..] = &words[used..]
        && identifier.is_number()
        && !(identifier.ends_segment || first.ends_segment)
        && (second.ends_segment || rest.is_empty())
        && let Some(both) = direction::combine_directionals(first.upper, second.upper)
    {
        return Some((unit(format!("{}{both}", identifier.upper)), used + 2));
    }
    match words.get(used) {
        // `Apt 3 B` is `Apt 3B`, and `Unit 3 South` is `Unit 3S`.
        Some(letter)
            if identifier.is_number()
                && (letter.is_letter()
                    || direction::abbreviate_directional(letter.upper).is_some())
                && !identifier.ends_segment
                && (letter.ends_segment || words.len() == used + 1) =>
        {
            let letter = direction::abbreviate_directional(letter.upper).unwrap_or(letter.upper);
            Some((unit(format!("{}{letter}", identifier.upper)), used + 1))
        }
        _ => Some((unit(identifier.upper.to_owned()), used)),
    }
}

/// True when the words begin with a designator.
fn begins_with_unit(words: &[AddressWord<'_>]) -> bool {
    words
        .first()
        .is_some_and(|word| word.upper != "#" && unit::find_unit_designator(word.upper).is_some())
}

fn is_number_sign(word: &str) -> bool {
    matches!(word, "#" | "NO" | "NUM" | "NUMBER")
}

/// The designator that a word is or begins with (`APT5`), and the identifier glued to it.
fn find_designator<'a>(word: &AddressWord<'a>) -> Option<(UnitDesignator, Option<&'a str>)> {
    if let Some(designator) = unit::find_unit_designator(word.upper) {
        return Some((designator, None));
    }
    let letters = word
        .upper
        .bytes()
        .take_while(u8::is_ascii_alphabetic)
        .count();
    let (letters, identifier) = word.upper.split_at(letters);
    let identifier = identifier.trim_start_matches('-');
    if letters.len() < 2 || identifier.is_empty() || !is_identifier(identifier) {
        return None;
    }
    let designator = unit::find_unit_designator(letters)?;
    designator
        .is_plain
        .then_some((designator, Some(identifier)))
}

/// `2nd Floor`, `Second Fl`, and `2 Floor` where nothing follows.
fn read_ordinal_floor(
    words: &[AddressWord<'_>],
    source: InputLine,
) -> Option<(SecondaryUnit, usize)> {
    let [ordinal, floor, ..] = words else {
        return None;
    };
    if ordinal.ends_segment {
        return None;
    }
    // In `5th Fl 2` the ordinal is the street's.
    let numbers_floor = match words.get(2) {
        Some(next) if !floor.ends_segment && next.starts_with_digit() => {
            words.len() == 3 || next.ends_segment || read_unit(&words[3..], source).is_some()
        }
        _ => false,
    };
    if !matches!(floor.upper, "FLOOR" | "FL" | "FLR") || numbers_floor {
        return None;
    }
    let number: Cow<'_, str> = if casing::is_ordinal(ordinal.upper) {
        ordinal.upper[..ordinal.upper.len() - 2].into()
    } else if ordinal.is_number() && floor.upper != "FL" && (floor.ends_segment || words.len() == 2)
    {
        ordinal.upper.into()
    } else {
        unit::floor_ordinal(ordinal.upper)?.into()
    };
    let unit = SecondaryUnit {
        designator: "Fl",
        identifier: number.into_owned(),
        source,
    };
    Some((unit, 2))
}

/// The words behind the units that a segment begins with.
pub(super) fn skip_leading_units<'w, 'a>(
    mut words: &'w [AddressWord<'a>],
) -> &'w [AddressWord<'a>] {
    while let Some((_, used)) = read_unit(words, InputLine::Address1) {
        words = &words[used..];
    }
    words
}

/// Where the units of a street line begin; its length when there are none. `words` starts at the
/// street's name, so the first word is never a unit.
pub(super) fn find_units_start(words: &[AddressWord<'_>]) -> usize {
    let name_end = highways::read_numbered_road_line(words).map_or(1, |road| road.used);
    (name_end..words.len())
        .find(|&index| is_unit_at(words, index))
        .unwrap_or(words.len())
}

fn is_unit_at(words: &[AddressWord<'_>], index: usize) -> bool {
    let here = &words[index..];
    let Some((unit, used)) = read_unit(here, InputLine::Address1) else {
        return false;
    };
    let before = &words[index - 1];
    if here[0].upper == "ST" {
        return index > 1 && suffix::is_thoroughfare(before.upper);
    }
    let is_plain = find_designator(&here[0]).is_none_or(|(designator, _)| designator.is_plain);
    if is_plain {
        return true;
    }
    // The other designators are also names: they need a street before them or the line's end behind.
    let is_direction =
        |word: &AddressWord<'_>| direction::abbreviate_directional(word.upper).is_some();
    let follows_street = suffix::standard_suffix(before.upper).is_some()
        || (is_direction(before) && !words[..index].iter().all(is_direction))
        || before.has_digit();
    let is_numbered = unit.identifier.bytes().any(|byte| byte.is_ascii_digit());
    let is_alone = unit.identifier.is_empty();
    let ends_line = used == here.len() || read_unit(&here[used..], InputLine::Address1).is_some();
    let is_name = matches!(here[0].upper, "FRONT" | "SIDE");
    if follows_street {
        is_numbered || is_alone || ends_line
    } else {
        ends_line && (is_numbered || is_alone && !is_name)
    }
}
