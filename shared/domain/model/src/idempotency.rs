//! What makes a retry the same request.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::limits::IDEMPOTENCY_KEY_CHARS;

/// The value of an `Idempotency-Key` header: 1 to 200 characters, compared as they are.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IdempotencyKey(String);

/// A request's fingerprint: equal for a request and its retry, different for any other request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestHash(pub [u8; 32]);

impl IdempotencyKey {
    /// The key as it was sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A text that is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IdempotencyKeyError {
    /// It is empty, which is as good as none.
    #[error("an Idempotency-Key is empty")]
    Empty,
    /// It has too many characters, or one that cannot be stored.
    #[error(
        "an Idempotency-Key has more than {IDEMPOTENCY_KEY_CHARS} characters, or one that cannot be stored"
    )]
    Unusable,
}

impl FromStr for IdempotencyKey {
    type Err = IdempotencyKeyError;

    fn from_str(text: &str) -> Result<Self, IdempotencyKeyError> {
        if text.is_empty() {
            return Err(IdempotencyKeyError::Empty);
        }
        if text.chars().count() > IDEMPOTENCY_KEY_CHARS || text.contains('\0') {
            return Err(IdempotencyKeyError::Unusable);
        }
        Ok(Self(text.to_owned()))
    }
}

impl RequestHash {
    /// Of a request that is told by its kind and a few words, `None` for one that was left out.
    pub fn hash_words(kind: &str, words: &[Option<&str>]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(kind.as_bytes());
        for word in words {
            // A mark that no word can hold keeps words apart, and an absent one from an empty one.
            hasher.update(if word.is_some() { &[0xff] } else { &[0xfe] });
            hasher.update(word.unwrap_or_default().as_bytes());
        }
        Self(*hasher.finalize().as_bytes())
    }

    /// Of a batch: its records as they were sent, whatever stands between them.
    pub fn hash_records(records: &[&RawValue]) -> Self {
        // In one piece: many small ones cost several times as much.
        let mut bytes = b"push".to_vec();
        bytes.reserve(records.iter().map(|record| record.get().len() + 1).sum());
        for record in records {
            bytes.push(0xff);
            bytes.extend_from_slice(record.get().as_bytes());
        }
        Self(*blake3::hash(&bytes).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idempotency_key_has_1_to_200_characters() {
        let parse = |text: String| text.parse::<IdempotencyKey>();
        assert_eq!(parse(String::new()), Err(IdempotencyKeyError::Empty));
        assert!(parse("k".repeat(200)).is_ok());
        assert!(parse("é".repeat(200)).is_ok());
        assert_eq!(parse("k".repeat(201)), Err(IdempotencyKeyError::Unusable));
    }

    #[test]
    fn requests_that_differ_have_different_hashes() {
        let hashes = [
            RequestHash::hash_words("begin", &[Some("full")]),
            RequestHash::hash_words("begin", &[Some("delta")]),
            RequestHash::hash_words("complete", &[None]),
            RequestHash::hash_words("complete", &[Some("")]),
            RequestHash::hash_words("complete", &[Some("a"), Some("b")]),
            RequestHash::hash_words("complete", &[Some("ab")]),
            RequestHash::hash_records(&[]),
        ];
        for (index, hash) in hashes.iter().enumerate() {
            assert!(!hashes[..index].contains(hash), "{index}");
        }
    }
}
