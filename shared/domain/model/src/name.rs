//! Names of things and of people, as they are typed.

use std::str::FromStr;

use serde::Deserialize;

/// Characters of a name of anything.
const NAME_CHARS: usize = 200;

/// Characters of an email address (RFC 5321: a path of 256 octets, its angle brackets aside).
const EMAIL_CHARS: usize = 254;

/// A name: trimmed, on one line, not empty, bounded.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct DisplayName(String);

impl DisplayName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for DisplayName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty()
            || text.chars().count() > NAME_CHARS
            || text.chars().any(char::is_control)
        {
            return Err(format!("must be 1 to {NAME_CHARS} characters on one line"));
        }
        Ok(Self(text.to_owned()))
    }
}

impl FromStr for DisplayName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::try_from(text.to_owned())
    }
}

/// A person's email address, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct NormalizedEmail(String);

impl NormalizedEmail {
    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for NormalizedEmail {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let text = text.trim().to_lowercase();
        let has_parts = text.split_once('@').is_some_and(|(local, domain)| {
            !local.is_empty() && !domain.is_empty() && !domain.contains('@')
        });
        let is_clean = !text
            .chars()
            .any(|character| character.is_whitespace() || character.is_control());
        if has_parts && is_clean && text.chars().count() <= EMAIL_CHARS {
            Ok(Self(text))
        } else {
            Err(format!("{text:?} is not an email address"))
        }
    }
}

impl FromStr for NormalizedEmail {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::try_from(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_trimmed_bounded_and_on_one_line() {
        assert_eq!(
            "  Ada Marsh ".parse::<DisplayName>().unwrap().as_str(),
            "Ada Marsh"
        );
        for wrong in ["", "  ", "two\nlines", &"x".repeat(201)] {
            assert!(wrong.parse::<DisplayName>().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn an_email_address_is_trimmed_and_lower_case_with_one_at_sign() {
        assert_eq!(
            " Ada@Example.com "
                .parse::<NormalizedEmail>()
                .unwrap()
                .as_str(),
            "ada@example.com"
        );
        for wrong in [
            "",
            "ada",
            "@example.com",
            "ada@",
            "a@b@c",
            "a da@example.com",
            &format!("{}@b", "a".repeat(253)),
        ] {
            assert!(wrong.parse::<NormalizedEmail>().is_err(), "{wrong:?}");
        }
    }
}
