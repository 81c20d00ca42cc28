//! GeoJSON features, one a line, as OpenAddresses writes them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::columns::{SourceColumnRole, find_column_role};
use super::point::PointSkipReason;
use super::row::SourceRow;

#[derive(Deserialize)]
struct GeoJsonFeature<'a> {
    #[serde(borrow)]
    properties: BTreeMap<Cow<'a, str>, Value>,
    geometry: GeoJsonPoint,
}

/// A point: degrees east and north, perhaps a height.
#[derive(Deserialize)]
struct GeoJsonPoint {
    coordinates: Vec<f64>,
}

/// The values of a feature. In a collection that is written with one feature a line, the commas between them and the
/// lines around them are passed over.
pub(super) fn parse_feature<'a>(line: &[u8]) -> Result<SourceRow<'a>, PointSkipReason> {
    let line = line.trim_ascii();
    let line = line.strip_suffix(b",").unwrap_or(line);
    let feature: GeoJsonFeature<'_> =
        serde_json::from_slice(line).map_err(|_| PointSkipReason::BadRow)?;
    let mut row = SourceRow::default();
    for (name, value) in feature.properties {
        let Some(role) = find_column_role(&name) else {
            continue;
        };
        match value {
            Value::String(text) => row.set(role, text.into()),
            Value::Number(number) => row.set(role, number.to_string().into()),
            _ => {}
        }
    }
    let [longitude, latitude, ..] = feature.geometry.coordinates[..] else {
        return Err(PointSkipReason::NoPlace);
    };
    row.set(SourceColumnRole::Longitude, longitude.to_string().into());
    row.set(SourceColumnRole::Latitude, latitude.to_string().into());
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_has_its_parts_in_properties_and_its_place_in_geometry() {
        let line = br#"{"type":"Feature","properties":{"hash":"x","number":12,"street":"Main St","unit":"","city":null,
            "postcode":"78701"},"geometry":{"type":"Point","coordinates":[-97.74,30.27]}},"#;
        let row = parse_feature(line).unwrap();
        let values = [
            SourceColumnRole::Number,
            SourceColumnRole::Street,
            SourceColumnRole::Zip,
            SourceColumnRole::Longitude,
            SourceColumnRole::Latitude,
        ]
        .map(|role| row.get(role));
        assert_eq!(values, ["12", "Main St", "78701", "-97.74", "30.27"]);
        assert_eq!(
            parse_feature(br#"{"properties":{},"geometry":null}"#).unwrap_err(),
            PointSkipReason::BadRow
        );
        assert_eq!(
            parse_feature(br#"{"properties":{},"geometry":{"coordinates":[]}}"#).unwrap_err(),
            PointSkipReason::NoPlace
        );
    }
}
