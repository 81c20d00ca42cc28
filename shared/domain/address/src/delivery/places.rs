//! Places that are no numbered street: the kilometres and named buildings of Puerto Rico (Publication 28 §29), piers.

use super::{DeliveryLine, InputLine, units};
use crate::{casing, line::AddressWord};

/// What a road's name ends with when its number is a distance along it.
const KILOMETRE: &str = " Km";

/// True for the name of a road on which houses are found by kilometres: `Carr 2 Km`.
pub(super) fn is_kilometre_road(street_name: &str) -> bool {
    street_name.starts_with("Carr ") && street_name.ends_with(KILOMETRE)
}

/// Reads a segment that is such a place into the delivery, its units too. False, and nothing is read, when it is none.
pub(super) fn read_place(
    delivery: &mut DeliveryLine,
    words: &[AddressWord<'_>],
    source: InputLine,
) -> bool {
    let Some((place, used)) = find_place(words) else {
        return false;
    };
    delivery.number = place.number;
    delivery.street = place.street;
    delivery.read_others(&words[used..], source);
    true
}

/// True when such a place begins the words.
pub(super) fn begins_with_place(words: &[AddressWord<'_>]) -> bool {
    find_place(words).is_some()
}

/// True when the words begin with a road and a distance along it: they number a house.
pub(super) fn has_kilometres(words: &[AddressWord<'_>]) -> bool {
    read_kilometre_address(words).is_some()
}

/// The place that begins the words, and how many words it takes.
fn find_place(words: &[AddressWord<'_>]) -> Option<(PlaceAddress, usize)> {
    read_kilometre_address(words)
        .or_else(|| read_building(words))
        .or_else(|| read_pier(words))
}

struct PlaceAddress {
    number: String,
    street: String,
}

/// `Carr 2 Km 11.4`, `Km 11.4 Carr 2`, `PR-2 Km 11 Hm 4`, and how many words it takes.
fn read_kilometre_address(words: &[AddressWord<'_>]) -> Option<(PlaceAddress, usize)> {
    let (road, distance, used) = match read_road_number(words) {
        Some((road, used)) => {
            let (distance, more) = read_road_distance(&words[used..])?;
            (road, distance, used + more)
        }
        None => {
            let (distance, used) = read_road_distance(words)?;
            let (road, more) = read_road_number(&words[used..])?;
            (road, distance, used + more)
        }
    };
    Some((
        PlaceAddress {
            number: distance,
            street: format!("Carr {road}{KILOMETRE}"),
        },
        used,
    ))
}

/// The number of a road: `Carr 2`, `Carretera # 2`, `PR-2`.
fn read_road_number<'a>(words: &[AddressWord<'a>]) -> Option<(&'a str, usize)> {
    let first = words.first()?.upper;
    if let Some(number) = first.strip_prefix("PR-") {
        return Some((number, 1));
    }
    if !matches!(first, "CARR" | "CARRETERA" | "PR") {
        return None;
    }
    let sign = usize::from(
        words
            .get(1)
            .is_some_and(|word| matches!(word.upper, "#" | "NO" | "NUM")),
    );
    let number = words.get(1 + sign).filter(|word| word.has_digit())?;
    Some((
        number.upper.strip_prefix("PR-").unwrap_or(number.upper),
        sign + 2,
    ))
}

/// Kilometres with their tenths: `Km 11.4`, `Km11.4`, `Km 11 Hm 4`.
fn read_road_distance(words: &[AddressWord<'_>]) -> Option<(String, usize)> {
    let is_number = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_digit())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    let glued = words.first()?.upper.strip_prefix("KM")?;
    let (kilometres, used) = if glued.is_empty() {
        (words.get(1)?.upper, 2)
    } else {
        (glued, 1)
    };
    if !is_number(kilometres) {
        return None;
    }
    match &words[used..] {
        [unit, tenths, ..]
            if unit.upper == "HM" && is_number(tenths.upper) && !kilometres.contains('.') =>
        {
            Some((format!("{kilometres}.{}", tenths.upper), used + 2))
        }
        _ => Some((kilometres.to_owned(), used)),
    }
}

/// `Cond Astral Apt 4`, `Residencial Las Flores Bldg 3 Apt 4`.
fn read_building(words: &[AddressWord<'_>]) -> Option<(PlaceAddress, usize)> {
    let kind = match words.first()?.upper {
        "COND" | "CONDOMINIO" => "Cond",
        "RES" | "RESIDENCIAL" => "Res",
        _ => return None,
    };
    let name = &words[1..];
    let used = if name.is_empty() {
        0
    } else {
        units::find_units_start(name)
    };
    let name = casing::capitalise_name(name[..used].iter().map(|word| word.sent));
    (!name.is_empty()).then(|| {
        (
            PlaceAddress {
                number: String::new(),
                street: format!("{kind} {name}"),
            },
            used + 1,
        )
    })
}

/// `Pier 39`, with units behind it or nothing.
fn read_pier(words: &[AddressWord<'_>]) -> Option<(PlaceAddress, usize)> {
    let [pier, number, rest @ ..] = words else {
        return None;
    };
    let is_whole = rest.is_empty() || units::read_unit(rest, InputLine::Address1).is_some();
    let is_pier = pier.upper == "PIER" && !pier.ends_segment && number.has_digit() && is_whole;
    is_pier.then(|| {
        (
            PlaceAddress {
                number: String::new(),
                street: format!("Pier {}", number.upper),
            },
            2,
        )
    })
}
