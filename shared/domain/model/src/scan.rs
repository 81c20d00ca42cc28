//! What is behind a printed QR code: `/q/` and the card's code.

use std::fmt;

use rand::RngExt;
use rand::distr::Alphanumeric;

/// What the path of a printed QR code begins with.
pub const SCAN_PATH: &str = "/q/";

/// Base62 characters of a code: ten of them are 59 bits. Among a billion cards, a guess finds one in
/// a billion tries; and the address stays short, so that the modules of the QR code stay large.
const CODE_CHARS: usize = 10;

/// The first of them, which the cards of a batch have in common, so that their codes stand next to each other in an index.
/// Of the other eight, 48 bits, who knows a batch of 5000 guesses one in forty billion tries.
const BATCH_CHARS: usize = 2;

/// QR codes of a card at the most: one digit tells them apart.
const ELEMENTS: u8 = 9;

/// A card's code: unguessable, and unique over all cards.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MailpieceCode(String);

/// One QR code of a card, as it stands in its address. A card has one code; where its design has more than one
/// QR code, the second one's address ends with `-2`, and so on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ScanTarget {
    /// The card's code.
    pub code: MailpieceCode,
    /// Which of the design's QR codes, in the order front, then back: from 1.
    pub element: u8,
}

impl MailpieceCode {
    /// New codes for the cards of a batch, from the system-seeded generator for secrets.
    pub fn new_batch(cards: usize) -> Vec<Self> {
        let start = random_chars(BATCH_CHARS);
        (0..cards)
            .map(|_| Self(start.clone() + &random_chars(CODE_CHARS - BATCH_CHARS)))
            .collect()
    }

    /// Reads a code; `None` when it can be no card's.
    pub fn parse(text: &str) -> Option<Self> {
        let fits =
            text.len() == CODE_CHARS && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        fits.then(|| Self(text.to_owned()))
    }

    /// The code as it prints.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a code is a secret: nobody is to guess one"
)]
fn random_chars(count: usize) -> String {
    rand::rng()
        .sample_iter(Alphanumeric)
        .take(count)
        .map(char::from)
        .collect()
}

impl ScanTarget {
    /// Reads what follows [`SCAN_PATH`]; `None` when it is on no card.
    pub fn parse(text: &str) -> Option<Self> {
        let (code, element) = match text.split_once('-') {
            None => (text, 1),
            Some((code, digits)) => (code, parse_element_number(digits)?),
        };
        Some(Self {
            code: MailpieceCode::parse(code)?,
            element,
        })
    }
}

/// `2` to `9`: the first one has no number, so that each address has one form.
fn parse_element_number(digits: &str) -> Option<u8> {
    let number = digits
        .parse()
        .ok()
        .filter(|number| (2..=ELEMENTS).contains(number));
    number.filter(|_| digits.len() == 1)
}

impl fmt::Display for ScanTarget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.element {
            1 => formatter.write_str(self.code.as_str()),
            element => write!(formatter, "{}-{element}", self.code.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_codes_of_a_batch_are_read_back_begin_alike_and_differ() {
        let codes = MailpieceCode::new_batch(100);
        for code in &codes {
            assert_eq!(MailpieceCode::parse(code.as_str()), Some(code.clone()));
            assert_eq!(
                code.as_str()[..BATCH_CHARS],
                codes[0].as_str()[..BATCH_CHARS]
            );
        }
        assert_eq!(codes.iter().collect::<HashSet<_>>().len(), codes.len());
    }

    #[test]
    fn a_target_is_the_code_and_the_number_of_a_later_element() {
        for (text, element) in [("aZ09aZ09aZ", 1), ("aZ09aZ09aZ-2", 2), ("aZ09aZ09aZ-9", 9)] {
            let target = ScanTarget::parse(text).unwrap();
            assert_eq!(
                (target.element, target.to_string().as_str()),
                (element, text)
            );
        }
        for text in [
            "",
            "aZ09aZ09a",
            "aZ09aZ09aZZ",
            "aZ09aZ09a!",
            "aZ09aZ09aZ-",
            "aZ09aZ09aZ-1",
            "aZ09aZ09aZ-02",
        ] {
            assert_eq!(ScanTarget::parse(text), None, "{text}");
        }
        assert_eq!(ScanTarget::parse("aZ09aZ09aZ-10"), None);
        assert_eq!(ScanTarget::parse("aZ09aZ09aZ-+2"), None);
    }
}
