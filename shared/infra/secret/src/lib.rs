//! Secrets: the keys that we make, the tokens of sessions, and the passwords of people.

#![expect(
    clippy::disallowed_methods,
    reason = "secrets are what the system-seeded generator is for"
)]

mod common;
mod signing;

use std::fmt;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use model::id::CampaignId;
use model::key::{KEY_CHARS, KeyKind, PresentedKey};
use rand::RngExt;
use rand::distr::Alphanumeric;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub use self::signing::SigningSecret;

use self::common::is_common;

/// Random base62 characters of a key: 24 of them are 142 bits.
const KEY_RANDOM_CHARS: usize = 24;

/// Characters after the prefix that a key given in a file has at least.
const FIXED_KEY_LEAST_CHARS: usize = 16;

/// Characters of a password.
const PASSWORD_CHARS: std::ops::RangeInclusive<usize> = 10..=200;

/// The characters of the random part of a campaign id, and how many there are of them.
const CAMPAIGN_ID_ALPHABET: &[u8; 36] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const CAMPAIGN_ID_CHARS: usize = 6;

/// The text of an API key. It serialises, because the one who makes a key must see it once; its `Debug` says
/// nothing.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct KeyText(String);

impl KeyText {
    /// A new key of this kind, from the system-seeded generator for secrets.
    pub fn random(kind: KeyKind) -> Self {
        let random = rand::rng()
            .sample_iter(Alphanumeric)
            .take(KEY_RANDOM_CHARS)
            .map(char::from);
        Self(kind.prefix().chars().chain(random).collect())
    }

    /// The key itself, for the one person who may see it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What the prefix says that it opens.
    pub fn kind(&self) -> Option<KeyKind> {
        KeyKind::from_key(&self.0)
    }

    /// As a client presents it.
    pub fn to_presented(&self) -> PresentedKey {
        PresentedKey::new(&self.0)
    }
}

impl TryFrom<String> for KeyText {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let tail = KeyKind::from_key(&text).map(|kind| &text[kind.prefix().len()..]);
        let is_key = tail.is_some_and(|tail| {
            tail.len() >= FIXED_KEY_LEAST_CHARS
                && text.len() <= KEY_CHARS
                && tail.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
        // The text is not repeated: it may be a real key with a slip in it.
        if is_key {
            Ok(Self(text))
        } else {
            Err(format!(
                "a key is its prefix (such as pk_live_) and at least {FIXED_KEY_LEAST_CHARS} of 0-9, A-Z and \
                 a-z, {KEY_CHARS} characters in all at the most"
            ))
        }
    }
}

impl fmt::Debug for KeyText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("KeyText(…)")
    }
}

/// Random base62 characters of a token: 43 of them are 256 bits.
const TOKEN_CHARS: usize = 43;

/// A token that says who somebody is, for a while. Only its hash is stored; its `Debug` says nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretToken(String);

impl SecretToken {
    /// A new one.
    pub fn random() -> Self {
        Self(
            rand::rng()
                .sample_iter(Alphanumeric)
                .take(TOKEN_CHARS)
                .map(char::from)
                .collect(),
        )
    }

    /// A token as it was presented; `None` when it cannot be one of ours.
    pub fn from_presented(text: &str) -> Option<Self> {
        let is_token =
            text.len() == TOKEN_CHARS && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_token.then(|| Self(text.to_owned()))
    }

    /// The token itself, for the one who holds it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Its SHA-256, which is what is stored.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.0.as_bytes()).into()
    }
}

impl fmt::Debug for SecretToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(…)")
    }
}

/// A person's password. Its `Debug` says nothing.
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct Password(String);

impl Password {
    /// Its Argon2id hash in PHC form, with a salt of its own. Takes tens of milliseconds, by design.
    ///
    /// # Errors
    /// When the system has no randomness for the salt.
    pub fn hash(&self) -> Result<String, argon2::password_hash::Error> {
        Ok(Argon2::default()
            .hash_password(self.0.as_bytes())?
            .to_string())
    }

    /// A password that somebody with this e-mail address chooses.
    ///
    /// # Errors
    /// A sentence without its full stop: what passwords are like, that the address is none, or that it is one of those that are tried
    /// first.
    pub fn choose(text: String, email: &str) -> Result<Self, String> {
        let password = Self::try_from(text)?;
        match password.refusal_reason(email) {
            Some(reason) => Err(reason.to_owned()),
            None => Ok(password),
        }
    }

    /// Why somebody with this e-mail address is not to choose it, as a sentence without its full stop. One that was chosen
    /// before still opens its account.
    pub fn refusal_reason(&self, email: &str) -> Option<&'static str> {
        if self.0.trim().to_lowercase() == email.trim().to_lowercase() {
            return Some("a password is not the e-mail address");
        }
        is_common(&self.0).then_some(
            "it is one of the passwords that are tried first; several words make a good one",
        )
    }

    /// Whether the hash, in PHC form, is of this password.
    pub fn matches(&self, hash: &str) -> bool {
        PasswordHash::new(hash).is_ok_and(|hash| {
            Argon2::default()
                .verify_password(self.0.as_bytes(), &hash)
                .is_ok()
        })
    }
}

impl TryFrom<String> for Password {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if PASSWORD_CHARS.contains(&text.chars().count()) && !text.chars().any(char::is_control) {
            Ok(Self(text))
        } else {
            let (least, most) = (PASSWORD_CHARS.start(), PASSWORD_CHARS.end());
            Err(format!(
                "a password has {least} to {most} characters, none of them a control character"
            ))
        }
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Password(…)")
    }
}

/// The characters of the random part of a reference, without those that look like others, and how many there are of
/// them.
const REFERENCE_ALPHABET: &[u8; 31] = b"ABCDEFGHJKLMNPQRSTUVWXYZ2345678";
const REFERENCE_CHARS: usize = 10;

/// A random reference that people copy from a page to a payment, such as `TU-7K2M5QXW4B`.
pub fn random_reference() -> String {
    let mut random = rand::rng();
    let letter =
        |_| char::from(REFERENCE_ALPHABET[random.random_range(..REFERENCE_ALPHABET.len())]);
    "TU-"
        .chars()
        .chain((0..REFERENCE_CHARS).map(letter))
        .collect()
}

/// A random campaign id. Two may be equal: whoever makes a campaign asks whether it is taken.
pub fn random_campaign_id() -> CampaignId {
    let mut random = rand::rng();
    let tail: String = (0..CAMPAIGN_ID_CHARS)
        .map(|_| {
            char::from(CAMPAIGN_ID_ALPHABET[random.random_range(..CAMPAIGN_ID_ALPHABET.len())])
        })
        .collect();
    format!("PA-{tail}")
        .parse()
        .expect("the alphabet is that of campaign ids")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_key_has_its_prefix_and_at_least_128_random_bits() {
        for kind in KeyKind::ALL {
            let (one, other) = (KeyText::random(kind), KeyText::random(kind));
            assert_ne!(one, other);
            assert_eq!(one.kind(), Some(kind));
            let tail = one.reveal().strip_prefix(kind.prefix()).unwrap().to_owned();
            assert!(f64::from(u32::try_from(tail.len()).unwrap()) * 62f64.log2() >= 128.0);
            assert!(KeyText::try_from(one.reveal().to_owned()).is_ok());
        }
    }

    #[test]
    fn a_given_key_has_a_known_prefix_and_is_base62() {
        assert!(KeyText::try_from("pk_live_0123456789abcdef".to_owned()).is_ok());
        let too_long = format!("pk_live_{}", "a".repeat(KEY_CHARS));
        for wrong in [
            "",
            "pk_live_",
            "pk_live_0123456789abcde",
            "sk_live_0123456789abcdef",
            &too_long,
        ] {
            assert!(KeyText::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
        let slip = KeyText::try_from("pk_live_0123456789-abcdef".to_owned()).unwrap_err();
        assert!(!slip.contains("0123456789"), "{slip}");
    }

    #[test]
    fn neither_keys_nor_passwords_show_in_debug() {
        let key = KeyText::random(KeyKind::FullAccess);
        assert_eq!(format!("{key:?}"), "KeyText(…)");
        let password = Password::try_from("correct horse".to_owned()).unwrap();
        assert_eq!(format!("{password:?}"), "Password(…)");
    }

    #[test]
    fn a_password_is_hashed_with_argon2id_and_a_salt_of_its_own() {
        let password = Password::try_from("correct horse".to_owned()).unwrap();
        let (one, other) = (password.hash().unwrap(), password.hash().unwrap());
        assert!(one.starts_with("$argon2id$v=19$"), "{one}");
        assert_ne!(one, other);
        assert!(password.matches(&one) && password.matches(&other));
        assert!(
            !Password::try_from("correct house".to_owned())
                .unwrap()
                .matches(&one)
        );
        assert!(!password.matches("not a hash"));
        assert!(Password::choose("Ada@Example.com ".to_owned(), "ada@example.com").is_err());
        assert!(Password::choose("correct horse".to_owned(), "ada@example.com").is_ok());
        assert!(
            Password::choose("Password123!".to_owned(), "ada@example.com")
                .unwrap_err()
                .contains("tried first")
        );
        for wrong in ["short", "nine char", "tab\tinside it", &"x".repeat(201)] {
            assert!(Password::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_token_is_known_by_its_hash_and_rubbish_is_none() {
        let (one, other) = (SecretToken::random(), SecretToken::random());
        assert_ne!(one.hash(), other.hash());
        assert_eq!(
            SecretToken::from_presented(one.reveal()).unwrap().hash(),
            one.hash()
        );
        for wrong in [
            "",
            "short",
            &format!("{}!", &one.reveal()[1..]),
            &"é".repeat(43),
        ] {
            assert!(SecretToken::from_presented(wrong).is_none(), "{wrong}");
        }
        assert_eq!(format!("{one:?}"), "Token(…)");
    }

    #[test]
    fn a_made_reference_has_no_characters_that_look_like_others() {
        let references: std::collections::HashSet<String> =
            (0..100).map(|_| random_reference()).collect();
        assert_eq!(references.len(), 100);
        for reference in references {
            let tail = reference.strip_prefix("TU-").unwrap();
            assert!(
                tail.len() == 10 && !tail.contains(['0', 'O', '1', 'I', '9']),
                "{reference}"
            );
        }
    }

    #[test]
    fn a_made_campaign_id_is_one() {
        let ids: std::collections::HashSet<_> = (0..100).map(|_| random_campaign_id()).collect();
        assert!(ids.len() > 90);
    }
}
