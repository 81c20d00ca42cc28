//! The passwords that are tried first.

use std::collections::HashSet;
use std::sync::LazyLock;

/// What leaked most often, one a line, in lower case (data/README.md).
static LISTED: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    include_str!("../data/common_passwords.txt")
        .lines()
        .collect()
});

/// A word that is only lengthened is as long at least.
const LEAST_WORD_CHARS: usize = 4;

/// A text that repeats so few characters is guessed, whatever they are.
const REPEATED_CHARS: usize = 3;

/// Whether it is among the passwords that are tried first: listed, in whatever case; a listed word with digits or signs
/// around it; or such a text, or a very short one, again and again.
pub(crate) fn is_common(password: &str) -> bool {
    let folded = password.trim().to_lowercase();
    let word = folded.trim_matches(|character: char| !character.is_alphabetic());
    LISTED.contains(folded.as_str())
        || word.chars().count() >= LEAST_WORD_CHARS && LISTED.contains(word)
        || shortest_period(&folded)
            .is_some_and(|part| part.chars().count() <= REPEATED_CHARS || LISTED.contains(part))
}

/// The shortest text that this one is a repetition of.
fn shortest_period(text: &str) -> Option<&str> {
    let ends = text.char_indices().map(|(index, _)| index).skip(1);
    ends.take_while(|end| *end <= text.len() / 2)
        .find(|end| {
            text.len().is_multiple_of(*end) && text[..*end].repeat(text.len() / end) == text
        })
        .map(|end| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_tried_first_is_known_in_its_usual_disguises() {
        for common in [
            "1234567890",
            "qwertyuiop",
            "Basketball",
            "PASSWORD123",
            "Password2026!",
            "!!monkey!!2024",
            "aaaaaaaaaaaa",
            "abcabcabcabc",
            "passwordpassword",
            " qwerty12345 ",
            "ééééééééééé",
        ] {
            assert!(is_common(common), "{common}");
        }
    }

    #[test]
    fn words_of_ones_own_are_not() {
        for own in [
            "bluebonnets in spring",
            "indian paintbrush in may",
            "correct horse",
            "monkey sees monkey",
            "x7!kQp-2vLm9",
            "密码是我的生日礼物和书",
        ] {
            assert!(!is_common(own), "{own}");
        }
    }

    #[test]
    fn the_list_is_as_it_is_looked_up() {
        assert!(LISTED.len() > 4_000);
        assert!(
            LISTED
                .iter()
                .all(|listed| *listed == listed.trim().to_lowercase()
                    && listed.chars().count() >= LEAST_WORD_CHARS)
        );
    }
}
