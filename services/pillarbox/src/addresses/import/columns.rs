//! Which column of a file says what: the names that OpenAddresses, the National Address Database and counties use.

/// What a column says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    NumberPrefix,
    Number,
    NumberSuffix,
    PreModifier,
    PreDirectional,
    PreType,
    PreSeparator,
    StreetName,
    StreetType,
    PostDirectional,
    PostModifier,
    /// The whole street, where it is not in parts.
    Street,
    Building,
    Floor,
    Unit,
    Room,
    Urbanization,
    PostalCity,
    City,
    Zip,
    Plus4,
    Status,
    Use,
    Latitude,
    Longitude,
}

impl Role {
    /// How many there are.
    pub(super) const COUNT: usize = Self::Longitude as usize + 1;
}

/// Names in small letters and digits only, and their roles. OpenAddresses: `number` to `lat`. National Address
/// Database: releases up to 11 (`stnpredir`) and later ones (`stpredir`). Then what counties write.
static NAMES: &[(&str, Role)] = &[
    ("number", Role::Number),
    ("street", Role::Street),
    ("unit", Role::Unit),
    ("city", Role::City),
    ("postcode", Role::Zip),
    ("lon", Role::Longitude),
    ("lat", Role::Latitude),
    ("longitude", Role::Longitude),
    ("latitude", Role::Latitude),
    ("addnumpre", Role::NumberPrefix),
    ("addnumber", Role::Number),
    ("addnumsuf", Role::NumberSuffix),
    ("stpremod", Role::PreModifier),
    ("stnpremod", Role::PreModifier),
    ("stpredir", Role::PreDirectional),
    ("stnpredir", Role::PreDirectional),
    ("stpretyp", Role::PreType),
    ("stnpretyp", Role::PreType),
    ("stpresep", Role::PreSeparator),
    ("stnpresep", Role::PreSeparator),
    ("stname", Role::StreetName),
    ("streetname", Role::StreetName),
    ("stpostyp", Role::StreetType),
    ("stnpostyp", Role::StreetType),
    ("stposdir", Role::PostDirectional),
    ("stnposdir", Role::PostDirectional),
    ("stposmod", Role::PostModifier),
    ("stnposmod", Role::PostModifier),
    ("building", Role::Building),
    ("floor", Role::Floor),
    ("room", Role::Room),
    ("urbnztnpr", Role::Urbanization),
    ("postcity", Role::PostalCity),
    ("postcomm", Role::PostalCity),
    ("incmuni", Role::City),
    ("zipcode", Role::Zip),
    ("lifecycle", Role::Status),
    ("addrtype", Role::Use),
    ("stnumber", Role::Number),
    ("stnumsuff", Role::NumberSuffix),
    ("stprefixd", Role::PreDirectional),
    ("stprefixt", Role::PreType),
    ("sttype", Role::StreetType),
    ("stsuffixd", Role::PostDirectional),
    ("stpostmod", Role::PostModifier),
    ("cityposta", Role::PostalCity),
    ("zip", Role::Zip),
    ("zip4", Role::Plus4),
    ("plus4", Role::Plus4),
    ("status", Role::Status),
    ("addressuse", Role::Use),
];

/// The role of a column by its heading, in any case and with any punctuation; `None` for what no point needs.
pub(super) fn role(heading: &str) -> Option<Role> {
    let name: String =
        heading.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, role)| *role)
}
