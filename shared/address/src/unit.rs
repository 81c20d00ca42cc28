//! The unit at the end of a delivery line.

use crate::{
    delivery::{Delivery, Source, push_part},
    input::INPUT_BYTES_MAX,
    line::Line,
};

/// A delivery line without its units, and the units: `123 Main St Apt 5` is `123 Main St` and `Apt 5`. A line that does
/// not end with its units in standard form, or has none, stays whole; nothing of it is ever changed or lost.
pub fn part_unit(line: &str) -> (&str, &str) {
    let whole = (line, "");
    if line.len() > INPUT_BYTES_MAX {
        return whole;
    }
    let mut delivery = Delivery::default();
    delivery.read(Line::fold(line).words(), Source::Address1);
    delivery.settle_box();
    let mut units = String::new();
    for unit in &delivery.units {
        push_part(&mut units, unit.designator);
        push_part(&mut units, &unit.identifier);
    }
    let place = line.len().checked_sub(units.len()).filter(|_| !units.is_empty());
    let parted = place.and_then(|place| line.split_at_checked(place));
    match parted.map(|(street, unit)| (street.strip_suffix(' '), unit)) {
        Some((Some(street), unit)) if unit.eq_ignore_ascii_case(&units) && !street.is_empty() => {
            (street, unit)
        }
        _ => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("10 1/2 LA Highway 1700 Main St", ("10 1/2 LA Highway 1700 Main St", "")),
            ("Apt 5", ("Apt 5", "")),
            ("Apt 5, 123 Main St", ("Apt 5, 123 Main St", "")),
            ("", ("", "")),
        ] {
            assert_eq!(part_unit(line), parted);
        }
        let long = "x".repeat(INPUT_BYTES_MAX + 1);
        assert_eq!(part_unit(&long), (long.as_str(), ""));
    }
}
