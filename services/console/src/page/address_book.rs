//! The address book: people who were sent to or pushed, and the columns that hold what is known of them.

pub(crate) mod column;
pub(crate) mod contact;
pub(crate) mod entry;
pub(crate) mod formula;

use std::collections::BTreeMap;

use store::BookEntry;

/// The values of an entry that are stored and not blank, by folded column name.
pub(crate) fn person_values(entry: &BookEntry) -> BTreeMap<String, String> {
    let (address, values) = (&entry.address, &entry.values);
    let (address_1, address_2) =
        address::lines_as_sent(&address.address_1, &address.address_2, &address.unit_apart);
    let built_in = [
        ("first_name", &address.first_name),
        ("last_name", &address.last_name),
        ("address_1", &address_1),
        ("address_2", &address_2),
        ("city", &address.city),
        ("state", &address.state),
        ("zip", &address.zip),
        ("birthday", &values.birthday),
        ("email", &values.email),
        ("phone", &values.phone),
        ("organization", &values.organization),
    ];
    let built_in = built_in
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.clone()));
    let custom = values
        .custom
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()));
    // A value sent under a built-in name is that of the built-in column.
    custom
        .chain(built_in)
        .filter(|(_, value)| !value.is_empty())
        .collect()
}
