//! A recipient's address as conditions, formulas and designs see it.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use address::{AddressInput, CheckedAddress, split_unit};
use audience::{BuiltInColumn, ValueLookup};

/// The values of a recipient with the unit in `address_2`, where conditions look for it: `address_1` is the street line
/// without it, `address_2` the unit and behind it whatever else the second line has. An address in its verified form has
/// the unit on the delivery line. What has neither line costs nothing, and others are read when one is asked for.
pub struct StandardisedRecipient<'a> {
    values: &'a dyn ValueLookup,
    /// Both, if there is a unit.
    parted: OnceCell<Option<(&'a str, String)>>,
}

impl<'a> StandardisedRecipient<'a> {
    /// Over the values of a recipient whose address is in standard form.
    pub fn new(values: &'a dyn ValueLookup) -> Self {
        Self {
            values,
            parted: OnceCell::new(),
        }
    }

    fn street_and_unit(&self) -> Option<&(&'a str, String)> {
        self.parted
            .get_or_init(|| split_street_unit(self.values))
            .as_ref()
    }
}

impl ValueLookup for StandardisedRecipient<'_> {
    fn value(&self, column: &str) -> Option<&str> {
        let parted = match BuiltInColumn::from_key(column) {
            Some(BuiltInColumn::Address1) => self.street_and_unit().map(|(street, _)| *street),
            Some(BuiltInColumn::Address2) => self.street_and_unit().map(|(_, unit)| unit.as_str()),
            _ => None,
        };
        parted.or_else(|| self.values.value(column))
    }
}

fn split_street_unit(values: &dyn ValueLookup) -> Option<(&str, String)> {
    let (street, unit) = split_unit(values.value(BuiltInColumn::Address1.key())?);
    let behind = values
        .value(BuiltInColumn::Address2.key())
        .unwrap_or_default();
    match (unit, behind) {
        ("", _) => None,
        (_, "") => Some((street, unit.to_owned())),
        _ => Some((street, format!("{unit}, {behind}"))),
    }
}

/// Puts the address among values by folded name into the form in which a send would have it, as far as that is known
/// without looking anywhere. One that cannot be read stays as it is, and so do parts that are not given.
pub fn standardize_address(values: &mut BTreeMap<String, String>) {
    use BuiltInColumn::{Address1, Address2, City, State, Zip};
    let value = |column: BuiltInColumn| values.get(column.key()).map_or("", String::as_str);
    let given = AddressInput {
        address_1: value(Address1),
        address_2: value(Address2),
        city: value(City),
        state: value(State),
        zip: value(Zip),
    };
    let reading = CheckedAddress::from_input(given);
    let read = reading.parsed();
    if read.line1.is_empty() {
        return;
    }
    let parts = [(City, &read.city), (State, &read.state), (Zip, &read.zip)];
    let parts = parts
        .into_iter()
        .filter(|(column, part)| !value(*column).trim().is_empty() && !part.is_empty());
    let lines = [(Address1, &read.line1), (Address2, &read.line2)];
    let standard: Vec<_> = lines
        .into_iter()
        .chain(parts)
        .map(|(column, part)| (column.key(), part.clone()))
        .collect();
    for (key, part) in standard {
        if part.is_empty() {
            values.remove(key);
        } else {
            values.insert(key.to_owned(), part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_row(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn address_lines(values: &BTreeMap<String, String>) -> [Option<String>; 2] {
        let recipient = StandardisedRecipient::new(values);
        ["address_1", "address_2"].map(|column| recipient.value(column).map(str::to_owned))
    }

    #[test]
    fn the_unit_is_in_address_2_wherever_it_stands_in_the_verified_form() {
        for (values, expected) in [
            (
                build_row(&[("address_1", "1 Main St Apt 5")]),
                ["1 Main St", "Apt 5"],
            ),
            (
                build_row(&[("address_1", "1 Main St Apt 5"), ("address_2", "c/o Jo")]),
                ["1 Main St", "Apt 5, c/o Jo"],
            ),
            (
                build_row(&[("address_1", "1 Main St"), ("address_2", "c/o Jo")]),
                ["1 Main St", "c/o Jo"],
            ),
        ] {
            assert_eq!(
                address_lines(&values),
                expected.map(|line| Some(line.to_owned()))
            );
        }
        assert_eq!(
            address_lines(&build_row(&[("address_1", "PO Box 5")])),
            [Some("PO Box 5".to_owned()), None]
        );
        assert_eq!(address_lines(&build_row(&[])), [None, None]);
    }

    #[test]
    fn however_the_sender_split_them_street_and_unit_are_the_same() {
        let expected = ["1 Main St", "Apt 5"].map(|line| Some(line.to_owned()));
        for (address_1, address_2) in [
            ("1 main street apt. 5", ""),
            ("1 Main St", "apt #5"),
            ("1 MAIN ST", "Apt 5"),
        ] {
            let mut values = build_row(&[
                ("address_1", address_1),
                ("address_2", address_2),
                ("state", "Texas"),
            ]);
            standardize_address(&mut values);
            assert_eq!(
                address_lines(&values),
                expected,
                "{address_1} | {address_2}"
            );
            assert_eq!(values["state"], "TX");
            assert_eq!(values.get("city"), None);
        }
        let mut unread = build_row(&[("city", "austin"), ("note", "x")]);
        let before = unread.clone();
        standardize_address(&mut unread);
        assert_eq!(unread, before);
    }
}
