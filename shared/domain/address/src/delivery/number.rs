//! House numbers: Publication 28 §231, Appendix D1 (Wisconsin grids, hyphens, fractions).

use super::{InputLine, boxes, highways, places, spelled, units};
use crate::{
    casing,
    line::AddressWord,
    tables::{direction, highway, suffix, unit},
};

/// True when the words begin with a house number and something to follow it.
pub(super) fn begins_with_number(words: &[AddressWord<'_>]) -> bool {
    match words {
        [first, second, ..] => {
            is_house_number(first.upper)
                || (is_lot(first.upper) && is_spanish_type(second.upper))
                || begins_with_directional(words)
        }
        _ => false,
    }
}

/// The least letters of a street's name that is glued to the house number; fewer are a part of the number or its ordinal.
const GLUED_LETTERS_MIN: usize = 3;

/// The least digits of a house number behind its directional: `E 9 Mile Rd` has none.
const NUMBER_BEHIND_DIRECTIONAL_MIN: usize = 2;

/// True for a segment that numbers a house, behind units or not.
pub(super) fn is_numbered(segment: &[AddressWord<'_>]) -> bool {
    places::has_kilometres(segment) || begins_with_number(units::skip_leading_units(segment))
}

/// True for a number and a street that ends as streets do.
pub(super) fn is_whole_address(segment: &[AddressWord<'_>]) -> bool {
    let words = units::skip_leading_units(segment);
    if !begins_with_number(words) || begins_with_directional(words) {
        return false;
    }
    let (_, street) = split_house_number(words);
    let name_end = units::find_units_start(street);
    ends_in_thoroughfare(&street[..name_end]) || highways::read_numbered_road_line(street).is_some()
}

/// True for a name that begins with a number and has nothing of a street: `7 Eleven Store 1234`, `24 Hour Fitness`.
pub(super) fn is_business_name(segment: &[AddressWord<'_>]) -> bool {
    if !begins_with_number(segment) || begins_with_directional(segment) {
        return false;
    }
    let (number, name) = split_house_number(segment);
    let is_of_street = |word: &AddressWord<'_>| {
        is_suffix(Some(word))
            || direction::abbreviate_directional(word.upper).is_some()
            || casing::is_ordinal(word.upper)
    };
    let words = name.iter().take_while(|word| word.upper != "#").count();
    let is_glued = number.split('-').any(|part| {
        part.len() >= GLUED_LETTERS_MIN && part.bytes().all(|byte| byte.is_ascii_alphabetic())
    });
    (words > 1 || is_glued)
        && !name.iter().any(is_of_street)
        && !begins_spanish_street(name)
        && highways::read_numbered_road_line(name).is_none()
}

/// A street's name that is glued to the house number (`123Main St`) becomes a word of its own.
pub(super) fn part_glued_name(mut words: Vec<AddressWord<'_>>) -> Vec<AddressWord<'_>> {
    let Some(first) = words.first().copied() else {
        return words;
    };
    let digits = first.upper.bytes().take_while(u8::is_ascii_digit).count();
    let name = &first.upper[digits..];
    let is_glued = digits > 0
        && name.len() >= GLUED_LETTERS_MIN
        && name.bytes().all(|byte| byte.is_ascii_alphabetic())
        && unit::find_unit_designator(name).is_none()
        && !spelled::is_counted(name);
    if is_glued {
        words[0] = AddressWord {
            upper: name,
            sent: &first.sent[digits..],
            ..first
        };
        let number = AddressWord {
            upper: &first.upper[..digits],
            sent: &first.sent[..digits],
            ends_segment: false,
        };
        words.insert(0, number);
    }
    words
}

/// True for a directional, a house number and a street: `E 613 Mitchell Ave`.
pub(super) fn begins_with_directional(words: &[AddressWord<'_>]) -> bool {
    let [before, number, name, street @ ..] = words else {
        return false;
    };
    direction::abbreviate_directional(before.upper).is_some()
        && !(before.ends_segment || number.ends_segment || name.ends_segment)
        && number.is_number()
        && number.upper.len() >= NUMBER_BEHIND_DIRECTIONAL_MIN
        && !name.has_digit()
        && direction::abbreviate_directional(name.upper).is_none()
        && unit::find_unit_designator(name.upper).is_none()
        && !(number.upper.len() < 3 && spelled::is_counted(name.upper))
        && has_thoroughfare(street)
}

/// True for a line that is a house number and nothing else.
pub(super) fn is_only_number(words: &[AddressWord<'_>]) -> bool {
    match words {
        [number] => is_house_number(number.upper),
        [number, fraction] => number.is_number() && is_fraction(fraction.upper),
        _ => false,
    }
}

/// True for a line that can be the street of the number on the line above it.
pub(super) fn continues_number(words: &[AddressWord<'_>]) -> bool {
    words
        .first()
        .is_some_and(|word| !word.starts_with_digit() || casing::is_ordinal(word.upper))
        && units::skip_leading_units(words).len() == words.len()
        && !boxes::begins_with_box(words)
}

/// True when a plain number begins a street that has a suffix: nothing but an address of its own.
pub(super) fn begins_whole_street(words: &[AddressWord<'_>]) -> bool {
    match words {
        [number, _, street @ ..] => {
            number.is_number() && (has_thoroughfare(street) || has_misspelled_suffix(street))
        }
        _ => false,
    }
}

/// True for the block and lot of a house in an urbanization: `C-12`, `A17` (Publication 28 §29).
fn is_lot(word: &str) -> bool {
    let letters = word.bytes().take_while(u8::is_ascii_alphabetic).count();
    let lot = word[letters..]
        .strip_prefix('-')
        .unwrap_or(&word[letters..]);
    let digits = lot.bytes().take_while(u8::is_ascii_digit).count();
    let behind = &lot[digits..];
    (1..=2).contains(&letters)
        && unit::find_unit_designator(&word[..letters]).is_none()
        && (1..=4).contains(&digits)
        && behind.len() <= 1
        && behind.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// True for a lot on a street, whatever stands between them.
fn begins_at_lot(words: &[AddressWord<'_>]) -> bool {
    matches!(words, [lot, street, ..] if is_lot(lot.upper) && is_spanish_type(street.upper))
}

fn is_spanish_type(word: &str) -> bool {
    matches!(
        word,
        "CALLE" | "AVENIDA" | "AVE" | "PASEO" | "CAMINO" | "VIA"
    )
}

/// True for `123`, `123A`, `112-10`, `39.2`, `N6W23001`, but not for the ordinal of `5th Ave`.
fn is_house_number(word: &str) -> bool {
    let bytes = word.as_bytes();
    let is_grid =
        matches!(bytes, [b'N' | b'S' | b'E' | b'W', second, ..] if second.is_ascii_digit());
    (bytes[0].is_ascii_digit() || is_grid) && !casing::is_ordinal(word)
}

/// Splits the house number, in standard form, from the words behind it.
pub(super) fn split_house_number<'w, 'a>(
    words: &'w [AddressWord<'a>],
) -> (String, &'w [AddressWord<'a>]) {
    if !begins_with_number(words) {
        return (String::new(), words);
    }
    let mut number = words[0].upper.to_owned();
    let mut rest = &words[1..];
    if let [grid, _, ..] = rest
        && !words[0].starts_with_digit()
        && !grid.starts_with_digit()
        && is_house_number(grid.upper)
    {
        // `W148 N9748`: a grid number in two words.
        number.push_str(grid.upper);
        rest = &rest[1..];
    } else if let [fraction, _, ..] = rest
        && is_fraction(fraction.upper)
    {
        number.push(' ');
        number.push_str(fraction.upper);
        rest = &rest[1..];
    } else if let [letter, behind @ ..] = rest
        && words[0].is_number()
        && is_number_letter(letter, behind)
    {
        number.push_str(letter.upper);
        rest = &rest[1..];
    }
    (number, rest)
}

/// True for a street that is named the Spanish way, with its type before the name.
pub(super) fn begins_spanish_street(words: &[AddressWord<'_>]) -> bool {
    words
        .first()
        .is_some_and(|word| matches!(word.upper, "CALLE" | "AVENIDA" | "PASEO" | "CAMINO"))
}

/// The words with the house number first, where it stands behind the street (`Calle Amapola 12`), as senders in Puerto
/// Rico write it (Publication 28 §29). Units stay behind.
pub(super) fn move_number_first<'a>(words: &[AddressWord<'a>]) -> Option<Vec<AddressWord<'a>>> {
    let end = 1
        + (2..words.len()).find(|&index| {
            units::read_unit(&words[index..], InputLine::Address1)
                .is_none_or(|(unit, _)| unit.designator == "#")
                && (words[index].is_number() || is_lot(words[index].upper))
                && unit::find_unit_designator(words[index - 1].upper)
                    .is_none_or(|unit| unit.standard == "#")
        })?;
    let sign = usize::from(words[end - 2].upper == "#");
    // `Calle 5` and `Calle # 5` have no other name.
    let name = &words[..end - 1 - sign];
    if name.len() < 2 || units::find_units_start(name) < name.len() {
        return None;
    }
    let mut turned = vec![AddressWord {
        ends_segment: false,
        ..words[end - 1]
    }];
    turned.extend_from_slice(name);
    turned.extend_from_slice(&words[end..]);
    Some(turned)
}

/// The words with the house number before the directional that was sent before it.
pub(super) fn turn_directional<'a>(words: &[AddressWord<'a>]) -> Vec<AddressWord<'a>> {
    let mut turned = words.to_vec();
    turned.swap(0, 1);
    turned
}

fn is_fraction(word: &str) -> bool {
    matches!(word.as_bytes(), [above, b'/', below] if above.is_ascii_digit() && below.is_ascii_digit())
}

/// True when the words are nothing but units: what stands before them is the street.
fn ends_in_units(words: &[AddressWord<'_>]) -> bool {
    !words.is_empty() && units::skip_leading_units(words).is_empty()
}

/// A letter behind the number belongs to it (`4922 B Cornell Ave`) unless it is a directional or
/// the street itself (`100 B St`, `11745 I 10`).
fn is_number_letter(letter: &AddressWord<'_>, rest: &[AddressWord<'_>]) -> bool {
    let [next, behind @ ..] = rest else {
        return false;
    };
    let next_is_direction = direction::abbreviate_directional(next.upper).is_some();
    let next_is_initial = next.upper.len() <= 2 && !next_is_direction;
    let next_is_last = behind.is_empty() || units::read_unit(behind, InputLine::Address1).is_some();
    let next_is_type = suffix::standard_suffix(next.upper)
        .is_some_and(|standard| next_is_last || suffix::spell_thoroughfare(standard).is_some());
    letter.is_letter()
        && !ends_in_units(rest)
        && !matches!(
            (letter.upper, next.upper),
            ("O", _) | ("U", "S") | (_, "AND" | "&")
        )
        && !letter.ends_segment
        && direction::abbreviate_directional(letter.upper).is_none()
        && !(next_is_initial || next_is_type || next.starts_with_digit())
        && !(next_is_direction && next_is_last)
}

/// Mends the segments, so that the house number begins one and its street is whole. Commas go
/// after a lone number (`123, Main St`) and before a lone directional (`Pennsylvania Ave, NW`);
/// one comes before a number that a name precedes (`Hayes Center 4859 S Wabash`).
pub(super) fn mark_segments(
    mut words: Vec<AddressWord<'_>>,
    source: InputLine,
) -> Vec<AddressWord<'_>> {
    if source == InputLine::Address1 && begins_with_signed_number(&words) {
        words.remove(0);
    }
    for index in 0..words.len().saturating_sub(1) {
        let lone_number = index == 0 && (words[0].is_number() || begins_at_lot(&words));
        let behind = words.get(index + 2).copied();
        let closes = words[index + 1].ends_segment
            || behind
                .as_ref()
                .is_none_or(|word| unit::find_unit_designator(word.upper).is_some());
        let lone_direction = closes
            && direction::abbreviate_directional(words[index + 1].upper).is_some()
            || ends_in_two_letters(&words[index + 1..]);
        let continues_road =
            words[index].has_digit() && matches!(words[index + 1].upper, "KM" | "HM");
        // `Martin Luther King, Jr. Blvd`.
        let continues_name = matches!(words[index + 1].upper, "JR" | "SR");
        // `123 N, Main St`.
        let parted_direction = index == 1
            && is_house_number(words[0].upper)
            && direction::abbreviate_directional(words[1].upper).is_some()
            && unit::find_unit_designator(words[2].upper).is_none();
        if lone_number || lone_direction || continues_road || continues_name || parted_direction {
            words[index].ends_segment = false;
        } else if is_street_end(&words[..index + 2]) && !is_suffix(behind.as_ref()) {
            words[index].ends_segment = false;
            words[index + 1].ends_segment = true;
        }
    }
    let has_number = words
        .split_inclusive(|word| word.ends_segment)
        .any(|segment| begins_with_number(units::skip_leading_units(segment)));
    if !has_number && let Some(start) = (1..words.len()).find(|&index| follows_name(&words, index))
    {
        words[start - 1].ends_segment = true;
    }
    separate_addresses(&mut words);
    words
}

/// Two addresses without a comma between them: `1000 Cathedral Pl 925 W Georgia St`.
fn separate_addresses(words: &mut [AddressWord<'_>]) {
    for index in 3..words.len() {
        let start = words[..index]
            .iter()
            .rposition(|word| word.ends_segment)
            .map_or(0, |comma| comma + 1);
        let (before, here) = (&words[start..index], &words[index..]);
        let end = here
            .iter()
            .position(|word| word.ends_segment)
            .map_or(here.len(), |comma| comma + 1);
        let is_street = before.first().is_some_and(AddressWord::is_number) && {
            let (_, street) = split_house_number(before);
            // In `10 1/2 LA Highway 1700 Main St` the number behind the street is the road's.
            let (_, through_number) = split_house_number(&words[start..=index]);
            ends_in_thoroughfare(street)
                && [street, through_number]
                    .into_iter()
                    .all(|words| highways::read_numbered_road_line(words).is_none())
        };
        if is_street
            && begins_whole_street(&here[..end])
            && highways::read_numbered_road_line(&here[1..end]).is_none()
        {
            words[index - 1].ends_segment = true;
        }
    }
}

/// `Financial Center`, `20th St N`.
fn ends_in_thoroughfare(words: &[AddressWord<'_>]) -> bool {
    let words = match words {
        [head @ .., last] if direction::abbreviate_directional(last.upper).is_some() => head,
        _ => words,
    };
    matches!(words, [_, .., last] if suffix::is_thoroughfare(last.upper))
}

/// `S. W.` in two words, and nothing of the street behind it.
fn ends_in_two_letters(words: &[AddressWord<'_>]) -> bool {
    let [first, second, rest @ ..] = words else {
        return false;
    };
    let closes = second.ends_segment
        || rest
            .first()
            .is_none_or(|behind| unit::find_unit_designator(behind.upper).is_some());
    closes
        && !first.ends_segment
        && direction::combine_directionals(first.upper, second.upper).is_some()
}

/// `Peachtree Rd NE`: nothing of the street comes behind such a directional.
fn is_street_end(words: &[AddressWord<'_>]) -> bool {
    match words {
        [_, _, .., street, last] => {
            suffix::is_thoroughfare(street.upper)
                && last.upper.len() == 2
                && direction::abbreviate_directional(last.upper) == Some(last.upper)
        }
        _ => false,
    }
}

fn is_suffix(behind: Option<&AddressWord<'_>>) -> bool {
    behind.is_some_and(|word| suffix::standard_suffix(word.upper).is_some())
}

/// `#2 Turner Rd`: the sign before a house number means nothing.
fn begins_with_signed_number(words: &[AddressWord<'_>]) -> bool {
    match words {
        [sign, number, street, ..] => {
            sign.upper == "#"
                && number.is_number()
                && !number.ends_segment
                && !street.has_digit()
                && unit::find_unit_designator(street.upper).is_none()
        }
        _ => false,
    }
}

/// True when a house number and its street stand at `index`, behind words that are no road.
fn follows_name(words: &[AddressWord<'_>], index: usize) -> bool {
    let (before, here) = words.split_at(index);
    let previous = before[index - 1].upper;
    let street_end = here
        .iter()
        .position(|word| word.ends_segment)
        .unwrap_or(here.len());
    begins_with_number(here)
        && street_end > 1
        && (has_thoroughfare(here)
            || here
                .iter()
                .any(|word| direction::abbreviate_directional(word.upper).is_some()))
        && unit::find_unit_designator(previous).is_none()
        && highway::road_kind(previous).is_none()
        && (has_thoroughfare(here) || !has_thoroughfare(before))
        && !before.iter().any(|word| word.upper == "CALLE")
        && highways::read_numbered_road_line(before).is_none()
}

/// `Main Streeet`.
fn has_misspelled_suffix(words: &[AddressWord<'_>]) -> bool {
    words
        .iter()
        .any(|word| suffix::correct_suffix_typo(word.upper).is_some())
}

fn has_thoroughfare(words: &[AddressWord<'_>]) -> bool {
    words.iter().any(|word| suffix::is_thoroughfare(word.upper))
}
