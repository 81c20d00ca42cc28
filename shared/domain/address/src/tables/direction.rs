//! Directionals: Publication 28 §233.

/// The abbreviation (`NE`) of a directional in capitals, in any spelling.
pub(crate) fn abbreviate_directional(word: &str) -> Option<&'static str> {
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
pub(crate) fn combine_directionals(first: &str, second: &str) -> Option<&'static str> {
    Some(
        match (
            abbreviate_directional(first)?,
            abbreviate_directional(second)?,
        ) {
            ("N", "E") => "NE",
            ("N", "W") => "NW",
            ("S", "E") => "SE",
            ("S", "W") => "SW",
            _ => return None,
        },
    )
}

/// The word for an abbreviation, used where the directional is part of the street's name.
pub(crate) fn spell_directional(abbreviation: &str) -> &'static str {
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
pub(crate) fn are_opposite_directionals(first: &str, second: &str) -> bool {
    matches!(
        (
            abbreviate_directional(first),
            abbreviate_directional(second)
        ),
        (Some("E"), Some("W"))
            | (Some("W"), Some("E"))
            | (Some("N"), Some("S"))
            | (Some("S"), Some("N"))
    )
}
