//! API keys: what kind a key is, and what is kept of it.

use std::fmt;

use sha2::{Digest, Sha256};

/// The longest text that is looked at as a key. A real one is 30 characters; what is longer is no key.
pub const KEY_CHARS: usize = 128;

/// What a key opens (contract: Authentication).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// `pk_live_`: the Dynamic Audience API and the Formula MCP server.
    FullAccess,
    /// `pk_int_`: one integration's push API and MCP server.
    Integration,
    /// `pk_fx_`: the Formula MCP server.
    Formulas,
}

impl KeyKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::FullAccess, Self::Integration, Self::Formulas];

    /// What a key of this kind begins with.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::FullAccess => "pk_live_",
            Self::Integration => "pk_int_",
            Self::Formulas => "pk_fx_",
        }
    }

    /// The name in the database and in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FullAccess => "full_access",
            Self::Integration => "integration",
            Self::Formulas => "formulas",
        }
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// The kind that a key with this text would have.
    pub fn from_key(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|kind| text.starts_with(kind.prefix()))
    }
}

/// A key as a client sent it. It is never logged, stored or shown: its `Debug` says nothing.
#[derive(Clone)]
pub struct PresentedKey(String);

/// SHA-256 of a key: what is stored, looked up and counted.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash(pub [u8; 32]);

impl PresentedKey {
    /// Takes the text of a header or body field. Any text can be presented; whether it opens anything
    /// is for the database to say. An over-long one is cut, so that it cannot match.
    pub fn new(text: &str) -> Self {
        Self(text.trim().chars().take(KEY_CHARS).collect())
    }

    /// The hash to look up.
    pub fn hash(&self) -> KeyHash {
        KeyHash(Sha256::digest(self.0.as_bytes()).into())
    }

    /// The first and last four characters, for people to tell keys apart.
    pub fn abbreviate(&self) -> String {
        let characters: Vec<char> = self.0.chars().collect();
        if characters.len() < 12 {
            return "…".to_owned();
        }
        let first: String = characters[..4].iter().collect();
        let last: String = characters[characters.len() - 4..].iter().collect();
        format!("{first}…{last}")
    }
}

impl fmt::Debug for PresentedKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PresentedKey(…)")
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("KeyHash(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_shown_by_its_ends_and_never_printed() {
        let key = PresentedKey::new(" pk_live_0123456789abcdefghijkl ");
        assert_eq!(key.abbreviate(), "pk_l…ijkl");
        assert!(!format!("{key:?} {:?}", key.hash()).contains("0123"));
        assert_eq!(PresentedKey::new("short").abbreviate(), "…");
    }

    #[test]
    fn the_prefix_tells_the_kind() {
        assert_eq!(KeyKind::from_key("pk_int_x"), Some(KeyKind::Integration));
        assert_eq!(KeyKind::from_key("sk_live_x"), None);
        for kind in KeyKind::ALL {
            assert_eq!(KeyKind::from_name(kind.as_str()), Some(kind));
        }
    }
}
