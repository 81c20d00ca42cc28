//! What a form was made from: it sends back a fingerprint of what stood there, so that nobody saves over what somebody
//! else has saved meanwhile without having seen it.

use serde::Serialize;

/// Digits of a fingerprint.
const DIGITS: usize = 32;

/// A fingerprint of something stored, the same as long as that stands.
pub(crate) fn fingerprint_of(stored: &impl Serialize) -> String {
    // What is stored can be written; what could not would be like nothing else that stands.
    let written = serde_json::to_vec(stored).unwrap_or_default();
    blake3::hash(&written).to_hex()[..DIGITS].to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_fingerprint_changes_with_what_is_stored() {
        assert_eq!(fingerprint_of(&Some(5)), fingerprint_of(&Some(5)));
        assert_ne!(fingerprint_of(&Some(5)), fingerprint_of(&None::<i16>));
        assert_ne!(
            fingerprint_of(&json!({"all": []})),
            fingerprint_of(&json!({"any": []}))
        );
    }
}
