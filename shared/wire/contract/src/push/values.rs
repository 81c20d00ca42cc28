//! The values of an accepted record.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

/// Values by field key, as they are stored: each key once, in the order in which fields were declared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContactValues<'a>(Vec<(&'a str, Cow<'a, str>)>);

/// Tells values from others: equal for the same values of the same keys, different for any others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContactFingerprint(pub [u8; 16]);

impl<'a> ContactValues<'a> {
    /// Adds the value of the next field.
    pub(crate) fn push(&mut self, key: &'a str, value: Cow<'a, str>) {
        self.0.push((key, value));
    }

    /// Their fingerprint.
    pub fn fingerprint(&self) -> ContactFingerprint {
        let mut bytes = Vec::with_capacity(
            self.0
                .iter()
                .map(|(key, value)| key.len() + value.len() + 2)
                .sum(),
        );
        for (key, value) in &self.0 {
            bytes.extend_from_slice(key.as_bytes());
            // Bytes that no text holds keep keys and values apart.
            bytes.push(0xff);
            bytes.extend_from_slice(value.as_bytes());
            bytes.push(0xfe);
        }
        let mut fingerprint = [0; 16];
        fingerprint.copy_from_slice(&blake3::hash(&bytes).as_bytes()[..16]);
        ContactFingerprint(fingerprint)
    }
}

impl Serialize for ContactValues<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn build_values(pairs: &[(String, String)]) -> ContactValues<'_> {
        ContactValues(
            pairs
                .iter()
                .map(|(key, value)| (key.as_str(), Cow::Borrowed(value.as_str())))
                .collect(),
        )
    }

    #[test]
    fn values_are_written_as_an_object() {
        let pairs = [
            ("b".to_owned(), "1\"".to_owned()),
            ("a".to_owned(), String::new()),
        ];
        assert_eq!(
            serde_json::to_string(&build_values(&pairs)).unwrap(),
            r#"{"b":"1\"","a":""}"#
        );
    }

    proptest! {
        #[test]
        fn the_fingerprint_tells_values_apart(
            one in prop::collection::vec(("[ab]{0,2}", "[ab]{0,2}"), 0..4),
            other in prop::collection::vec(("[ab]{0,2}", "[ab]{0,2}"), 0..4),
        ) {
            prop_assert_eq!(build_values(&one).fingerprint() == build_values(&other).fingerprint(), one == other);
        }
    }
}
