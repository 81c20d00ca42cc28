//! The address book: people who were sent to or pushed, and the columns that hold what is known of them.

mod column;
mod contact;
mod entry;
mod formula;

use std::collections::BTreeMap;

use store::BookEntry;

use crate::route::{self, ConsoleRoute, RouteAccess};

/// What there is.
pub(crate) fn routes() -> Vec<ConsoleRoute> {
    vec![
        route::page("/address-book", RouteAccess::Member, entry::list),
        route::page(
            "/address-book/entries/{entry_id}",
            RouteAccess::Member,
            entry::show,
        ),
        route::page(
            "/address-book/contacts/{integration_id}",
            RouteAccess::Member,
            contact::list,
        ),
        route::page(
            "/address-book/contacts/{integration_id}/contact",
            RouteAccess::Member,
            contact::show,
        ),
        route::page("/address-book/columns", RouteAccess::Member, column::show),
        route::action(
            "/address-book/columns",
            RouteAccess::Manager,
            column::create,
        ),
        route::action(
            "/address-book/columns/lock",
            RouteAccess::Manager,
            column::lock,
        ),
        route::action(
            "/address-book/columns/unlock",
            RouteAccess::Manager,
            column::unlock,
        ),
        route::page("/address-book/formula", RouteAccess::Manager, formula::show),
        route::action("/address-book/formula", RouteAccess::Manager, formula::save),
        route::action(
            "/address-book/formula/preview",
            RouteAccess::Manager,
            formula::preview,
        ),
    ]
}

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
