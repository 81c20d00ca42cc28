//! The time zone of a facility of the post, from its ZIP.
//!
//! A state is in one zone, or is cut in two at a line that runs close to the real border: by longitude, or by the first three
//! digits of the ZIP where the border follows counties. Close to it a time may be an hour off, which changes neither the order of
//! scans that are hours apart nor what became of a mailpiece.

use address::{find_city_and_state, zip_centre};
use chrono_tz::Tz;
use chrono_tz::US;

/// The zone of a ZIP's place; `None` for one that is not known, or that has none, like the military ones.
pub fn find_zone(zip: &str) -> Option<Tz> {
    let zip5 = zip.get(..5)?;
    let (_, state) = find_city_and_state(zip5)?;
    zone_of_state(state, zip5)
}

fn zone_of_state(state: &str, zip5: &str) -> Option<Tz> {
    let zone = match state {
        "CT" | "DC" | "DE" | "GA" | "MA" | "MD" | "ME" | "NC" | "NH" | "NJ" | "NY" | "OH"
        | "PA" | "RI" | "SC" | "VA" | "VT" | "WV" => US::Eastern,
        "AL" | "AR" | "IA" | "IL" | "LA" | "MN" | "MO" | "MS" | "OK" | "WI" => US::Central,
        "CO" | "MT" | "NM" | "UT" | "WY" => US::Mountain,
        "CA" | "NV" | "WA" => US::Pacific,
        "AZ" => US::Arizona,
        "AK" => US::Alaska,
        "HI" => US::Hawaii,
        "PR" | "VI" => Tz::America__Puerto_Rico,
        "GU" | "MP" => Tz::Pacific__Guam,
        "AS" => Tz::Pacific__Pago_Pago,
        "FL" => west_of(zip5, -85.0, US::Central, US::Eastern),
        "MI" => west_of(zip5, -87.6, US::Central, US::Eastern),
        "TN" => west_of(zip5, -85.2, US::Central, US::Eastern),
        "KY" => west_of(zip5, -86.2, US::Central, US::Eastern),
        "ND" | "SD" | "NE" => west_of(zip5, -101.0, US::Mountain, US::Central),
        "KS" => west_of(zip5, -101.5, US::Mountain, US::Central),
        "TX" => west_of(zip5, -105.0, US::Mountain, US::Central),
        // Around Chicago and around Evansville.
        "IN" if ["463", "464", "476", "477"].contains(&&zip5[..3]) => US::Central,
        "IN" => US::Eastern,
        // Malheur County.
        "OR" if &zip5[..3] == "979" => US::Mountain,
        "OR" => US::Pacific,
        // North of the Salmon River.
        "ID" if ["835", "838"].contains(&&zip5[..3]) => US::Pacific,
        "ID" => US::Mountain,
        _ => return None,
    };
    Some(zone)
}

fn west_of(zip5: &str, longitude: f64, west: Tz, east: Tz) -> Tz {
    match zip_centre(zip5) {
        Some((_, here)) if here < longitude => west,
        _ => east,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plants_of_the_post_are_in_their_zones() {
        for (zip, zone) in [
            ("78710", US::Central),  // Austin
            ("79910", US::Mountain), // El Paso
            ("10199", US::Eastern),  // New York
            ("32501", US::Central),  // Pensacola
            ("33605", US::Eastern),  // Tampa
            ("37202", US::Central),  // Nashville
            ("37902", US::Eastern),  // Knoxville
            ("46206", US::Eastern),  // Indianapolis
            ("46401", US::Central),  // Gary
            ("83801", US::Pacific),  // Athol
            ("85026", US::Arizona),  // Phoenix
            ("57701", US::Mountain), // Rapid City
            ("96820", US::Hawaii),   // Honolulu
        ] {
            assert_eq!(find_zone(zip), Some(zone), "{zip}");
        }
        assert_eq!(find_zone("09012"), None);
        assert_eq!(find_zone("787"), None);
        assert_eq!(find_zone("ééé"), None);
    }
}
