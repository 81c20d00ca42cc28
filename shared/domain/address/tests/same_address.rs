//! Which spellings are one address, and which are two.

use address::{AddressId, AddressInput, AddressVerdict, verify_address};

/// What is told apart or not: two delivery lines with a second line and a ZIP each.
type AddressPair = ([&'static str; 2], [&'static str; 2], [&'static str; 3]);

const AUSTIN: [&str; 3] = ["Austin", "TX", "78701"];
const QUEENS: [&str; 3] = ["Long Island City", "NY", "11101"];
const SAN_JUAN: [&str; 3] = ["San Juan", "PR", "00926"];

const ONE: &[AddressPair] = &[
    (["100 First St", ""], ["100 1st St", ""], AUSTIN),
    (["100 Forty-Second St", ""], ["100 42nd St", ""], AUSTIN),
    (
        ["100 Mt Vernon Ave", ""],
        ["100 Mount Vernon Ave", ""],
        AUSTIN,
    ),
    (
        ["100 St Charles Ave", ""],
        ["100 Saint Charles Ave", ""],
        AUSTIN,
    ),
    (["100 Ft Worth Ave", ""], ["100 Fort Worth Ave", ""], AUSTIN),
    (
        ["100 Jones Jr Ave", ""],
        ["100 Jones Junior Ave", ""],
        AUSTIN,
    ),
    (
        ["100 MLK Blvd", ""],
        ["100 Martin Luther King Blvd", ""],
        AUSTIN,
    ),
    (
        ["100 M.L.K. Jr Blvd", ""],
        ["100 Dr. Martin Luther King, Jr. Blvd", ""],
        AUSTIN,
    ),
    (
        ["100 Martin L King Blvd", ""],
        ["100 Dr M L King Junior Blvd", ""],
        AUSTIN,
    ),
    (["45-17 21st St", ""], ["4517 21st St", ""], QUEENS),
    (
        ["100 Main St", "Apt 1B"],
        ["100 Main St", "Apt 1-B"],
        AUSTIN,
    ),
    (["100 Main St Apt 1B", ""], ["100 Main St", "# 1-B"], AUSTIN),
    (["0500 Main St", ""], ["500 Main St", ""], AUSTIN),
    (
        ["100 Main St Suite 0200", ""],
        ["100 Main St Suite 200", ""],
        AUSTIN,
    ),
    (["PO Box 0012", ""], ["PO Box 12", ""], AUSTIN),
    (["123-A Main St", ""], ["123A Main St", ""], AUSTIN),
    (["12 Farm Road 1325", ""], ["12 FM 1325", ""], AUSTIN),
    (["12 Ranch Road 620", ""], ["12 RM 620", ""], AUSTIN),
    (["12 RR 620", ""], ["12 Ranch Rd 620", ""], AUSTIN),
    (
        ["C-12 Calle 4", "Urb Villa Fontana"],
        ["Urb. Villa Fontana C12 Calle 4", ""],
        SAN_JUAN,
    ),
    (["Carr 2 Km 11.4", ""], ["PR-2, Km. 11 Hm. 4", ""], SAN_JUAN),
    (["Calle Sol 63", ""], ["63 Calle Sol", ""], SAN_JUAN),
];

const TWO: &[AddressPair] = &[
    (
        ["150 Calle A", "Urb Las Gladiolas"],
        ["150 Calle A", "Urb Las Lomas"],
        SAN_JUAN,
    ),
    (
        ["150 Calle A", "Urb Las Gladiolas"],
        ["150 Calle A", ""],
        SAN_JUAN,
    ),
    (["45-17 Main St", ""], ["4517 Main St", ""], AUSTIN),
    (
        ["100 Main St", "Apt 1-2"],
        ["100 Main St", "Apt 12"],
        AUSTIN,
    ),
    (["100 King Blvd", ""], ["100 MLK Blvd", ""], AUSTIN),
    (
        ["100 Saint Charles Ave", ""],
        ["100 Charles Ave", ""],
        AUSTIN,
    ),
    (["100 Jones Jr Ave", ""], ["100 Jones Ave", ""], AUSTIN),
    (["12 FM 620", ""], ["12 RM 620", ""], AUSTIN),
    (["100 1st St", ""], ["100 1st Ave", ""], AUSTIN),
    (["100 Main St", ""], ["1000 Main St", ""], AUSTIN),
    (["100 Main St", "Apt 200"], ["100 Main St", "Apt 2"], AUSTIN),
    (["Carr 2 Km 11.4", ""], ["Carr 2 Km 11.5", ""], SAN_JUAN),
];

#[track_caller]
fn id([address_1, address_2]: [&str; 2], [city, state, zip]: [&str; 3]) -> AddressId {
    match verify_address(AddressInput {
        address_1,
        address_2,
        city,
        state,
        zip,
    }) {
        AddressVerdict::Deliverable(verified) => verified.id,
        AddressVerdict::Undeliverable(failure) => panic!("{address_1} {address_2}: {failure}"),
    }
}

#[test]
fn spellings_of_one_address_compare_alike() {
    for (left, right, last_line) in ONE {
        assert_eq!(
            id(*left, *last_line),
            id(*right, *last_line),
            "{left:?} {right:?}"
        );
    }
}

#[test]
fn what_is_told_apart_on_the_street_is_told_apart_here() {
    for (left, right, last_line) in TWO {
        assert_ne!(
            id(*left, *last_line),
            id(*right, *last_line),
            "{left:?} {right:?}"
        );
    }
}
