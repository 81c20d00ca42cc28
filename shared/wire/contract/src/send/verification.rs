//! How far a recipient's address was verified: an addition to a result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much of an address was confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerificationLevel {
    /// This house exists, and this unit where the house's units are known.
    DeliveryPoint,
    /// The street exists in the ZIP code; the house or its unit is not known.
    Street,
    /// The address can be read, and city, state and ZIP code agree.
    Zip,
    /// Nothing: the operator vouches for the address.
    Override,
}

/// A part of the address that was changed to one that can be mailed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CorrectedPart {
    /// The recipient's field: `address_1`, `address_2`, `city`, `state` or `zip`.
    pub field: String,
    /// As it was sent.
    pub from: String,
    /// As it is used.
    pub to: String,
}

/// How far the address was verified, and what was changed of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AddressVerification {
    /// How much of it was confirmed.
    pub level: VerificationLevel,
    /// The four digits behind the ZIP code, when they are known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub plus4: Option<String>,
    /// What was changed, when anything was. A mailed recipient's warnings say the same.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub corrected: Vec<CorrectedPart>,
}
