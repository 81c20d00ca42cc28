//! What is wrong with a formula, where, and what to write instead.

use std::fmt;

use serde::Serialize;

use crate::limits::MAX_DEPTH;

/// A mistake in a formula. As JSON: `{"offset": 3, "length": 5, "message": "...", "suggestion": "..."}`,
/// the suggestion only when there is one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FormulaDiagnostic {
    /// Where it begins, in characters (Unicode scalar values) from the start of the formula, from 0.
    pub offset: usize,
    /// How many characters it covers; 0 is a place between two characters.
    pub length: usize,
    /// What is wrong and what works, in a sentence.
    pub message: String,
    /// What to write in its place, when that is known; empty to leave it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

impl FormulaDiagnostic {
    /// Of a formula that is nested too deep.
    pub(crate) fn too_deep(whole: SourceSpan) -> Self {
        whole.to_problem(format!(
            "The formula is nested more than {MAX_DEPTH} deep; IFS and SWITCH hold many cases side by side."
        ))
    }

    pub(crate) fn with_suggestion(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }
}

impl fmt::Display for FormulaDiagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "at character {}: {}",
            self.offset + 1,
            self.message
        )
    }
}

/// A part of the source, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SourceSpan {
    pub(crate) offset: usize,
    pub(crate) length: usize,
}

impl SourceSpan {
    /// The place before a character.
    pub(crate) const fn empty_at(offset: usize) -> Self {
        Self { offset, length: 0 }
    }

    /// From the beginning of the one that begins first to the end of the one that ends last.
    pub(crate) fn union(self, other: Self) -> Self {
        let offset = self.offset.min(other.offset);
        let end = (self.offset + self.length).max(other.offset + other.length);
        Self {
            offset,
            length: end - offset,
        }
    }

    pub(crate) fn to_problem(self, message: impl Into<String>) -> FormulaDiagnostic {
        FormulaDiagnostic {
            offset: self.offset,
            length: self.length,
            message: message.into(),
            suggestion: None,
        }
    }
}
