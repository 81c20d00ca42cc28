//! The local verifier at strictness `zip`: the delivery line can be read, and city, state and ZIP
//! agree with the ZIP codes that ship with the crate.

use crate::{
    input::AddressInput,
    last_line,
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
    match check(input) {
        Ok(verified) => Verdict::Deliverable(Box::new(verified)),
        Err(failure) => Verdict::Undeliverable(failure),
    }
}

fn check(input: AddressInput<'_>) -> Result<Verified, Failure> {
    if input.is_too_long() {
        return Err(Failure::TooLong);
    }
    check_present(input)?;
    let mut parsed = parse(input);
    let mut corrections = Vec::new();
    check_state_and_zip(&parsed, input, &mut corrections)?;
    check_city(&mut parsed, input, &mut corrections);
    if !parsed.is_deliverable_line() {
        return Err(Failure::UnreadableStreet(input.address_1.trim().to_owned()));
    }
    Ok(verified(parsed, corrections))
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

fn verified(parsed: Parsed, corrections: Vec<Correction>) -> Verified {
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
        level: Level::Zip,
        corrections,
        one_line: parsed.one_line,
    }
}
