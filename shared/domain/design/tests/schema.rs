//! The published schema against what the parser takes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use design::{Font, PrintableDesign, Product, SCHEMA};
use jsonschema::Validator;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

fn load_schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

fn build_validator() -> Validator {
    jsonschema::draft202012::new(&load_schema()).unwrap()
}

fn load_examples() -> Vec<Value> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|path| serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
        .collect()
}

fn load_postcard() -> Value {
    serde_json::from_str(include_str!("../examples/postcard.json")).unwrap()
}

/// The example with another value at a place; `null` takes the setting away.
fn postcard_with(pointer: &str, value: Value) -> Value {
    let mut document = load_postcard();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match document.pointer_mut(parent).unwrap() {
        Value::Object(settings) if value.is_null() => drop(settings.remove(name)),
        Value::Object(settings) => drop(settings.insert(name.to_owned(), value)),
        Value::Array(elements) => elements[name.parse::<usize>().unwrap()] = value,
        other => panic!("{other} has no settings"),
    }
    document
}

#[test]
fn the_schema_is_one() {
    assert!(jsonschema::draft202012::meta::is_valid(&load_schema()));
}

#[test]
fn every_example_passes_both() {
    assert!(load_examples().len() > 1);
    for example in load_examples() {
        PrintableDesign::parse(&example).unwrap();
        build_validator().validate(&example).unwrap();
    }
}

#[test]
fn fonts_and_products_are_those_of_the_parser() {
    let names = |pointer: &str| -> BTreeSet<String> {
        serde_json::from_value(load_schema().pointer(pointer).unwrap().clone()).unwrap()
    };
    let fonts = Font::ALL
        .iter()
        .map(|font| font.name().to_owned())
        .collect();
    assert_eq!(names("/$defs/font/enum"), fonts);
    let products = Product::ALL
        .iter()
        .map(|product| product.to_string())
        .collect();
    assert_eq!(names("/properties/product/enum"), products);
}

#[test]
fn settings_may_be_left_out_or_null_in_both() {
    for (pointer, value) in [
        ("/front/background", Value::Null),
        ("/front/elements", Value::Null),
        ("/front/elements/0/source/variable/default", Value::Null),
        ("/front/elements/0/fit", Value::Null),
        ("/front/elements/2/smallest_size", json!(4)),
        ("/front/elements/2/line_height", Value::Null),
        ("/front/elements/2/rotation", json!(0)),
        ("/front/elements/1/corner_radius", json!(12.5)),
        (
            "/front/elements/1/stroke",
            json!({ "colour": "#FFffFF", "width": 0.5 }),
        ),
        ("/back/elements/1/colour", json!("#000080")),
        ("/return_address/fallback/address_2", Value::Null),
    ] {
        let document = postcard_with(pointer, value);
        PrintableDesign::parse(&document).unwrap();
        build_validator().validate(&document).unwrap();
    }
    let mut document = postcard_with("/front/elements/2/size", json!(14));
    for pointer in [
        "/front/background",
        "/front/elements/2/smallest_size",
        "/front/elements/3/arc",
    ] {
        *document.pointer_mut(pointer).unwrap() = Value::Null;
    }
    PrintableDesign::parse(&document).unwrap();
    build_validator().validate(&document).unwrap();
}

#[test]
fn what_both_refuse() {
    for (pointer, value) in [
        ("/product", json!("postcard_5x7")),
        ("/product", Value::Null),
        ("/back", Value::Null),
        ("/front/title", json!("x")),
        ("/front/background", json!("white")),
        ("/front/elements", json!({})),
        ("/front/elements/0", json!("photo")),
        ("/front/elements/0/id", Value::Null),
        ("/front/elements/0/id", json!(" ")),
        ("/front/elements/0/id", json!("x".repeat(65))),
        ("/front/elements/0/kind", json!("video")),
        ("/front/elements/0/kind", Value::Null),
        (
            "/front/elements/0/area",
            json!({ "x": 0, "y": 0, "width": 9 }),
        ),
        ("/front/elements/0/area/width", json!(0)),
        ("/front/elements/0/area/depth", json!(1)),
        ("/front/elements/0/rotation", json!(361)),
        ("/front/elements/0/rotation", json!("12")),
        ("/front/elements/0/source", json!({})),
        (
            "/front/elements/0/source",
            json!({ "fixed": { "link": "http://example.com/a.png" } }),
        ),
        ("/front/elements/0/source/variable/field", json!("")),
        ("/front/elements/0/fit", json!("stretch")),
        ("/front/elements/0/text", json!("x")),
        ("/front/elements/1/fill", Value::Null),
        ("/front/elements/1/outline", json!("star")),
        ("/front/elements/1/corner_radius", json!(-1)),
        (
            "/front/elements/1/stroke",
            json!({ "colour": "#000000", "width": 0 }),
        ),
        (
            "/front/elements/1",
            json!({ "id": "o", "kind": "shape", "outline": "ellipse", "corner_radius": 2,
            "fill": "#000000", "area": { "x": 0, "y": 0, "width": 20, "height": 20 } }),
        ),
        ("/front/elements/2/text", Value::Null),
        ("/front/elements/2/text", json!("x".repeat(2_001))),
        ("/front/elements/2/font", json!("Comic Sans")),
        ("/front/elements/2/size", json!(3)),
        ("/front/elements/2/size", json!(501)),
        ("/front/elements/2/smallest_size", json!(3)),
        ("/front/elements/2/line_height", json!(0.4)),
        ("/front/elements/2/alignment", json!("justify")),
        ("/front/elements/2/vertical_alignment", json!("center")),
        ("/front/elements/2/colour", json!("#fff")),
        ("/front/elements/3/arc", json!({ "bend": "up" })),
        ("/front/elements/3/arc/bend", json!("sideways")),
        ("/front/elements/3/arc/radius", json!(10_001)),
        ("/back/elements/1/area/width", json!(35)),
        ("/back/elements/1/destination", Value::Null),
        (
            "/back/elements/1/fallback_link",
            json!("http://example.com"),
        ),
        ("/return_address/address/phone", json!("1")),
        ("/return_address/address/city", Value::Null),
        ("/return_address/fallback", json!("here")),
    ] {
        let document = postcard_with(pointer, value.clone());
        assert!(
            PrintableDesign::parse(&document).is_err(),
            "the parser takes {pointer} = {value}"
        );
        assert!(
            !build_validator().is_valid(&document),
            "the schema takes {pointer} = {value}"
        );
    }
}

#[test]
fn what_only_the_parser_refuses() {
    for (pointer, value) in [
        // Two settings at once.
        ("/front/elements/2/smallest_size", json!(30)),
        ("/front/elements/2/id", json!("banner")),
        ("/front/elements/3/arc/radius", json!(47)),
        // A place on the card.
        ("/front/elements/2/area/x", json!(0)),
        ("/back/elements/0/area/width", json!(200)),
        // What a text says.
        ("/front/elements/2/text", json!("{{first_name")),
        ("/front/elements/2/text", json!("party 🎉")),
        (
            "/front/elements/2/text",
            json!("too long to fit ".repeat(100)),
        ),
        ("/back/elements/1/destination", json!("mailto:{{email}}")),
        ("/return_address/fallback/zip", json!("{{zip}}")),
    ] {
        let document = postcard_with(pointer, value.clone());
        assert!(
            PrintableDesign::parse(&document).is_err(),
            "the parser takes {pointer} = {value}"
        );
        assert!(
            build_validator().is_valid(&document),
            "the schema refuses {pointer} = {value}"
        );
    }
}

/// Every place in the document, as JSON pointers.
fn collect_pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(settings) => settings
            .iter()
            .map(|(name, child)| (name.clone(), child))
            .collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(index, child)| (index.to_string(), child))
            .collect(),
        _ => Vec::new(),
    };
    for (name, child) in children {
        let place = format!("{at}/{name}");
        collect_pointers(child, &place, found);
        found.push(place);
    }
}

proptest! {
    #[test]
    fn the_schema_refuses_nothing_that_the_parser_takes(
        place in any::<Index>(),
        value in prop_oneof![
            Just(json!({})),
            any::<f64>().prop_map(|number| json!(number)),
            (-10..600i64).prop_map(|number| json!(number)),
            any::<bool>().prop_map(|truth| json!(truth)),
            prop::sample::select(vec!["left", "middle", "contain", "up", "ellipse", "#a0B1c2", "https://a.example/"])
                .prop_map(|text| json!(text)),
            "[{}|a#/: ]{0,12}".prop_map(|text| json!(text)),
            "\\PC{0,90}".prop_map(|text| json!(text)),
        ],
    ) {
        let mut found = Vec::new();
        collect_pointers(&load_postcard(), "", &mut found);
        let document = postcard_with(&found[place.index(found.len())], value);
        prop_assert!(PrintableDesign::parse(&document).is_err() || build_validator().is_valid(&document), "{}", document);
    }
}
