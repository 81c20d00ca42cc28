//! Directionals: Publication 28 §233.

/// The abbreviation (`NE`) of a directional in capitals, in any spelling.
pub(crate) fn abbreviation(word: &str) -> Option<&'static str> {
    Some(match word {
        "N" | "NORTH" | "NO" | "NTH" => "N",
        "S" | "SOUTH" | "SO" | "STH" => "S",
        "E" | "EAST" => "E",
        "W" | "WEST" => "W",
        "NE" | "NORTHEAST" | "NORTH-EAST" => "NE",
        "NW" | "NORTHWEST" | "NORTH-WEST" => "NW",
        "SE" | "SOUTHEAST" | "SOUTH-EAST" => "SE",
        "SW" | "SOUTHWEST" | "SOUTH-WEST" => "SW",
        _ => return None,
    })
}

/// Two directionals that follow each other and are one, as in `N E` or `North East`.
pub(crate) fn combined(first: &str, second: &str) -> Option<&'static str> {
    Some(match (abbreviation(first)?, abbreviation(second)?) {
        ("N", "E") => "NE",
        ("N", "W") => "NW",
        ("S", "E") => "SE",
        ("S", "W") => "SW",
        _ => return None,
    })
}

/// The word for an abbreviation, used where the directional is part of the street's name.
pub(crate) fn word(abbreviation: &str) -> &'static str {
    match abbreviation {
        "N" => "North",
        "S" => "South",
        "E" => "East",
        "W" => "West",
        "NE" => "Northeast",
        "NW" => "Northwest",
        "SE" => "Southeast",
        _ => "Southwest",
    }
}

/// True for `East West` and `North South`.
pub(crate) fn are_opposite(first: &str, second: &str) -> bool {
    matches!(
        (abbreviation(first), abbreviation(second)),
        (Some("E"), Some("W"))
            | (Some("W"), Some("E"))
            | (Some("N"), Some("S"))
            | (Some("S"), Some("N"))
    )
}
