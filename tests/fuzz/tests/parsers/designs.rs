//! Designs: documents, and cards laid out by them.

use design::{LayoutPlan, PrintableDesign, RecipientValues, TextTemplate, Typesetter};
use fuzz::Target;
use proptest::{prop_assert, prop_assert_eq};

const DOCUMENTS: [&str; 3] = [
    include_str!("../../../../shared/domain/design/examples/postcard.json"),
    include_str!("../../../../shared/domain/design/examples/postcard_large.json"),
    include_str!("../../../../shared/domain/design/examples/letter.json"),
];

const WORDS: [&str; 12] = [
    "\"elements\": [",
    "\"type\": \"text\"",
    "\"type\": \"qr_code\"",
    "\"size\": 0",
    "\"x\": 1e300",
    "\"width\": -1",
    "{{first_name}}",
    "{{a|b}}",
    "{{",
    "\"rotation\": 361",
    "\"text\": \"\u{202e}😀\u{301}\"",
    "null",
];

/// Somebody with a value for each field: this one.
struct Somebody(&'static str);

impl RecipientValues for Somebody {
    fn value(&self, _: &str) -> Option<&str> {
        (!self.0.is_empty()).then_some(self.0)
    }

    fn has_picture(&self, link: &str) -> bool {
        link.len().is_multiple_of(2)
    }
}

#[test]
fn fuzz_design() {
    let typesetter = std::cell::RefCell::new(Typesetter::new());
    // Most of its time is shaping of letters.
    Target::new(DOCUMENTS).words(WORDS).cases(300).run(|text| {
        let Ok(value) = serde_json::from_slice(text) else {
            return Ok(());
        };
        let Ok(document) = PrintableDesign::parse(&value) else {
            return Ok(());
        };
        let plan = LayoutPlan::new(document);
        let mut typesetter = typesetter.borrow_mut();
        for recipient in [
            Somebody(""),
            Somebody("Nina"),
            Somebody("مرحبا 😀 e\u{301}\u{202e} https://example.com/"),
        ] {
            let decided = plan.check_layout(&mut typesetter, &recipient);
            prop_assert_eq!(
                &plan.check_layout(&mut typesetter, &recipient),
                &decided,
                "the same each time"
            );
            let _ = plan.lay_out(&mut typesetter, &recipient);
        }
        Ok(())
    });
}

#[test]
fn fuzz_template() {
    let samples = [
        "Hello {{first_name|friend}},\nyour {{pet}} waits.",
        "{{a}}{{b|}}",
        "} { {} }} plain",
    ];
    Target::new(samples)
        .words(["{{", "}}", "|", "{{x}}", "{{ y | z }}"])
        .cases(3_000)
        .run_text(|source| {
            let Ok(template) = TextTemplate::parse(source) else {
                return Ok(());
            };
            let names: Vec<&str> = template.field_names().collect();
            prop_assert!(names.iter().all(|name| !name.trim().is_empty()));
            let filled = template.render(|_| Some("v"));
            prop_assert!(filled.empty_fields.is_empty());
            prop_assert!(filled.text.chars().count() <= source.chars().count() + names.len());
            let unfilled = template.render(|_| None);
            prop_assert!(
                unfilled
                    .empty_fields
                    .iter()
                    .all(|name| names.contains(name))
            );
            Ok(())
        });
}
