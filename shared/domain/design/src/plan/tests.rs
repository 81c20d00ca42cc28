use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::finding::{LayoutErrorReason, LayoutWarningCode};

#[derive(Default)]
struct PlanRecipient {
    values: HashMap<&'static str, String>,
    requires_pictures: bool,
}

impl RecipientValues for PlanRecipient {
    fn value(&self, field: &str) -> Option<&str> {
        self.values.get(field).map(String::as_str)
    }

    fn has_picture(&self, link: &str) -> bool {
        link.contains("good")
    }

    fn requires_pictures(&self) -> bool {
        self.requires_pictures
    }
}

fn recipient_with<const N: usize>(values: [(&'static str, &str); N]) -> PlanRecipient {
    let values = values
        .into_iter()
        .map(|(field, value)| (field, value.to_owned()))
        .collect();
    PlanRecipient {
        values,
        requires_pictures: false,
    }
}

/// A 6x9 postcard with these elements on its picture side.
fn plan_postcard(elements: Value) -> LayoutPlan {
    let document =
        json!({ "product": "postcard_6x9", "front": { "elements": elements }, "back": {} });
    LayoutPlan::new(PrintableDesign::parse(&document).unwrap())
}

fn area_json(x: f64, y: f64, width: f64, height: f64) -> Value {
    json!({ "x": x, "y": y, "width": width, "height": height })
}

fn text_element(id: &str, area: Value, text: &str) -> Value {
    json!({ "id": id, "kind": "text", "area": area, "text": text, "font": "Inter", "size": 20, "smallest_size": 10 })
}

fn image_element(default: Option<&str>) -> Value {
    json!({ "id": "photo", "kind": "image", "area": area_json(0.0, 0.0, 90.0, 90.0),
        "source": { "variable": { "field": "photo_link", "default": default } } })
}

fn qr_code_element(destination: &str) -> Value {
    json!({ "id": "code", "kind": "qr_code", "area": area_json(300.0, 300.0, 60.0, 60.0), "destination": destination,
        "fallback_link": "https://example.com" })
}

fn check_layout_for(plan: &LayoutPlan, person: &PlanRecipient) -> LayoutDecision {
    plan.check_layout(&mut Typesetter::new(), person)
}

fn warning_codes(decision: &LayoutDecision) -> Vec<(LayoutWarningCode, &str)> {
    let warnings = decision.as_ref().unwrap();
    warnings
        .iter()
        .map(|warning| (warning.code, warning.field.as_str()))
        .collect()
}

fn expect_refusal(decision: LayoutDecision) -> (LayoutErrorReason, String, String) {
    let LayoutError {
        reason,
        field,
        detail,
    } = decision.unwrap_err();
    (reason, field, detail)
}

#[test]
fn a_card_without_trouble_has_no_warning() {
    let plan = plan_postcard(json!([text_element(
        "name",
        area_json(20.0, 20.0, 300.0, 60.0),
        "Dear {{first_name}}"
    )]));
    assert_eq!(
        check_layout_for(&plan, &recipient_with([("first_name", "Ann")])),
        Ok(vec![])
    );
    assert_eq!(check_layout_for(&plan, &recipient_with([])), Ok(vec![]));
}

#[test]
fn characters_that_no_font_prints_are_named_with_their_box() {
    let plan = plan_postcard(json!([text_element(
        "name",
        area_json(20.0, 20.0, 300.0, 60.0),
        "Dear {{first_name}}"
    )]));
    let (reason, field, detail) = expect_refusal(check_layout_for(
        &plan,
        &recipient_with([("first_name", "Ann 🎉日")]),
    ));
    assert_eq!(
        (reason, field.as_str()),
        (LayoutErrorReason::UnsupportedCharacters, "name")
    );
    assert_eq!(
        detail,
        "The font Inter cannot print \"🎉\" (U+1F389) and \"日\" (U+65E5) in the text box \"name\"."
    );
    let (_, _, detail) = expect_refusal(check_layout_for(
        &plan,
        &recipient_with([("first_name", "一二三四五六七")]),
    ));
    assert!(detail.contains("\"五\" (U+4E94) and 2 more in"), "{detail}");
    let (_, _, detail) = expect_refusal(check_layout_for(
        &plan,
        &recipient_with([("first_name", "a\u{7}")]),
    ));
    assert!(detail.contains("print U+0007 in"), "{detail}");
}

#[test]
fn text_that_does_not_fit_at_its_smallest_size_is_refused() {
    let plan = plan_postcard(json!([text_element(
        "name",
        area_json(20.0, 20.0, 100.0, 40.0),
        "{{first_name}}"
    )]));
    let (reason, field, detail) = expect_refusal(check_layout_for(
        &plan,
        &recipient_with([("first_name", &"long ".repeat(30))]),
    ));
    assert_eq!(
        (reason, field.as_str()),
        (LayoutErrorReason::TextOverflow, "name")
    );
    assert_eq!(
        detail,
        "The text does not fit the text box \"name\", even at its smallest size of 10 points."
    );
}

#[test]
fn the_texts_of_a_card_have_a_bounded_length_together() {
    let each = || area_json(20.0, 20.0, 300.0, 100.0);
    let plan = plan_postcard(json!([
        text_element("first", each(), "{{first}}"),
        text_element("second", each(), "{{second}}")
    ]));
    // What is longer than both sides hold is not even looked at.
    let endless = "🎉".repeat(CARD_CHARS + 1);
    let (reason, field, detail) = expect_refusal(check_layout_for(
        &plan,
        &recipient_with([("first", &endless)]),
    ));
    assert_eq!(
        (reason, field.as_str()),
        (LayoutErrorReason::TextOverflow, "first")
    );
    assert!(detail.contains("10000 characters"), "{detail}");
    // Space at the end of a line takes no room.
    let blank = " ".repeat(CARD_CHARS - 3);
    let (reason, field, _) = expect_refusal(check_layout_for(
        &plan,
        &recipient_with([("first", &format!("a{blank}")), ("second", "four")]),
    ));
    assert_eq!(
        (reason, field.as_str()),
        (LayoutErrorReason::TextOverflow, "second")
    );
}

#[test]
fn the_first_reason_of_the_contract_counts_whatever_the_order_of_the_elements() {
    let plan = plan_postcard(json!([
        image_element(None),
        text_element("wide", area_json(100.0, 20.0, 100.0, 40.0), "{{wide}}"),
        text_element("odd", area_json(100.0, 80.0, 100.0, 40.0), "{{odd}}"),
    ]));
    let long = "long ".repeat(30);
    let mut person = recipient_with([("wide", long.as_str()), ("odd", "🎉")]);
    person.requires_pictures = true;
    assert_eq!(
        expect_refusal(check_layout_for(&plan, &person)).0,
        LayoutErrorReason::UnsupportedCharacters
    );
    person.values.remove("odd");
    assert_eq!(
        expect_refusal(check_layout_for(&plan, &person)).0,
        LayoutErrorReason::TextOverflow
    );
    person.values.remove("wide");
    assert_eq!(
        expect_refusal(check_layout_for(&plan, &person)).0,
        LayoutErrorReason::VariableImageMissing
    );
}

#[test]
fn a_picture_that_cannot_be_used_gives_way_to_the_default_or_a_blank() {
    use LayoutWarningCode::{VariableImageBlank, VariableImageFallback};
    let good = ("photo_link", "https://good.example/1.png");
    let bad = ("photo_link", "https://bad.example/1.png");
    for (default, values, expected, printed) in [
        (None, vec![good], None, Some(good.1)),
        (None, vec![bad], Some(VariableImageBlank), None),
        (None, vec![], Some(VariableImageBlank), None),
        (
            Some("https://good.example/d"),
            vec![good],
            None,
            Some(good.1),
        ),
        (
            Some("https://good.example/d"),
            vec![bad],
            Some(VariableImageFallback),
            Some("https://good.example/d"),
        ),
        (
            Some("https://good.example/d"),
            vec![("photo_link", " ")],
            Some(VariableImageFallback),
            Some("https://good.example/d"),
        ),
        (
            Some("https://bad.example/d"),
            vec![bad],
            Some(VariableImageBlank),
            None,
        ),
    ] {
        let plan = plan_postcard(json!([image_element(default)]));
        let mut person = recipient_with([]);
        person.values.extend(
            values
                .into_iter()
                .map(|(field, value)| (field, value.to_owned())),
        );
        let decision = check_layout_for(&plan, &person);
        assert_eq!(
            warning_codes(&decision),
            Vec::from_iter(expected.map(|code| (code, "photo_link")))
        );
        let [front, _] = plan.lay_out(&mut Typesetter::new(), &person);
        let links: Vec<&str> = front
            .items
            .iter()
            .filter_map(|item| match &item.drawing {
                ItemDrawing::Picture { link, .. } => Some(&**link),
                _ => None,
            })
            .collect();
        assert_eq!(links, Vec::from_iter(printed));
        person.requires_pictures = true;
        let is_refused =
            check_layout_for(&plan, &person).is_err_and(|refusal| refusal.field == "photo_link");
        assert_eq!(is_refused, expected.is_some());
    }
}

#[test]
fn a_code_whose_link_needs_an_empty_field_leads_to_the_fallback() {
    let plan = plan_postcard(json!([qr_code_element(
        "https://example.com/{{page}}?c={{customer}}"
    )]));
    let full = recipient_with([("page", "a"), ("customer", "1")]);
    assert_eq!(check_layout_for(&plan, &full), Ok(vec![]));
    let decision = check_layout_for(&plan, &recipient_with([("page", "a")]));
    assert_eq!(
        warning_codes(&decision),
        [(LayoutWarningCode::QrFallbackLink, "customer")]
    );
    let plan = self::plan_postcard(json!([qr_code_element("{{page}}")]));
    let decision = check_layout_for(&plan, &recipient_with([("page", "javascript:alert(1)")]));
    assert_eq!(
        warning_codes(&decision),
        [(LayoutWarningCode::QrFallbackLink, "page")]
    );
    assert!(decision.unwrap()[0].detail.contains("is not a web link"));
}

#[test]
fn a_text_too_long_for_its_curve_is_warned_of_and_printed_smaller() {
    let mut curved = text_element("seal", area_json(20.0, 20.0, 100.0, 60.0), "{{city}}");
    curved["arc"] = json!({ "bend": "up", "radius": 60 });
    let plan = plan_postcard(json!([curved]));
    assert_eq!(
        check_layout_for(&plan, &recipient_with([("city", "Austin")])),
        Ok(vec![])
    );
    let long = recipient_with([("city", "Rancho Santa Margarita, California")]);
    let decision = check_layout_for(&plan, &long);
    assert_eq!(
        warning_codes(&decision),
        [(LayoutWarningCode::TextCurveTooLong, "seal")]
    );
    let [front, _] = plan.lay_out(&mut Typesetter::new(), &long);
    let ItemDrawing::Text(runs) = &front.items[0].drawing else {
        panic!("it is a text")
    };
    assert!(runs[0].size < 10.0);
}

#[test]
fn a_script_without_spaces_is_warned_of_when_its_lines_are_broken() {
    let plan = plan_postcard(json!([text_element(
        "note",
        area_json(20.0, 20.0, 120.0, 60.0),
        "{{note}}"
    )]));
    assert_eq!(
        check_layout_for(&plan, &recipient_with([("note", "ສະບາຍ")])),
        Ok(vec![])
    );
    let decision = check_layout_for(&plan, &recipient_with([("note", "ສະບາຍດີຕອນເຊົ້າທຸກຄົນ")]));
    assert_eq!(
        warning_codes(&decision),
        [(LayoutWarningCode::TextUnmeasurable, "note")]
    );
}

/// Whether the text in an area on the left meets what is beside it, for a short name and a long one.
fn overlap_warnings(below: Value, above: Value) -> [bool; 2] {
    let name = text_element("name", area_json(20.0, 20.0, 200.0, 30.0), "{{first_name}}");
    let mut elements = vec![name];
    elements.splice(0..0, below.as_array().unwrap().clone());
    elements.extend(above.as_array().unwrap().clone());
    let plan = plan_postcard(Value::Array(elements));
    ["Ann", "Maximiliana Bo"].map(|name| {
        let decision = check_layout_for(&plan, &recipient_with([("first_name", name)]));
        decision.unwrap().iter().any(|warning| {
            warning.code == LayoutWarningCode::TextOverlap && warning.field == "name"
        })
    })
}

#[test]
fn only_ink_that_meets_is_an_overlap() {
    let shape = |x: f64, outline: &str| {
        json!([{ "id": "badge", "kind": "shape", "area": area_json(x, 10.0, 120.0, 60.0), "outline": outline,
            "fill": "#ff0000" }])
    };
    assert_eq!(
        overlap_warnings(json!([]), shape(140.0, "rectangle")),
        [false, true]
    );
    assert_eq!(
        overlap_warnings(shape(140.0, "rectangle"), json!([])),
        [false, true],
        "whichever is on top"
    );
    assert_eq!(
        overlap_warnings(json!([]), shape(220.0, "rectangle")),
        [false, false],
        "areas that only touch"
    );
    assert_eq!(
        overlap_warnings(json!([]), shape(175.0, "rectangle")),
        [false, false],
        "beside the ink"
    );
    let code = json!([{ "id": "code", "kind": "qr_code", "area": area_json(150.0, 10.0, 60.0, 60.0),
        "destination": "https://example.com", "fallback_link": "https://example.com" }]);
    assert_eq!(overlap_warnings(json!([]), code), [false, true]);
    let other = json!([text_element(
        "other",
        area_json(150.0, 20.0, 100.0, 30.0),
        "other"
    )]);
    assert_eq!(overlap_warnings(json!([]), other), [false, true]);
}

#[test]
fn what_lies_together_by_design_is_no_overlap() {
    let shape = |area: Value, settings: Value| {
        let mut shape =
            json!({ "id": "shape", "kind": "shape", "area": area, "outline": "rectangle" });
        shape
            .as_object_mut()
            .unwrap()
            .extend(settings.as_object().unwrap().clone());
        json!([shape])
    };
    let filled = json!({ "fill": "#eeeeee" });
    let background = area_json(10.0, 10.0, 300.0, 60.0);
    assert_eq!(
        overlap_warnings(shape(background.clone(), filled.clone()), json!([])),
        [false, false],
        "a background"
    );
    // The name of the field stands there in the design, so that the shape is on the text by intention.
    assert_eq!(
        overlap_warnings(json!([]), shape(background, filled.clone())),
        [false, false],
        "in front of all of it"
    );
    assert_eq!(
        overlap_warnings(json!([]), shape(area_json(25.0, 10.0, 50.0, 60.0), filled)),
        [false, false],
        "as designed"
    );
    let frame = json!({ "stroke": { "colour": "#000000", "width": 2 } });
    assert_eq!(
        overlap_warnings(json!([]), shape(area_json(10.0, 10.0, 140.0, 60.0), frame)),
        [false, true],
        "a frame's edge"
    );
}

#[test]
fn two_texts_that_meet_are_told_of_once() {
    let plan = plan_postcard(json!([
        text_element("left", area_json(20.0, 20.0, 200.0, 30.0), "{{left}}"),
        text_element("right", area_json(100.0, 20.0, 200.0, 30.0), "{{right|ok}}"),
    ]));
    let decision = check_layout_for(
        &plan,
        &recipient_with([("left", "Maximiliana Bo"), ("right", "Bartholomew")]),
    );
    assert_eq!(
        warning_codes(&decision),
        [(LayoutWarningCode::TextOverlap, "left")]
    );
}

#[test]
fn a_picture_that_prints_nothing_is_met_by_nothing() {
    let photo = json!({ "id": "photo", "kind": "image", "area": area_json(140.0, 10.0, 100.0, 60.0),
        "source": { "variable": { "field": "photo_link" } } });
    let plan = plan_postcard(json!([
        text_element("name", area_json(20.0, 20.0, 200.0, 30.0), "{{first_name}}"),
        photo
    ]));
    let mut person = recipient_with([
        ("first_name", "Maximiliana Bo"),
        ("photo_link", "https://good.example/1"),
    ]);
    assert_eq!(
        warning_codes(&check_layout_for(&plan, &person)),
        [(LayoutWarningCode::TextOverlap, "name")]
    );
    person.values.remove("photo_link");
    assert_eq!(
        warning_codes(&check_layout_for(&plan, &person)),
        [(LayoutWarningCode::VariableImageBlank, "photo_link")]
    );
}

#[test]
fn pages_hold_what_prints_in_order_and_say_what_differs() {
    let plan = plan_postcard(json!([
        { "id": "ground", "kind": "shape", "area": area_json(0.0, 0.0, 648.0, 432.0), "outline": "rectangle", "fill": "#ffffff" },
        image_element(None),
        text_element("same", area_json(100.0, 20.0, 200.0, 30.0), "the same"),
        text_element("name", area_json(100.0, 60.0, 200.0, 30.0), "{{first_name}}"),
        text_element("empty", area_json(100.0, 100.0, 200.0, 30.0), "{{empty}}"),
        qr_code_element("https://example.com"),
    ]));
    let items = |person: &PlanRecipient| -> Vec<(String, bool)> {
        let [front, back] = plan.lay_out(&mut Typesetter::new(), person);
        assert!(back.items.is_empty() && back.side == Side::Back && front.side == Side::Front);
        front
            .items
            .iter()
            .map(|item| (item.element.to_string(), item.varies))
            .collect()
    };
    let expected = [
        ("ground", false),
        ("same", false),
        ("name", true),
        ("code", true),
    ];
    assert_eq!(
        items(&recipient_with([("first_name", "Ann")])),
        expected.map(|(element, varies)| (element.to_owned(), varies))
    );
    assert!(
        !items(&recipient_with([]))
            .iter()
            .any(|(element, _)| element == "name")
    );
}

#[test]
fn a_refused_card_is_laid_out_as_far_as_it_goes() {
    let plan = plan_postcard(json!([text_element(
        "name",
        area_json(20.0, 20.0, 100.0, 40.0),
        "{{first_name}}"
    )]));
    let [front, _] = plan.lay_out(
        &mut Typesetter::new(),
        &recipient_with([("first_name", &"long 🎉 ".repeat(30))]),
    );
    let ItemDrawing::Text(runs) = &front.items[0].drawing else {
        panic!("it is a text")
    };
    assert!(
        runs.iter()
            .all(|run| run.size == 10.0 && run.glyphs.iter().all(|glyph| glyph.id != 0))
    );
}

#[test]
fn who_was_decided_before_changes_nothing() {
    let plan = plan_postcard(json!([
        image_element(None),
        text_element(
            "name",
            area_json(20.0, 100.0, 100.0, 40.0),
            "Dear {{first_name}}"
        )
    ]));
    let names = [
        "Ann",
        "🎉",
        "Maximiliana Bartholomea Featherstone",
        "ليلى",
        "",
    ];
    let people = names.map(|name| recipient_with([("first_name", name)]));
    let mut typesetter = Typesetter::new();
    for person in people.iter().chain(people.iter().rev()) {
        assert_eq!(
            plan.check_layout(&mut typesetter, person),
            check_layout_for(&plan, person)
        );
    }
}

proptest! {
    #[test]
    fn whatever_a_recipient_sends_the_card_is_decided_and_laid_out(
        values in prop::collection::vec("\\PC{0,60}|[A-Za-z ]{0,200}", 3),
    ) {
        let mut curved = text_element("curve", area_json(20.0, 120.0, 200.0, 90.0), "{{b}} {{c}}");
        curved["arc"] = json!({ "bend": "down", "radius": 120 });
        let plan = plan_postcard(json!([text_element("straight", area_json(20.0, 20.0, 200.0, 90.0), "{{a}} and {{b|nobody}}"), curved, qr_code_element("{{c}}")]));
        let person = recipient_with([("a", values[0].as_str()), ("b", values[1].as_str()), ("c", values[2].as_str())]);
        let decision = check_layout_for(&plan, &person);
        prop_assert_eq!(&decision, &check_layout_for(&plan, &person));
        let [front, _] = plan.lay_out(&mut Typesetter::new(), &person);
        let is_code = |item: &PageItem| matches!(item.drawing, ItemDrawing::Code { .. });
        prop_assert!(front.items.iter().any(is_code));
        if let Err(refusal) = decision {
            prop_assert!(refusal.detail.ends_with('.') && refusal.detail.len() < 600, "{}", refusal.detail);
        }
    }
}
