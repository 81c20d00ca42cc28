//! Roughly where a network address is, from MaxMind-format files.

use std::net::IpAddr;
use std::path::PathBuf;

use anyhow::Context;
use maxminddb::Reader;
use serde_json::Value;

/// Characters of a place's name that are kept.
const NAME_CHARS: usize = 100;

/// Where something is, as far as known.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GeoLocation {
    /// The city's English name.
    pub city: Option<String>,
    /// The English name of the state or province.
    pub region: Option<String>,
    /// Degrees north and east.
    pub point: Option<(f64, f64)>,
}

/// The configured files, in memory.
pub(crate) struct GeoLocator {
    readers: Vec<Reader<Vec<u8>>>,
}

impl GeoLocator {
    /// Reads the files. Without any, every place is unknown.
    pub(crate) fn open(paths: &[PathBuf]) -> anyhow::Result<Self> {
        let open = |path: &PathBuf| {
            Reader::open_readfile(path)
                .with_context(|| format!("scans.location_files: {}", path.display()))
        };
        Ok(Self {
            readers: paths.iter().map(open).collect::<anyhow::Result<_>>()?,
        })
    }

    /// The place of an address, from the first file that knows it.
    pub(crate) fn locate(&self, address: IpAddr) -> GeoLocation {
        let known = self.readers.iter().find_map(|reader| {
            // A file of IPv4 networks answers an IPv6 address with an error: it does not know it.
            let record = reader
                .lookup(address.to_canonical())
                .ok()?
                .decode::<Value>()
                .ok()??;
            Some(location_from_record(&record)).filter(|place| *place != GeoLocation::default())
        });
        known.unwrap_or_default()
    }
}

/// Reads a record in either of the two layouts in use: MaxMind's nested one with names by language, and the flat one of
/// files made from DB-IP's data. Numbers are numbers here, whether the file has them in 32 or 64 bits.
fn location_from_record(record: &Value) -> GeoLocation {
    let text = |pointers: [&str; 2]| {
        let found = pointers
            .iter()
            .find_map(|pointer| record.pointer(pointer)?.as_str());
        found.map(clean_name).filter(|name| !name.is_empty())
    };
    let number = |pointers: [&str; 2]| {
        pointers
            .iter()
            .find_map(|pointer| record.pointer(pointer)?.as_f64())
    };
    let latitude =
        number(["/location/latitude", "/latitude"]).filter(|degrees| degrees.abs() <= 90.0);
    let longitude =
        number(["/location/longitude", "/longitude"]).filter(|degrees| degrees.abs() <= 180.0);
    GeoLocation {
        city: text(["/city/names/en", "/city"]),
        region: text(["/subdivisions/0/names/en", "/state1"]),
        point: latitude
            .zip(longitude)
            .map(|(north, east)| (round_degrees(north), round_degrees(east))),
    }
}

/// A name fit to be stored: bounded, and without control characters.
fn clean_name(name: &str) -> String {
    name.chars()
        .filter(|character| !character.is_control())
        .take(NAME_CHARS)
        .collect()
}

/// To four decimals, which is eleven metres: more than such files know, and free of the digits that 32 bits make up.
fn round_degrees(degrees: f64) -> f64 {
    (degrees * 10_000.0).round() / 10_000.0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_layouts_are_read() {
        let expected = GeoLocation {
            city: Some("Austin".to_owned()),
            region: Some("Texas".to_owned()),
            point: Some((30.2672, -97.7431)),
        };
        let nested = json!({
            "city": {"names": {"de": "Austin", "en": "Austin"}},
            "subdivisions": [{"names": {"en": "Texas"}}, {"names": {"en": "Travis"}}],
            "location": {"latitude": 30.2672, "longitude": -97.7431},
        });
        assert_eq!(location_from_record(&nested), expected);
        let flat = json!({"city": "Austin", "state1": "Texas", "state2": "Travis", "latitude": 30.2672_f32,
            "longitude": -97.7431_f32});
        assert_eq!(location_from_record(&flat), expected);
    }

    #[test]
    fn what_a_file_does_not_know_is_unknown() {
        for record in [
            json!({}),
            json!(7),
            json!({"city": "", "latitude": 30.0}),
            json!({"city": 7}),
        ] {
            assert_eq!(
                location_from_record(&record),
                GeoLocation::default(),
                "{record}"
            );
        }
        let wrong = json!({"city": "Nul\u{0}", "latitude": 91.0, "longitude": 0.0});
        assert_eq!(
            location_from_record(&wrong),
            GeoLocation {
                city: Some("Nul".to_owned()),
                ..GeoLocation::default()
            }
        );
        assert_eq!(
            GeoLocator::open(&[])
                .unwrap()
                .locate("8.8.8.8".parse().unwrap()),
            GeoLocation::default()
        );
        assert!(GeoLocator::open(&["/no/such/file".into()]).is_err());
    }
}
