//! What address points confirm of an address. Pure: looking the points up is the caller's part.

use crate::{
    compared,
    delivery::push_part,
    hash::FnvHasher,
    id::AddressId,
    parsed::ParsedAddress,
    verdict::{AddressCorrection, AddressError, AddressField, ConfirmationLevel, VerifiedAddress},
    verify::CheckedAddress,
};
use std::hash::Hasher;

/// The ZIP of an address that no point can be found for.
pub(crate) const NO_ZIP: i32 = -1;

/// Where the points of an address are looked up. Keys are compared within one ZIP only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PointKey {
    /// The ZIP as a number.
    pub zip: i32,
    /// The address, its unit included.
    pub address_id: AddressId,
    /// Directionals, name and suffix.
    pub street_key: i64,
    /// The name alone, whatever directionals and suffix it has.
    pub name_key: i64,
}

impl PointKey {
    /// Whether points can be found there.
    pub const fn is_in_zip(&self) -> bool {
        self.zip != NO_ZIP
    }
}

/// A street in standard form; absent parts are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct StandardStreet {
    /// Directional before the name.
    pub predirectional: String,
    /// The name.
    pub name: String,
    /// Suffix.
    pub suffix: String,
    /// Directional behind the name.
    pub postdirectional: String,
}

/// What is known of one delivery point.
#[derive(Debug, Clone, PartialEq)]
pub struct DeliveryPoint {
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east.
    pub longitude: f64,
    /// The four digits behind the ZIP, when known.
    pub plus4: Option<String>,
    /// Whether it is a home, when known.
    pub residential: Option<bool>,
}

/// What address points say of an address.
#[derive(Debug, Clone, PartialEq)]
pub enum PointEvidence {
    /// Too few points are in its ZIP to know its streets.
    Uncovered,
    /// Points know nothing of its street.
    Nothing,
    /// They know the street, and not the house.
    Street,
    /// They know the house and units of it, but not this unit, or none was named.
    House(DeliveryPoint),
    /// They know it: the unit, or the house where units are not told apart.
    DeliveryPoint(DeliveryPoint),
}

impl ParsedAddress {
    /// Where the points of the address are looked up; `None` for boxes and what has no ZIP.
    pub fn point_key(&self) -> Option<PointKey> {
        if !self.is_street() || self.zip.len() != 5 {
            return None;
        }
        Some(PointKey {
            zip: self.zip.parse().ok()?,
            address_id: self.id(),
            street_key: hash_compared_street(&compared::comparable_street(self.as_street_parts())),
            name_key: hash_compared_street(&compared::comparable_name(&self.street)),
        })
    }

    /// The street of the address.
    pub fn street_parts(&self) -> StandardStreet {
        StandardStreet {
            predirectional: self.predirectional.clone(),
            name: self.street.clone(),
            suffix: self.suffix.clone(),
            postdirectional: self.postdirectional.clone(),
        }
    }
}

/// A hash of what is compared of a street.
pub(crate) fn hash_compared_street(compared: &str) -> i64 {
    let mut hasher = FnvHasher::default();
    hasher.write(compared.as_bytes());
    hasher.finish().cast_signed()
}

impl CheckedAddress {
    /// Where the points of the address are looked up. For what points do not hold, and for what cannot be mailed
    /// anyway, it is in no ZIP: nothing but an override is found there. Where city and ZIP contradict each other it is in
    /// the ZIP.
    pub fn point_key(&self) -> PointKey {
        let is_in_doubt = matches!(self.failure, Some(AddressError::CityNotInZip { .. }));
        let key = if self.failure.is_some() && !is_in_doubt {
            None
        } else {
            self.parsed.point_key()
        };
        key.unwrap_or(PointKey {
            zip: NO_ZIP,
            address_id: self.id(),
            street_key: 0,
            name_key: 0,
        })
    }

    /// The same address on another street, which is noted as a correction.
    #[must_use]
    pub fn with_street(&self, street: &StandardStreet) -> Self {
        let mut other = self.clone();
        other.parsed.set_street(street);
        let from = self.parsed.street_name();
        other.corrections.push(AddressCorrection {
            field: AddressField::Address1,
            from,
            to: other.parsed.street_name(),
        });
        other
    }

    /// What the points confirm of an address without a failure.
    pub fn confirm(mut self, evidence: PointEvidence) -> Box<VerifiedAddress> {
        let (level, place, shortfall) = match evidence {
            PointEvidence::Nothing if self.parsed.is_street() => {
                (ConfirmationLevel::Zip, None, Some(self.unknown_street()))
            }
            PointEvidence::Uncovered if self.parsed.is_street() => {
                (ConfirmationLevel::Zip, None, Some(self.uncovered_street()))
            }
            PointEvidence::Nothing | PointEvidence::Uncovered => {
                (ConfirmationLevel::Zip, None, None)
            }
            PointEvidence::Street => (ConfirmationLevel::Street, None, Some(self.unknown_number())),
            PointEvidence::House(place) => (
                ConfirmationLevel::Street,
                Some(place),
                Some(self.unconfirmed_unit()),
            ),
            PointEvidence::DeliveryPoint(place) => {
                (ConfirmationLevel::DeliveryPoint, Some(place), None)
            }
        };
        if let Some(plus4) = place.as_ref().and_then(|place| place.plus4.as_ref()) {
            self.parsed.set_plus4(plus4);
        }
        let mut verified = self.into_verified(level);
        verified.shortfall = shortfall;
        if let Some(place) = place {
            verified.latitude = Some(place.latitude);
            verified.longitude = Some(place.longitude);
            verified.residential = place.residential;
        }
        Box::new(verified)
    }

    fn unknown_street(&self) -> AddressError {
        AddressError::UnknownStreet {
            street: self.parsed.street_name(),
            zip: self.parsed.zip.clone(),
        }
    }

    fn uncovered_street(&self) -> AddressError {
        AddressError::UncoveredStreet {
            street: self.parsed.street_name(),
            zip: self.parsed.zip.clone(),
        }
    }

    fn unknown_number(&self) -> AddressError {
        AddressError::UnknownNumber {
            number: self.parsed.number.clone(),
            street: self.parsed.street_name(),
            zip: self.parsed.zip.clone(),
        }
    }

    fn unconfirmed_unit(&self) -> AddressError {
        let mut house = self.parsed.number.clone();
        push_part(&mut house, &self.parsed.street_name());
        if self.parsed.unit_designator.is_empty() {
            AddressError::MissingUnit(house)
        } else {
            AddressError::UnknownUnit(house)
        }
    }
}
