//! What campaigns filter by: typed values, conditions, map areas.

use std::collections::HashMap;

use audience::column::{MAX_VALUE_CHARS, cut_value};
use audience::{Birthday, ColumnType, ColumnValue, FilterConditions, GeoArea, fold_name, value};
use chrono::NaiveDate;
use fuzz::Target;
use proptest::{prop_assert, prop_assert_eq};

const CONDITIONS: [&str; 3] = [
    r#"{"all": [{"column": "age", "operator": "greater_than", "value": 30}, {"any": [{"column": "pet", "operator": "is", "value": "cat"}]}]}"#,
    r#"{"any": [{"column": "born", "operator": "before", "value": "2026-01-31"}, {"column": "vip", "operator": "is", "value": "yes"}]}"#,
    r#"{"all": [{"column": "birthday", "operator": "within_days", "value": 7}, {"column": "state", "operator": "is_one_of", "value": ["TX", "CA"]}]}"#,
];

const AREAS: [&str; 3] = [
    r#"{"type": "Polygon", "coordinates": [[[-97.8, 30.2], [-97.7, 30.2], [-97.7, 30.3], [-97.8, 30.2]]]}"#,
    r#"{"type": "FeatureCollection", "features": [{"type": "Feature", "properties": null, "geometry": {"type": "MultiPolygon",
        "coordinates": [[[[0, 0], [1, 0, 5], [1, 1], [0, 0]], [[0.1, 0.1], [0.2, 0.1], [0.2, 0.2], [0.1, 0.1]]]]}}]}"#,
    r#"{"type": "GeometryCollection", "geometries": [{"type": "Polygon", "coordinates": [[[179, 0], [180, 0], [180, 1], [179, 0]]]}]}"#,
];

fn today() -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 1, 31).unwrap()
}

fn type_of(column: &str) -> Option<ColumnType> {
    match column {
        "age" => Some(ColumnType::Number),
        "born" => Some(ColumnType::Date),
        "vip" => Some(ColumnType::YesNo),
        "pet" => Some(ColumnType::Text),
        _ => None,
    }
}

#[test]
fn fuzz_values() {
    let samples = [
        "1,234.50",
        "$12",
        "(3)",
        "2026-01-31",
        "1/31/2026",
        "2026-01-31T10:00:00+05:00",
        "yes",
        "--02-29",
        "2/29",
        " Ünï ",
    ];
    let words = [
        "1e308",
        "-0",
        "0000",
        "9999-12-31",
        "24:00",
        "Z",
        "%",
        "Y",
        "false",
        "٣",
        "\u{a0}",
    ];
    Target::new(samples)
        .words(words)
        .cases(4_000)
        .run_text(|text| {
            for column_type in ColumnType::ALL {
                let read = value::parse_typed(column_type, text);
                prop_assert_eq!(value::is_valid(column_type, text), read.is_ok());
                let Ok(Some(value)) = read else { continue };
                if let ColumnValue::Number(number) = value {
                    prop_assert!(
                        number.is_finite() && !(number == 0.0 && number.is_sign_negative())
                    );
                }
                // As it is written, it reads as the same again.
                prop_assert_eq!(
                    value::parse_typed(column_type, &value.to_string()),
                    Ok(Some(value))
                );
            }
            if let Some(birthday) = Birthday::parse(text) {
                prop_assert_eq!(Birthday::parse(&birthday.to_string()), Some(birthday));
                let _ = birthday.is_kept_within_days(today(), 365);
            }
            let cut = cut_value(text);
            prop_assert!(cut.chars().count() <= MAX_VALUE_CHARS && text.starts_with(cut));
            let folded = fold_name(text);
            prop_assert_eq!(fold_name(&folded), folded);
            Ok(())
        });
}

#[test]
fn fuzz_conditions() {
    let words = [
        "{\"all\": [",
        "{\"any\": [",
        "]}",
        "\"column\"",
        "\"operator\"",
        "\"is_not\"",
        "\"is_empty\"",
        "\"contains\"",
        "\"between\"",
        "\"value\"",
    ];
    let row = HashMap::from(
        [
            ("age", "41"),
            ("born", "2/3/1985"),
            ("vip", "no"),
            ("pet", "Cat"),
            ("birthday", "2/3"),
            ("state", "TX"),
        ]
        .map(|(column, value)| (column.to_owned(), value.to_owned())),
    );
    Target::new(CONDITIONS)
        .words(words)
        .cases(3_000)
        .run(|text| {
            let Ok(document) = serde_json::from_slice(text) else {
                return Ok(());
            };
            let Ok(conditions) = FilterConditions::parse(&document, type_of) else {
                return Ok(());
            };
            let is_in = conditions.matches(&row, today());
            let _ = conditions.matches(&HashMap::<String, String>::new(), today());
            let stored = serde_json::to_value(&conditions).unwrap();
            let again = FilterConditions::parse(&stored, type_of).unwrap();
            prop_assert_eq!(again.matches(&row, today()), is_in);
            prop_assert!(again.columns().eq(conditions.columns()));
            prop_assert!(
                !conditions.is_empty() || is_in,
                "nobody is left out by nothing"
            );
            Ok(())
        });
}

#[test]
fn fuzz_area() {
    let words = [
        "\"type\":",
        "\"Polygon\"",
        "\"coordinates\":",
        "[[[0, 0], [0, 1], [1, 1], [0, 0]]]",
        "[180, 90],",
        "[-180, -90],",
        "1e-320",
        "\"bbox\": [1],",
    ];
    Target::new(AREAS)
        .words(words)
        .cases(2_000)
        .run_text(|text| {
            let Ok(area) = GeoArea::parse(text) else {
                return Ok(());
            };
            let polygons: Vec<_> = area.polygons().collect();
            prop_assert!(!polygons.is_empty());
            for (longitude, latitude) in polygons
                .iter()
                .flatten()
                .filter_map(|ring| ring.first())
                .take(50)
            {
                prop_assert!(
                    (-180.0..=180.0).contains(longitude) && (-90.0..=90.0).contains(latitude)
                );
            }
            let (longitude, latitude) = polygons[0][0][0];
            prop_assert!(
                area.contains(latitude, longitude),
                "its corner is on its border"
            );
            prop_assert!(!area.contains(f64::NAN, 0.0) && !area.contains(0.0, f64::NAN));
            Ok(())
        });
}
