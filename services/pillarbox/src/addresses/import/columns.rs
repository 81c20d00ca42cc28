//! Which column of a file says what: the names that OpenAddresses, the National Address Database and counties use.

/// What a column says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SourceColumnRole {
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

impl SourceColumnRole {
    /// How many there are.
    pub(super) const COUNT: usize = Self::Longitude as usize + 1;
}

/// Names in small letters and digits only, and their roles. OpenAddresses: `number` to `lat`. National Address
/// Database: releases up to 11 (`stnpredir`) and later ones (`stpredir`). Then what counties write.
static NAMES: &[(&str, SourceColumnRole)] = &[
    ("number", SourceColumnRole::Number),
    ("street", SourceColumnRole::Street),
    ("unit", SourceColumnRole::Unit),
    ("city", SourceColumnRole::City),
    ("postcode", SourceColumnRole::Zip),
    ("lon", SourceColumnRole::Longitude),
    ("lat", SourceColumnRole::Latitude),
    ("longitude", SourceColumnRole::Longitude),
    ("latitude", SourceColumnRole::Latitude),
    ("addnumpre", SourceColumnRole::NumberPrefix),
    ("addnumber", SourceColumnRole::Number),
    ("addnumsuf", SourceColumnRole::NumberSuffix),
    ("stpremod", SourceColumnRole::PreModifier),
    ("stnpremod", SourceColumnRole::PreModifier),
    ("stpredir", SourceColumnRole::PreDirectional),
    ("stnpredir", SourceColumnRole::PreDirectional),
    ("stpretyp", SourceColumnRole::PreType),
    ("stnpretyp", SourceColumnRole::PreType),
    ("stpresep", SourceColumnRole::PreSeparator),
    ("stnpresep", SourceColumnRole::PreSeparator),
    ("stname", SourceColumnRole::StreetName),
    ("streetname", SourceColumnRole::StreetName),
    ("stpostyp", SourceColumnRole::StreetType),
    ("stnpostyp", SourceColumnRole::StreetType),
    ("stposdir", SourceColumnRole::PostDirectional),
    ("stnposdir", SourceColumnRole::PostDirectional),
    ("stposmod", SourceColumnRole::PostModifier),
    ("stnposmod", SourceColumnRole::PostModifier),
    ("building", SourceColumnRole::Building),
    ("floor", SourceColumnRole::Floor),
    ("room", SourceColumnRole::Room),
    ("urbnztnpr", SourceColumnRole::Urbanization),
    ("postcity", SourceColumnRole::PostalCity),
    ("postcomm", SourceColumnRole::PostalCity),
    ("incmuni", SourceColumnRole::City),
    ("zipcode", SourceColumnRole::Zip),
    ("lifecycle", SourceColumnRole::Status),
    ("addrtype", SourceColumnRole::Use),
    ("stnumber", SourceColumnRole::Number),
    ("stnumsuff", SourceColumnRole::NumberSuffix),
    ("stprefixd", SourceColumnRole::PreDirectional),
    ("stprefixt", SourceColumnRole::PreType),
    ("sttype", SourceColumnRole::StreetType),
    ("stsuffixd", SourceColumnRole::PostDirectional),
    ("stpostmod", SourceColumnRole::PostModifier),
    ("cityposta", SourceColumnRole::PostalCity),
    ("zip", SourceColumnRole::Zip),
    ("zip4", SourceColumnRole::Plus4),
    ("plus4", SourceColumnRole::Plus4),
    ("status", SourceColumnRole::Status),
    ("addressuse", SourceColumnRole::Use),
];

/// The role of a column by its heading, in any case and with any punctuation; `None` for what no point needs.
pub(super) fn find_column_role(heading: &str) -> Option<SourceColumnRole> {
    let name: String = heading
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    NAMES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, role)| *role)
}
