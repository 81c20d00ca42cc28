//! County, state and national roads in a street's name: Publication 28, Appendix F.

use crate::{
    casing,
    line::AddressWord,
    tables::{direction, highway, state, unit},
};

/// The most words that a road's name takes before its number.
const NAME_WORDS_MAX: usize = 5;

/// The most digits of a state road that is named by state and number only.
const STATE_ROAD_DIGITS_MAX: usize = 4;

/// A road known by its number, and how many words its name took.
struct NumberedRoad {
    name: String,
    used: usize,
}

/// The numbered road that a street line begins with.
pub(super) struct HighwayLine {
    /// The directional before it, or empty.
    pub predirectional: &'static str,
    /// `US Highway 41`, `County Road 1185`, `KY Highway 7`.
    pub name: String,
    /// How many words both took.
    pub used: usize,
}

/// The numbered road that a street line begins with, behind a directional of one or two words.
pub(super) fn read_numbered_road_line(words: &[AddressWord<'_>]) -> Option<HighwayLine> {
    let upper = |index: usize| words.get(index).map_or("", |word| word.upper);
    let directional = match direction::combine_directionals(upper(0), upper(1)) {
        Some(combined) => Some((combined, 2)),
        None => direction::abbreviate_directional(upper(0)).map(|short| (short, 1)),
    };
    if let Some((predirectional, count)) = directional
        && let Some(road) = read_numbered_road(&words[count..])
    {
        let used = count + road.used;
        return Some(HighwayLine {
            predirectional,
            name: road.name,
            used,
        });
    }
    let road = read_numbered_road(words)?;
    Some(HighwayLine {
        predirectional: "",
        name: road.name,
        used: road.used,
    })
}

/// The numbered road at the beginning of a street's words. One word before a highway or county
/// road is kept (`Old Highway 5`, `Anderson County Road 312`).
fn read_numbered_road(words: &[AddressWord<'_>]) -> Option<NumberedRoad> {
    if let Some(road) = read_road_at_type(words) {
        return Some(road);
    }
    let (first, rest) = words.split_first()?;
    if first.has_digit() || first.ends_segment || first.upper == "#" {
        return None;
    }
    let road = read_road_at_type(rest)?;
    let is_plain_road = [
        "Road ",
        "Loop ",
        "Expressway ",
        "RM ",
        "Farm Road ",
        "Ranch Road ",
        "Private Road ",
        "Business ",
        "Alternate ",
    ]
    .iter()
    .any(|name| road.name.starts_with(name));
    let has_sign = rest[..road.used].iter().any(|word| word.upper == "#");
    let has_digit = rest[road.used - 1].has_digit();
    if first.upper != "OLD" && (is_plain_road || has_sign || !has_digit) {
        return None;
    }
    let first = casing::capitalise_name([first.sent]);
    Some(NumberedRoad {
        name: format!("{first} {}", road.name),
        used: road.used + 1,
    })
}

/// A road and its number, and its kind again where that was sent twice (`US 93 Hwy`).
fn read_road_at_type(words: &[AddressWord<'_>]) -> Option<NumberedRoad> {
    let mut road = match read_glued_road(words.first()?) {
        Some(road) => road,
        None => read_road_in_words(words)?,
    };
    let kind = words
        .get(road.used)
        .filter(|_| !words[road.used - 1].ends_segment)
        .and_then(|word| highway::road_kind(word.upper));
    if kind.is_some_and(|kind| road.name.rsplit(' ').nth(1) == Some(kind)) {
        road.used += 1;
    }
    Some(road)
}

fn read_road_in_words(words: &[AddressWord<'_>]) -> Option<NumberedRoad> {
    let mut buffer = [""; NAME_WORDS_MAX];
    let count = words.len().min(NAME_WORDS_MAX);
    for (slot, word) in buffer.iter_mut().zip(words) {
        *slot = word.upper;
    }
    let upper = &buffer[..count];
    read_road_by_type("", upper, words, 0).or_else(|| read_state_road(upper, words))
}

/// `KY 1207`, `Kentucky State Hwy 625`, `CA County Rd 150`.
fn read_state_road(upper: &[&str], words: &[AddressWord<'_>]) -> Option<NumberedRoad> {
    let owner = state::abbreviate_state(upper.first()?)?;
    read_road_by_type(owner, &upper[1..], words, 1).or_else(|| {
        let number = words
            .get(1)
            .filter(|word| word.is_number() && word.upper.len() <= STATE_ROAD_DIGITS_MAX)
            .filter(|_| !words[0].ends_segment && !matches!(owner, "FL" | "NE"))?;
        Some(NumberedRoad {
            name: format!("{owner} Highway {}", number.upper),
            used: 2,
        })
    })
}

/// A road type and its number. `skipped` words of the state come before the type.
fn read_road_by_type(
    state: &str,
    upper: &[&str],
    words: &[AddressWord<'_>],
    skipped: usize,
) -> Option<NumberedRoad> {
    let (mut name, used) = match highway::road_type(upper) {
        Some((written, used)) => (written.to_owned(), used),
        None => match read_road_owner(upper) {
            Some(road) => road,
            None => return read_parted_road(upper),
        },
    };
    let used = skipped + used;
    // `Highway No 33`.
    let is_sign = |index: usize| {
        words
            .get(index)
            .is_some_and(|word| matches!(word.upper, "NO" | "#"))
    };
    let signed = is_sign(used)
        && words
            .get(used + 1)
            .is_some_and(|word| word.starts_with_digit());
    if signed && highway::takes_only_plain_number(&name) {
        return None;
    }
    let used = used + usize::from(signed);
    let may_be_letter = words.len() == used + 1 && highway::may_have_road_letter(&name);
    let number = words.get(used).filter(|word| {
        is_road_number(word, may_be_letter) || is_letter_road(&name, &words[used..])
    })?;
    if words[..used].iter().any(|word| word.ends_segment) {
        return None;
    }
    if !state.is_empty() {
        name.insert_str(0, &format!("{state} "));
    }
    name.push(' ');
    name.push_str(number.upper);
    Some(NumberedRoad {
        name,
        used: used + 1,
    })
}

/// `County 12 Rd`, `State 60 Hwy`: the kind stands behind the number.
fn read_parted_road(upper: &[&str]) -> Option<NumberedRoad> {
    let (owner, used) = highway::road_owner(upper)?;
    let (number, kind) = (upper.get(used)?, upper.get(used + 1)?);
    let kind = highway::road_kind(kind)?;
    number
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| NumberedRoad {
            name: format!("{owner} {kind} {number}"),
            used: used + 2,
        })
}

/// True for the letters of a county's road with nothing but units behind them: `County Road ZZZ`.
fn is_letter_road(road: &str, words: &[AddressWord<'_>]) -> bool {
    let [letters, behind @ ..] = words else {
        return false;
    };
    let ends = letters.ends_segment
        || behind
            .first()
            .is_none_or(|word| unit::find_unit_designator(word.upper).is_some());
    ends && highway::is_county_road_letters(road, letters.upper)
}

/// `County Hwy`, `US 41`, `Highway`: the owner, the kind, or both, and the words used.
fn read_road_owner(upper: &[&str]) -> Option<(String, usize)> {
    let owner = highway::road_owner(upper);
    let used = owner.map_or(0, |(_, used)| used);
    let kind = upper.get(used).and_then(|word| highway::road_kind(word));
    match (owner, kind) {
        (Some((owner, used)), Some(kind)) => Some((format!("{owner} {kind}"), used + 1)),
        (Some(("US", used)), None) => Some(("US Highway".to_owned(), used)),
        (None, Some(kind)) => Some((kind.to_owned(), 1)),
        _ => None,
    }
}

/// The name of a road in its state: what is a private road in Texas is one of the commonwealth's in Puerto Rico.
pub(super) fn name_road_in_state(name: String, state: &str) -> String {
    match name.strip_prefix(highway::PRIVATE_ROAD) {
        Some(number) if state == "PR" => format!("PR Highway{number}"),
        _ => name,
    }
}

/// True for a road's number: digits with letters, or, where that may be, up to two letters.
fn is_road_number(word: &AddressWord<'_>, may_be_letter: bool) -> bool {
    word.has_digit()
        || (may_be_letter
            && word.upper.len() <= 2
            && word.upper.bytes().all(|byte| byte.is_ascii_alphabetic()))
}

/// `I-10`, `IH280`, `US41`, `KY-1207`.
fn read_glued_road(word: &AddressWord<'_>) -> Option<NumberedRoad> {
    let letters = word
        .upper
        .bytes()
        .take_while(u8::is_ascii_alphabetic)
        .count();
    let (letters, rest) = word.upper.split_at(letters);
    let number = rest.strip_prefix('-').unwrap_or(rest);
    if letters.is_empty() || !number.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let kind = if letters == "PR" && rest.starts_with('-') {
        highway::PRIVATE_ROAD.to_owned()
    } else if highway::is_glued_type(letters) {
        let (name, _) = highway::road_type(&[letters]).map_or_else(
            || read_road_owner(&[letters]),
            |(name, used)| Some((name.to_owned(), used)),
        )?;
        name
    } else if rest.starts_with('-') {
        format!("{} Highway", state::find_state_abbreviation(letters)?)
    } else {
        return None;
    };
    Some(NumberedRoad {
        name: format!("{kind} {number}"),
        used: 1,
    })
}
