//! US addresses: parsed and standardised as Publication 28 of the Postal Service asks, checked
//! against the ZIP codes that ship with the crate.
//!
//! Everything here is pure: no I/O, no clock, no database. [`parse`] never fails, it reads what it
//! can; [`verify`] decides whether the address can be mailed.
//!
//! Reading order: `line` cuts text into words, `delivery` reads the delivery line with the word
//! lists of `tables`, `last_line` reads city, state and ZIP, `parsed` puts the standard form
//! together, `compared` says which spellings are one address, `zips` holds the ZIP codes, `verify` decides, `points` adds what address points
//! confirm, `correction` says which other street may have been meant, `misplaced` which other ZIP, `misspelling` what a slip
//! is, `readings` reads an address in the other ways that `choice` names, `meant` decides between readings and corrections.

mod casing;
mod cell;
mod choice;
mod compared;
mod correction;
mod delivery;
mod hash;
mod id;
mod input;
mod last_line;
mod line;
mod listed;
mod meant;
mod misplaced;
mod misspelling;
mod parsed;
mod points;
mod readings;
mod tables;
mod unit;
mod verdict;
mod verify;
mod zips;

pub use cell::{RANGES_MAX, cell_at, cells_around, distance_metres};
pub use choice::ReadingGround;
pub use correction::{SimilarStreets, StreetQuestion, is_one_component_apart};
pub use id::{AddressId, unverified_address_id};
pub use input::{AddressInput, INPUT_BYTES_MAX, one_line_as_sent};
pub use listed::AddressListEntry;
pub use meant::find_meant_address;
pub use misspelling::NameEnds;
pub use parsed::{ParsedAddress, parse, parse_one_line};
pub use points::{DeliveryPoint, PointEvidence, PointKey, StandardStreet};
pub use readings::{AddressReading, READINGS_MAX, parse_readings};
pub use unit::{lines_as_sent, split_unit};
pub use verdict::{
    AddressCorrection, AddressError, AddressField, AddressVerdict, ConfirmationLevel,
    VerificationStrictness, VerifiedAddress,
};
pub use verify::{CheckedAddress, verify_address};
pub use zips::{find_city_and_state, zip_centre};
