//! What keeps a design from printing.

use std::fmt;

use crate::product::Side;

/// Characters of an explanation: it may quote what the document holds.
const EXPLANATION_CHARS: usize = 300;

/// The first setting found that cannot print (the API contract: `design_cannot_render`). Displayed it is one
/// sentence that names the item, its surface and what is wrong; the design's name is the caller's to add.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Problem {
    /// The surface it is on; `None` when it is about the whole document.
    pub surface: Option<Side>,
    /// The item, such as `item "headline"` or `the return address`; `None` when it is about all of the
    /// surface.
    pub item: Option<String>,
    /// What is wrong, as the end of a sentence.
    pub explanation: String,
}

impl Problem {
    /// About the whole document.
    pub(crate) fn document(explanation: impl Into<String>) -> Self {
        Self { surface: None, item: None, explanation: shortened(explanation.into()) }
    }

    /// About a whole surface.
    pub(crate) fn surface(surface: Side, explanation: impl Into<String>) -> Self {
        Self { surface: Some(surface), ..Self::document(explanation) }
    }

    /// About one item.
    pub(crate) fn item(surface: Side, item: String, explanation: impl Into<String>) -> Self {
        Self { item: Some(item), ..Self::surface(surface, explanation) }
    }
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(EXPLANATION_CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.surface, &self.item) {
            (Some(surface), Some(item)) => write!(formatter, "On the {surface}, {item} cannot print: ")?,
            (Some(surface), None) => write!(formatter, "The {surface} cannot print: ")?,
            _ => write!(formatter, "The design cannot print: ")?,
        }
        write!(formatter, "{}.", self.explanation)
    }
}
