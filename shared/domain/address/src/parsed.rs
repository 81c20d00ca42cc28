//! An address in its parts and in standard form.

use crate::{
    choice::{ReadingChoices, ReadingGround},
    compared,
    delivery::{
        DeliveryLine, InputLine, SecondaryUnit, format_numbered_street, is_numbered_route,
        push_part,
    },
    id::AddressId,
    input::{AddressInput, INPUT_BYTES_MAX},
    last_line::{self, LastLine},
    line::FoldedLine,
    points::StandardStreet,
    tables::unit,
};

/// The parts of an address in the standard form of Publication 28 and in mixed case (`123`, `N`,
/// `Main`, `St`). Absent parts are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedAddress {
    /// House number, with its letter or fraction: `123`, `112-10`, `9 1/2`.
    pub number: String,
    /// Directional before the name: `N`, `SW`.
    pub predirectional: String,
    /// Street name, or the whole name of a numbered road: `Main`, `42nd`, `US Highway 41`.
    pub street: String,
    /// Street suffix: `St`, `Blvd`.
    pub suffix: String,
    /// Directional behind the name.
    pub postdirectional: String,
    /// Secondary unit designator: `Apt`, `Ste`, `#`.
    pub unit_designator: String,
    /// Secondary unit: `4B`.
    pub unit: String,
    /// PO Box number.
    pub po_box: String,
    /// `RR 2`, `HC 68`, or the group of a military box: `PSC 802`, `Unit 2050`.
    pub rural_route: String,
    /// Box on the route or in the group.
    pub box_number: String,
    /// Puerto Rico urbanization, without `Urb`.
    pub urbanization: String,
    /// City, abbreviated words written out.
    pub city: String,
    /// Two capital letters; as sent when no state is known by that name.
    pub state: String,
    /// Five digits, leading zeros restored; as sent when it is no ZIP.
    pub zip: String,
    /// Four digits.
    pub plus4: String,
    /// The delivery line with all units. Where both a PO Box and a street were sent it is the box.
    pub line1: String,
    /// What stands above the delivery line: urbanization, care-of, building, second address.
    pub line2: String,
    /// `123 N Main St, Austin, TX 78701-1234`, without a unit that was sent in `address_2`.
    pub one_line: String,
    /// The units of the delivery line that were sent in `address_2`, as they stand in it: `Apt 4B`.
    pub unit_apart: String,
    /// The delivery line without the units that `one_line` leaves out.
    shown_line: String,
    /// The delivery line without units, and the urbanization, as addresses are compared: see [`compared`].
    pub(crate) compared_house: String,
    /// The units as addresses are compared.
    pub(crate) compared_unit: String,
}

/// The parts that make a street.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StreetParts<'a> {
    pub predirectional: &'a str,
    pub name: &'a str,
    pub suffix: &'a str,
    pub postdirectional: &'a str,
}

/// What stands for nothing where a form asks for a second line.
const NOTHING: [&str; 6] = ["N/A", "NA", "NONE", "NULL", "NIL", "NOT APPLICABLE"];

/// Parses and standardises an address sent in parts. Never fails: what cannot be read is left out
/// of the parts, and an input longer than `INPUT_BYTES_MAX` gives no parts at all.
pub fn parse(input: AddressInput<'_>) -> ParsedAddress {
    parse_by_choice(input, ReadingGround::Standard).0
}

/// Parses an address as [`parse`] does, but for what this ground speaks against, and gives the choices that were met.
pub(crate) fn parse_by_choice(
    input: AddressInput<'_>,
    ground: ReadingGround,
) -> (ParsedAddress, ReadingChoices) {
    if input.is_too_long() {
        return Default::default();
    }
    let last_line = LastLine::from_parts(input.city, input.state, input.zip);
    let mut delivery = DeliveryLine::new(&last_line.state, ReadingChoices::with_ground(ground));
    let is_nothing = NOTHING
        .iter()
        .any(|nothing| nothing.eq_ignore_ascii_case(input.address_2.trim()));
    let second = if is_nothing { "" } else { input.address_2 };
    let lines = [input.address_1, second].map(FoldedLine::fold);
    delivery.read_lines(lines[0].words(), lines[1].words());
    let choices = delivery.choices;
    (ParsedAddress::assemble(delivery, last_line), choices)
}

/// Parses and standardises an address written on one line, with or without commas. Never fails,
/// like [`parse`].
pub fn parse_one_line(text: &str) -> ParsedAddress {
    if text.len() > INPUT_BYTES_MAX {
        return ParsedAddress::default();
    }
    let line = FoldedLine::fold(text);
    let (words, last_line) = last_line::split_last_line(line.words());
    let mut delivery = DeliveryLine::new(&last_line.state, ReadingChoices::default());
    delivery.read_line(words, InputLine::Address1);
    ParsedAddress::assemble(delivery, last_line)
}

impl ParsedAddress {
    /// The identity of the address: of its delivery line, unit included, in its ZIP. Two spellings
    /// of one address have one identity; an address that is not deliverable has `unverified_id`.
    pub fn id(&self) -> AddressId {
        AddressId::from_verified_line(&self.compared_house, &self.compared_unit, &self.zip)
    }

    /// True when a carrier would know where to go: a numbered street, a box, a route or general
    /// delivery.
    pub(crate) fn is_deliverable_line(&self) -> bool {
        !self.po_box.is_empty()
            || !self.rural_route.is_empty()
            || self.street == "General Delivery"
            || self.is_named_place()
            || (!self.number.is_empty() && !self.street.is_empty())
    }

    /// True for the places that have no number of their own: a pier, and the buildings of Puerto Rico in which a unit is
    /// found by the building's name (Publication 28 §29).
    fn is_named_place(&self) -> bool {
        let is_building = self.street.starts_with("Cond ") || self.street.starts_with("Res ");
        self.number.is_empty()
            && (self.street.starts_with("Pier ")
                || (is_building && self.state == "PR" && !self.unit.is_empty()))
    }

    fn assemble(mut delivery: DeliveryLine, last_line: LastLine) -> Self {
        delivery.take_box_from_units();
        delivery.units = sort_units(delivery.units);
        let street_line = delivery.street_line();
        // A route whose box nobody named leads nowhere: the street beside it does.
        let is_route_beside = delivery.is_route_beside_street();
        let box_line = if is_route_beside {
            String::new()
        } else {
            format_box_line(&delivery)
        };
        let is_dual = !box_line.is_empty() && !street_line.is_empty();
        let base = if box_line.is_empty() {
            &street_line
        } else {
            &box_line
        };
        let units: &[SecondaryUnit] = if is_dual { &[] } else { &delivery.units };
        let sent_in = |source| units.iter().filter(move |unit| unit.source == source);
        let shown_line = append_units(base, sent_in(InputLine::Address1));
        let unit_apart = append_units("", sent_in(InputLine::Address2));
        let last_parts = [
            &last_line.city,
            &last_line.state,
            &last_line.zip,
            &last_line.plus4,
        ];
        let one_line = format_one_line(&shown_line, last_parts);
        let second = is_dual.then(|| append_units(&street_line, delivery.units.iter()));
        let (line1, line2) = (
            append_units(base, units.iter()),
            format_second_line(&delivery, second),
        );
        let compared_line = if box_line.is_empty() {
            compared::comparable_house(&delivery.number, delivery.street_parts(), &last_line.zip)
        } else {
            compared::comparable_box_line(&box_line)
        };
        let compared_house = append_urbanization(compared_line, &delivery.urbanization);
        let compared_unit = compared::comparable_units(units);
        let main_unit = delivery
            .units
            .iter()
            .rev()
            .min_by_key(|unit| unit_rank(unit));
        let (unit_designator, unit) = main_unit.map_or_else(Default::default, |unit| {
            (unit.designator.to_owned(), unit.identifier.clone())
        });
        Self {
            number: delivery.number,
            predirectional: delivery.predirectional,
            street: delivery.street,
            suffix: delivery.suffix,
            postdirectional: delivery.postdirectional,
            unit_designator,
            unit,
            po_box: delivery.po_box,
            rural_route: delivery.rural_route,
            box_number: delivery.box_number,
            urbanization: delivery.urbanization,
            city: last_line.city,
            state: last_line.state,
            zip: last_line.zip,
            plus4: last_line.plus4,
            line1,
            line2,
            one_line,
            unit_apart,
            shown_line,
            compared_house,
            compared_unit,
        }
    }

    /// True for an address on a numbered street: address points hold these and no boxes.
    pub fn is_street(&self) -> bool {
        let is_beside_street = is_numbered_route(&self.rural_route)
            && self.box_number.is_empty()
            && !self.street.is_empty();
        let is_on_route = !self.rural_route.is_empty() && !is_beside_street;
        self.po_box.is_empty() && !is_on_route && !self.number.is_empty()
    }

    /// Directionals, name and suffix, without the house number.
    pub(crate) fn street_name(&self) -> String {
        let mut name = String::with_capacity(self.street.len() + 16);
        for part in [
            &self.predirectional,
            &self.street,
            &self.suffix,
            &self.postdirectional,
        ] {
            push_part(&mut name, part);
        }
        name
    }

    /// The same, each for itself.
    pub(crate) fn as_street_parts(&self) -> StreetParts<'_> {
        StreetParts {
            predirectional: &self.predirectional,
            name: &self.street,
            suffix: &self.suffix,
            postdirectional: &self.postdirectional,
        }
    }

    /// Puts another spelling of the street into the address. Only for one that [`ParsedAddress::is_street`].
    pub(crate) fn set_street(&mut self, street: &StandardStreet) {
        let before = format_numbered_street(&self.number, &self.street_name());
        self.predirectional.clone_from(&street.predirectional);
        self.street.clone_from(&street.name);
        self.suffix.clone_from(&street.suffix);
        self.postdirectional.clone_from(&street.postdirectional);
        let after = format_numbered_street(&self.number, &self.street_name());
        for line in [&mut self.line1, &mut self.shown_line] {
            if let Some(units) = line.strip_prefix(&before) {
                *line = format!("{after}{units}");
            }
        }
        let compared_line =
            compared::comparable_house(&self.number, self.as_street_parts(), &self.zip);
        self.compared_house = append_urbanization(compared_line, &self.urbanization);
        self.write_one_line();
    }

    /// Puts the four digits behind the ZIP into the address.
    pub(crate) fn set_plus4(&mut self, plus4: &str) {
        plus4.clone_into(&mut self.plus4);
        self.write_one_line();
    }

    fn write_one_line(&mut self) {
        self.one_line = format_one_line(
            &self.shown_line,
            [&self.city, &self.state, &self.zip, &self.plus4],
        );
    }

    /// Puts another city into the address.
    pub(crate) fn set_city(&mut self, city: &str) {
        city.clone_into(&mut self.city);
        self.write_one_line();
    }
}

/// The unit that is the home rather than its building, floor or mailbox comes first.
fn unit_rank(unit: &SecondaryUnit) -> u8 {
    match unit::designator_rank(unit.designator) {
        2 => 0,
        1 => 1,
        0 => 2,
        _ => 3,
    }
}

/// Units in standard order, each once. The same identifier with and without a designator is one
/// unit, sent twice.
fn sort_units(units: Vec<SecondaryUnit>) -> Vec<SecondaryUnit> {
    let mut kept: Vec<SecondaryUnit> = Vec::with_capacity(units.len());
    for unit in units {
        let same = kept.iter_mut().find(|other| {
            compared::comparable_unit_identifier(&other.identifier)
                == compared::comparable_unit_identifier(&unit.identifier)
                && (other.designator == unit.designator
                    || other.designator == "#"
                    || unit.designator == "#")
        });
        match same {
            Some(other) if other.designator == "#" => other.designator = unit.designator,
            Some(_) => {}
            None => kept.push(unit),
        }
    }
    kept.sort_by_key(|unit| unit::designator_rank(unit.designator));
    kept
}

/// `PO Box 12`, `RR 2 Box 18`, or empty. Where both were sent it is the post office's box; the route stands above.
fn format_box_line(delivery: &DeliveryLine) -> String {
    if !delivery.po_box.is_empty() {
        return format!("PO Box {}", delivery.po_box);
    }
    format_route_line(delivery)
}

/// `RR 2 Box 18`, or empty.
fn format_route_line(delivery: &DeliveryLine) -> String {
    let mut line = delivery.rural_route.clone();
    if !delivery.box_number.is_empty() {
        line.push_str(" Box ");
        line.push_str(&delivery.box_number);
    }
    line
}

fn append_units<'a>(base: &str, units: impl Iterator<Item = &'a SecondaryUnit>) -> String {
    let mut line = String::with_capacity(base.len() + 16);
    line.push_str(base);
    for unit in units {
        push_part(&mut line, unit.designator);
        push_part(&mut line, &unit.identifier);
    }
    line
}

fn format_second_line(delivery: &DeliveryLine, street: Option<String>) -> String {
    let mut line = String::new();
    if !delivery.urbanization.is_empty() {
        line.push_str("Urb ");
        line.push_str(&delivery.urbanization);
    }
    let is_above = !delivery.po_box.is_empty() && !delivery.rural_route.is_empty();
    let route =
        (is_above || delivery.is_route_beside_street()).then(|| format_route_line(delivery));
    for part in delivery
        .care_of
        .iter()
        .chain(&delivery.others)
        .chain(&route)
        .chain(&street)
    {
        if !line.is_empty() {
            line.push_str(", ");
        }
        line.push_str(part);
    }
    line
}

/// Two urbanizations of one ZIP may have the same streets and numbers (Publication 28 §293).
fn append_urbanization(mut compared_line: String, urbanization: &str) -> String {
    if !urbanization.is_empty() {
        compared_line.push_str(", URB ");
        compared_line.push_str(&compared::comparable_name(urbanization));
    }
    compared_line
}

/// `delivery line, City, ST 12345-6789`, without what is absent.
fn format_one_line(delivery_line: &str, last_line: [&String; 4]) -> String {
    let mut line = String::with_capacity(delivery_line.len() + 40);
    line.push_str(delivery_line);
    for (separator, part) in [", ", ", ", " ", "-"].into_iter().zip(last_line) {
        if !part.is_empty() {
            if !line.is_empty() {
                line.push_str(separator);
            }
            line.push_str(part);
        }
    }
    line
}
