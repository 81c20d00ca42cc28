//! What a form was made from: it sends back a fingerprint of what stood there, so that nobody saves over what somebody
//! else has saved meanwhile without having seen it.

use serde::Serialize;

/// Digits of a fingerprint.
const DIGITS: usize = 32;

/// A fingerprint of something stored, the same as long as that stands.
pub(crate) fn fingerprint(stored: &impl Serialize) -> String {
    // What is stored can be written; what could not would be like nothing else that stands.
    let written = serde_json::to_vec(stored).unwrap_or_default();
    blake3::hash(&written).to_hex()[..DIGITS].to_owned()
}

/// What was stored before and is stored now, for the log of what people did; each is cut at a bound.
pub(crate) fn before_and_now(before: &str, now: &str) -> String {
    format!("before: {}; now: {}", cut(before), cut(now))
}

/// Characters of a text in the log.
const LOGGED_CHARS: usize = 500;

fn cut(text: &str) -> String {
    match text.char_indices().nth(LOGGED_CHARS) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_fingerprint_changes_with_what_is_stored() {
        assert_eq!(fingerprint(&Some(5)), fingerprint(&Some(5)));
        assert_ne!(fingerprint(&Some(5)), fingerprint(&None::<i16>));
        assert_ne!(
            fingerprint(&json!({"all": []})),
            fingerprint(&json!({"any": []}))
        );
    }

    #[test]
    fn the_log_holds_no_text_of_any_length() {
        assert_eq!(before_and_now("a", "é"), "before: a; now: é");
        assert!(before_and_now(&"é".repeat(9_000), "a").chars().count() < 2 * LOGGED_CHARS);
    }
}
