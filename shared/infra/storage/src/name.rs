//! Names that mean the same in a folder, in a bucket and in a link.

use std::fmt;
use std::str::FromStr;

/// Characters of a name.
const NAME_CHARS: usize = 200;

/// A file's name: parts of letters, digits, `.`, `_` and `-`, with `/` between them, 200 characters at the most. No
/// part begins with a dot, so that no name leads out of the store.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileName(String);

/// A text that is no [`FileName`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a file name")]
pub struct InvalidFileName(String);

impl FileName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for FileName {
    type Err = InvalidFileName;

    fn from_str(text: &str) -> Result<Self, InvalidFileName> {
        let is_name = text.len() <= NAME_CHARS && text.split('/').all(is_part);
        is_name
            .then(|| Self(text.to_owned()))
            .ok_or_else(|| InvalidFileName(text.to_owned()))
    }
}

fn is_part(part: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    !part.is_empty() && !part.starts_with('.') && part.bytes().all(is_plain)
}

impl fmt::Display for FileName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_plain_and_stay_inside() {
        for name in [
            "a",
            "pictures/ab/cd-12.png",
            "print/2026-11-21/postcard_4x6.pdf",
        ] {
            assert_eq!(name.parse::<FileName>().unwrap().as_str(), name);
        }
        let long = "a".repeat(NAME_CHARS + 1);
        for name in [
            "", "/a", "a/", "a//b", "..", "a/../b", ".hidden", "a b", "a#1", "a\\b", "é", "a%2e",
            &long,
        ] {
            assert!(name.parse::<FileName>().is_err(), "{name}");
        }
    }

    proptest! {
        #[test]
        fn no_name_has_a_part_that_leads_elsewhere(text in ".{0,40}") {
            if let Ok(name) = text.parse::<FileName>() {
                let path = std::path::Path::new(name.as_str());
                prop_assert!(path.components().all(|part| matches!(part, std::path::Component::Normal(_))));
            }
        }
    }
}
