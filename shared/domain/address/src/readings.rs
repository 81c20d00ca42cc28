//! The ways in which one address can be read. Which is right only a table of streets can say.

use crate::{
    choice::ReadingGround,
    input::AddressInput,
    parsed::{self, ParsedAddress},
    verify::CheckedAddress,
};

/// The most readings that an address has.
pub const READINGS_MAX: usize = 3;

/// An address as it can be read, in standard form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressReading {
    /// The parts and lines.
    pub parsed: ParsedAddress,
    /// What speaks for reading it so.
    pub ground: ReadingGround,
}

/// The readings of an address, the likeliest first: at least one and at most [`READINGS_MAX`], no two of which are the
/// same address. The first is what [`crate::parse`] gives, and stands where no table knows better.
pub fn parse_readings(input: AddressInput<'_>) -> Vec<AddressReading> {
    let (parsed, choices) = parsed::parse_by_choice(input, ReadingGround::Standard);
    let mut readings = vec![AddressReading {
        parsed,
        ground: ReadingGround::Standard,
    }];
    for ground in choices.grounds_met() {
        if readings.len() == READINGS_MAX {
            break;
        }
        let (parsed, _) = parsed::parse_by_choice(input, ground);
        let is_new = readings
            .iter()
            .all(|reading| reading.parsed.id() != parsed.id());
        if is_new && parsed.is_deliverable_line() {
            readings.push(AddressReading { parsed, ground });
        }
    }
    readings
}

impl CheckedAddress {
    /// Checks a reading of an address sent in parts, as [`CheckedAddress::from_input`] checks the first one.
    pub fn from_reading(reading: AddressReading, input: AddressInput<'_>) -> Self {
        Self::from_parsed(reading.parsed, input)
    }
}
