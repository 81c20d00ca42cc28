//! The fields that the APIs know, and what people call them at the top of a column.

/// A field and other names of it, in small letters and digits only.
pub(crate) struct KnownField {
    /// The name in the API.
    pub(crate) field: &'static str,
    /// What else a heading may say.
    pub(crate) aliases: &'static [&'static str],
}

const fn known_field(field: &'static str, aliases: &'static [&'static str]) -> KnownField {
    KnownField { field, aliases }
}

/// Of a recipient (contract: Recipient), with the address book's own columns.
pub(crate) static RECIPIENT: &[KnownField] = &[
    known_field(
        "reference",
        &[
            "ref",
            "referenceid",
            "referencenumber",
            "id",
            "externalid",
            "customerid",
        ],
    ),
    known_field("first_name", &["first", "givenname", "forename"]),
    known_field("last_name", &["last", "surname", "familyname"]),
    known_field(
        "address_1",
        &[
            "address",
            "street",
            "streetaddress",
            "address1",
            "addressline1",
            "mailingaddress",
            "street1",
        ],
    ),
    known_field(
        "address_2",
        &[
            "address2",
            "addressline2",
            "apartment",
            "unit",
            "suite",
            "apt",
            "street2",
            "aptsuite",
        ],
    ),
    known_field("city", &["town"]),
    known_field("state", &["st", "statecode", "province"]),
    known_field("zip", &["zipcode", "postalcode", "postcode", "zip5"]),
    known_field("birthday", &["birthdate", "dateofbirth", "dob"]),
    known_field("email", &["emailaddress", "mail"]),
    known_field("phone", &["phonenumber", "telephone", "mobile", "cell"]),
    known_field(
        "organization",
        &["company", "companyname", "organisation", "business"],
    ),
];

/// Of a pushed record, whatever the integration declares.
pub(crate) static CONTACT: &[KnownField] = &[
    known_field(
        "external_id",
        &["id", "contactid", "crmid", "recordid", "customerid"],
    ),
    known_field("op", &["operation"]),
];
