//! A document as people write it.

use designs::DesignDocument;
use serde_json::Value;

/// What a new design begins with.
pub(super) const BEGINNING: &str = r##"{
  "product": "postcard_4x6",
  "front": {
    "background": "#f4f1e8",
    "elements": [
      {
        "id": "headline",
        "kind": "text",
        "area": { "x": 18, "y": 100, "width": 396, "height": 60 },
        "text": "Good to see you, {{first_name|neighbor}}",
        "font": "Inter Bold",
        "size": 28,
        "smallest_size": 14
      }
    ]
  },
  "back": {}
}"##;

/// Reads a document that can print.
///
/// # Errors
/// A sentence for people: where it is no JSON, or which item on which surface cannot print, and why.
pub(super) fn read_document(text: &str) -> Result<DesignDocument, String> {
    let document: Value = serde_json::from_str(text).map_err(|error| not_json(&error))?;
    DesignDocument::new(document).map_err(|problem| problem.to_string())
}

fn not_json(error: &serde_json::Error) -> String {
    let what = error.to_string();
    let what = what.split(" at line ").next().unwrap_or_default();
    format!(
        "This is not JSON: line {}, column {}: {what}.",
        error.line(),
        error.column()
    )
}

/// A stored document as people write it.
pub(super) fn document_text(document: &Value) -> String {
    // A value that was read can be written.
    serde_json::to_string_pretty(document).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_told_with_its_line_or_with_its_item_and_surface() {
        let told = |text: &str| read_document(text).unwrap_err();
        assert!(told("{\n  \"product\" 7\n}").starts_with("This is not JSON: line 2, column 13: "));
        let other = BEGINNING.replace("Inter Bold", "Comic Sans");
        assert!(
            told(&other).starts_with("On the front, item \"headline\" cannot print: "),
            "{}",
            told(&other)
        );
        let unknown = BEGINNING.replace("{{first_name|neighbor}}", "{{first_name");
        assert!(told(&unknown).contains("headline"), "{}", told(&unknown));
        assert!(told(&BEGINNING.replace("headline", r"a\u0000b")).contains("U+0000"));
    }

    #[test]
    fn the_beginning_prints_and_is_written_as_it_is_read() {
        let document = read_document(BEGINNING).unwrap();
        assert_eq!(
            read_document(&document_text(document.as_value())),
            Ok(document)
        );
    }
}
