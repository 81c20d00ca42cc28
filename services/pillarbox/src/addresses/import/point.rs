//! From a row to a point, or why it is none. Pure.

use address::{AddressInput, ParsedAddress};
use store::AddressPointRow;

use super::columns::SourceColumnRole;
use super::row::SourceRow;

/// Why a row is no point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PointSkipReason {
    BadRow,
    NotActive,
    NoNumber,
    NoStreet,
    NoZip,
    NoPlace,
    Unreadable,
}

impl PointSkipReason {
    /// The reason, for people.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::BadRow => "cannot be read",
            Self::NotActive => "not in use",
            Self::NoNumber => "without a house number",
            Self::NoStreet => "without a street",
            Self::NoZip => "without a known ZIP",
            Self::NoPlace => "without a place",
            Self::Unreadable => "no street address",
        }
    }
}

/// What sources write for points that are there; all else is planned, retired or wrong.
const IN_USE: [&str; 7] = [
    "",
    "active",
    "current",
    "existing",
    "in use",
    "unknown",
    "not available",
];

/// Beginnings and parts of what sources write for homes.
const HOMES: [&str; 9] = [
    "resid",
    "multi-family",
    "multifamily",
    "multi family",
    "single family",
    "single-family",
    "apartment",
    "dwelling",
    "mobile home",
];

/// What sources write when they do not know.
const UNKNOWN_USES: [&str; 6] = ["", "unknown", "not available", "n/a", "na", "none"];

/// The point that a row is.
pub(super) fn parse_point(row: &SourceRow<'_>) -> Result<AddressPointRow, PointSkipReason> {
    if !IN_USE.contains(
        &row.get(SourceColumnRole::Status)
            .to_ascii_lowercase()
            .as_str(),
    ) {
        return Err(PointSkipReason::NotActive);
    }
    let number = parse_primary_number(row).ok_or(PointSkipReason::NoNumber)?;
    let street = parse_street(row).ok_or(PointSkipReason::NoStreet)?;
    let (zip, sent_plus4) =
        parse_zip(row.get(SourceColumnRole::Zip)).ok_or(PointSkipReason::NoZip)?;
    let (city_of_zip, state) = address::find_city_and_state(&zip).ok_or(PointSkipReason::NoZip)?;
    let (latitude, longitude) = parse_coordinates(row).ok_or(PointSkipReason::NoPlace)?;
    let city = [SourceColumnRole::PostalCity, SourceColumnRole::City]
        .into_iter()
        .map(|role| row.get(role))
        .find(|city| is_city(city));
    let plus4 = [row.get(SourceColumnRole::Plus4), sent_plus4]
        .into_iter()
        .find(|plus4| is_plus4(plus4))
        .map(str::to_owned);
    let parsed = read_as_source(
        row,
        AddressInput {
            address_1: &format!("{number} {street}"),
            address_2: &format_unit(row),
            city: city.unwrap_or(city_of_zip),
            state,
            zip: &zip,
        },
    );
    // The post office of a ZIP is known better than a city hall's name for it.
    let key = parsed.point_key().ok_or(PointSkipReason::Unreadable)?;
    let street = parsed.street_parts();
    if street.name.is_empty() {
        return Err(PointSkipReason::Unreadable);
    }
    let residential = parse_residential(row.get(SourceColumnRole::Use));
    let ParsedAddress {
        line1, city, state, ..
    } = parsed;
    Ok(AddressPointRow {
        key,
        street,
        latitude,
        longitude,
        line_1: line1,
        city,
        state,
        plus4,
        residential,
    })
}

/// The reading that has the parts that the source has; the usual one where the source has none, or no reading has them.
fn read_as_source(row: &SourceRow<'_>, input: AddressInput<'_>) -> ParsedAddress {
    let usual = address::parse(input);
    let has_parts = |parsed: &ParsedAddress| {
        [
            (SourceColumnRole::PreDirectional, &parsed.predirectional),
            (SourceColumnRole::StreetType, &parsed.suffix),
            (SourceColumnRole::PostDirectional, &parsed.postdirectional),
        ]
        .into_iter()
        .all(|(role, part)| row.get(role).is_empty() == part.is_empty())
    };
    if row.get(SourceColumnRole::StreetName).is_empty() || has_parts(&usual) {
        return usual;
    }
    // A direction that is abbreviated is one, wherever the source has it.
    let is_whole = |parsed: &ParsedAddress| {
        let spells = |word: &str| {
            parsed
                .street
                .split(' ')
                .any(|one| one.eq_ignore_ascii_case(word))
        };
        let mut words = row
            .get(SourceColumnRole::StreetName)
            .split_ascii_whitespace();
        words.all(spells)
    };
    let others = address::parse_readings(input).into_iter().skip(1);
    others
        .map(|reading| reading.parsed)
        .find(|parsed| has_parts(parsed) && is_whole(parsed))
        .unwrap_or(usual)
}

/// The house number with what belongs to it: `123`, `123A`, `123 1/2`. `0` stands for none.
fn parse_primary_number(row: &SourceRow<'_>) -> Option<String> {
    let number = row.get(SourceColumnRole::Number).trim_start_matches('0');
    if !number.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let suffix = row.get(SourceColumnRole::NumberSuffix);
    let space = if suffix.starts_with(|c: char| c.is_ascii_digit()) {
        " "
    } else {
        ""
    };
    Some(format!(
        "{}{number}{space}{suffix}",
        row.get(SourceColumnRole::NumberPrefix)
    ))
}

fn parse_street(row: &SourceRow<'_>) -> Option<String> {
    let whole = row.get(SourceColumnRole::Street);
    if row.get(SourceColumnRole::StreetName).is_empty() {
        return (!whole.is_empty()).then(|| whole.to_owned());
    }
    let parts = [
        SourceColumnRole::PreModifier,
        SourceColumnRole::PreDirectional,
        SourceColumnRole::PreType,
        SourceColumnRole::PreSeparator,
        SourceColumnRole::StreetName,
        SourceColumnRole::StreetType,
        SourceColumnRole::PostDirectional,
        SourceColumnRole::PostModifier,
    ];
    let parts: Vec<&str> = parts
        .into_iter()
        .map(|role| row.get(role))
        .filter(|part| !part.is_empty())
        .collect();
    Some(parts.join(" "))
}

/// The unit as the second address line has it.
fn format_unit(row: &SourceRow<'_>) -> String {
    let mut parts = Vec::new();
    if !row.get(SourceColumnRole::Urbanization).is_empty() {
        parts.push(format!("URB {}", row.get(SourceColumnRole::Urbanization)));
    }
    for (role, designator) in [
        (SourceColumnRole::Building, "Bldg"),
        (SourceColumnRole::Floor, "Fl"),
        (SourceColumnRole::Unit, "#"),
        (SourceColumnRole::Room, "Rm"),
    ] {
        let value = row.get(role);
        if value.is_empty() {
            continue;
        }
        // `4B` needs its designator, `Apt 4B` has it; a building's name is none of the address.
        let is_bare = !value.contains(' ') && !value.starts_with('#');
        if is_bare {
            parts.push(format!("{designator} {value}"));
        } else if role != SourceColumnRole::Building {
            parts.push(value.to_owned());
        }
    }
    parts.join(", ")
}

/// Five digits, and what follows them.
fn parse_zip(text: &str) -> Option<(String, &str)> {
    let (zip, plus4) = text.split_once('-').unwrap_or((text, ""));
    let is_zip = matches!(zip.len(), 3..=5) && zip.bytes().all(|byte| byte.is_ascii_digit());
    is_zip.then(|| (format!("{zip:0>5}"), plus4))
}

fn is_plus4(text: &str) -> bool {
    text.len() == 4 && text != "0000" && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_city(text: &str) -> bool {
    !UNKNOWN_USES.contains(&text.to_ascii_lowercase().as_str())
        && !text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Degrees north and east, in the parts of the globe that have ZIPs.
fn parse_coordinates(row: &SourceRow<'_>) -> Option<(f64, f64)> {
    let latitude: f64 = row.get(SourceColumnRole::Latitude).parse().ok()?;
    let longitude: f64 = row.get(SourceColumnRole::Longitude).parse().ok()?;
    let is_there = (-20.0..=75.0).contains(&latitude) && (-180.0..=180.0).contains(&longitude);
    (is_there && (latitude, longitude) != (0.0, 0.0)).then_some((latitude, longitude))
}

fn parse_residential(use_of_it: &str) -> Option<bool> {
    let use_of_it = use_of_it.to_ascii_lowercase();
    if UNKNOWN_USES.contains(&use_of_it.as_str()) {
        return None;
    }
    Some(HOMES.iter().any(|home| use_of_it.contains(home)) && !use_of_it.contains("non-resid"))
}

/// Each address once, in the order of the key. Of points that share an address the last gives the place; what it
/// leaves open an earlier one says, and one home makes it a home.
pub(super) fn merge_duplicates(mut rows: Vec<AddressPointRow>) -> Vec<AddressPointRow> {
    rows.sort_by_key(|row| (row.key.zip, row.key.address_id));
    rows.dedup_by(|later, kept| {
        let is_same = (later.key.zip, later.key.address_id) == (kept.key.zip, kept.key.address_id);
        if is_same {
            (kept.latitude, kept.longitude) = (later.latitude, later.longitude);
            kept.plus4 = later.plus4.take().or_else(|| kept.plus4.take());
            kept.residential = match (kept.residential, later.residential) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (earlier, later) => later.or(earlier),
            };
        }
        is_same
    });
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_row(values: &[(SourceColumnRole, &'static str)]) -> SourceRow<'static> {
        let mut row = SourceRow::default();
        for (role, value) in values {
            row.set(*role, (*value).into());
        }
        row
    }

    const USUAL: [(SourceColumnRole, &str); 6] = [
        (SourceColumnRole::Number, "12"),
        (SourceColumnRole::StreetName, "MAIN"),
        (SourceColumnRole::StreetType, "ST"),
        (SourceColumnRole::Zip, "78701"),
        (SourceColumnRole::Latitude, "30.27"),
        (SourceColumnRole::Longitude, "-97.74"),
    ];

    fn usual_but(
        role: SourceColumnRole,
        value: &'static str,
    ) -> Result<AddressPointRow, PointSkipReason> {
        // The first value stays.
        let values: Vec<_> = [(role, value)]
            .into_iter()
            .chain(USUAL.into_iter().filter(|(other, _)| *other != role))
            .collect();
        parse_point(&build_row(&values))
    }

    #[test]
    fn a_direction_that_the_source_has_in_the_name_is_a_word_of_it() {
        let street = |name: &'static str, direction: &'static str| {
            let mut row = build_row(&[
                (SourceColumnRole::StreetName, name),
                (SourceColumnRole::PreDirectional, direction),
                (SourceColumnRole::StreetType, "RD"),
            ]);
            for (role, value) in USUAL {
                row.set(role, value.into());
            }
            let point = parse_point(&row).unwrap();
            (point.street.predirectional, point.street.name, point.line_1)
        };
        let expected = |parts: [&str; 3]| {
            let [direction, name, line] = parts.map(str::to_owned);
            (direction, name, line)
        };
        for (name, direction, parts) in [
            ("NORTH COVE", "", ["", "North Cove", "12 North Cove Rd"]),
            ("COVE", "NORTH", ["N", "Cove", "12 N Cove Rd"]),
            ("N COVE", "", ["N", "Cove", "12 N Cove Rd"]),
            ("COVE", "", ["", "Cove", "12 Cove Rd"]),
        ] {
            assert_eq!(street(name, direction), expected(parts), "{name}");
        }
    }

    #[test]
    fn a_row_is_the_point_that_its_address_is_looked_up_at() {
        let sent = address::parse(AddressInput {
            address_1: "12 1/2 north main street",
            address_2: "apt 4",
            city: "austin",
            state: "texas",
            zip: "78701",
        });
        let found = parse_point(&build_row(
            &[
                &USUAL[..],
                &[
                    (SourceColumnRole::NumberSuffix, "1/2"),
                    (SourceColumnRole::PreDirectional, "N"),
                    (SourceColumnRole::Unit, "4"),
                    (SourceColumnRole::Use, "Multi-Family"),
                    (SourceColumnRole::Plus4, "1234"),
                ],
            ]
            .concat(),
        ))
        .unwrap();
        assert_eq!(Some(found.key), sent.point_key());
        assert_eq!(
            (
                found.line_1.as_str(),
                found.city.as_str(),
                found.state.as_str()
            ),
            ("12 1/2 N Main St # 4", "Austin", "TX")
        );
        assert_eq!(
            (found.plus4.as_deref(), found.residential),
            (Some("1234"), Some(true))
        );
    }

    #[test]
    fn bad_rows_have_their_reason() {
        for (role, value, reason) in [
            (SourceColumnRole::Number, "0", PointSkipReason::NoNumber),
            (SourceColumnRole::Number, "", PointSkipReason::NoNumber),
            (SourceColumnRole::StreetName, "", PointSkipReason::NoStreet),
            (SourceColumnRole::Zip, "", PointSkipReason::NoZip),
            (SourceColumnRole::Zip, "99999", PointSkipReason::NoZip),
            (SourceColumnRole::Zip, "7870X", PointSkipReason::NoZip),
            (SourceColumnRole::Latitude, "x", PointSkipReason::NoPlace),
            (SourceColumnRole::Latitude, "NaN", PointSkipReason::NoPlace),
            (SourceColumnRole::Latitude, "91", PointSkipReason::NoPlace),
            (
                SourceColumnRole::Status,
                "INACTIVE",
                PointSkipReason::NotActive,
            ),
            (
                SourceColumnRole::Status,
                "Retired",
                PointSkipReason::NotActive,
            ),
        ] {
            assert_eq!(
                usual_but(role, value).unwrap_err(),
                reason,
                "{role:?} {value}"
            );
        }
    }

    #[test]
    fn a_blank_city_and_a_foreign_state_are_those_of_the_zip() {
        let found = usual_but(SourceColumnRole::Zip, "17327").unwrap();
        assert_eq!(found.state, "PA");
        assert!(!found.city.is_empty());
    }

    #[test]
    fn what_nobody_knows_is_neither_home_nor_shop() {
        for (written, expected) in [
            ("", None),
            ("Unknown", None),
            ("RESIDENTIAL LOW DENSITY", Some(true)),
            ("Commercial", Some(false)),
            ("PRIVATE VACANT", Some(false)),
        ] {
            assert_eq!(
                usual_but(SourceColumnRole::Use, written)
                    .unwrap()
                    .residential,
                expected,
                "{written}"
            );
        }
    }

    #[test]
    fn a_label_that_occurs_more_than_once_is_one_point() {
        let first = AddressPointRow {
            plus4: Some("1111".to_owned()),
            residential: Some(true),
            ..usual_but(SourceColumnRole::Use, "").unwrap()
        };
        let second = AddressPointRow {
            latitude: 30.5,
            residential: Some(false),
            ..usual_but(SourceColumnRole::Use, "").unwrap()
        };
        let other = usual_but(SourceColumnRole::Number, "14").unwrap();
        let rows = merge_duplicates(vec![first, other, second]);
        assert_eq!(rows.len(), 2);
        let kept = rows.iter().find(|row| row.line_1 == "12 Main St").unwrap();
        assert_eq!(
            (kept.latitude, kept.plus4.as_deref(), kept.residential),
            (30.5, Some("1111"), Some(true))
        );
    }
}
