//! What keeps a design from printing.

use std::fmt;

use crate::product::Side;

/// Characters of an explanation: it may quote what the document holds.
const EXPLANATION_CHARS: usize = 300;

/// Stands before what is allowed in the place of something, which is told whole.
const ALLOWED: &str = "; allowed: ";

/// Characters of what stands before such a list: it quotes what was written.
const QUOTED_CHARS: usize = 100;

/// Characters of a list of what is allowed: more than the longest has, of all fonts.
const ALLOWED_CHARS: usize = 2_000;

/// The first setting found that cannot print (the API contract: `design_cannot_render`). Displayed it is one
/// sentence that names the item, its surface and what is wrong; the design's name is the caller's to add.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct DesignError {
    /// The surface it is on; `None` when it is about the whole document.
    pub surface: Option<Side>,
    /// The item, such as `item "headline"` or `the return address`; `None` when it is about all of the
    /// surface.
    pub item: Option<String>,
    /// What is wrong, as the end of a sentence.
    pub explanation: String,
}

impl DesignError {
    /// About the whole document.
    pub(crate) fn for_document(explanation: impl Into<String>) -> Self {
        Self {
            surface: None,
            item: None,
            explanation: truncate_explanation(reword_explanation(&explanation.into())),
        }
    }

    /// About a whole surface.
    pub(crate) fn for_side(surface: Side, explanation: impl Into<String>) -> Self {
        Self {
            surface: Some(surface),
            ..Self::for_document(explanation)
        }
    }

    /// About one item.
    pub(crate) fn for_item(surface: Side, item: String, explanation: impl Into<String>) -> Self {
        Self {
            item: Some(item),
            ..Self::for_side(surface, explanation)
        }
    }
}

/// An explanation of the reader's in the words of people who make designs.
fn reword_explanation(explanation: &str) -> String {
    let mut text = explanation.to_owned();
    for side in Side::ALL {
        text = text.replace(
            &format!("missing field `{side}`"),
            &format!("surface {side} is missing"),
        );
    }
    if let Some((before, rest)) = text.split_once("missing field `")
        && let Some((name, after)) = rest.split_once('`')
    {
        text = format!("{before}`{name}` is missing{after}");
    }
    for (begin, rest) in [
        ("unknown variant ", " is not allowed; allowed: "),
        ("unknown field ", " is no setting; allowed: "),
        ("invalid type: ", " stands there; it must be "),
    ] {
        if let Some((before, after)) = text.split_once(begin) {
            let after =
                after
                    .replacen(", expected one of ", rest, 1)
                    .replacen(", expected ", rest, 1);
            text = format!("{before}{after}");
        }
    }
    text
}

fn truncate_explanation(text: String) -> String {
    match text.rsplit_once(ALLOWED) {
        Some((what, allowed)) => {
            let what = truncate_chars(what, QUOTED_CHARS);
            format!("{what}{ALLOWED}{}", truncate_chars(allowed, ALLOWED_CHARS))
        }
        None => truncate_chars(&text, EXPLANATION_CHARS),
    }
}

fn truncate_chars(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

impl fmt::Display for DesignError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.surface, &self.item) {
            (Some(surface), Some(item)) => {
                write!(formatter, "On the {surface}, {item} cannot print: ")?
            }
            (Some(surface), None) => write!(formatter, "The {surface} cannot print: ")?,
            _ => write!(formatter, "The design cannot print: ")?,
        }
        write!(formatter, "{}.", self.explanation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explanations_are_told_without_the_reader_s_words() {
        for (of_reader, for_people) in [
            ("missing field `front`", "surface front is missing"),
            ("missing field `font`", "`font` is missing"),
            (
                "font: unknown variant `Arial`, expected one of `Inter`, `Lora`",
                "font: `Arial` is not allowed; allowed: `Inter`, `Lora`",
            ),
            (
                "kind: unknown variant `film`, expected `text` or `image`",
                "kind: `film` is not allowed; allowed: `text` or `image`",
            ),
            (
                "unknown field `opacity`, expected one of `id`, `kind`",
                "`opacity` is no setting; allowed: `id`, `kind`",
            ),
            (
                "area: width: invalid type: string \"450\", expected a number",
                "area: width: string \"450\" stands there; it must be a number",
            ),
            (
                "its id must have 1 to 100 characters",
                "its id must have 1 to 100 characters",
            ),
        ] {
            assert_eq!(reword_explanation(of_reader), for_people);
        }
    }

    #[test]
    fn a_list_of_what_is_allowed_is_told_whole_whatever_was_written_in_its_place() {
        let names: Vec<String> = (0..40).map(|font| format!("`Font {font}`")).collect();
        let told = |value: &str| {
            let reason = format!(
                "unknown variant `{value}`, expected one of {}",
                names.join(", ")
            );
            DesignError::for_document(reason).explanation
        };
        assert!(told("Arial").ends_with("`Font 39`"));
        let long = told(&"x".repeat(1_000));
        assert!(
            long.contains("xxx...; allowed: `Font 0`") && long.ends_with("`Font 39`"),
            "{long}"
        );
        let quoted = DesignError::for_document(format!("a{ALLOWED}{}", "x".repeat(9_000)));
        assert!(quoted.explanation.chars().count() < 2_400);
    }
}
