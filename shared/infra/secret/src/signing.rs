//! Keys that sign deliveries, in the text form of Standard Webhooks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rand::RngExt;

/// What the text of a key begins with.
const SECRET_PREFIX: &str = "whsec_";

/// Random bytes of a key; the specification has 24 to 64.
const SECRET_BYTES: usize = 32;

/// A key that signs. Its `Debug` says nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningSecret(Vec<u8>);

impl SigningSecret {
    /// A new key, from the system-seeded generator for secrets.
    pub fn random() -> Self {
        Self(rand::rng().random::<[u8; SECRET_BYTES]>().to_vec())
    }

    /// The key as integrators put it into their library: `whsec_` and base64.
    pub fn reveal(&self) -> String {
        format!("{SECRET_PREFIX}{}", STANDARD.encode(&self.0))
    }

    /// Its bytes, for the database.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for SigningSecret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("SigningSecret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_key_is_written_as_libraries_read_it_and_never_shows_in_debug() {
        let secret = SigningSecret::random();
        let text = secret.reveal();
        assert_eq!(
            STANDARD
                .decode(text.strip_prefix("whsec_").unwrap())
                .unwrap(),
            secret.as_bytes()
        );
        assert_ne!(secret, SigningSecret::random());
        assert_eq!(format!("{secret:?}"), "SigningSecret(…)");
    }
}
