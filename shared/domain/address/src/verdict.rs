//! What verification says of an address.

use crate::id::AddressId;

/// The verifier's answer for one address.
#[derive(Debug, Clone, PartialEq)]
pub enum AddressVerdict {
    /// It can be mailed, in this form.
    Deliverable(Box<VerifiedAddress>),
    /// It cannot be mailed, and why.
    Undeliverable(AddressError),
}

/// An address in the form that mails, in the mixed case `123 N Main St`.
#[derive(Debug, Clone, PartialEq)]
pub struct VerifiedAddress {
    /// What the duplicate window and the do-not-mail list compare.
    pub id: AddressId,
    /// The identity of the address as it was read, before another street was put into it: lists may have it so.
    pub written_id: AddressId,
    /// The delivery line with its unit: `123 N Main St Apt 4`, `PO Box 12`.
    pub line1: String,
    /// What stands above the delivery line (care-of, urbanization, building), or empty.
    pub line2: String,
    /// The unit of `line1` that was sent in `address_2`, or empty; see [`crate::lines_as_sent`].
    pub unit_apart: String,
    /// Post office name.
    pub city: String,
    /// Two capital letters.
    pub state: String,
    /// Five digits.
    pub zip: String,
    /// The four digits after the hyphen, if known or sent.
    pub plus4: Option<String>,
    /// Degrees north, when the address itself (not only its ZIP) has been located.
    pub latitude: Option<f64>,
    /// Degrees east, when the address itself (not only its ZIP) has been located.
    pub longitude: Option<f64>,
    /// Whether it is a home, when that is known.
    pub residential: Option<bool>,
    /// How much of the address was confirmed.
    pub level: ConfirmationLevel,
    /// Why no more of it was confirmed, when address points had something to say.
    pub shortfall: Option<AddressError>,
    /// What had to be changed, beyond spelling the same thing in the standard way.
    pub corrections: Vec<AddressCorrection>,
    /// The `address` of a result: `123 N Main St, Austin, TX 78701-1234`. A unit that was sent in
    /// `address_2` is not in it.
    pub one_line: String,
}

/// How much of an address was confirmed, most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConfirmationLevel {
    /// This very house or unit exists.
    DeliveryPoint,
    /// The street exists in the ZIP.
    Street,
    /// City, state and ZIP agree.
    Zip,
    /// Nothing was: the operator vouches for the address.
    Override,
}

/// How much of an address must be confirmed before it is mailed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VerificationStrictness {
    /// City, state and ZIP agree.
    Zip,
    /// The street exists in the ZIP.
    Street,
    /// The house exists, and its unit where units are known.
    DeliveryPoint,
}

impl VerificationStrictness {
    /// Every strictness, the least first.
    pub const ALL: [Self; 3] = [Self::Zip, Self::Street, Self::DeliveryPoint];

    /// The name in files and in storage.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Zip => "zip",
            Self::Street => "street",
            Self::DeliveryPoint => "delivery_point",
        }
    }

    /// The strictness with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|strictness| strictness.as_str() == name)
    }

    /// Whether an address that was confirmed so far may be mailed.
    pub const fn accepts(self, level: ConfirmationLevel) -> bool {
        match (self, level) {
            (_, ConfirmationLevel::Override | ConfirmationLevel::DeliveryPoint)
            | (Self::Zip, _) => true,
            (Self::Street, ConfirmationLevel::Street) => true,
            (
                Self::Street | Self::DeliveryPoint,
                ConfirmationLevel::Street | ConfirmationLevel::Zip,
            ) => false,
        }
    }
}

impl VerifiedAddress {
    /// The verdict where this much must be confirmed.
    pub fn into_verdict(self: Box<Self>, strictness: VerificationStrictness) -> AddressVerdict {
        if strictness.accepts(self.level) {
            return AddressVerdict::Deliverable(self);
        }
        AddressVerdict::Undeliverable(
            self.shortfall
                .unwrap_or(AddressError::Unconfirmed(self.level)),
        )
    }
}

impl ConfirmationLevel {
    /// The level's name in results and in storage.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DeliveryPoint => "delivery_point",
            Self::Street => "street",
            Self::Zip => "zip",
            Self::Override => "override",
        }
    }
}

/// One change that verification made to the meaning of the address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressCorrection {
    /// The part that was changed.
    pub field: AddressField,
    /// Its value as sent.
    pub from: String,
    /// Its value now.
    pub to: String,
}

/// A part of an address, named as the sender names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddressField {
    /// `address_1`
    Address1,
    /// `address_2`
    Address2,
    /// `city`
    City,
    /// `state`
    State,
    /// `zip`
    Zip,
}

impl AddressField {
    /// The field's key in the API contract.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Address1 => "address_1",
            Self::Address2 => "address_2",
            Self::City => "city",
            Self::State => "state",
            Self::Zip => "zip",
        }
    }
}

/// Why an address cannot be mailed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// A required part is empty.
    #[error("{} is missing", .0.as_str())]
    Missing(AddressField),
    /// Longer than `INPUT_BYTES_MAX`.
    #[error("the address is too long to be one")]
    TooLong,
    /// A letter or digit of a script that the Postal Service does not read: leaving it out would change the address.
    #[error("the address has a character that mail cannot be addressed with: {0}")]
    UnreadableCharacter(char),
    /// The delivery line has neither a house number nor a box, route or general delivery.
    #[error("the address line has no house number, PO Box or route: {0}")]
    UnreadableStreet(String),
    /// Neither a state's name nor its abbreviation.
    #[error("{0} is not a US state")]
    UnknownState(String),
    /// Not five or nine digits.
    #[error("{0} is not a ZIP code")]
    UnreadableZip(String),
    /// Five digits that no post office uses.
    #[error("there is no ZIP code {0}")]
    UnknownZip(String),
    /// No letter in it.
    #[error("{0} is not a city")]
    UnreadableCity(String),
    /// The city is a post office elsewhere in the state: either it or the ZIP code is wrong, and nobody can tell
    /// which.
    #[error("ZIP code {zip} is in {zip_city}, not in {city}")]
    CityNotInZip {
        /// The ZIP code, five digits.
        zip: String,
        /// The post office that it belongs to.
        zip_city: String,
        /// The city as sent.
        city: String,
    },
    /// The ZIP code belongs to another state.
    #[error("ZIP code {zip} is in {zip_state}, not in {state}")]
    ZipNotInState {
        /// The ZIP code, five digits.
        zip: String,
        /// The state it belongs to.
        zip_state: String,
        /// The state as sent, abbreviated.
        state: String,
    },
    /// The ZIP code has no street of this name.
    #[error("there is no {street} in ZIP code {zip}")]
    UnknownStreet {
        /// Directionals, name and suffix.
        street: String,
        /// Five digits.
        zip: String,
    },
    /// Nothing says whether the ZIP code has a street of this name.
    #[error(
        "city, state and ZIP code agree, but too little is known of ZIP code {zip} to say whether {street} is there"
    )]
    UncoveredStreet {
        /// Directionals, name and suffix.
        street: String,
        /// Five digits.
        zip: String,
    },
    /// The street has no house of this number.
    #[error("there is no number {number} on {street} in ZIP code {zip}")]
    UnknownNumber {
        /// The house number.
        number: String,
        /// Directionals, name and suffix.
        street: String,
        /// Five digits.
        zip: String,
    },
    /// The house has units, and none was sent.
    #[error("{0} has units, and the address names none")]
    MissingUnit(String),
    /// The house has units, and not this one.
    #[error("{0} has no such unit")]
    UnknownUnit(String),
    /// The campaign asks for more than could be confirmed.
    #[error("the address could only be confirmed as far as: {}", .0.as_str())]
    Unconfirmed(ConfirmationLevel),
    /// A provider found no such address.
    #[error("{0}")]
    Provider(String),
}

impl AddressError {
    /// The reason as a sentence for the person who sent the address.
    pub fn to_sentence(&self) -> String {
        let text = match self {
            // A field's name is written as it is sent.
            Self::Missing(field) => format!("the address has no {}", field.as_str()),
            other => other.to_string(),
        };
        let mut characters = text.chars();
        let first: String = characters
            .next()
            .into_iter()
            .flat_map(char::to_uppercase)
            .collect();
        format!("{first}{}.", characters.as_str())
    }
}
