//! An address as it was sent.

/// The most bytes that all parts of one address may have together. Nothing that fits on a card comes near it; what is
/// longer is not read. The address book keeps 600 characters of a value, so that an address with a part that was cut is
/// always longer than this and never read as what is left of it.
pub const INPUT_BYTES_MAX: usize = 600;

/// An address as sent: any part may be empty, none has been trimmed or checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct AddressInput<'a> {
    /// Street address, PO Box or route; may carry the unit.
    pub address_1: &'a str,
    /// Unit, care-of line or urbanization.
    pub address_2: &'a str,
    /// City, in any spelling.
    pub city: &'a str,
    /// State: two letters or its name in full.
    pub state: &'a str,
    /// ZIP code: five digits, nine digits with or without a hyphen, or four when the leading zero was lost.
    pub zip: &'a str,
}

impl AddressInput<'_> {
    /// True when the parts together are longer than [`INPUT_BYTES_MAX`].
    pub(crate) fn is_too_long(&self) -> bool {
        self.parts().iter().map(|part| part.len()).sum::<usize>() > INPUT_BYTES_MAX
    }

    /// The five parts in their usual order.
    pub(crate) fn parts(&self) -> [&str; 5] {
        [
            self.address_1,
            self.address_2,
            self.city,
            self.state,
            self.zip,
        ]
    }
}

/// The address on one line as it was sent, for a recipient whose address has no verified form:
/// `address_1, city, state zip`. Like the verified one-line form it leaves `address_2` out.
pub fn one_line_as_sent(input: AddressInput<'_>) -> String {
    let mut line = String::new();
    for (separator, part) in [
        (", ", input.address_1),
        (", ", input.city),
        (", ", input.state),
        (" ", input.zip),
    ] {
        for word in part.split_whitespace() {
            if !line.is_empty() {
                let starts_part = std::ptr::eq(word.as_ptr(), part.trim_start().as_ptr());
                line.push_str(if starts_part { separator } else { " " });
            }
            line.push_str(word);
        }
    }
    line
}
