//! The delivery line: everything above city, state and ZIP.

mod boxes;
mod highways;
mod number;
mod places;
mod spelled;
mod streets;
mod units;

use std::ops::Range;

use crate::{
    casing, choice::ReadingChoices, line::AddressWord, parsed::StreetParts, tables::state,
};

pub(crate) use boxes::is_numbered_route;
pub(crate) use units::SecondaryUnit;

/// The parts of the delivery lines, in standard form and mixed case; absent parts are empty.
#[derive(Debug, Default)]
pub(crate) struct DeliveryLine {
    pub number: String,
    pub predirectional: String,
    pub street: String,
    pub suffix: String,
    pub postdirectional: String,
    /// In the order in which they are written.
    pub units: Vec<SecondaryUnit>,
    pub po_box: String,
    /// Rural or highway contract route, or the group of a military box.
    pub rural_route: String,
    pub box_number: String,
    pub urbanization: String,
    /// `c/o Jane Doe`, `Attn Mail Room`.
    pub care_of: Vec<String>,
    /// Buildings and other words that no carrier needs, in the order they came, behind the addresses that another one
    /// took the place of.
    pub others: Vec<String>,
    /// How many addresses begin `others`.
    replaced: usize,
    /// What could be read in two ways.
    pub choices: ReadingChoices,
    /// The state of the last line, or empty: two letters.
    pub state: &'static str,
    /// A later line holds a street that nobody can take for anything else.
    pub has_street_below: bool,
}

/// Which part of the input a line came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputLine {
    Address1,
    Address2,
}

impl DeliveryLine {
    /// An empty one for this state, in which choices will be made so.
    pub fn new(state: &str, choices: ReadingChoices) -> Self {
        Self {
            choices,
            state: state::find_state_abbreviation(state).unwrap_or_default(),
            ..Self::default()
        }
    }

    /// Reads the two lines of an address.
    pub fn read_lines(&mut self, first: Vec<AddressWord<'_>>, second: Vec<AddressWord<'_>>) {
        // `123` on one line and `Main St` on the other.
        if number::is_only_number(&first) && number::continues_number(&second) {
            let mut words = first;
            if let Some(number) = words.last_mut() {
                number.ends_segment = false;
            }
            words.extend(second);
            return self.read_line(words, InputLine::Address2);
        }
        self.has_street_below = second
            .split_inclusive(|word| word.ends_segment)
            .any(number::is_whole_address);
        self.read_line(first, InputLine::Address1);
        self.has_street_below = false;
        if !second.is_empty() {
            self.read_line(second, InputLine::Address2);
        }
    }

    /// Reads one line into the parts that are not taken yet.
    pub fn read_line(&mut self, words: Vec<AddressWord<'_>>, source: InputLine) {
        let words = self.take_care_of(words);
        let words = self.take_urbanization(words);
        let words = boxes::take_box(self, words);
        // A route and a post office box may stand on one line.
        let words = if self.has_box() {
            boxes::take_box(self, words)
        } else {
            words
        };
        let words = number::part_glued_name(words);
        let words = number::mark_segments(words, source);
        let segments = words.split_inclusive(|word| word.ends_segment);
        // Without a numbered segment the first that is no unit is the street. A number in words counts when none is in
        // digits.
        let has_digits = segments.clone().any(number::is_numbered);
        let is_numbered = |segment: &[AddressWord<'_>]| {
            if has_digits {
                number::is_numbered(segment)
            } else {
                spelled::read_spelled_number(units::skip_leading_units(segment), false).is_some()
            }
        };
        let has_number = has_digits || segments.clone().any(is_numbered);
        if has_number && self.number.is_empty() {
            self.move_street_aside();
        }
        let mut has_street_here = false;
        let mut below = segments.clone();
        for segment in segments {
            below.next();
            // `7 Eleven Store 1234` above the street.
            let has_street_below =
                self.has_street_below || below.clone().any(number::is_whole_address);
            if has_street_below && number::is_business_name(segment) {
                self.push_other(segment);
                continue;
            }
            // Of two on one line the one directly above the city is the address (Publication 28, dual addresses).
            if has_street_here && !self.suffix.is_empty() && number::begins_whole_street(segment) {
                self.move_street_aside();
            }
            let is_alone = !has_number && (!self.has_box() || places::begins_with_place(segment));
            let may_be_street = self.street.is_empty() && (is_numbered(segment) || is_alone);
            self.read_segment(segment, may_be_street, source);
            has_street_here |= may_be_street && !self.number.is_empty();
        }
    }

    /// True when a PO Box or route has been read.
    pub fn has_box(&self) -> bool {
        !self.po_box.is_empty() || !self.rural_route.is_empty()
    }

    /// True for a rural or contract route without a box, beside a numbered street.
    pub fn is_route_beside_street(&self) -> bool {
        is_numbered_route(&self.rural_route)
            && self.box_number.is_empty()
            && self.po_box.is_empty()
            && !self.number.is_empty()
            && !self.street.is_empty()
    }

    /// A sign on another line than the route is the route's box all the same (Publication 28 §243). A ship has units.
    pub fn take_box_from_units(&mut self) {
        let lacks_box = !self.rural_route.is_empty()
            && !self.rural_route.starts_with("US")
            && self.box_number.is_empty()
            && !self.is_route_beside_street();
        if lacks_box && let Some(at) = self.units.iter().position(|unit| unit.designator == "#") {
            self.box_number = self.units.remove(at).identifier;
        }
    }

    /// What was read as a street was a building or a second address: the street comes now.
    fn move_street_aside(&mut self) {
        if !self.street.is_empty() {
            let is_address = !self.number.is_empty();
            let place = if is_address {
                self.replaced
            } else {
                self.others.len()
            };
            self.others.insert(place, self.street_line());
            self.replaced += usize::from(is_address);
            for part in [
                &mut self.number,
                &mut self.predirectional,
                &mut self.street,
                &mut self.suffix,
                &mut self.postdirectional,
            ] {
                part.clear();
            }
        }
    }

    /// Number, street and directionals, without units.
    pub fn street_line(&self) -> String {
        let mut name = String::with_capacity(40);
        for part in [
            &self.predirectional,
            &self.street,
            &self.suffix,
            &self.postdirectional,
        ] {
            push_part(&mut name, part);
        }
        format_numbered_street(&self.number, &name)
    }

    /// The parts of the street.
    pub fn street_parts(&self) -> StreetParts<'_> {
        StreetParts {
            predirectional: &self.predirectional,
            name: &self.street,
            suffix: &self.suffix,
            postdirectional: &self.postdirectional,
        }
    }

    fn read_segment(
        &mut self,
        segment: &[AddressWord<'_>],
        may_be_street: bool,
        source: InputLine,
    ) {
        if may_be_street && places::read_place(self, segment, source) {
            return;
        }
        let street = self.take_units(segment, source);
        if may_be_street && !street.is_empty() {
            streets::read_street_segment(self, street, source);
        } else {
            self.read_others(street, source);
        }
    }

    /// Reads words that are no part of the street: units, and what is kept beside them.
    fn read_others(&mut self, words: &[AddressWord<'_>], source: InputLine) {
        let mut rest = words;
        while !rest.is_empty() {
            rest = self.take_units(rest, source);
            let (name, units) = rest.split_at(units::find_units_start(rest));
            match units::read_bare_unit(name, source) {
                Some(unit) => self.units.push(unit),
                None => self.push_other(name),
            }
            rest = units;
        }
    }

    /// Keeps words that are no part of the delivery line.
    fn push_other(&mut self, words: &[AddressWord<'_>]) {
        if !words.is_empty() {
            let name = casing::capitalise_name(words.iter().map(|word| word.sent));
            self.others.push(name);
        }
    }

    /// Takes the units that the words begin with.
    fn take_units<'w, 'a>(
        &mut self,
        words: &'w [AddressWord<'a>],
        source: InputLine,
    ) -> &'w [AddressWord<'a>] {
        let mut rest = words;
        while let Some((unit, used)) = units::read_unit(rest, source) {
            self.units.push(unit);
            rest = &rest[used..];
        }
        rest
    }

    /// Takes a care-of or attention line out of the words (Publication 28 §222): up to the next
    /// segment, or, where it opens the line, up to the house number.
    fn take_care_of<'a>(&mut self, mut words: Vec<AddressWord<'a>>) -> Vec<AddressWord<'a>> {
        while let Some(place) = self.read_care_of(&words) {
            words.drain(place);
        }
        words
    }

    /// Keeps the first care-of among the words and gives its place.
    fn read_care_of(&mut self, words: &[AddressWord<'_>]) -> Option<Range<usize>> {
        let (start, marker, marker_words) = (0..words.len()).find_map(|index| {
            care_of_marker(&words[index..]).map(|(marker, count)| (index, marker, count))
        })?;
        let name_start = start + marker_words;
        let begins_address = |index: usize| {
            boxes::begins_with_box(&words[index..])
                || (start == 0 && number::begins_with_number(&words[index..]))
        };
        let ends_name = |index: usize| {
            words[index - 1].ends_segment && index > name_start || begins_address(index)
        };
        let name_end = (name_start..words.len())
            .find(|&index| ends_name(index))
            .unwrap_or(words.len());
        if name_end > name_start {
            let name =
                casing::capitalise_name(words[name_start..name_end].iter().map(|word| word.sent));
            self.care_of.push(format!("{marker} {name}"));
        }
        Some(start..name_end)
    }

    /// Takes a Puerto Rico urbanization (Publication 28 §293): up to the next segment or number.
    fn take_urbanization<'a>(&mut self, mut words: Vec<AddressWord<'a>>) -> Vec<AddressWord<'a>> {
        let starts =
            |word: &AddressWord<'_>| matches!(word.upper, "URB" | "URBANIZACION" | "URBANIZATION");
        let Some(start) = words.iter().position(starts) else {
            return words;
        };
        if let Some(before) = start.checked_sub(1) {
            words[before].ends_segment = true;
        }
        let name_start = start + 1;
        let end = (name_start..words.len())
            .find(|&index| {
                words[index - 1].ends_segment
                    || number::begins_with_number(&words[index..])
                    || words[index].starts_with_digit()
                    || words[index].upper == "CALLE"
            })
            .unwrap_or(words.len());
        if end > name_start {
            let name = casing::capitalise_name(words[name_start..end].iter().map(|word| word.sent));
            self.urbanization = name;
        }
        words.drain(start..end);
        words
    }
}

/// `c/o` or `Attn` at the beginning of the words, and how many words spell it.
fn care_of_marker(words: &[AddressWord<'_>]) -> Option<(&'static str, usize)> {
    match words {
        [first, second, ..] if (first.upper, second.upper) == ("CARE", "OF") => Some(("c/o", 2)),
        [first, ..] => match first.upper {
            "C/O" | "%" => Some(("c/o", 1)),
            "ATTN" | "ATTENTION" | "ATT" => Some(("Attn", 1)),
            _ => None,
        },
        [] => None,
    }
}

/// A street behind its house number; a road of Puerto Rico that is addressed by its kilometres has them behind.
pub(crate) fn format_numbered_street(number: &str, street_name: &str) -> String {
    let (first, second) = if places::is_kilometre_road(street_name) {
        (street_name, number)
    } else {
        (number, street_name)
    };
    let mut line = String::with_capacity(40);
    push_part(&mut line, first);
    push_part(&mut line, second);
    line
}

/// Appends a part that is not empty, behind a space.
pub(crate) fn push_part(line: &mut String, part: &str) {
    if !line.is_empty() && !part.is_empty() {
        line.push(' ');
    }
    line.push_str(part);
}
