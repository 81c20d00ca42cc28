//! What a design prints, checked.

use design::{DesignError, PrintableDesign};
use serde_json::Value;

/// The document of a design that can print.
#[derive(Debug, Clone, PartialEq)]
pub struct DesignDocument(Value);

/// Why a document cannot be a design's.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum UnprintableDocument {
    /// It has a character that neither a press nor the database takes.
    #[error("The document has the character U+0000 in it, which nothing can print.")]
    NullCharacter,
    /// It is no design, or one that cannot print.
    #[error(transparent)]
    Design(#[from] DesignError),
}

impl DesignDocument {
    /// Checks that a document can print.
    ///
    /// # Errors
    /// [`UnprintableDocument`]: what keeps it from that.
    pub fn new(document: Value) -> Result<Self, UnprintableDocument> {
        if document.to_string().contains(r"\u0000") {
            return Err(UnprintableDocument::NullCharacter);
        }
        PrintableDesign::parse(&document)?;
        Ok(Self(document))
    }

    /// The document as it is stored.
    pub const fn as_value(&self) -> &Value {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_cannot_print_is_no_document() {
        let document = json!({ "product": "postcard_4x6", "front": {}, "back": {} });
        assert!(DesignDocument::new(document.clone()).is_ok());
        let mut unknown = document.clone();
        unknown["product"] = json!("billboard");
        assert!(matches!(
            DesignDocument::new(unknown),
            Err(UnprintableDocument::Design(_))
        ));
        let mut null = document;
        null["$schema"] = json!("a\0b");
        assert_eq!(
            DesignDocument::new(null),
            Err(UnprintableDocument::NullCharacter)
        );
    }
}
