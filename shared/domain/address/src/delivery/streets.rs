//! A numbered street line: Publication 28 §231 to §237.

use super::{DeliveryLine, InputLine, highways, number, spelled, units};
use crate::{
    casing,
    choice::ReadingGround,
    line::AddressWord,
    tables::{direction, suffix},
};

/// The state whose house numbers begin with the letter of a directional (Publication 28, Appendix D1).
const GRID_STATE: &str = "WI";

/// Reads a street segment, whose leading units are taken already, into the delivery.
pub(super) fn read_street_segment(
    delivery: &mut DeliveryLine,
    words: &[AddressWord<'_>],
    source: InputLine,
) {
    let turned = if number::begins_spanish_street(words) {
        number::move_number_first(words)
    } else {
        number::begins_with_directional(words).then(|| number::turn_directional(words))
    };
    let turned_words = turned.as_deref().unwrap_or(words);
    let words = if turned.is_some() && number::begins_with_directional(words) {
        take_number_behind_directional(delivery, turned_words)
    } else {
        take_number(delivery, turned_words, source)
    };
    // `6910 # G Mary Caroline Cir`: the unit stands before the street.
    let words = match units::read_unit(words, source) {
        Some((unit, used)) if unit.is_named_early(words, used) => {
            delivery.units.push(unit);
            &words[used..]
        }
        _ => words,
    };
    let units_start = units::find_units_start(words);
    let (street, units) = words.split_at(units_start);
    delivery.read_others(units, source);
    read_street(delivery, street, source);
}

/// Takes the house number, in digits or in words, and gives the words behind it.
fn take_number<'w, 'a>(
    delivery: &mut DeliveryLine,
    words: &'w [AddressWord<'a>],
    source: InputLine,
) -> &'w [AddressWord<'a>] {
    if let Some((number, used)) = spelled::read_spelled_number(words, false) {
        let shorter = spelled::read_spelled_number(words, true).filter(|short| short.1 < used);
        let (number, used) = shorter
            .filter(|_| delivery.choices.is_taken(ReadingGround::NumberNamesStreet))
            .unwrap_or((number, used));
        delivery.number = number.to_string();
        return &words[used..];
    }
    let (number, behind) = number::split_house_number(words);
    delivery.number = number;
    take_number_letter(delivery, words, behind, source)
}

/// The directional was sent before the house number. It is the street's, or, in the grid of a Wisconsin county, the
/// number's: `E 613` is then `E613`.
fn take_number_behind_directional<'w, 'a>(
    delivery: &mut DeliveryLine,
    words: &'w [AddressWord<'a>],
) -> &'w [AddressWord<'a>] {
    let number = words[0].upper;
    let direction = words[1].upper;
    let is_usual = !delivery.choices.is_taken(ReadingGround::GridNumber);
    let is_grid = direction.len() == 1 && (delivery.state == GRID_STATE) == is_usual;
    if is_grid {
        delivery.number = format!("{direction}{number}");
        &words[2..]
    } else {
        number.clone_into(&mut delivery.number);
        &words[1..]
    }
}

/// A letter that was sent apart from the house number may be the unit. Gives the words behind both.
fn take_number_letter<'w, 'a>(
    delivery: &mut DeliveryLine,
    words: &[AddressWord<'a>],
    behind: &'w [AddressWord<'a>],
    source: InputLine,
) -> &'w [AddressWord<'a>] {
    if let [number, letter, ..] = words
        && behind.len() + 2 == words.len()
        && number.is_number()
        && letter.is_letter()
        && delivery.choices.is_taken(ReadingGround::LetterIsUnit)
    {
        number.upper.clone_into(&mut delivery.number);
        let letter = letter.upper.to_owned();
        delivery
            .units
            .push(units::SecondaryUnit::without_designator(letter, source));
    }
    behind
}

/// Reads directionals, name and suffix.
fn read_street(delivery: &mut DeliveryLine, words: &[AddressWord<'_>], source: InputLine) {
    let words = take_bare_unit(delivery, words, source);
    if read_highway(delivery, words, source) {
        return;
    }
    let words = take_tail(delivery, words, source);
    let words = take_postdirectional(delivery, words, source);
    let words = take_suffix(delivery, words);
    let words = take_predirectional(delivery, words);
    let form = NameForm {
        has_suffix: !delivery.suffix.is_empty(),
        has_predirectional: !delivery.predirectional.is_empty(),
        spells_directionals: delivery.choices.has_directional_in_name(),
    };
    delivery.street = format_street_name(words, form);
}

/// A road with a number: what follows it is a directional, a suffix (`Byp`) or both.
fn read_highway(delivery: &mut DeliveryLine, words: &[AddressWord<'_>], source: InputLine) -> bool {
    let Some(highway) = highways::read_numbered_road_line(words) else {
        return false;
    };
    highway
        .predirectional
        .clone_into(&mut delivery.predirectional);
    delivery.street = highways::name_road_in_state(highway.name, delivery.state);
    let rest = match &words[highway.used..] {
        // `State Route 410 E 216`: a unit that nobody named.
        [direction, unit]
            if direction::abbreviate_directional(direction.upper).is_some()
                && unit.has_digit()
                && !casing::is_ordinal(unit.upper) =>
        {
            delivery
                .units
                .push(units::SecondaryUnit::without_designator(
                    unit.upper.to_owned(),
                    source,
                ));
            std::slice::from_ref(direction)
        }
        rest => rest,
    };
    let (postdirectional, rest) = split_final_directional(rest);
    postdirectional.clone_into(&mut delivery.postdirectional);
    let rest = match rest {
        [head @ .., last] => match suffix::standard_suffix(last.upper) {
            Some(standard) => {
                standard.clone_into(&mut delivery.suffix);
                head
            }
            None => rest,
        },
        [] => rest,
    };
    if !rest.is_empty() {
        delivery.street.push(' ');
        delivery
            .street
            .push_str(&format_street_name(rest, NameForm::default()));
    }
    true
}

/// A number or letter behind the suffix is a unit that nobody named (`123 Main St 4B`); behind a
/// name without a suffix only a number is (`1020 W Bryn Mawr 211`).
fn take_bare_unit<'w, 'a>(
    delivery: &mut DeliveryLine,
    words: &'w [AddressWord<'a>],
    source: InputLine,
) -> &'w [AddressWord<'a>] {
    let name = match words {
        [first, rest @ ..] if direction::abbreviate_directional(first.upper).is_some() => rest,
        _ => words,
    };
    let [head @ .., last] = name else {
        return words;
    };
    // `Calle 4` is a street.
    if head.len() == 1 && number::begins_spanish_street(head) {
        return words;
    }
    let is_letter = last.is_letter() && direction::abbreviate_directional(last.upper).is_none();
    let is_number = last.has_digit() && !casing::is_ordinal(last.upper);
    let is_road =
        highways::read_numbered_road_line(words).is_some_and(|road| road.used == words.len());
    if is_road || !(is_letter || is_number) {
        return words;
    }
    let has_unit = !delivery.units.is_empty();
    let follows_suffix = ends_in_suffix(head);
    let is_plain = is_number && !has_unit && is_plain_name(head);
    if !follows_suffix && !is_plain {
        return words;
    }
    if is_short_unit(delivery, head) {
        delivery.units.push(units::SecondaryUnit {
            designator: "Unit",
            identifier: last.upper.to_owned(),
            source,
        });
        return &words[..words.len() - 2];
    }
    if !follows_suffix && delivery.choices.is_taken(ReadingGround::NumberInName) {
        return words;
    }
    delivery
        .units
        .push(units::SecondaryUnit::without_designator(
            last.upper.to_owned(),
            source,
        ));
    &words[..words.len() - 1]
}

/// True when the `Un` before a number is a unit: usually behind a suffix, elsewhere it is usually the suffix `Union`.
fn is_short_unit(delivery: &mut DeliveryLine, head: &[AddressWord<'_>]) -> bool {
    let [street @ .., union] = head else {
        return false;
    };
    if union.upper != "UN" || street.is_empty() {
        return false;
    }
    ends_in_suffix(street) != delivery.choices.is_taken(ReadingGround::ShortUnit)
}

/// True for a name and its suffix, with or without a directional behind.
fn ends_in_suffix(words: &[AddressWord<'_>]) -> bool {
    let is_direction =
        |word: &AddressWord<'_>| direction::abbreviate_directional(word.upper).is_some();
    let words = match words {
        [head @ .., first, second] if is_direction(first) && is_direction(second) => head,
        [head @ .., last] if is_direction(last) => head,
        _ => words,
    };
    matches!(words, [_, .., last] if suffix::standard_suffix(last.upper).is_some())
}

/// True for a name in which nothing is a number or a suffix.
fn is_plain_name(words: &[AddressWord<'_>]) -> bool {
    !words.is_empty()
        && !words
            .iter()
            .any(|word| word.has_digit() || suffix::standard_suffix(word.upper).is_some())
}

/// Takes words behind the suffix that are no part of the street, like a building or the city
/// (`175 Langley Dr Langley Commons`).
fn take_tail<'w, 'a>(
    delivery: &mut DeliveryLine,
    words: &'w [AddressWord<'a>],
    source: InputLine,
) -> &'w [AddressWord<'a>] {
    if let Some(end) = find_building_start(words) {
        delivery.read_others(&words[end..], source);
        return &words[..end];
    }
    let ends_in_type = match words {
        [.., last] => {
            suffix::standard_suffix(last.upper).is_some()
                || direction::abbreviate_directional(last.upper).is_some()
        }
        [] => true,
    };
    if ends_in_type {
        return words;
    }
    let is_end = |index: &usize| {
        let before = words[index - 1].upper;
        suffix::is_thoroughfare(words[*index].upper)
            && direction::abbreviate_directional(before).is_none()
    };
    let Some(end) = (1..words.len()).rev().find(is_end) else {
        return words;
    };
    let end = match direction::abbreviate_directional(words[end + 1].upper) {
        Some(_) => end + 2,
        None => end + 1,
    };
    delivery.read_others(&words[end..], source);
    &words[..end]
}

/// Where a building behind the street begins, whose name ends as a street's may: `Campbell Ave Logan Square`. It has two
/// words at least. A directional between them is the street's.
fn find_building_start(words: &[AddressWord<'_>]) -> Option<usize> {
    let kind = suffix::standard_suffix(words.last()?.upper)?;
    if !matches!(
        kind,
        "Cmns" | "Ctr" | "Cv" | "Ests" | "Gdns" | "Mall" | "Mnr" | "Plz" | "Sq" | "Vlg"
    ) {
        return None;
    }
    let street_end = |index: usize| {
        let standard = suffix::standard_suffix(words[index].upper)?;
        let is_sure = matches!(standard, "Ave" | "Blvd" | "Dr" | "Ln" | "Pkwy" | "Rd");
        let is_directional =
            |at: usize| direction::abbreviate_directional(words[at].upper).is_some();
        match is_directional(index + 1) {
            // Before a directional `St` is a street, never a saint.
            true => ((is_sure || standard == "St")
                && index + 3 < words.len()
                && !is_directional(index - 1))
            .then_some(index + 2),
            false => is_sure.then_some(index + 1),
        }
    };
    (1..words.len().saturating_sub(2))
        .rev()
        .find_map(street_end)
}

/// Takes the directional at the end (§233.2), unless it would be all of the name.
fn take_postdirectional<'w, 'a>(
    delivery: &mut DeliveryLine,
    words: &'w [AddressWord<'a>],
    source: InputLine,
) -> &'w [AddressWord<'a>] {
    let (postdirectional, head) = split_final_directional(words);
    if postdirectional.is_empty() || is_only_type(head) {
        return words;
    }
    if ends_in_suffix(head) {
        let letter = words[head.len()];
        if letter.is_letter()
            && delivery.units.is_empty()
            && delivery.choices.is_taken(ReadingGround::DirectionalIsUnit)
        {
            delivery
                .units
                .push(units::SecondaryUnit::without_designator(
                    letter.upper.to_owned(),
                    source,
                ));
            return head;
        }
    } else if delivery.choices.is_taken(ReadingGround::DirectionalEnds) {
        return words;
    }
    postdirectional.clone_into(&mut delivery.postdirectional);
    head
}

/// The directional of one or two words at the end, or none, and the words before it.
fn split_final_directional<'w, 'a>(
    words: &'w [AddressWord<'a>],
) -> (&'static str, &'w [AddressWord<'a>]) {
    if let [head @ .., first, second] = words
        && !head.is_empty()
        && let Some(combined) = direction::combine_directionals(first.upper, second.upper)
    {
        return (combined, head);
    }
    match words {
        [head @ .., last] => match direction::abbreviate_directional(last.upper) {
            Some(direction) => (direction, head),
            None => ("", words),
        },
        [] => ("", words),
    }
}

/// True when nothing is there, or only the `Avenue` of `Avenue E`.
fn is_only_type(words: &[AddressWord<'_>]) -> bool {
    match words {
        [] => true,
        [only] => suffix::standard_suffix(only.upper)
            .is_some_and(|s| suffix::spell_thoroughfare(s).is_some()),
        _ => false,
    }
}

/// Takes the suffix at the end (§234), misspelled or not.
fn take_suffix<'w, 'a>(
    delivery: &mut DeliveryLine,
    words: &'w [AddressWord<'a>],
) -> &'w [AddressWord<'a>] {
    let [head @ .., before, last] = words else {
        return words;
    };
    let Some(standard) =
        suffix::standard_suffix(last.upper).or_else(|| suffix::correct_suffix_typo(last.upper))
    else {
        return words;
    };
    let is_thoroughfare = suffix::spell_thoroughfare(standard).is_some();
    // `Avenue of the Oaks` ends in a name, and so does `N Park`.
    let is_name = matches!(before.upper, "OF" | "THE" | "AND" | "&")
        || (head.is_empty() && direction::abbreviate_directional(before.upper).is_some());
    if is_name && !is_thoroughfare {
        return words;
    }
    if !is_thoroughfare && delivery.choices.is_taken(ReadingGround::SuffixInName) {
        return words;
    }
    standard.clone_into(&mut delivery.suffix);
    &words[..words.len() - 1]
}

/// Takes the directional at the beginning (§233.1), unless it is all of the name.
fn take_predirectional<'w, 'a>(
    delivery: &mut DeliveryLine,
    words: &'w [AddressWord<'a>],
) -> &'w [AddressWord<'a>] {
    // One letter and one word are two: in `N West Shore Blvd` West belongs to the name.
    if let [first, second, rest @ ..] = words
        && !rest.is_empty()
        && (first.upper.len() > 1) == (second.upper.len() > 1)
        && let Some(combined) = direction::combine_directionals(first.upper, second.upper)
    {
        combined.clone_into(&mut delivery.predirectional);
        return rest;
    }
    match words {
        // `East West Hwy`, `S and W Farm Rd`.
        [first, second] if direction::are_opposite_directionals(first.upper, second.upper) => words,
        [_, second, ..] if matches!(second.upper, "AND" | "&") => words,
        [first, rest @ ..] if !rest.is_empty() => {
            match direction::abbreviate_directional(first.upper) {
                Some(_)
                    if !rest[0].starts_with_digit()
                        && delivery.choices.is_taken(ReadingGround::DirectionalBegins) =>
                {
                    words
                }
                Some(direction) => {
                    direction.clone_into(&mut delivery.predirectional);
                    rest
                }
                None => words,
            }
        }
        _ => words,
    }
}

/// What stands around a street's name.
#[derive(Default)]
struct NameForm {
    has_suffix: bool,
    has_predirectional: bool,
    /// A directional at either end was taken for a word of the name.
    spells_directionals: bool,
}

/// The street's name in mixed case. Words that a suffix follows are written out: a directional
/// (`Bay West Dr`, §233.3) and a suffix (`19th Street Ct`, §234). So is a directional that follows
/// the predirectional (`S West Main St`).
fn format_street_name(words: &[AddressWord<'_>], form: NameForm) -> String {
    let NameForm { has_suffix, .. } = form;
    let mut name = String::new();
    let last = words.len().saturating_sub(1);
    let mut index = 0;
    while let Some(word) = words.get(index) {
        let is_first = name.is_empty();
        if !is_first {
            name.push(' ');
        }
        let ends_name = index == last && !is_first && has_suffix;
        let begins_type = is_first && is_avenue_by_name(words);
        let behind_directional = is_first && form.has_predirectional && last > 0;
        let is_chosen = form.spells_directionals && (is_first || index == last);
        if (ends_name || behind_directional || is_chosen)
            && let Some(direction) = direction::abbreviate_directional(word.upper)
        {
            name.push_str(direction::spell_directional(direction));
        } else if (ends_name || begins_type)
            && let Some(long) =
                suffix::standard_suffix(word.upper).and_then(suffix::spell_thoroughfare)
        {
            name.push_str(long);
        } else if let Some(ending) = find_split_ordinal(words, index, has_suffix) {
            name.push_str(word.upper);
            name.push_str(ending);
            index += 1;
        } else {
            casing::push_word(&mut name, word.sent, is_first);
        }
        index += 1;
    }
    name
}

/// The ending of an ordinal that was sent in two words: `16 TH St`.
fn find_split_ordinal(
    words: &[AddressWord<'_>],
    index: usize,
    has_suffix: bool,
) -> Option<&'static str> {
    let is_last = index + 2 == words.len();
    if !words[index].is_number() {
        return None;
    }
    match words.get(index + 1)?.upper {
        "TH" => Some("th"),
        "ND" => Some("nd"),
        "RD" if is_last && has_suffix => Some("rd"),
        "ST" if is_last && has_suffix => Some("st"),
        _ => None,
    }
}

/// True for `Ave H` and `Ave of the Americas`, whose type is part of the name.
fn is_avenue_by_name(words: &[AddressWord<'_>]) -> bool {
    match words {
        [avenue, second, rest @ ..] if matches!(avenue.upper, "AVE" | "AV") => {
            second.upper == "OF" || (rest.is_empty() && second.upper.len() <= 2)
        }
        _ => false,
    }
}
