//! What is wrong with a formula, where, and what to write instead.

use std::fmt;

use serde::Serialize;

/// A mistake in a formula. As JSON: `{"offset": 3, "length": 5, "message": "...", "suggestion": "..."}`,
/// the suggestion only when there is one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where it begins, in characters (Unicode scalar values) from the start of the formula, from 0.
    pub offset: usize,
    /// How many characters it covers; 0 is a place between two characters.
    pub length: usize,
    /// What is wrong and what works, in a sentence.
    pub message: String,
    /// What to write in its place, when that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "at character {}: {}", self.offset + 1, self.message)
    }
}
