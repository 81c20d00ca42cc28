//! What makes two addresses the same.

use uuid::Uuid;

use crate::input::AddressInput;

/// Bits that tell the units of a house apart.
const UNIT_BITS: u32 = 48;

/// The same as a mask.
const UNIT_MASK: u128 = (1 << UNIT_BITS) - 1;

/// Bits of the ZIP, which is below 100,000.
const ZIP_BITS: u32 = 17;

/// Bits that tell the houses of a ZIP apart.
const HOUSE_BITS: u32 = u128::BITS - ZIP_BITS - UNIT_BITS;

/// The identity of an address: what the duplicate window and the do-not-mail list compare.
///
/// From the upper end: 17 bits ZIP, 63 bits BLAKE3 over the standardised delivery line without its unit and the
/// ZIP, 48 bits BLAKE3 over the unit, or zero without one. So the addresses of a ZIP, and in it the units of a house,
/// stand next to each other in every index: a request touches few pages of it, however large it has grown. Two units are
/// two addresses; two spellings of one address are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AddressId(Uuid);

impl AddressId {
    /// The identity as a UUID, as it is stored.
    pub fn as_uuid(&self) -> Uuid {
        self.0
    }

    /// The identity of the house that the address is in: the address itself when it has no unit.
    #[must_use]
    pub fn without_unit(self) -> Self {
        Self(Uuid::from_u128(self.0.as_u128() & !UNIT_MASK))
    }

    /// The last identity that a unit of the house can have.
    #[must_use]
    pub fn last_unit_id(self) -> Self {
        Self(Uuid::from_u128(self.0.as_u128() | UNIT_MASK))
    }

    /// The identity of a delivery line in its compared form (see `Parsed::compared_house`) in a ZIP.
    pub(crate) fn from_verified_line(compared_house: &str, compared_unit: &str, zip: &str) -> Self {
        let zip_number = u128::from(zip.parse::<u32>().unwrap_or_default()) & ((1 << ZIP_BITS) - 1);
        let house = (Self::from_parts("verified", &[compared_house, zip])
            .0
            .as_u128()
            >> u64::BITS)
            & ((1 << HOUSE_BITS) - 1);
        let unit = match compared_unit {
            "" => 0,
            unit => (Self::from_parts("unit", &[unit]).0.as_u128() & UNIT_MASK).max(1),
        };
        Self(Uuid::from_u128(
            zip_number << (HOUSE_BITS + UNIT_BITS) | house << UNIT_BITS | unit,
        ))
    }

    /// Hashes the parts with their lengths, so that moving a character from one part to the next
    /// changes the identity. `kind` keeps verified and unverified identities apart.
    fn from_parts(kind: &str, parts: &[&str]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(kind.as_bytes());
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Self(Uuid::from_bytes(bytes))
    }
}

impl From<Uuid> for AddressId {
    fn from(uuid: Uuid) -> Self {
        Self(uuid)
    }
}

impl From<AddressId> for Uuid {
    fn from(id: AddressId) -> Self {
        id.0
    }
}

impl std::fmt::Display for AddressId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The identity of an address that could not be verified: of its parts as sent, trimmed and
/// case-folded. It never equals the identity of a verified address.
pub fn unverified_address_id(input: AddressInput<'_>) -> AddressId {
    let folded = input.parts().map(|part| part.trim().to_lowercase());
    AddressId::from_parts("as sent", &folded.each_ref().map(String::as_str))
}
