//! The fields that the APIs know, and what people call them at the top of a column.

/// A field and other names of it, in small letters and digits only.
pub(crate) struct KnownField {
    /// The name in the API.
    pub(crate) field: &'static str,
    /// What else a heading may say.
    pub(crate) aliases: &'static [&'static str],
}

const fn known(field: &'static str, aliases: &'static [&'static str]) -> KnownField {
    KnownField { field, aliases }
}

/// Of a recipient (contract: Recipient), with the address book's own columns.
pub(crate) static RECIPIENT: &[KnownField] = &[
    known(
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
    known("first_name", &["first", "givenname", "forename"]),
    known("last_name", &["last", "surname", "familyname"]),
    known(
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
    known(
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
    known("city", &["town"]),
    known("state", &["st", "statecode", "province"]),
    known("zip", &["zipcode", "postalcode", "postcode", "zip5"]),
    known("birthday", &["birthdate", "dateofbirth", "dob"]),
    known("email", &["emailaddress", "mail"]),
    known("phone", &["phonenumber", "telephone", "mobile", "cell"]),
    known(
        "organization",
        &["company", "companyname", "organisation", "business"],
    ),
];

/// Of a pushed record, whatever the integration declares.
pub(crate) static CONTACT: &[KnownField] = &[
    known(
        "external_id",
        &["id", "contactid", "crmid", "recordid", "customerid"],
    ),
    known("op", &["operation"]),
];
