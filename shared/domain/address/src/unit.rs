//! The unit at the end of a delivery line.

use crate::{
    delivery::{DeliveryLine, InputLine, push_part},
    input::INPUT_BYTES_MAX,
    line::FoldedLine,
};

/// A delivery line without its units, and the units: `123 Main St Apt 5` is `123 Main St` and `Apt 5`. A line that does
/// not end with its units in standard form, or has none, stays whole; nothing of it is ever changed or lost.
pub fn split_unit(line: &str) -> (&str, &str) {
    let whole = (line, "");
    if line.len() > INPUT_BYTES_MAX {
        return whole;
    }
    let mut delivery = DeliveryLine::default();
    delivery.read_line(FoldedLine::fold(line).words(), InputLine::Address1);
    delivery.take_box_from_units();
    let mut units = String::new();
    for unit in &delivery.units {
        push_part(&mut units, unit.designator);
        push_part(&mut units, &unit.identifier);
    }
    let place = line
        .len()
        .checked_sub(units.len())
        .filter(|_| !units.is_empty());
    let parted = place.and_then(|place| line.split_at_checked(place));
    match parted.map(|(street, unit)| (street.strip_suffix(' '), unit)) {
        Some((Some(street), unit)) if unit.eq_ignore_ascii_case(&units) && !street.is_empty() => {
            (street, unit)
        }
        _ => whole,
    }
}

/// The two lines of an address with the unit where it was sent: from a verified delivery line and what stands above it,
/// and the unit that was sent in `address_2` ([`crate::Verified::unit_apart`]).
pub fn lines_as_sent(line1: &str, line2: &str, unit_apart: &str) -> (String, String) {
    let parted = line1
        .rsplit_once(unit_apart)
        .filter(|_| !unit_apart.is_empty());
    let street = parted.and_then(|(before, behind)| {
        let is_whole = behind.is_empty() || behind.starts_with(' ');
        before
            .strip_suffix(' ')
            .filter(|_| is_whole)
            .map(|before| format!("{before}{behind}"))
    });
    match street {
        None => (line1.to_owned(), line2.to_owned()),
        Some(street) if line2.is_empty() => (street, unit_apart.to_owned()),
        Some(street) => (street, format!("{unit_apart}, {line2}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_stands_on_the_line_that_it_was_sent_on() {
        for (lines, as_sent) in [
            (("101 Oak St Apt 7", "", "Apt 7"), ("101 Oak St", "Apt 7")),
            (
                ("101 Oak St Apt 7", "c/o Jo", "Apt 7"),
                ("101 Oak St", "Apt 7, c/o Jo"),
            ),
            (
                ("101 Oak St Bldg 2 Apt 7", "", "Bldg 2"),
                ("101 Oak St Apt 7", "Bldg 2"),
            ),
            (
                ("101 Oak St Apt 7", "c/o Jo", ""),
                ("101 Oak St Apt 7", "c/o Jo"),
            ),
            (("1 Rear Rd Rear", "", "Rear"), ("1 Rear Rd", "Rear")),
            (("101 Oak St", "", "Apt 7"), ("101 Oak St", "")),
            (("", "", ""), ("", "")),
        ] {
            let (line1, line2) = lines_as_sent(lines.0, lines.1, lines.2);
            assert_eq!((line1.as_str(), line2.as_str()), as_sent, "{lines:?}");
        }
    }

    #[test]
    fn a_delivery_line_is_parted_from_its_units() {
        for (line, parted) in [
            ("123 Main St Apt 5", ("123 Main St", "Apt 5")),
            ("123 MAIN ST APT 5", ("123 MAIN ST", "APT 5")),
            ("123 Main St Bldg 3 Apt 1", ("123 Main St", "Bldg 3 Apt 1")),
            ("123 Main St # 5", ("123 Main St", "# 5")),
            ("123 Main St Rear", ("123 Main St", "Rear")),
            ("123 Main St", ("123 Main St", "")),
            ("PO Box 12", ("PO Box 12", "")),
            ("RR 2 Box 18", ("RR 2 Box 18", "")),
            ("US Highway 41", ("US Highway 41", "")),
            (
                "10 1/2 LA Highway 1700 Main St",
                ("10 1/2 LA Highway 1700 Main St", ""),
            ),
            ("Apt 5", ("Apt 5", "")),
            ("Apt 5, 123 Main St", ("Apt 5, 123 Main St", "")),
            ("", ("", "")),
        ] {
            assert_eq!(split_unit(line), parted);
        }
        let long = "x".repeat(INPUT_BYTES_MAX + 1);
        assert_eq!(split_unit(&long), (long.as_str(), ""));
    }
}
