//! The local verifier at strictness `zip`: the delivery line can be read, and city, state and ZIP
//! agree with the ZIP codes that ship with the crate.

use crate::{
    id::AddressId,
    input::{AddressInput, INPUT_BYTES_MAX},
    last_line,
    parsed::{Parsed, parse, parse_one_line},
    tables::state,
    verdict::{Correction, Failure, Field, Level, Verdict, Verified},
    zips::{self, Zip},
};

/// The post office names that stand for a city in military addresses (Publication 28 §238).
const MILITARY_CITIES: [&str; 3] = ["APO", "FPO", "DPO"];

/// Verifies an address without looking anywhere else. An address that can be mailed comes back in
/// its standard form, at [`Level::Zip`] and without coordinates of its own.
pub fn verify(input: AddressInput<'_>) -> Verdict {
    Reading::of(input).verdict()
}

/// An address that was read and checked as far as that goes without looking anywhere else. Address points
/// then confirm more of it, see `points`.
#[derive(Debug, Clone)]
pub struct Reading {
    pub(crate) parsed: Parsed,
    pub(crate) corrections: Vec<Correction>,
    pub(crate) failure: Option<Failure>,
}

impl Reading {
    /// Reads an address sent in parts.
    pub fn of(input: AddressInput<'_>) -> Self {
        Self::check(parse(input), input)
    }

    /// Reads an address written on one line.
    pub fn of_line(line: &str) -> Self {
        let parsed = parse_one_line(line);
        let [city, state, zip] = [&parsed.city, &parsed.state, &parsed.zip].map(Clone::clone);
        let address_1 = if parsed.line1.is_empty() && line.len() <= INPUT_BYTES_MAX { "" } else { line };
        Self::check(parsed, AddressInput { address_1, address_2: "", city: &city, state: &state, zip: &zip })
    }

    /// The identity of the address, also of one that cannot be mailed.
    pub fn id(&self) -> AddressId {
        self.parsed.id()
    }

    /// The parts and lines of the address as they were read.
    pub fn parsed(&self) -> &Parsed {
        &self.parsed
    }

    /// Why the address cannot be mailed; `None` when it can, as far as is known here.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// The verdict at [`Level::Zip`].
    pub fn verdict(self) -> Verdict {
        match self.failure {
            Some(failure) => Verdict::Undeliverable(failure),
            None => Verdict::Deliverable(Box::new(verified(self.parsed, self.corrections, Level::Zip))),
        }
    }

    /// The verdict when the operator vouches for the address as it was read.
    pub fn overridden(self) -> Verdict {
        let verified = verified(self.parsed, self.corrections, Level::Override);
        Verdict::Deliverable(Box::new(verified))
    }

    fn check(mut parsed: Parsed, input: AddressInput<'_>) -> Self {
        let mut corrections = Vec::new();
        let failure = find_failure(&mut parsed, input, &mut corrections).err();
        Self { parsed, corrections, failure }
    }
}

fn find_failure(
    parsed: &mut Parsed,
    input: AddressInput<'_>,
    corrections: &mut Vec<Correction>,
) -> Result<(), Failure> {
    if input.is_too_long() {
        return Err(Failure::TooLong);
    }
    check_present(input)?;
    check_state_and_zip(parsed, input, corrections)?;
    check_city(parsed, input, corrections);
    if !parsed.is_deliverable_line() {
        return Err(Failure::UnreadableStreet(input.address_1.trim().to_owned()));
    }
    Ok(())
}

fn check_present(input: AddressInput<'_>) -> Result<(), Failure> {
    for (field, value) in [
        (Field::Address1, input.address_1),
        (Field::City, input.city),
        (Field::State, input.state),
        (Field::Zip, input.zip),
    ] {
        if value.trim().is_empty() {
            return Err(Failure::Missing(field));
        }
    }
    Ok(())
}

/// The state is one, the ZIP is one, and the ZIP is in the state.
fn check_state_and_zip(
    parsed: &Parsed,
    input: AddressInput<'_>,
    corrections: &mut Vec<Correction>,
) -> Result<(), Failure> {
    if state::exact_abbreviation(&parsed.state).is_none() {
        return Err(Failure::UnknownState(input.state.trim().to_owned()));
    }
    if last_line::read_zip(input.zip).is_none() {
        return Err(Failure::UnreadableZip(input.zip.trim().to_owned()));
    }
    let zip_state = state::military(&parsed.zip)
        .or_else(|| zips::find(&parsed.zip).map(Zip::state))
        .ok_or_else(|| Failure::UnknownZip(parsed.zip.clone()))?;
    if zip_state != parsed.state {
        return Err(Failure::ZipNotInState {
            zip: parsed.zip.clone(),
            zip_state: zip_state.to_owned(),
            state: parsed.state.clone(),
        });
    }
    if !input.zip.trim().starts_with(&parsed.zip) {
        corrections.push(Correction {
            field: Field::Zip,
            from: input.zip.trim().to_owned(),
            to: parsed.zip.clone(),
        });
    }
    Ok(())
}

/// Puts the post office's name for the city, or leaves the name of a neighbouring one.
fn check_city(parsed: &mut Parsed, input: AddressInput<'_>, corrections: &mut Vec<Correction>) {
    let is_military = state::military(&parsed.zip).is_some();
    let zip = zips::find(&parsed.zip);
    let known = zip.map_or("", Zip::city);
    let is_acceptable = if is_military {
        MILITARY_CITIES.contains(&parsed.city.as_str())
    } else {
        known.is_empty() || zip.is_some_and(|zip| zip.accepts_city(&parsed.city))
    };
    if zips::is_same_city(known, &parsed.city) {
        parsed.set_city(known);
    } else if !is_acceptable {
        corrections.push(Correction {
            field: Field::City,
            from: input.city.trim().to_owned(),
            to: if known.is_empty() { MILITARY_CITIES[0] } else { known }.to_owned(),
        });
        parsed.set_city(if known.is_empty() { MILITARY_CITIES[0] } else { known });
    }
}

/// The verified form of what was read.
pub(crate) fn verified(parsed: Parsed, corrections: Vec<Correction>, level: Level) -> Verified {
    Verified {
        id: parsed.id(),
        line1: parsed.line1,
        line2: parsed.line2,
        city: parsed.city,
        state: parsed.state,
        zip: parsed.zip,
        plus4: (!parsed.plus4.is_empty()).then_some(parsed.plus4),
        latitude: None,
        longitude: None,
        residential: None,
        level,
        shortfall: None,
        corrections,
        one_line: parsed.one_line,
    }
}
