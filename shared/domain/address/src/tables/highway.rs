//! County, state and national roads: Publication 28, Appendix F.

use std::sync::LazyLock;

use crate::hash::WordMap;

/// Numbered roads whose names, without a number, are those of ordinary roads.
const FARM_ROAD: &str = "Farm Road";
const RANCH_ROAD: &str = "Ranch Road";

/// A road that no public hand keeps, numbered as county roads are: `PR 462` in Texas.
pub(crate) const PRIVATE_ROAD: &str = "Private Road";

/// What a road's type is written as, by the words it is spelled with. Longer spellings come before
/// their beginnings. The road's number follows.
static ROADS: &[(&str, &str)] = &[
    ("COUNTY STATE AID HIGHWAY", "County Highway"),
    ("COUNTY TRUNK HIGHWAY", "County Highway"),
    ("COUNTY TRUNK HWY", "County Highway"),
    ("COUNTY TRUNK", "County Highway"),
    ("CTH", "County Highway"),
    ("FARM TO MARKET ROAD", "FM"),
    ("FARM TO MARKET RD", "FM"),
    ("FARM TO MARKET", "FM"),
    ("FARM MARKET", "FM"),
    ("RANCH TO MARKET", "RM"),
    ("HIGHWAY FM", "FM"),
    ("HWY FM", "FM"),
    ("FM ROAD", "FM"),
    ("FM RD", "FM"),
    ("FM", "FM"),
    ("RM", "RM"),
    ("FARM ROAD", FARM_ROAD),
    ("FARM RD", FARM_ROAD),
    ("RANCH ROAD", RANCH_ROAD),
    ("RANCH RD", RANCH_ROAD),
    ("RR", RANCH_ROAD),
    ("INTERSTATE HIGHWAY", "Interstate"),
    ("INTERSTATE HWY", "Interstate"),
    ("INTERSTATE", "Interstate"),
    ("IH", "Interstate"),
    ("I H", "Interstate"),
    ("I", "Interstate"),
    ("TOWNSHIP ROAD", "Township Road"),
    ("TOWNSHIP RD", "Township Road"),
    ("TOWNSHIP HIGHWAY", "Township Highway"),
    ("TOWNSHIP HWY", "Township Highway"),
    ("TWP RD", "Township Road"),
    ("TWP ROAD", "Township Road"),
    ("TSR", "Township Road"),
    ("CR", "County Road"),
    ("SR", "State Road"),
    ("SH", "State Highway"),
    ("EXPRESSWAY", "Expressway"),
    ("LOOP", "Loop"),
    ("PRIVATE ROAD", PRIVATE_ROAD),
    ("PRIVATE RD", PRIVATE_ROAD),
    ("PVT ROAD", PRIVATE_ROAD),
    ("PVT RD", PRIVATE_ROAD),
    ("P R", PRIVATE_ROAD),
    ("PR", PRIVATE_ROAD),
    ("BUSINESS", "Business"),
    ("BUS", "Business"),
    ("ALTERNATE", "Alternate"),
    ("ALT", "Alternate"),
];

/// One spelling of a road's type.
struct RoadSpelling {
    /// The words behind the first one.
    rest: &'static str,
    /// How many words it has.
    words: usize,
    written: &'static str,
}

/// The spellings by their first word, in the order of the table.
static BY_FIRST_WORD: LazyLock<WordMap<Vec<RoadSpelling>>> = LazyLock::new(|| {
    let mut roads: WordMap<Vec<RoadSpelling>> = WordMap::default();
    for (spelling, written) in ROADS.iter().copied() {
        let (first, rest) = spelling.split_once(' ').unwrap_or((spelling, ""));
        let road = RoadSpelling {
            rest,
            words: spelling.split(' ').count(),
            written,
        };
        roads.entry(first).or_default().push(road);
    }
    roads
});

/// Kinds of road that a state, a county or the nation may own.
static KINDS: &[(&str, &str)] = &[
    ("HIGHWAY", "Highway"),
    ("HIWAY", "Highway"),
    ("HIGHWY", "Highway"),
    ("HWY", "Highway"),
    ("HWAY", "Highway"),
    ("HIWY", "Highway"),
    ("ROAD", "Road"),
    ("RD", "Road"),
    ("ROUTE", "Route"),
    ("RTE", "Route"),
    ("RT", "Route"),
];

/// The type that the first words spell, and how many words it took: `CNTY RD` is `County Road`.
pub(crate) fn road_type(words: &[&str]) -> Option<(&'static str, usize)> {
    let roads = BY_FIRST_WORD.get(words.first()?)?;
    let is_spelled = |road: &&RoadSpelling| {
        let behind = words.iter().skip(1).copied();
        road.rest
            .split_terminator(' ')
            .eq(behind.take(road.words - 1))
    };
    roads
        .iter()
        .find(is_spelled)
        .map(|road| (road.written, road.words))
}

/// True for a type that only a number without a sign makes a numbered road: `12 Farm Rd # 5` and `12 Ranch Rd N` are
/// on ordinary roads.
pub(crate) fn takes_only_plain_number(road_type: &str) -> bool {
    matches!(
        road_type,
        FARM_ROAD | RANCH_ROAD | PRIVATE_ROAD | "Business" | "Alternate"
    )
}

/// True for a type whose roads have letters too: `County Road K`, but never `FM K`.
pub(crate) fn may_have_road_letter(road_type: &str) -> bool {
    !takes_only_plain_number(road_type)
        && !matches!(
            road_type,
            "FM" | "RM" | "Interstate" | "Loop" | "Expressway"
        )
}

/// `Highway`, `Road` or `Route`.
pub(crate) fn road_kind(word: &str) -> Option<&'static str> {
    KINDS
        .iter()
        .find(|(spelling, _)| *spelling == word)
        .map(|(_, written)| *written)
}

/// The most letters that name a county's road: `County Road ZZZ`.
const COUNTY_ROAD_LETTERS_MAX: usize = 3;

/// True for the letters that name a county's road in Wisconsin or Missouri: two, or one three times.
pub(crate) fn is_county_road_letters(road: &str, word: &str) -> bool {
    let bytes = word.as_bytes();
    road.starts_with("County ")
        && (2..=COUNTY_ROAD_LETTERS_MAX).contains(&bytes.len())
        && bytes[0].is_ascii_alphabetic()
        && bytes.iter().all(|byte| *byte == bytes[0])
}

/// Who owns the road, by the first words, and how many words that took.
pub(crate) fn road_owner(words: &[&str]) -> Option<(&'static str, usize)> {
    match words {
        ["U", "S", ..] => Some(("US", 2)),
        ["US" | "USA", ..] => Some(("US", 1)),
        ["COUNTY" | "COUNTRY" | "CNTY" | "CTY" | "CO", ..] => Some(("County", 1)),
        ["STATE" | "ST", ..] => Some(("State", 1)),
        _ => None,
    }
}

/// The letters that are glued to a road's number, as in `I-10` and `FM1200`.
pub(crate) fn is_glued_type(letters: &str) -> bool {
    matches!(
        letters,
        "I" | "IH" | "US" | "FM" | "RM" | "RR" | "CR" | "SR" | "SH" | "HWY" | "RT" | "RTE"
    )
}
