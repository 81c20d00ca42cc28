//! What the pages on designs say, held against the code.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use design::{Font, PrintableDesign, Product, ReservedZone, ZonePurpose};
use serde_json::{Value, json};

/// What a document may hold.
const PAGE: &str = include_str!("../../../../docs/reference/designs.md");

/// What is checked on a card.
const CHECKS_PAGE: &str = include_str!("../../../../docs/reference/design-checks.md");

/// The page's JSON examples.
fn parse_page_examples() -> Vec<Value> {
    let blocks = PAGE
        .split("```json\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next());
    blocks
        .map(|block| serde_json::from_str(block).unwrap())
        .collect()
}

/// The cells of the row that begins with a name.
fn find_table_row(name: &str) -> Vec<&str> {
    let line = PAGE
        .lines()
        .find(|line| line.starts_with(&format!("| {name} |")))
        .unwrap();
    line.trim_matches('|')
        .split('|')
        .skip(1)
        .map(str::trim)
        .collect()
}

#[test]
fn every_example_prints() {
    let examples = parse_page_examples();
    let kinds: Vec<&str> = examples
        .iter()
        .filter_map(|example| example["kind"].as_str())
        .collect();
    assert_eq!(kinds, ["text", "text", "image", "qr_code", "shape"]);
    for example in examples {
        let document = match example.get("product") {
            Some(_) => example,
            None => {
                json!({ "product": "postcard_4x6", "front": { "elements": [example] }, "back": {} })
            }
        };
        PrintableDesign::parse(&document).unwrap();
    }
}

#[test]
fn the_zones_are_those_of_the_products() {
    let place = |zone: &ReservedZone| {
        let area = zone.area;
        format!("{}, {}, {} × {}", area.x, area.y, area.width, area.height)
    };
    for (column, product) in Product::ALL.into_iter().enumerate() {
        let trim = product.trim_area();
        assert_eq!(
            find_table_row("trimmed card")[column],
            format!("{} × {}", trim.width, trim.height)
        );
        assert_eq!(
            find_table_row("bleed, past each edge")[column],
            (-product.bleed_area().x).to_string()
        );
        assert_eq!(
            find_table_row("safe margin, within each edge")[column],
            product.safe_area().x.to_string()
        );
        assert_eq!(
            find_table_row("address side")[column],
            product.address_side().to_string()
        );
        assert_eq!(
            find_table_row("return address, if there is one")[column],
            place(&product.return_address_zone())
        );
        let zones = product.reserved_zones();
        for (name, purpose) in [
            ("address block", ZonePurpose::Address),
            ("barcode", ZonePurpose::Barcode),
            ("postage", ZonePurpose::Indicia),
        ] {
            let zone = zones.iter().find(|zone| zone.purpose == purpose);
            assert_eq!(
                find_table_row(name)[column],
                zone.map_or("on the envelope".to_owned(), place)
            );
        }
    }
}

#[test]
fn every_font_and_finding_is_named() {
    for font in Font::ALL {
        assert!(
            PAGE.contains(&format!("`{}`", font.name())),
            "{}",
            font.name()
        );
    }
    let reasons = design::LayoutErrorReason::ALL
        .iter()
        .map(|reason| reason.as_str());
    for code in design::LayoutWarningCode::ALL
        .iter()
        .map(|code| code.as_str())
        .chain(reasons)
    {
        assert!(CHECKS_PAGE.contains(&format!("| `{code}` |")), "{code}");
    }
}
