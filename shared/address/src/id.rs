//! What makes two addresses the same.

use uuid::Uuid;

use crate::input::AddressInput;

/// The bits that tell units of a house apart.
const UNIT_BITS: u128 = u64::MAX as u128;

/// The identity of an address: what the duplicate window and the do-not-mail list compare.
///
/// The upper 64 bits are BLAKE3 over the standardised delivery line without its unit and the
/// five-digit ZIP: the house. The lower 64 bits are BLAKE3 over the unit, or zero without one, so that
/// the units of a house stand next to each other in an index. Two units are two addresses; two spellings
/// of one address are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AddressId(Uuid);

impl AddressId {
    /// The identity as a UUID, as it is stored.
    pub fn as_uuid(&self) -> Uuid {
        self.0
    }

    /// The identity of the house that the address is in: the address itself when it has no unit.
    #[must_use]
    pub fn house(self) -> Self {
        Self(Uuid::from_u128(self.0.as_u128() & !UNIT_BITS))
    }

    /// The last identity that a unit of the house can have.
    #[must_use]
    pub fn last_of_house(self) -> Self {
        Self(Uuid::from_u128(self.0.as_u128() | UNIT_BITS))
    }

    /// The identity of a delivery line in its compared form (see `Parsed::compared_house`) in a ZIP.
    pub(crate) fn of_verified(compared_house: &str, compared_unit: &str, zip: &str) -> Self {
        let house = Self::of_parts("verified", &[compared_house, zip]).0.as_u128() & !UNIT_BITS;
        let unit = match compared_unit {
            "" => 0,
            unit => (Self::of_parts("unit", &[unit]).0.as_u128() & UNIT_BITS).max(1),
        };
        Self(Uuid::from_u128(house | unit))
    }

    /// Hashes the parts with their lengths, so that moving a character from one part to the next
    /// changes the identity. `kind` keeps verified and unverified identities apart.
    fn of_parts(kind: &str, parts: &[&str]) -> Self {
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
pub fn unverified_id(input: AddressInput<'_>) -> AddressId {
    let folded = input.parts().map(|part| part.trim().to_lowercase());
    AddressId::of_parts("as sent", &folded.each_ref().map(String::as_str))
}
