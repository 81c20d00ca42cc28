use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::json;

use super::*;

fn example_postcard() -> Value {
    serde_json::from_str(include_str!("../../examples/postcard.json")).unwrap()
}

/// The example with another value at a place; `null` takes the setting away.
fn example_with(pointer: &str, value: Value) -> Value {
    let mut document = example_postcard();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match document.pointer_mut(parent).unwrap() {
        Value::Object(settings) if value.is_null() => drop(settings.remove(name)),
        Value::Object(settings) => drop(settings.insert(name.to_owned(), value)),
        Value::Array(elements) => elements[name.parse::<usize>().unwrap()] = value,
        other => panic!("{other} has no settings"),
    }
    document
}

fn design_error(pointer: &str, value: Value) -> String {
    PrintableDesign::parse(&example_with(pointer, value))
        .unwrap_err()
        .to_string()
}

#[test]
fn the_example_can_print() {
    let document = PrintableDesign::parse(&example_postcard()).unwrap();
    assert_eq!(document.product(), Product::Postcard4x6);
    assert_eq!(document.side(Side::Front).elements.len(), 4);
    assert_eq!(document.side(Side::Back).elements.len(), 2);
    assert_eq!(
        document.field_names(),
        [
            "city",
            "customer_id",
            "first_name",
            "house_photo",
            "offer",
            "offer_ends",
            "office_address",
            "office_city",
            "office_name",
            "office_state",
            "office_zip"
        ]
    );
}

#[test]
fn an_unknown_setting_is_answered_with_all_that_there_are() {
    let message = design_error("/front/elements/2/colr", json!("#000000"));
    for setting in [
        "`id`",
        "`kind`",
        "`area`",
        "`rotation`",
        "`text`",
        "`colour`",
    ] {
        assert!(message.contains(setting), "{message}");
    }
    let message = design_error("/front/elements/0/fitt", json!("cover"));
    assert!(
        message.contains("allowed: `id`, `kind`, `area`, `rotation`, `source`, `fit`"),
        "{message}"
    );
}

#[test]
fn a_document_may_name_its_schema_for_editors() {
    assert!(PrintableDesign::parse(&example_with("/$schema", json!("../schema.json"))).is_ok());
}

#[test]
fn a_return_address_without_fields_prints_whole() {
    let mut value = example_with("/return_address/fallback", Value::Null);
    let mut address = json!({"name": "Main Office", "address_1": "500 Congress Ave", "address_2": "Suite 200",
        "city": "Austin", "state": "TX", "zip": "78701-1234"});
    value["return_address"]["address"] = address.clone();
    assert!(PrintableDesign::parse(&value).is_ok());
    address["name"] = "N".repeat(60).into();
    value["return_address"]["address"] = address;
    assert_eq!(
        PrintableDesign::parse(&value).unwrap_err().to_string(),
        "On the back, the return address cannot print: it is too long for its place."
    );
}

#[test]
fn every_product_can_be_blank() {
    for product in Product::ALL {
        let value = json!({ "product": product, "front": {}, "back": {} });
        assert_eq!(PrintableDesign::parse(&value).unwrap().product(), product);
    }
}

#[test]
fn case_does_not_make_another_field() {
    let document = PrintableDesign::parse(&example_with(
        "/back/elements/0/text",
        json!("{{FIRST_NAME}} {{Offer}}"),
    ))
    .unwrap();
    let fields = document.field_names();
    assert!(
        fields.contains(&"first_name") && !fields.contains(&"FIRST_NAME"),
        "{fields:?}"
    );
    assert!(fields.contains(&"Offer"), "{fields:?}");
}

#[test]
fn a_problem_names_the_item_the_surface_and_what_is_wrong() {
    assert_eq!(
        design_error("/front/elements/2/smallest_size", json!(30)),
        "On the front, item \"headline\" cannot print: its smallest_size 30 is larger than its size 28."
    );
    assert_eq!(
        design_error(
            "/back/elements/1/fallback_link",
            json!("http://example.com")
        ),
        "On the back, item \"code\" cannot print: fallback_link: the link \"http://example.com\" must begin with https://."
    );
    assert_eq!(
        design_error("/back/elements/0", json!({ "kind": "text" })),
        "On the back, item number 1 cannot print: it has no id."
    );
    assert_eq!(
        design_error("/front/background", json!("white")),
        "The design cannot print: front.background: \"white\" is not a colour like \"#1a2b3c\"."
    );
    assert_eq!(
        design_error("/return_address/fallback", Value::Null),
        "On the back, the return address cannot print: it must have a fallback exactly when it has fields."
    );
}

#[test]
fn settings_that_cannot_print_are_refused() {
    for (pointer, value, expected) in [
        (
            "/product",
            json!("postcard_5x7"),
            "product: `postcard_5x7` is not allowed",
        ),
        ("/colour", json!("#000000"), "`colour` is no setting"),
        ("/front", Value::Null, "surface front is missing"),
        (
            "/front/elements/0/id",
            json!("headline"),
            "another item has the same id",
        ),
        ("/front/elements/0/id", json!(" "), "its id must have"),
        (
            "/front/elements/0/kind",
            json!("video"),
            "kind: `video` is not allowed",
        ),
        (
            "/front/elements/0/opacity",
            json!(1),
            "`opacity` is no setting",
        ),
        (
            "/front/elements/0/area/width",
            json!(0),
            "width and height must be more than 0",
        ),
        ("/front/elements/0/area/width", json!(451), "past the bleed"),
        (
            "/front/elements/0/area/width",
            json!("450"),
            "area: width: string \"450\" stands there",
        ),
        ("/front/elements/0/rotation", json!(5), "past the bleed"),
        ("/front/elements/0/rotation", json!(361), "rotation must be"),
        (
            "/front/elements/0/source/variable/field",
            json!(" "),
            "its field must have",
        ),
        (
            "/front/elements/0/source/variable/crop",
            json!(1),
            "`crop` is no setting",
        ),
        (
            "/front/elements/0/source/variable/default",
            json!("file:///etc/passwd"),
            "must begin with https",
        ),
        (
            "/front/elements/1/fill",
            Value::Null,
            "neither fill nor stroke",
        ),
        (
            "/front/elements/1/corner_radius",
            json!(64),
            "corner_radius must be",
        ),
        (
            "/front/elements/1/outline",
            json!("star"),
            "outline: `star` is not allowed",
        ),
        (
            "/front/elements/1/stroke",
            json!({ "colour": "#000000", "width": 0 }),
            "its stroke must be",
        ),
        ("/front/elements/2/area/x", json!(0), "past the safe margin"),
        (
            "/front/elements/2/font",
            json!("Comic Sans"),
            "font: `Comic Sans` is not allowed",
        ),
        ("/front/elements/2/font", Value::Null, "`font` is missing"),
        (
            "/front/elements/2/size",
            json!(-1),
            "its size must be 4 to 500 points",
        ),
        (
            "/front/elements/2/smallest_size",
            json!(3),
            "its smallest_size must be",
        ),
        (
            "/front/elements/2/line_height",
            json!(0),
            "its line_height must be",
        ),
        (
            "/front/elements/2/text",
            json!("{{first_name"),
            "\"{{\" is not closed by \"}}\"",
        ),
        ("/front/elements/2/colour", json!("#fff"), "is not a colour"),
        (
            "/front/elements/3/arc/radius",
            json!(47),
            "half its width to 10000 points",
        ),
        (
            "/front/elements/3/arc/radius",
            json!(1e300),
            "half its width to 10000 points",
        ),
        (
            "/front/elements/3/area/height",
            json!(36),
            "too low for its arc",
        ),
        (
            "/back/elements/0/area/height",
            json!(8),
            "lower than one line",
        ),
        (
            "/back/elements/0/area/width",
            json!(200),
            "covers the zone reserved for the address block",
        ),
        (
            "/back/elements/1/area",
            json!({ "x": 100, "y": 215, "width": 40, "height": 40 }),
            "reserved for the barcode",
        ),
        (
            "/back/elements/0/area/y",
            json!(50),
            "covers the zone reserved for the return address",
        ),
        (
            "/back/elements/1/area/width",
            json!(35),
            "its width and height must be 36 points at least",
        ),
        (
            "/back/elements/1/destination",
            json!("mailto:{{email}}"),
            "must begin with https:// or http://",
        ),
        (
            "/return_address/address/city",
            json!(" "),
            "must not be blank",
        ),
        (
            "/return_address/fallback/zip",
            json!("{{zip}}"),
            "its fallback must have no fields",
        ),
        (
            "/return_address/address/phone",
            json!("1"),
            "`phone` is no setting",
        ),
        (
            "/return_address/fallback/name",
            json!("N".repeat(60)),
            "its fallback is too long for its place",
        ),
        (
            "/return_address/fallback/name",
            json!("Office 🎉"),
            "characters that no font prints: \"🎉\"",
        ),
        (
            "/back/elements/1/fallback_link",
            json!("https://example.com/{{x}}"),
            "without fields",
        ),
        (
            "/front/elements/0/source/variable/default",
            json!("https://example.com/{{x}}.png"),
            "without fields",
        ),
        (
            "/front/elements/0/source",
            json!({}),
            "such as {\"fixed\": {…}}",
        ),
        (
            "/front/elements/2/size",
            json!("28"),
            "size: string \"28\" stands there; it must be a number",
        ),
        (
            "/front/elements/2/text",
            json!(format!("{{{{a|{}}}}}", "default ".repeat(60))),
            "does not fit its area",
        ),
    ] {
        let message = design_error(pointer, value.clone());
        assert!(message.contains(expected), "{pointer} = {value}: {message}");
    }
}

#[test]
fn a_postcards_picture_side_and_a_letters_second_page_are_free() {
    let full = json!({ "id": "all", "kind": "shape", "area": { "x": 0, "y": 0, "width": 400, "height": 280 },
        "outline": "rectangle", "fill": "#336699" });
    let design = |product: Product, side: &str| {
        let mut value = json!({ "product": product, "front": {}, "back": {} });
        value[side]["elements"] = json!([full]);
        PrintableDesign::parse(&value)
    };
    assert!(design(Product::Postcard4x6, "front").is_ok());
    assert!(
        design(Product::Postcard4x6, "back")
            .unwrap_err()
            .to_string()
            .contains("reserved for the address")
    );
    assert!(design(Product::Letter, "back").is_ok());
    assert!(
        design(Product::Letter, "front")
            .unwrap_err()
            .to_string()
            .contains("reserved for the barcode")
    );
}

#[test]
fn without_a_return_address_its_corner_is_free() {
    let mut value = example_with("/back/elements/0/area/y", json!(20));
    assert!(PrintableDesign::parse(&value).is_err());
    value.as_object_mut().unwrap().remove("return_address");
    assert!(PrintableDesign::parse(&value).is_ok());
}

#[test]
fn a_surface_has_a_bounded_number_of_elements() {
    let shape = |number: usize| {
        json!({ "id": format!("shape {number}"), "kind": "shape", "outline": "ellipse", "fill": "#000000",
            "area": { "x": 1, "y": 1, "width": 9, "height": 9 } })
    };
    let design = |count: usize| {
        let elements: Vec<_> = (0..count).map(shape).collect();
        PrintableDesign::parse(
            &json!({ "product": "letter", "front": { "elements": elements }, "back": {} }),
        )
    };
    assert!(design(ELEMENTS_PER_SURFACE).is_ok());
    assert_eq!(
        design(ELEMENTS_PER_SURFACE + 1).unwrap_err().to_string(),
        "The front cannot print: it has more than 100 elements."
    );
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

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({})),
        Just(json!([[[]]])),
        any::<f64>().prop_map(|number| json!(number)),
        any::<i64>().prop_map(|number| json!(number)),
        any::<bool>().prop_map(|truth| json!(truth)),
        "[{}|a#/: ]{0,12}".prop_map(|text| json!(text)),
        "\\PC{0,900}".prop_map(|text| json!(text)),
    ]
}

proptest! {
    #[test]
    fn whatever_a_setting_holds_the_answer_is_a_document_or_one_sentence(place in any::<Index>(), value in any_value()) {
        let mut found = Vec::new();
        collect_pointers(&example_postcard(), "", &mut found);
        if let Err(problem) = PrintableDesign::parse(&example_with(&found[place.index(found.len())], value)) {
            let message = problem.to_string();
            prop_assert!(message.contains(" cannot print: ") && message.ends_with('.'), "{}", message);
            prop_assert!(message.chars().count() < 600, "{}", message);
        }
    }
}
