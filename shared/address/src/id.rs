//! What makes two addresses the same.

use uuid::Uuid;

use crate::input::AddressInput;

/// The identity of an address: what the duplicate window and the do-not-mail list compare.
///
/// 128 bits of BLAKE3 over the standardised delivery line, its unit included, and the five-digit
/// ZIP. Two units are two addresses; two spellings of one address are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AddressId(Uuid);

impl AddressId {
    /// The identity as a UUID, as it is stored.
    pub fn as_uuid(&self) -> Uuid {
        self.0
    }

    /// The identity of a delivery line in its compared form (see `Parsed::compared_line`) in a ZIP.
    pub(crate) fn of_verified(compared_line: &str, zip: &str) -> Self {
        Self::of_parts("verified", &[compared_line, zip])
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
