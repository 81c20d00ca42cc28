//! Layout decisions of the examples for some recipients, held against files. `REWRITE_GOLDEN=1` writes them anew: look
//! at what changed before it is kept, for cards change with it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use design::{
    GlyphRun, ItemDrawing, LayoutPlan, PageItem, PrintableDesign, RecipientValues, Typesetter,
};
use serde_json::{Value, json};

struct GoldenRecipient(BTreeMap<String, String>);

impl RecipientValues for GoldenRecipient {
    fn value(&self, field: &str) -> Option<&str> {
        self.0.get(field).map(String::as_str)
    }

    fn has_picture(&self, link: &str) -> bool {
        !link.contains("broken")
    }
}

fn crate_path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn load_recipients() -> BTreeMap<String, GoldenRecipient> {
    let people: BTreeMap<String, BTreeMap<String, String>> =
        serde_json::from_str(include_str!("recipients.json")).unwrap();
    people
        .into_iter()
        .map(|(name, values)| (name, GoldenRecipient(values)))
        .collect()
}

/// To a hundredth of a point: finer differences are of the processor, not of the layout.
fn round_to_hundredth(number: f64) -> f64 {
    (number * 100.0).round() / 100.0 + 0.0
}

fn glyph_run_json(run: &GlyphRun) -> Value {
    let (first, last) = (&run.glyphs[0], &run.glyphs[run.glyphs.len() - 1]);
    json!({
        "text": run.text, "font": run.font.name(), "size": round_to_hundredth(run.size), "glyphs": run.glyphs.len(),
        "from": [round_to_hundredth(first.x), round_to_hundredth(first.y)], "to": [round_to_hundredth(last.x + last.advance), round_to_hundredth(last.y)],
    })
}

fn item_json(item: &PageItem) -> Value {
    let drawn = match &item.drawing {
        ItemDrawing::Text(runs) => json!(runs.iter().map(glyph_run_json).collect::<Vec<_>>()),
        ItemDrawing::Picture { link, .. } => json!({ "picture": **link }),
        ItemDrawing::Code { position, .. } => json!({ "code": position }),
        ItemDrawing::Shape(_) => json!("shape"),
    };
    json!({ "element": *item.element, "varies": item.varies, "draws": drawn })
}

fn decision_json(plan: &LayoutPlan, person: &GoldenRecipient) -> Value {
    let mut typesetter = Typesetter::new();
    match plan.check_layout(&mut typesetter, person) {
        Err(refusal) => {
            json!({ "refused": refusal.reason.as_str(), "field": refusal.field, "detail": refusal.detail })
        }
        Ok(warnings) => {
            let warnings: Vec<Value> = warnings
                .iter()
                .map(|warning| json!([warning.code.as_str(), warning.field, warning.detail]))
                .collect();
            let pages = plan.lay_out(&mut typesetter, person);
            let items: Vec<Value> = pages
                .iter()
                .flat_map(|page| &page.items)
                .map(item_json)
                .collect();
            json!({ "warnings": warnings, "prints": items })
        }
    }
}

#[test]
fn layout_decisions_are_those_of_the_files() {
    for name in ["postcard", "postcard_large", "letter"] {
        let example =
            std::fs::read_to_string(crate_path("examples").join(format!("{name}.json"))).unwrap();
        let plan = LayoutPlan::new(
            PrintableDesign::parse(&serde_json::from_str(&example).unwrap()).unwrap(),
        );
        let decided: BTreeMap<String, Value> = load_recipients()
            .iter()
            .map(|(person, values)| (person.clone(), decision_json(&plan, values)))
            .collect();
        let decided = serde_json::to_string_pretty(&decided).unwrap() + "\n";
        let path = crate_path("tests/golden").join(format!("{name}.json"));
        if std::env::var_os("REWRITE_GOLDEN").is_some() {
            std::fs::write(&path, &decided).unwrap();
        }
        let golden = std::fs::read_to_string(&path).unwrap();
        assert!(
            golden == decided,
            "{name} is laid out otherwise; with REWRITE_GOLDEN=1 the file shows how"
        );
    }
}
