//! Which other ZIP an address may have meant: one of the city that was written. Pure.

use crate::{
    correction::{SimilarStreets, StreetQuestion},
    input::AddressInput,
    parsed::ParsedAddress,
    points,
    tables::suffix,
    verdict::{AddressCorrection, AddressError, AddressField},
    verify::CheckedAddress,
    zips,
};

/// From the first to the last ZIP of no neighbourhood.
const NO_ZIPS: (i32, i32) = (0, -1);

impl CheckedAddress {
    /// Whether its ZIP may be wrong whatever is known of the ZIP's streets: it is none, contradicts city or state, or is a
    /// neighbouring city's. Where city and ZIP agree against the state, the state may be what is wrong.
    pub fn is_misplaced(&self) -> bool {
        let ParsedAddress {
            zip, state, city, ..
        } = &self.parsed;
        let is_about_zip = match &self.failure {
            None => !zips::is_zip_of_city(zip, state, city),
            Some(AddressError::UnknownZip(_) | AddressError::CityNotInZip { .. }) => true,
            Some(AddressError::ZipNotInState { zip, zip_state, .. }) => {
                !zips::is_zip_near_city(zip, zip_state, &self.parsed.city)
            }
            _ => false,
        };
        is_about_zip && self.zips_of_city().is_some()
    }

    /// The first and the last ZIP of the city that was written.
    pub(crate) fn zips_of_city(&self) -> Option<(i32, i32)> {
        zips::city_zips(&self.parsed.state, &self.parsed.city)
    }

    /// What to ask of the streets of the city for an address that [`CheckedAddress::is_misplaced`]. Of its ZIP nothing is asked.
    pub(crate) fn misplaced_question(&self) -> Option<StreetQuestion> {
        let key = self.parsed.point_key().filter(|_| self.is_misplaced())?;
        Some(StreetQuestion {
            zip: points::NO_ZIP,
            zips_nearby: NO_ZIPS,
            zips_of_city: self.zips_of_city(),
            street_key: key.street_key,
            name_key: key.name_key,
            longer_name_keys: Vec::new(),
            name_ends: None,
        })
    }

    /// The address in the ZIPs of its city that have its street as it was written. Where nobody knows whether the written
    /// ZIP has it too, only those that are one slip of the pen away.
    pub(crate) fn candidates_in_city(
        &self,
        input: AddressInput<'_>,
        namesakes: &SimilarStreets,
        is_zip_covered: bool,
    ) -> Vec<Self> {
        let is_slip = |zip: &str| {
            zip.len() == self.parsed.zip.len()
                && suffix::is_one_edit_apart(zip.as_bytes(), self.parsed.zip.as_bytes())
        };
        let is_certain = is_zip_covered || !self.point_key().is_in_zip();
        namesakes
            .written_zips
            .iter()
            .map(|zip| format!("{zip:05}"))
            .filter(|zip| *zip != self.parsed.zip && (is_certain || is_slip(zip)))
            .filter_map(|zip| self.with_zip(input, zip))
            .collect()
    }

    /// The same address in another ZIP of the city that was written, which is noted as a correction; `None` when it is no
    /// ZIP of the city, or more of the address had to change.
    fn with_zip(&self, input: AddressInput<'_>, zip: String) -> Option<Self> {
        if !zips::is_zip_of_city(&zip, &self.parsed.state, &self.parsed.city) {
            return None;
        }
        let mut other = Self::from_input(AddressInput { zip: &zip, ..input });
        let is_last_line = |correction: &AddressCorrection| {
            !matches!(
                correction.field,
                AddressField::Address1 | AddressField::Address2
            )
        };
        if other.failure.is_some()
            || other.parsed.zip != zip
            || other.corrections.iter().any(is_last_line)
        {
            return None;
        }
        other.written_id = self.written_id;
        other.corrections.push(AddressCorrection {
            field: AddressField::Zip,
            from: input.zip.trim().to_owned(),
            to: zip,
        });
        Some(other)
    }
}
