//! The local verifier at strictness `zip`: the delivery line can be read, and city, state and ZIP
//! agree with the ZIP codes that ship with the crate.

use crate::{
    id::AddressId,
    input::AddressInput,
    last_line, line,
    parsed::{ParsedAddress, parse},
    tables::state,
    verdict::{
        AddressCorrection, AddressError, AddressField, AddressVerdict, ConfirmationLevel,
        VerifiedAddress,
    },
    zips::{self, ZipEntry},
};

/// The post office names that stand for a city in military addresses (Publication 28 §238).
const MILITARY_CITIES: [&str; 3] = ["APO", "FPO", "DPO"];

/// Verifies an address without looking anywhere else. An address that can be mailed comes back in
/// its standard form, at [`ConfirmationLevel::Zip`] and without coordinates of its own.
pub fn verify_address(input: AddressInput<'_>) -> AddressVerdict {
    CheckedAddress::from_input(input).into_verdict()
}

/// An address that was read and checked as far as that goes without looking anywhere else. Address points
/// then confirm more of it, see `points`.
#[derive(Debug, Clone)]
pub struct CheckedAddress {
    pub(crate) parsed: ParsedAddress,
    /// The identity before a correction of the street.
    pub(crate) written_id: AddressId,
    pub(crate) corrections: Vec<AddressCorrection>,
    pub(crate) failure: Option<AddressError>,
}

impl CheckedAddress {
    /// Reads an address sent in parts.
    pub fn from_input(input: AddressInput<'_>) -> Self {
        Self::from_parsed(parse(input), input)
    }

    /// The identity of the address, also of one that cannot be mailed.
    pub fn id(&self) -> AddressId {
        self.parsed.id()
    }

    /// The parts and lines of the address as they were read.
    pub fn parsed(&self) -> &ParsedAddress {
        &self.parsed
    }

    /// Why the address cannot be mailed; `None` when it can, as far as is known here.
    pub fn failure(&self) -> Option<&AddressError> {
        self.failure.as_ref()
    }

    /// The verdict at [`ConfirmationLevel::Zip`].
    pub fn into_verdict(self) -> AddressVerdict {
        match self.failure.clone() {
            Some(failure) => AddressVerdict::Undeliverable(failure),
            None => {
                AddressVerdict::Deliverable(Box::new(self.into_verified(ConfirmationLevel::Zip)))
            }
        }
    }

    /// The verdict when the operator vouches for the address as it was read.
    pub fn into_overridden(self) -> AddressVerdict {
        AddressVerdict::Deliverable(Box::new(self.into_verified(ConfirmationLevel::Override)))
    }

    /// An address without a failure, at [`ConfirmationLevel::Zip`], and why no more of it is confirmed.
    pub fn into_unconfirmed(self, shortfall: AddressError) -> Box<VerifiedAddress> {
        let mut verified = self.into_verified(ConfirmationLevel::Zip);
        verified.shortfall = Some(shortfall);
        Box::new(verified)
    }

    /// The verified form at this level.
    pub(crate) fn into_verified(self, level: ConfirmationLevel) -> VerifiedAddress {
        VerifiedAddress {
            written_id: self.written_id,
            ..self.parsed.into_verified(self.corrections, level)
        }
    }

    /// Checks the parts that were read of an address.
    pub(crate) fn from_parsed(mut parsed: ParsedAddress, input: AddressInput<'_>) -> Self {
        let mut corrections = Vec::new();
        let failure = check_address(&mut parsed, input, &mut corrections).err();
        Self {
            written_id: parsed.id(),
            parsed,
            corrections,
            failure,
        }
    }
}

fn check_address(
    parsed: &mut ParsedAddress,
    input: AddressInput<'_>,
    corrections: &mut Vec<AddressCorrection>,
) -> Result<(), AddressError> {
    if input.is_too_long() {
        return Err(AddressError::TooLong);
    }
    check_present(parsed, input)?;
    check_characters(input)?;
    check_state_and_zip(parsed, input, corrections)?;
    check_city(parsed, input, corrections)?;
    if !parsed.is_deliverable_line() {
        return Err(AddressError::UnreadableStreet(
            input.address_1.trim().to_owned(),
        ));
    }
    record_removed_symbols(parsed, input, corrections);
    Ok(())
}

/// The delivery lines have no letters that reading would drop.
fn check_characters(input: AddressInput<'_>) -> Result<(), AddressError> {
    match [input.address_1, input.address_2]
        .into_iter()
        .find_map(line::find_unreadable)
    {
        Some(character) => Err(AddressError::UnreadableCharacter(character)),
        None => Ok(()),
    }
}

/// Pictures mean nothing in an address and are left out, but not in silence.
fn record_removed_symbols(
    parsed: &ParsedAddress,
    input: AddressInput<'_>,
    corrections: &mut Vec<AddressCorrection>,
) {
    for (field, sent, now) in [
        (AddressField::Address1, input.address_1, &parsed.line1),
        (AddressField::Address2, input.address_2, &parsed.line2),
    ] {
        if line::has_symbol(sent) {
            corrections.push(AddressCorrection {
                field,
                from: sent.trim().to_owned(),
                to: now.clone(),
            });
        }
    }
}

fn check_present(parsed: &ParsedAddress, input: AddressInput<'_>) -> Result<(), AddressError> {
    for (field, value) in [
        (AddressField::Address1, input.address_1),
        (AddressField::City, input.city),
        // State and ZIP may have been sent as one.
        (
            AddressField::State,
            first_present(input.state, &parsed.state),
        ),
        (AddressField::Zip, first_present(input.zip, &parsed.zip)),
    ] {
        if value.trim().is_empty() {
            return Err(AddressError::Missing(field));
        }
    }
    Ok(())
}

fn first_present<'a>(sent: &'a str, read: &'a str) -> &'a str {
    if sent.trim().is_empty() { read } else { sent }
}

/// The state is one, the ZIP is one, and the ZIP is in the state.
fn check_state_and_zip(
    parsed: &ParsedAddress,
    input: AddressInput<'_>,
    corrections: &mut Vec<AddressCorrection>,
) -> Result<(), AddressError> {
    if state::find_state_abbreviation(&parsed.state).is_none() {
        return Err(AddressError::UnknownState(input.state.trim().to_owned()));
    }
    if last_line::read_zip(&parsed.zip).is_none() {
        return Err(AddressError::UnreadableZip(input.zip.trim().to_owned()));
    }
    let zip_state = state::military_state(&parsed.zip)
        .or_else(|| zips::find_zip(&parsed.zip).map(ZipEntry::state))
        .ok_or_else(|| AddressError::UnknownZip(parsed.zip.clone()))?;
    if zip_state != parsed.state {
        return Err(AddressError::ZipNotInState {
            zip: parsed.zip.clone(),
            zip_state: zip_state.to_owned(),
            state: parsed.state.clone(),
        });
    }
    let is_as_sent = [input.zip, input.state, input.city]
        .iter()
        .any(|part| part.contains(&parsed.zip));
    if !is_as_sent {
        corrections.push(AddressCorrection {
            field: AddressField::Zip,
            from: input.zip.trim().to_owned(),
            to: parsed.zip.clone(),
        });
    }
    Ok(())
}

/// Puts the post office's name for the city, or leaves the name of a neighbouring one and of a place that it delivers to. A
/// name that no post office of the state has (a quarter, a slip of the pen) is corrected to the ZIP's; one that a post
/// office elsewhere in the state has contradicts the ZIP, and so does that of a large city of another state.
fn check_city(
    parsed: &mut ParsedAddress,
    input: AddressInput<'_>,
    corrections: &mut Vec<AddressCorrection>,
) -> Result<(), AddressError> {
    let sent = input.city.trim();
    if !sent.chars().any(char::is_alphabetic) {
        return Err(AddressError::UnreadableCity(sent.to_owned()));
    }
    let is_military = state::military_state(&parsed.zip).is_some();
    let zip = zips::find_zip(&parsed.zip);
    let known = zip.map_or("", ZipEntry::city);
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
    let is_another = zips::is_city(&parsed.state, &parsed.city)
        || zips::is_city_elsewhere(&parsed.state, &parsed.city);
    if !is_military && is_another {
        let (zip, zip_city) = (parsed.zip.clone(), known.to_owned());
        return Err(AddressError::CityNotInZip {
            zip,
            zip_city,
            city: sent.to_owned(),
        });
    }
    let city = if known.is_empty() {
        MILITARY_CITIES[0]
    } else {
        known
    };
    corrections.push(AddressCorrection {
        field: AddressField::City,
        from: sent.to_owned(),
        to: city.to_owned(),
    });
    parsed.set_city(city);
    Ok(())
}

impl ParsedAddress {
    /// The verified form of the address, without a place of its own.
    pub fn into_verified(
        self,
        corrections: Vec<AddressCorrection>,
        level: ConfirmationLevel,
    ) -> VerifiedAddress {
        VerifiedAddress {
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
