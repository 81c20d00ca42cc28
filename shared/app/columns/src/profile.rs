//! A recipient as conditions, designs and links see it.

use audience::{BuiltInColumn, ValueLookup};
use store::{BookEntryAddress, BookEntryValues};

/// A recipient as conditions see it: the verified address, what was sent, and behind it what is stored.
pub struct RecipientProfile<'a> {
    /// First and last name.
    pub name: (&'a str, &'a str),
    /// Delivery line and second line.
    pub lines: (&'a str, &'a str),
    /// Verified.
    pub city: &'a str,
    /// Verified.
    pub state: &'a str,
    /// Verified, five digits.
    pub zip: &'a str,
    /// Latitude and longitude, when known.
    pub place: Option<(f64, f64)>,
    /// The other columns, by folded name: sent, else stored.
    pub values: &'a dyn ValueLookup,
}

impl<'a> RecipientProfile<'a> {
    /// As it stands in the address book.
    pub fn from_entry(entry: &'a BookEntryAddress, values: &'a BookEntryValues) -> Self {
        Self {
            name: (&entry.first_name, &entry.last_name),
            lines: (&entry.address_1, &entry.address_2),
            city: &entry.city,
            state: &entry.state,
            zip: &entry.zip,
            place: entry.latitude.zip(entry.longitude),
            values,
        }
    }
}

impl ValueLookup for RecipientProfile<'_> {
    fn value(&self, column: &str) -> Option<&str> {
        match BuiltInColumn::from_key(column) {
            Some(BuiltInColumn::FirstName) => Some(self.name.0),
            Some(BuiltInColumn::LastName) => Some(self.name.1),
            Some(BuiltInColumn::Address1) => Some(self.lines.0),
            Some(BuiltInColumn::Address2) => Some(self.lines.1),
            Some(BuiltInColumn::City) => Some(self.city),
            Some(BuiltInColumn::State) => Some(self.state),
            Some(BuiltInColumn::Zip) => Some(self.zip),
            _ => self.values.value(column),
        }
    }
}
