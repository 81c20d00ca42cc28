//! City, state and ZIP: Publication 28 §223 to §226.

use crate::{
    casing,
    delivery::push_part,
    line::{AddressWord, FoldedLine},
    tables::{direction, state, suffix, unit},
    zips,
};

/// The most words that a city's name has.
const CITY_WORDS_MAX: usize = 5;

/// City, state and ZIP in standard form; absent parts are empty.
#[derive(Debug, Default)]
pub(crate) struct LastLine {
    pub city: String,
    pub state: String,
    pub zip: String,
    pub plus4: String,
}

impl LastLine {
    /// Reads the three parts as they were sent apart. A state or ZIP that cannot be read is kept in
    /// capitals as it is.
    pub fn from_parts(city: &str, state: &str, zip: &str) -> Self {
        if state.trim().is_empty() && zip.trim().is_empty() {
            // All three may be in the city's place.
            let line = FoldedLine::fold(city);
            let (rest, last_line) = split_last_line(line.words());
            if rest.is_empty() && last_line.has_state_or_zip() {
                return last_line;
            }
        }
        let (state, zip) = part_state_and_zip(state, zip);
        let (zip, plus4) = read_zip(zip).unwrap_or_else(|| (zip.trim().to_owned(), String::new()));
        let sent = FoldedLine::fold(state);
        let names = join_words(&sent.words(), |word| word.upper);
        Self {
            city: format_city_name(&FoldedLine::fold(city).words()),
            state: state::abbreviate_state(&names).map_or(names.clone(), str::to_owned),
            zip,
            plus4,
        }
    }

    fn has_state_or_zip(&self) -> bool {
        !self.state.is_empty() || !self.zip.is_empty()
    }
}

/// State and ZIP where one of them has both: `TX78701`.
fn part_state_and_zip<'a>(state: &'a str, zip: &'a str) -> (&'a str, &'a str) {
    let place = |text: &str| text.find(|c: char| c.is_ascii_digit());
    let part = |text: &'a str| {
        let (name, zip) = text.split_at(place(text)?);
        let name = name.trim_end_matches([' ', '-', ',', '.']);
        (is_state_name(name) && read_zip(zip).is_some()).then_some((name, zip))
    };
    let of_state = part(state);
    let of_zip = part(zip);
    let name = match of_state {
        Some((name, _)) => name,
        None if state.trim().is_empty() => of_zip.map_or(state, |(name, _)| name),
        None => state,
    };
    let code = match of_zip {
        Some((_, code)) => code,
        None if zip.trim().is_empty() => of_state.map_or(zip, |(_, code)| code),
        None => zip,
    };
    (name, code)
}

fn is_state_name(text: &str) -> bool {
    let line = FoldedLine::fold(text);
    state::abbreviate_state(&join_words(&line.words(), |word| word.upper)).is_some()
}

fn join_words<'a>(words: &[AddressWord<'a>], text: impl Fn(&AddressWord<'a>) -> &'a str) -> String {
    let mut joined = String::new();
    for word in words {
        push_part(&mut joined, text(word));
    }
    joined
}

/// A city's name in mixed case, abbreviated words written out. A state behind a comma is left out.
fn format_city_name(words: &[AddressWord<'_>]) -> String {
    let end = match words.iter().position(|word| word.ends_segment) {
        Some(comma)
            if state::abbreviate_state(&join_words(&words[comma + 1..], |word| word.upper))
                .is_some() =>
        {
            comma + 1
        }
        _ => words.len(),
    };
    casing::capitalise_name(words[..end].iter().map(|word| match word.upper {
        "APO" | "FPO" | "DPO" => word.upper,
        _ => zips::city_word(word.sent).unwrap_or(word.sent),
    }))
}

/// Five digits and the four behind them: `78701`, `78701-1234`, `787011234`, `78701 1234`. Four
/// digits are a ZIP that lost its leading zero, three one that lost two.
pub(crate) fn read_zip(text: &str) -> Option<(String, String)> {
    let text = text.trim().trim_end_matches('-');
    let (head, tail) = match text.split_once(['-', ' ']) {
        Some((head, tail)) => (head, tail.trim_start_matches(['-', ' '])),
        None if text.len() == 9 => text.split_at_checked(5)?,
        None => (text, ""),
    };
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !(3..=5).contains(&head.len())
        || !is_number(head)
        || !is_number(tail)
        || !matches!(tail.len(), 0 | 4)
    {
        return None;
    }
    let plus4 = if tail == "0000" { "" } else { tail };
    Some((format!("{head:0>5}"), plus4.to_owned()))
}

/// Splits the words of a one-line address into those of the delivery line and the last line.
pub(crate) fn split_last_line(mut words: Vec<AddressWord<'_>>) -> (Vec<AddressWord<'_>>, LastLine) {
    let mut last_line = LastLine::default();
    while take_country(&mut words) {}
    part_glued_zip(&mut words);
    take_zip(&mut words, &mut last_line);
    take_state(&mut words, &mut last_line);
    take_city(&mut words, &mut last_line);
    take_state_before_city(&mut words, &mut last_line);
    (words, last_line)
}

/// `TX78701` at the end becomes two words.
fn part_glued_zip(words: &mut Vec<AddressWord<'_>>) {
    let Some(last) = words.last_mut() else {
        return;
    };
    let Some((name, zip)) = last.upper.split_at_checked(2) else {
        return;
    };
    let zip = zip.trim_start_matches('-');
    let is_glued = zip.len() >= 5
        && zip.starts_with(|c: char| c.is_ascii_digit())
        && state::find_state_abbreviation(name).is_some()
        && read_zip(zip).is_some_and(|(zip, _)| zips::find_zip(&zip).is_some());
    if is_glued {
        let zip = AddressWord {
            upper: zip,
            sent: zip,
            ..*last
        };
        *last = AddressWord {
            upper: name,
            sent: &last.sent[..2],
            ends_segment: false,
        };
        words.push(zip);
    }
}

/// False when no country stands at the end.
fn take_country(words: &mut Vec<AddressWord<'_>>) -> bool {
    let upper = |back: usize| {
        words
            .len()
            .checked_sub(back)
            .map_or("", |index| words[index].upper)
    };
    let count = match (upper(4), upper(3), upper(2), upper(1)) {
        ("UNITED", "STATES", "OF", "AMERICA") => 4,
        (_, _, "UNITED", "STATES") => 2,
        (_, _, _, "USA" | "US") => 1,
        _ => 0,
    };
    words.truncate(words.len() - count);
    count > 0
}

/// `4674 Marshall Rd CA Garden Valley 95633`: the ZIP's state in two letters that mean nothing else.
fn take_state_before_city(words: &mut Vec<AddressWord<'_>>, last_line: &mut LastLine) {
    let [_, .., last] = words.as_slice() else {
        return;
    };
    let means_more = suffix::standard_suffix(last.upper).is_some()
        || direction::abbreviate_directional(last.upper).is_some()
        || unit::find_unit_designator(last.upper).is_some();
    let zips_state = zips::find_zip(&last_line.zip).map(|zip| zip.state());
    let is_state =
        state::find_state_abbreviation(last.upper).is_some_and(|found| Some(found) == zips_state);
    if last_line.state.is_empty() && is_state && !means_more {
        last_line.state = last.upper.to_owned();
        words.pop();
    }
}

fn take_zip(words: &mut Vec<AddressWord<'_>>, last_line: &mut LastLine) {
    let [.., before, last] = words.as_slice() else {
        return;
    };
    // `12345 6789` in two words.
    if last.is_number()
        && last.upper.len() == 4
        && before.is_number()
        && before.upper.len() == 5
        && words.len() > 2
    {
        last_line.zip = before.upper.to_owned();
        if last.upper != "0000" {
            last_line.plus4 = last.upper.to_owned();
        }
        words.truncate(words.len() - 2);
        return;
    }
    let Some((zip, plus4)) = read_zip(last.upper) else {
        return;
    };
    let follows_state = state::find_state_abbreviation(before.upper).is_some();
    let is_whole = last.upper.len() >= 5 || (last.upper.len() == 4 && follows_state);
    let is_unit = unit::find_unit_designator(before.upper).is_some_and(|unit| unit.is_plain)
        && !follows_state
        || matches!(before.upper, "BOX" | "BX" | "NO" | "POB" | "POBOX");
    if is_whole && !is_unit {
        (last_line.zip, last_line.plus4) = (zip, plus4);
        words.pop();
    }
}

fn take_state(words: &mut Vec<AddressWord<'_>>, last_line: &mut LastLine) {
    for count in (1..=state::NAME_WORDS_MAX.min(words.len())).rev() {
        let start = words.len() - count;
        let names = &words[start..];
        if names[..count - 1].iter().any(|word| word.ends_segment) {
            continue;
        }
        let name = join_words(names, |word| word.upper);
        // The city of this state is part of a name that the state is known by.
        if name == "WASHINGTON DC" {
            continue;
        }
        if let Some(found) = state::abbreviate_state(&name)
            && is_state(&words[..start], &name, found, &last_line.zip)
        {
            found.clone_into(&mut last_line.state);
            words.truncate(start);
            take_state_again(words, found);
            return;
        }
    }
}

/// `Roswell, Georgia, GA`: the state was sent twice.
fn take_state_again(words: &mut Vec<AddressWord<'_>>, found: &str) {
    let start = segment_start(words);
    let name = join_words(&words[start..], |word| word.upper);
    if start > 0 && state::abbreviate_state(&name) == Some(found) && !zips::is_city(found, &name) {
        words.truncate(start);
    }
}

/// Where the last segment starts.
fn segment_start(words: &[AddressWord<'_>]) -> usize {
    let last = words.len().saturating_sub(1);
    words[..last]
        .iter()
        .rposition(|word| word.ends_segment)
        .map_or(0, |comma| comma + 1)
}

/// True when `name` at the end stands for the state and not for a suffix (`Ct`), a directional
/// (`NE`) or a street (`Georgia`).
fn is_state(before: &[AddressWord<'_>], name: &str, found: &str, zip: &str) -> bool {
    let counts =
        |word: &AddressWord<'_>| word.has_digit() || unit::floor_ordinal(word.upper).is_some();
    if name == "FL" && zip.is_empty() && before.last().is_some_and(counts) {
        return false;
    }
    let follows_comma = before.last().is_none_or(|word| word.ends_segment);
    if follows_comma {
        return direction::abbreviate_directional(name).is_none()
            || !zip.is_empty()
            || before.is_empty();
    }
    if let Some(zip) = zips::find_zip(zip)
        && zip.state() == found
    {
        return true;
    }
    let segment_start = segment_start(before);
    if segment_start > 0 && !before[segment_start..].iter().any(AddressWord::has_digit) {
        return true;
    }
    let is_ambiguous = name.len() > 2
        || suffix::standard_suffix(name).is_some()
        || direction::abbreviate_directional(name).is_some();
    let follows_city = || count_known_city_words(before, found, "") > 0;
    (!is_ambiguous && !zip.is_empty())
        || follows_city()
        || (zip.is_empty() && name.len() == 2 && !is_ambiguous)
}

/// How many words at the end name a city of the state or the ZIP; the most if several do.
fn count_known_city_words(words: &[AddressWord<'_>], state: &str, zip: &str) -> usize {
    let zip = zips::find_zip(zip);
    let state = if state.is_empty() {
        zip.map_or("", |zip| zip.state())
    } else {
        state
    };
    let start = segment_start(words);
    let most = CITY_WORDS_MAX.min(words.len() - start);
    (1..=most)
        .rev()
        .find(|count| {
            let name = &words[words.len() - count..];
            if name.iter().any(|word| word.has_digit()) {
                return false;
            }
            let name = join_words(name, |word| word.upper);
            zips::is_city(state, &name)
                || zip.is_some_and(|zip| zips::is_same_city(zip.city(), &name))
        })
        .unwrap_or(0)
}

fn take_city(words: &mut Vec<AddressWord<'_>>, last_line: &mut LastLine) {
    if words.is_empty() {
        return;
    }
    let segment = &words[segment_start(words)..];
    let known = count_known_city_words(words, &last_line.state, &last_line.zip);
    let count = match known {
        // `Bolton Rd, NW Atlanta`: the directional is the street's.
        known if known + 1 == segment.len() && is_short_direction(&segment[0]) => known,
        // `Lucerne Dr S E Grand Rapids`: two letters are the street's, although there is an East Grand Rapids.
        known if known > 1 && parts_directional(segment, known) => known - 1,
        // `Wealthy St SE E Grand Rapids`: the street has its directional, the second one is the city's.
        known if known > 0 && follows_two_directions(segment, known) => known + 1,
        _ if is_city_segment(words, segment, last_line) => segment.len(),
        0 => count_unknown_city_words(segment, last_line),
        known => known,
    };
    let start = words.len() - count;
    last_line.city = format_city_name(&words[start..]);
    words.truncate(start);
}

/// True when the last `known` words begin with a letter that is one directional with the letter before it.
fn parts_directional(segment: &[AddressWord<'_>], known: usize) -> bool {
    let (before, name) = segment.split_at(segment.len() - known);
    let (Some(first), Some(second)) = (before.last(), name.first()) else {
        return false;
    };
    first.is_letter()
        && second.is_letter()
        && direction::combine_directionals(first.upper, second.upper).is_some()
}

/// True when two directionals stand before the last `known` words.
fn follows_two_directions(segment: &[AddressWord<'_>], known: usize) -> bool {
    let before = &segment[..segment.len() - known];
    matches!(before, [_, .., first, second] if is_short_direction(first) && is_short_direction(second)
        && direction::combine_directionals(first.upper, second.upper).is_none())
}

fn is_short_direction(word: &AddressWord<'_>) -> bool {
    direction::abbreviate_directional(word.upper) == Some(word.upper)
}

/// True when the last segment can be nothing but the city.
fn is_city_segment(
    words: &[AddressWord<'_>],
    segment: &[AddressWord<'_>],
    last_line: &LastLine,
) -> bool {
    let follows_address = segment.len() < words.len()
        && (last_line.has_state_or_zip() || words[0].starts_with_digit());
    follows_address && segment.len() <= CITY_WORDS_MAX && may_name_city(segment)
}

/// True when the words may name a city: no number, no unit, no box, no care-of, and more than a
/// directional.
fn may_name_city(words: &[AddressWord<'_>]) -> bool {
    let is_other = |word: &AddressWord<'_>| {
        word.has_digit()
            || matches!(
                word.upper,
                "#" | "PO" | "BOX" | "ATTN" | "C/O" | "%" | "FLOOR" | "FL"
            )
    };
    let is_type = words.len() == 1 && suffix::is_thoroughfare(words[0].upper);
    !is_type
        && unit::find_unit_designator(words[0].upper).is_none()
        && !words.iter().any(is_other)
        && !words
            .iter()
            .all(|word| direction::abbreviate_directional(word.upper).is_some())
}

/// How many words at the end are a city that no list has: those behind the street's suffix, its
/// directional or its unit.
fn count_unknown_city_words(segment: &[AddressWord<'_>], last_line: &LastLine) -> usize {
    let has_last_line = last_line.has_state_or_zip();
    if !segment.iter().any(AddressWord::has_digit) {
        let is_city = has_last_line && segment.len() <= CITY_WORDS_MAX && may_name_city(segment);
        return if is_city { segment.len() } else { 0 };
    }
    // With a state or ZIP there is a city, and the last word is its.
    let street_words = segment.len() - usize::from(has_last_line);
    let Some(end) = (1..street_words)
        .rev()
        .find(|&index| ends_street(segment, index))
    else {
        return 0;
    };
    let city = &segment[end + 1..];
    if city.is_empty() || city.len() > CITY_WORDS_MAX || !may_name_city(city) {
        return 0;
    }
    // Without state and ZIP only words behind a suffix are taken for a city.
    let is_sure = !segment[end].has_digit() && city.iter().all(|word| word.upper.len() > 2);
    if has_last_line || is_sure {
        city.len()
    } else {
        0
    }
}

/// True when the word at `index` ends the street: a suffix, a directional behind it, a unit.
fn ends_street(segment: &[AddressWord<'_>], index: usize) -> bool {
    let word = &segment[index];
    let ends_name = |index: usize| {
        index > 1
            && suffix::is_thoroughfare(segment[index].upper)
            && direction::abbreviate_directional(segment[index - 1].upper).is_none()
    };
    let is_unit = |word: &AddressWord<'_>| {
        unit::find_unit_designator(word.upper).is_some_and(|unit| unit.is_plain)
    };
    word.has_digit()
        || ends_name(index)
        || (is_short_direction(word) && ends_name(index - 1))
        || is_unit(word)
        || is_unit(&segment[index - 1])
}
