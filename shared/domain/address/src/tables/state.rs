//! States, territories and military states: Publication 28, Appendix B.

use std::sync::LazyLock;

use crate::hash::WordMap;

/// Each two-letter abbreviation with the names read as it, the full one first.
static STATES: &[(&str, &str)] = &[
    ("AA", "ARMED FORCES AMERICAS"),
    ("AE", "ARMED FORCES EUROPE"),
    ("AK", "ALASKA|ALAS"),
    ("AL", "ALABAMA|ALA"),
    ("AP", "ARMED FORCES PACIFIC"),
    ("AR", "ARKANSAS|ARK"),
    ("AS", "AMERICAN SAMOA"),
    ("AZ", "ARIZONA|ARIZ"),
    ("CA", "CALIFORNIA|CALIF|CAL"),
    ("CO", "COLORADO|COLO|COL"),
    ("CT", "CONNECTICUT|CONN"),
    ("DC", "DISTRICT OF COLUMBIA|WASHINGTON DC|D C"),
    ("DE", "DELAWARE|DEL"),
    ("FL", "FLORIDA|FLA|FLOR"),
    ("FM", "FEDERATED STATES OF MICRONESIA|MICRONESIA"),
    ("GA", "GEORGIA"),
    ("GU", "GUAM"),
    ("HI", "HAWAII"),
    ("IA", "IOWA"),
    ("ID", "IDAHO|IDA"),
    ("IL", "ILLINOIS|ILL"),
    ("IN", "INDIANA|IND"),
    ("KS", "KANSAS|KANS|KAN"),
    ("KY", "KENTUCKY|KEN|KENT"),
    ("LA", "LOUISIANA"),
    ("MA", "MASSACHUSETTS|MASS"),
    ("MD", "MARYLAND"),
    ("ME", "MAINE"),
    ("MH", "MARSHALL ISLANDS"),
    ("MI", "MICHIGAN|MICH"),
    ("MN", "MINNESOTA|MINN"),
    ("MO", "MISSOURI"),
    ("MP", "NORTHERN MARIANA ISLANDS"),
    ("MS", "MISSISSIPPI|MISS"),
    ("MT", "MONTANA|MONT"),
    ("NC", "NORTH CAROLINA|N CAROLINA|N C"),
    ("ND", "NORTH DAKOTA|N DAK|N DAKOTA|N D"),
    ("NE", "NEBRASKA|NEBR|NEB"),
    ("NH", "NEW HAMPSHIRE|N H"),
    ("NJ", "NEW JERSEY|N J"),
    ("NM", "NEW MEXICO|N MEX|NEW M|N M"),
    ("NV", "NEVADA|NEV"),
    ("NY", "NEW YORK|N Y"),
    ("OH", "OHIO"),
    ("OK", "OKLAHOMA|OKLA"),
    ("OR", "OREGON|OREG|ORE"),
    ("PA", "PENNSYLVANIA|PENN"),
    ("PR", "PUERTO RICO|P R"),
    ("PW", "PALAU"),
    ("RI", "RHODE ISLAND|R I"),
    ("SC", "SOUTH CAROLINA|S CAROLINA|S C"),
    ("SD", "SOUTH DAKOTA|S DAK|S DAKOTA|S D"),
    ("TN", "TENNESSEE|TENN"),
    ("TX", "TEXAS|TEX"),
    ("UT", "UTAH"),
    ("VA", "VIRGINIA"),
    ("VI", "VIRGIN ISLANDS|US VIRGIN ISLANDS"),
    ("VT", "VERMONT"),
    ("WA", "WASHINGTON|WASH"),
    ("WI", "WISCONSIN|WIS|WISC"),
    ("WV", "WEST VIRGINIA|W VA|W V|W VIRGINIA"),
    ("WY", "WYOMING|WYO"),
];

/// The most words that the name of a state has.
pub(crate) const NAME_WORDS_MAX: usize = 4;

static BY_NAME: LazyLock<WordMap<&str>> = LazyLock::new(|| {
    STATES
        .iter()
        .flat_map(|(short, names)| {
            names
                .split('|')
                .chain([*short])
                .map(move |name| (name, *short))
        })
        .collect()
});

/// The abbreviation of the state that `name` (capitals, words separated by single spaces) names.
pub(crate) fn abbreviate_state(name: &str) -> Option<&'static str> {
    BY_NAME.get(name).copied()
}

/// The abbreviation equal to `word`, which is in capitals.
pub(crate) fn find_state_abbreviation(word: &str) -> Option<&'static str> {
    STATES
        .binary_search_by(|(short, _)| (*short).cmp(word))
        .ok()
        .map(|index| STATES[index].0)
}

/// The place of an abbreviation in the table, a number that fits in a byte.
pub(crate) fn state_index(abbreviation: &str) -> Option<u8> {
    STATES
        .binary_search_by(|(short, _)| (*short).cmp(abbreviation))
        .ok()
        .and_then(|index| u8::try_from(index).ok())
}

/// The places of all states.
pub(crate) fn state_indexes() -> impl Iterator<Item = u8> {
    (0..STATES.len()).filter_map(|index| u8::try_from(index).ok())
}

/// The abbreviation at a place in the table.
pub(crate) fn state_at(index: u8) -> &'static str {
    STATES[usize::from(index)].0
}

/// The military state of a ZIP: `AA` the Americas, `AE` Europe, `AP` the Pacific (Publication 28 §238).
pub(crate) fn military_state(zip: &str) -> Option<&'static str> {
    match zip.get(..3)? {
        "340" => Some("AA"),
        "090" | "091" | "092" | "093" | "094" | "095" | "096" | "097" | "098" | "099" => Some("AE"),
        "962" | "963" | "964" | "965" | "966" => Some("AP"),
        _ => None,
    }
}
