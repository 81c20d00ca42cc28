//! An address on a list of people's: what is compared, and how it reads.

use crate::id::AddressId;
use crate::input::AddressInput;
use crate::parsed::ParsedAddress;
use crate::verdict::AddressVerdict;
use crate::{parse_one_line, verify_address};

/// A verified address for a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressListEntry {
    /// What is compared.
    pub id: AddressId,
    /// On one line with its unit, for people.
    pub line: String,
}

impl AddressListEntry {
    /// Verifies an address written on one line, such as `123 N Main St Apt 4, Austin, TX 78701`.
    ///
    /// # Errors
    /// A sentence that says why it cannot be mailed.
    pub fn from_line(text: &str) -> Result<Self, String> {
        let ParsedAddress {
            line1,
            line2,
            city,
            state,
            zip,
            ..
        } = parse_one_line(text);
        Self::from_parts(AddressInput {
            address_1: &line1,
            address_2: &line2,
            city: &city,
            state: &state,
            zip: &zip,
        })
        .map_err(|reason| format!("{text:?} cannot be mailed: {reason}"))
    }

    /// Verifies an address in its parts.
    ///
    /// # Errors
    /// Why it cannot be mailed.
    pub fn from_parts(input: AddressInput<'_>) -> Result<Self, String> {
        match verify_address(input) {
            AddressVerdict::Deliverable(verified) => Ok(Self {
                id: verified.id,
                line: format!(
                    "{}, {}, {} {}",
                    verified.line1, verified.city, verified.state, verified.zip
                ),
            }),
            AddressVerdict::Undeliverable(failure) => Err(failure.to_string()),
        }
    }
}
