//! Recipients whose addresses verify.

use serde_json::{Value, json};

/// An address that verifies, as [`build_recipient`] number 1 has it.
pub const ADDRESS: &str = "1 Main St, Austin, TX 78701";

/// A recipient with the reference `r{number}`, at a house of its own.
pub fn build_recipient(number: usize) -> Value {
    json!({
        "reference": format!("r{number}"),
        "first_name": "Pat",
        "last_name": format!("Reader{number}"),
        "address_1": format!("{number} Main St"),
        "city": "Austin",
        "state": "TX",
        "zip": "78701",
    })
}

/// Recipients of these numbers.
pub fn build_recipients(numbers: impl IntoIterator<Item = usize>) -> Vec<Value> {
    numbers.into_iter().map(build_recipient).collect()
}
