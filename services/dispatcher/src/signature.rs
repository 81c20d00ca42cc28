//! Signatures, for endpoints that have asked for them (Standard Webhooks 1.0, symmetric).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use rand::RngExt;
use sha2::Sha256;

/// What the text of a key begins with.
const SECRET_PREFIX: &str = "whsec_";

/// Random bytes of a key; the specification has 24 to 64.
const SECRET_BYTES: usize = 32;

/// A key that signs. Its `Debug` says nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningSecret(Vec<u8>);

impl SigningSecret {
    /// A new key, from the system-seeded generator for secrets.
    #[expect(clippy::disallowed_methods, reason = "a signing key is a secret")]
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

/// The value of the header: one signature for each key, separated by spaces.
pub(crate) fn sign(secrets: &[Vec<u8>], id: &str, timestamp: i64, body: &str) -> Option<String> {
    let signatures: Vec<String> = secrets
        .iter()
        .filter_map(|secret| {
            // HMAC takes keys of any length.
            let mut mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
            mac.update(format!("{id}.{timestamp}.").as_bytes());
            mac.update(body.as_bytes());
            Some(format!(
                "v1,{}",
                STANDARD.encode(mac.finalize().into_bytes())
            ))
        })
        .collect();
    (!signatures.is_empty()).then(|| signatures.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_that_of_the_specification() {
        // The example of the Standard Webhooks reference libraries' tests.
        let secret = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let sign = |secrets: &[Vec<u8>]| {
            sign(
                secrets,
                "msg_p5jXN8AQM9LWM0D4loKWxJek",
                1_614_265_330,
                r#"{"test": 2432232314}"#,
            )
        };
        let expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        assert_eq!(
            sign(std::slice::from_ref(&secret)).as_deref(),
            Some(expected)
        );
        let both = sign(&[vec![7; 32], secret]).unwrap();
        assert!(both.ends_with(&format!(" {expected}")) && both.matches("v1,").count() == 2);
        assert_eq!(sign(&[]), None);
    }

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
