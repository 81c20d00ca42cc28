//! The local verifier at strictness `zip`: the delivery line can be read, and city, state and ZIP
//! agree with the ZIP codes that ship with the crate.

use crate::{
    id::AddressId,
    input::AddressInput,
    last_line, line,
    parsed::{Parsed, parse},
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
    /// The identity before a correction of the street.
    pub(crate) written_id: AddressId,
    pub(crate) corrections: Vec<Correction>,
    pub(crate) failure: Option<Failure>,
}

impl Reading {
    /// Reads an address sent in parts.
    pub fn of(input: AddressInput<'_>) -> Self {
        Self::check(parse(input), input)
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
        match self.failure.clone() {
            Some(failure) => Verdict::Undeliverable(failure),
            None => Verdict::Deliverable(Box::new(self.into_verified(Level::Zip))),
        }
    }

    /// The verdict when the operator vouches for the address as it was read.
    pub fn overridden(self) -> Verdict {
        Verdict::Deliverable(Box::new(self.into_verified(Level::Override)))
    }

    /// An address without a failure, at [`Level::Zip`], and why no more of it is confirmed.
    pub fn unconfirmed(self, shortfall: Failure) -> Box<Verified> {
        let mut verified = self.into_verified(Level::Zip);
        verified.shortfall = Some(shortfall);
        Box::new(verified)
    }

    /// The verified form at this level.
    pub(crate) fn into_verified(self, level: Level) -> Verified {
        Verified { written_id: self.written_id, ..self.parsed.verified(self.corrections, level) }
    }

    fn check(mut parsed: Parsed, input: AddressInput<'_>) -> Self {
        let mut corrections = Vec::new();
        let failure = find_failure(&mut parsed, input, &mut corrections).err();
        Self { written_id: parsed.id(), parsed, corrections, failure }
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
    check_characters(input)?;
    check_state_and_zip(parsed, input, corrections)?;
    check_city(parsed, input, corrections)?;
    if !parsed.is_deliverable_line() {
        return Err(Failure::UnreadableStreet(input.address_1.trim().to_owned()));
    }
    note_symbols(parsed, input, corrections);
    Ok(())
}

/// The delivery lines have no letters that reading would drop.
fn check_characters(input: AddressInput<'_>) -> Result<(), Failure> {
    match [input.address_1, input.address_2].into_iter().find_map(line::unreadable) {
        Some(character) => Err(Failure::UnreadableCharacter(character)),
        None => Ok(()),
    }
}

/// Pictures mean nothing in an address and are left out, but not in silence.
fn note_symbols(parsed: &Parsed, input: AddressInput<'_>, corrections: &mut Vec<Correction>) {
    for (field, sent, now) in
        [(Field::Address1, input.address_1, &parsed.line1), (Field::Address2, input.address_2, &parsed.line2)]
    {
        if line::has_symbol(sent) {
            corrections.push(Correction { field, from: sent.trim().to_owned(), to: now.clone() });
        }
    }
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

/// Puts the post office's name for the city, or leaves the name of a neighbouring one. A name that no post office of
/// the state has (a quarter, a slip of the pen) is corrected to the ZIP's; one that a post office elsewhere in the state
/// has contradicts the ZIP.
fn check_city(
    parsed: &mut Parsed,
    input: AddressInput<'_>,
    corrections: &mut Vec<Correction>,
) -> Result<(), Failure> {
    let sent = input.city.trim();
    if !sent.chars().any(char::is_alphabetic) {
        return Err(Failure::UnreadableCity(sent.to_owned()));
    }
    let is_military = state::military(&parsed.zip).is_some();
    let zip = zips::find(&parsed.zip);
    let known = zip.map_or("", Zip::city);
    if zips::is_same_city(known, &parsed.city) {
        parsed.set_city(known);
        return Ok(());
    }
    let is_acceptable = if is_military {
        MILITARY_CITIES.contains(&parsed.city.as_str())
    } else {
        known.is_empty() || zip.is_some_and(|zip| zip.accepts_city(&parsed.city))
    };
    if is_acceptable {
        return Ok(());
    }
    if !is_military && zips::is_city(&parsed.state, &parsed.city) {
        let (zip, zip_city) = (parsed.zip.clone(), known.to_owned());
        return Err(Failure::CityNotInZip { zip, zip_city, city: sent.to_owned() });
    }
    let city = if known.is_empty() { MILITARY_CITIES[0] } else { known };
    corrections.push(Correction { field: Field::City, from: sent.to_owned(), to: city.to_owned() });
    parsed.set_city(city);
    Ok(())
}

impl Parsed {
    /// The verified form of the address, without a place of its own.
    pub fn verified(self, corrections: Vec<Correction>, level: Level) -> Verified {
        Verified {
            id: self.id(),
            written_id: self.id(),
            line1: self.line1,
            line2: self.line2,
            unit_apart: self.unit_apart,
            city: self.city,
            state: self.state,
            zip: self.zip,
            plus4: (!self.plus4.is_empty()).then_some(self.plus4),
            latitude: None,
            longitude: None,
            residential: None,
            level,
            shortfall: None,
            corrections,
            one_line: self.one_line,
        }
    }
}
