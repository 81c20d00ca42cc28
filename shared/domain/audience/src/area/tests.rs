use super::*;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

fn parse_area(json: &Json) -> Result<GeoArea, AreaError> {
    GeoArea::parse(&json.to_string())
}

/// A closed square ring around a centre.
fn square_ring(longitude: f64, latitude: f64, half: f64) -> Json {
    let (west, east) = (longitude - half, longitude + half);
    let (south, north) = (latitude - half, latitude + half);
    json!([
        [west, south],
        [east, south],
        [east, north],
        [west, north],
        [west, south]
    ])
}

fn polygon_json(rings: &[Json]) -> Json {
    json!({ "type": "Polygon", "coordinates": rings })
}

fn feature_json(geometry: &Json) -> Json {
    json!({ "type": "Feature", "properties": null, "geometry": geometry })
}

#[test]
fn the_border_is_inside_and_so_is_the_border_of_a_hole() {
    let area = parse_area(&polygon_json(&[
        square_ring(-97.0, 30.0, 2.0),
        square_ring(-97.0, 30.0, 1.0),
    ]))
    .unwrap();
    for (latitude, longitude) in [
        (31.5, -97.0),
        (32.0, -97.0),
        (32.0, -99.0),
        (31.0, -97.0),
        (29.0, -96.0),
    ] {
        assert!(area.contains(latitude, longitude), "{latitude},{longitude}");
    }
    for (latitude, longitude) in [(30.0, -97.0), (32.1, -97.0), (-97.0, 30.0), (28.0, -99.1)] {
        assert!(
            !area.contains(latitude, longitude),
            "{latitude},{longitude}"
        );
    }
}

#[test]
fn a_place_that_is_not_a_number_is_nowhere() {
    let area = parse_area(&polygon_json(&[square_ring(0.0, 0.0, 10.0)])).unwrap();
    for (latitude, longitude) in [
        (f64::NAN, 0.0),
        (0.0, f64::NAN),
        (f64::INFINITY, 0.0),
        (0.0, f64::NEG_INFINITY),
    ] {
        assert!(!area.contains(latitude, longitude));
    }
}

#[test]
fn every_wrapping_of_polygons_is_read() {
    let [west, east] =
        [-97.0, -90.0].map(|longitude| polygon_json(&[square_ring(longitude, 30.0, 1.0)]));
    let wrapped = [
        json!({ "type": "MultiPolygon", "coordinates": [west["coordinates"], east["coordinates"]] }),
        json!({ "type": "GeometryCollection", "geometries": [west, east] }),
        feature_json(&json!({ "type": "GeometryCollection", "geometries": [west, east] })),
        json!({ "type": "FeatureCollection", "features": [feature_json(&west), feature_json(&east)] }),
    ];
    for json in wrapped {
        let area = parse_area(&json).unwrap();
        assert!(
            area.contains(30.0, -97.0) && area.contains(30.0, -90.0),
            "{json}"
        );
        assert!(!area.contains(30.0, -93.5), "{json}");
    }
    assert!(parse_area(&west).unwrap().contains(30.0, -97.0));
    assert!(
        parse_area(&feature_json(&west))
            .unwrap()
            .contains(30.0, -97.0)
    );
}

#[test]
fn an_altitude_is_ignored() {
    let ring = json!([[0, 0, 5], [1, 0, 5], [1, 1, 5], [0, 0, 5]]);
    assert!(
        parse_area(&polygon_json(&[ring]))
            .unwrap()
            .contains(0.25, 0.5)
    );
}

#[test]
fn a_geometry_without_an_inside_is_refused() {
    let point = json!({ "type": "Point", "coordinates": [0, 0] });
    let line = json!({ "type": "LineString", "coordinates": [[0, 0], [1, 1]] });
    let mixed = json!({ "type": "GeometryCollection", "geometries": [polygon_json(&[square_ring(0.0, 0.0, 1.0)]), point] });
    assert_eq!(parse_area(&point), Err(AreaError::NotAPolygon("Point")));
    assert_eq!(
        parse_area(&feature_json(&line)),
        Err(AreaError::NotAPolygon("LineString"))
    );
    assert_eq!(parse_area(&mixed), Err(AreaError::NotAPolygon("Point")));
    assert!(matches!(
        parse_area(&feature_json(&Json::Null)),
        Err(AreaError::NotAPolygon(_))
    ));
}

#[test]
fn an_area_without_polygons_is_refused() {
    for json in [
        json!({ "type": "MultiPolygon", "coordinates": [] }),
        json!({ "type": "FeatureCollection", "features": [] }),
        json!({ "type": "GeometryCollection", "geometries": [] }),
    ] {
        assert_eq!(parse_area(&json), Err(AreaError::Empty), "{json}");
    }
}

#[test]
fn what_is_no_geojson_is_refused() {
    for text in [
        "",
        "null",
        "[]",
        "{}",
        "{",
        "hello",
        r#"{"type":"Polygon"}"#,
        r#"{"type":"Circle","coordinates":[]}"#,
        r#"{"type":"Polygon","coordinates":[[["0","0"]]]}"#,
        r#"{"type":"Polygon","coordinates":[[[0,0],[1e999,0],[1,1],[0,0]]]}"#,
        r#"{"type":"Polygon","coordinates":[[[0,0],[NaN,0],[1,1],[0,0]]]}"#,
    ] {
        assert!(
            matches!(GeoArea::parse(text), Err(AreaError::NotGeoJson(_))),
            "{text}"
        );
    }
}

#[test]
fn positions_are_longitude_and_latitude_on_the_globe() {
    for outside in [
        json!([181, 0]),
        json!([-180.5, 0]),
        json!([0, 90.1]),
        json!([0, -91]),
    ] {
        let ring = json!([[0, 0], outside, [1, 1], [0, 0]]);
        assert_eq!(parse_area(&polygon_json(&[ring])), Err(AreaError::Position));
    }
    for too_short in [json!([]), json!([1])] {
        let ring = json!([[0, 0], too_short, [1, 1], [0, 0]]);
        assert!(parse_area(&polygon_json(&[ring])).is_err());
    }
}

#[test]
fn rings_are_closed_and_have_at_least_four_positions() {
    let good = square_ring(0.0, 0.0, 2.0);
    for bad in [
        json!([]),
        json!([[0, 0]]),
        json!([[0, 0], [1, 0], [0, 0]]),
        json!([[0, 0], [1, 0], [1, 1], [0, 1]]),
    ] {
        assert_eq!(
            parse_area(&polygon_json(std::slice::from_ref(&bad))),
            Err(AreaError::Ring),
            "{bad}"
        );
        assert_eq!(
            parse_area(&polygon_json(&[good.clone(), bad.clone()])),
            Err(AreaError::Ring),
            "hole {bad}"
        );
    }
    assert_eq!(parse_area(&polygon_json(&[])), Err(AreaError::Ring));
}

#[test]
fn a_ring_over_the_180th_meridian_is_refused() {
    let aleutians = json!([[179, 51], [-179, 51], [-179, 53], [179, 53], [179, 51]]);
    assert_eq!(
        parse_area(&polygon_json(&[aleutians])),
        Err(AreaError::Antimeridian)
    );
}

#[test]
fn size_is_bounded() {
    let ring = |positions: usize| {
        let mut ring = vec![json!([0, 0]); positions - 2];
        ring.insert(1, json!([1, 0]));
        ring.insert(2, json!([1, 1]));
        Json::Array(ring)
    };
    assert!(parse_area(&polygon_json(&[ring(MAX_VERTICES)])).is_ok());
    assert_eq!(
        parse_area(&polygon_json(&[ring(MAX_VERTICES + 1)])),
        Err(AreaError::TooManyVertices)
    );
    let halves = polygon_json(&[ring(MAX_VERTICES / 2), ring(MAX_VERTICES / 2 + 1)]);
    assert_eq!(parse_area(&halves), Err(AreaError::TooManyVertices));
    assert_eq!(
        GeoArea::parse(&" ".repeat(MAX_BYTES + 1)),
        Err(AreaError::TooLong)
    );
}

#[test]
fn deep_nesting_is_refused_without_overflow() {
    let arrays = MAX_BYTES / 2;
    for (open, close) in [
        ("[", "]"),
        (r#"{"type":"GeometryCollection","geometries":["#, "]}"),
    ] {
        let levels = arrays / open.len();
        let text = open.repeat(levels) + &close.repeat(levels);
        assert!(matches!(
            GeoArea::parse(&text),
            Err(AreaError::NotGeoJson(_))
        ));
    }
    let coordinates = format!(
        r#"{{"type":"Polygon","coordinates":{}}}"#,
        "[".repeat(arrays)
    );
    assert!(matches!(
        GeoArea::parse(&coordinates),
        Err(AreaError::NotGeoJson(_))
    ));
}

/// The corners of a convex polygon with whole-number coordinates, counter-clockwise and closed:
/// corners of a circle, rounded, keep every test of sides exact.
fn convex_ring(centre: (i64, i64), radius: f64, corners: usize) -> Vec<(i64, i64)> {
    let corner = |index: usize| {
        let angle = std::f64::consts::TAU * (index % corners) as f64 / corners as f64;
        (
            centre.0 + (radius * angle.cos()) as i64,
            centre.1 + (radius * angle.sin()) as i64,
        )
    };
    (0..=corners).map(corner).collect()
}

/// Which sides of the polygon a place is on: the smallest cross product is positive inside, zero
/// on the border, negative outside.
fn side_of_convex(ring: &[(i64, i64)], place: (i64, i64)) -> i64 {
    let cross = |step: &[(i64, i64)]| {
        let (from, to) = (step[0], step[1]);
        (to.0 - from.0) * (place.1 - from.1) - (to.1 - from.1) * (place.0 - from.0)
    };
    ring.windows(2).map(cross).min().unwrap()
}

proptest! {
    #[test]
    fn a_convex_polygon_with_a_hole_contains_what_is_left_of_all_its_sides_but_not_of_the_hole(
        centre in (-60i64..60, -20i64..20),
        corners in 3usize..9,
        places in prop::collection::vec((-65i64..=65, -65i64..=65), 50),
    ) {
        let (outer, hole) = (convex_ring(centre, 60.0, corners), convex_ring(centre, 20.0, corners));
        let area = parse_area(&json!({ "type": "Polygon", "coordinates": [outer, hole] })).unwrap();
        for offset in places {
            let place = (centre.0 + offset.0, centre.1 + offset.1);
            let expected = side_of_convex(&outer, place) >= 0 && side_of_convex(&hole, place) <= 0;
            prop_assert_eq!(area.contains(place.1 as f64, place.0 as f64), expected, "{:?}", place);
        }
    }

    #[test]
    fn reading_never_panics(text in any::<String>(), json in r#"[{}\[\]",:a-z0-9.-]{0,60}"#) {
        let _ = GeoArea::parse(&text);
        let _ = GeoArea::parse(&format!(r#"{{"type":"Polygon","coordinates":{json}}}"#));
    }
}

#[test]
fn a_border_that_crosses_itself_or_encloses_nothing_is_no_area_that_is_meant() {
    let check = |rings: serde_json::Value| {
        let text = serde_json::json!({ "type": "Polygon", "coordinates": rings }).to_string();
        GeoArea::parse(&text).unwrap().validate()
    };
    let square = serde_json::json!([[0, 0], [4, 0], [4, 4], [0, 4], [0, 0]]);
    let hole = serde_json::json!([[1, 1], [2, 1], [2, 2], [1, 2], [1, 1]]);
    let touching = serde_json::json!([[0, 1], [2, 1], [2, 2], [0, 1]]);
    assert_eq!(check(serde_json::json!([square, hole])), Ok(()));
    assert_eq!(check(serde_json::json!([square, touching])), Ok(()));
    let bow_tie = serde_json::json!([[0, 0], [4, 4], [4, 0], [0, 4], [0, 0]]);
    let across = serde_json::json!([[3, 1], [5, 1], [5, 2], [3, 2], [3, 1]]);
    for rings in [
        serde_json::json!([bow_tie]),
        serde_json::json!([square, across]),
    ] {
        assert!(
            matches!(check(rings.clone()), Err(AreaError::Crossing(..))),
            "{rings}"
        );
    }
    for ring in [
        serde_json::json!([[1, 1], [1, 1], [1, 1], [1, 1]]),
        serde_json::json!([[0, 0], [1, 1], [2, 2], [0, 0]]),
    ] {
        assert_eq!(
            check(serde_json::json!([ring])),
            Err(AreaError::NoExtent),
            "{ring}"
        );
    }
}
