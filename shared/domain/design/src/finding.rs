//! What is decided about one recipient's card, in words a marketer understands.

use crate::limits::{CARD_CHARS, LISTED_CHARACTERS};

/// What becomes of a card: it mails with these warnings, none as a rule, or it does not.
pub type LayoutDecision = Result<Vec<LayoutWarning>, LayoutError>;

/// Why no card is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutError {
    /// The reason.
    pub reason: LayoutErrorReason,
    /// The id of the text box, or the field of the picture.
    pub field: String,
    /// A sentence for a person.
    pub detail: String,
}

/// The reasons of the API contract that a design gives, in the order in which they count: of several that hold the
/// first is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayoutErrorReason {
    /// A text has characters that no font prints.
    UnsupportedCharacters,
    /// A text does not fit its box at its smallest size.
    TextOverflow,
    /// A picture cannot be used and the request wants every picture.
    VariableImageMissing,
}

/// A card that mails with a fallback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutWarning {
    /// What it is about.
    pub code: LayoutWarningCode,
    /// The recipient's field for pictures and links, the id of the text box for texts.
    pub field: String,
    /// A sentence for a person.
    pub detail: String,
}

/// The warning codes of the API contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayoutWarningCode {
    /// The design's default picture prints.
    VariableImageFallback,
    /// No picture prints.
    VariableImageBlank,
    /// A QR code leads to its fallback link.
    QrFallbackLink,
    /// A text prints over another element, or under it.
    TextOverlap,
    /// Whether a text fits could not be found out.
    TextUnmeasurable,
    /// A text is too long for its curve at its smallest size.
    TextCurveTooLong,
}

impl LayoutErrorReason {
    /// Every reason.
    pub const ALL: [Self; 3] = [
        Self::UnsupportedCharacters,
        Self::TextOverflow,
        Self::VariableImageMissing,
    ];

    /// The code on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnsupportedCharacters => "unsupported_characters",
            Self::TextOverflow => "text_overflow",
            Self::VariableImageMissing => "variable_image_missing",
        }
    }
}

impl LayoutWarningCode {
    /// Every code.
    pub const ALL: [Self; 6] = [
        Self::VariableImageFallback,
        Self::VariableImageBlank,
        Self::QrFallbackLink,
        Self::TextOverlap,
        Self::TextUnmeasurable,
        Self::TextCurveTooLong,
    ];

    /// The code on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::VariableImageFallback => "variable_image_fallback",
            Self::VariableImageBlank => "variable_image_blank",
            Self::QrFallbackLink => "qr_fallback_link",
            Self::TextOverlap => "text_overlap",
            Self::TextUnmeasurable => "text_unmeasurable",
            Self::TextCurveTooLong => "text_curve_too_long",
        }
    }
}

impl LayoutError {
    pub(crate) fn unsupported_characters(
        text_box: &str,
        font: &str,
        characters: &[String],
    ) -> Self {
        let detail = format!(
            "The font {font} cannot print {} in the text box \"{text_box}\".",
            character_list(characters)
        );
        Self {
            reason: LayoutErrorReason::UnsupportedCharacters,
            field: text_box.to_owned(),
            detail,
        }
    }

    pub(crate) fn text_overflow(text_box: &str, smallest_size: f64) -> Self {
        let detail = format!(
            "The text does not fit the text box \"{text_box}\", even at its smallest size of {smallest_size} points."
        );
        Self {
            reason: LayoutErrorReason::TextOverflow,
            field: text_box.to_owned(),
            detail,
        }
    }

    pub(crate) fn too_long(text_box: &str) -> Self {
        let detail = format!(
            "With the text box \"{text_box}\" the texts of the card have more than {CARD_CHARS} characters."
        );
        Self {
            reason: LayoutErrorReason::TextOverflow,
            field: text_box.to_owned(),
            detail,
        }
    }

    pub(crate) fn image_missing(field: &str, has_link: bool) -> Self {
        let detail = format!(
            "{}, and the request wants every picture.",
            describe_missing_picture(field, has_link)
        );
        Self {
            reason: LayoutErrorReason::VariableImageMissing,
            field: field.to_owned(),
            detail,
        }
    }
}

impl LayoutWarning {
    fn new(code: LayoutWarningCode, field: &str, detail: String) -> Self {
        Self {
            code,
            field: field.to_owned(),
            detail,
        }
    }

    pub(crate) fn image_fallback(field: &str, has_link: bool) -> Self {
        let detail = format!(
            "{}, so the design's default picture prints.",
            describe_missing_picture(field, has_link)
        );
        Self::new(LayoutWarningCode::VariableImageFallback, field, detail)
    }

    pub(crate) fn image_blank(field: &str, has_link: bool) -> Self {
        let detail = format!(
            "{}, so its place stays blank.",
            describe_missing_picture(field, has_link)
        );
        Self::new(LayoutWarningCode::VariableImageBlank, field, detail)
    }

    pub(crate) fn qr_field_empty(field: &str, code: &str) -> Self {
        let detail = format!(
            "\"{field}\" is empty, so the QR code \"{code}\" leads to the design's fallback link."
        );
        Self::new(LayoutWarningCode::QrFallbackLink, field, detail)
    }

    pub(crate) fn qr_value_truncated(field: &str, code: &str) -> Self {
        let detail = format!(
            "The value of \"{field}\" is too long for a link, so the QR code \"{code}\" leads to the design's fallback link."
        );
        Self::new(LayoutWarningCode::QrFallbackLink, field, detail)
    }

    pub(crate) fn qr_link_invalid(field: &str, code: &str) -> Self {
        let detail = format!(
            "What \"{field}\" gives is not a web link, so the QR code \"{code}\" leads to the design's fallback link."
        );
        Self::new(LayoutWarningCode::QrFallbackLink, field, detail)
    }

    pub(crate) fn text_overlap(text_box: &str, other: &str) -> Self {
        let detail = format!(
            "The text in \"{text_box}\" meets \"{other}\", which it does not in the design."
        );
        Self::new(LayoutWarningCode::TextOverlap, text_box, detail)
    }

    pub(crate) fn text_unmeasurable(text_box: &str) -> Self {
        let detail = format!(
            "The text in \"{text_box}\" is in a script without spaces between words, so its lines may end within a word."
        );
        Self::new(LayoutWarningCode::TextUnmeasurable, text_box, detail)
    }

    pub(crate) fn curve_too_long(text_box: &str, smallest_size: f64, size: f64) -> Self {
        let detail = format!(
            "The text in \"{text_box}\" is too long for its curve at its smallest size of {smallest_size} points, so it prints at {:.1}.",
            // Rounded down: what does not fit at a size prints at a smaller one.
            (size * 10.0).floor() / 10.0
        );
        Self::new(LayoutWarningCode::TextCurveTooLong, text_box, detail)
    }
}

fn describe_missing_picture(field: &str, has_link: bool) -> String {
    match has_link {
        true => format!("The picture of \"{field}\" cannot be used"),
        false => format!("There is no picture in \"{field}\""),
    }
}

/// The characters with their numbers, for those that a reader's screen does not show: `"🎉" (U+1F389)`.
pub(crate) fn character_list(characters: &[String]) -> String {
    let mut listed: Vec<String> = characters
        .iter()
        .take(LISTED_CHARACTERS)
        .map(|character| describe_character(character))
        .collect();
    if let Some(more) = characters
        .len()
        .checked_sub(LISTED_CHARACTERS)
        .filter(|more| *more > 0)
    {
        listed.push(format!("{more} more"));
    }
    match listed.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

fn describe_character(character: &str) -> String {
    let numbers: Vec<String> = character
        .chars()
        .take(LISTED_CHARACTERS)
        .map(|character| format!("U+{:04X}", u32::from(character)))
        .collect();
    let numbers = numbers.join(" ");
    if character.chars().any(char::is_control) {
        numbers
    } else {
        format!("\"{character}\" ({numbers})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_too_long_for_its_curve_prints_smaller_than_its_smallest_size() {
        let warning = LayoutWarning::curve_too_long("seal", 6.0, 5.999);
        assert!(
            warning
                .detail
                .ends_with("smallest size of 6 points, so it prints at 5.9."),
            "{}",
            warning.detail
        );
    }
}
