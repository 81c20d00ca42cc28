//! Amounts of money as people write them.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

/// The largest amount that is taken, in cents: a billion dollars. Sums of such amounts fit an `i64`.
const MOST_CENTS: i64 = 100_000_000_000;

/// Digits between two commas.
const GROUP_DIGITS: usize = 3;

/// A positive amount. As text it is dollars, with or without the sign: `$1,250.00`, `250`. In files a
/// number is whole cents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Money(i64);

/// A text or number that is no amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseMoneyError {
    /// Not in one of the forms.
    #[error("is not an amount of dollars such as \"$1,250.00\"")]
    Form,
    /// Zero, negative or past the largest amount.
    #[error("must be from $0.01 to {}", DollarAmount(MOST_CENTS))]
    Range,
}

impl Money {
    /// The amount of this many cents.
    ///
    /// # Errors
    /// [`ParseMoneyError::Range`] unless it is from one cent to a billion dollars.
    pub fn from_cents(cents: i64) -> Result<Self, ParseMoneyError> {
        if (1..=MOST_CENTS).contains(&cents) {
            Ok(Self(cents))
        } else {
            Err(ParseMoneyError::Range)
        }
    }

    /// In cents.
    pub const fn cents(self) -> i64 {
        self.0
    }
}

impl FromStr for Money {
    type Err = ParseMoneyError;

    fn from_str(text: &str) -> Result<Self, ParseMoneyError> {
        let text = text.trim();
        let text = text.strip_prefix('$').unwrap_or(text);
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "00"));
        let is_fraction = fraction.len() == 2 && fraction.bytes().all(|byte| byte.is_ascii_digit());
        let digits = without_commas(whole)
            .filter(|_| is_fraction)
            .ok_or(ParseMoneyError::Form)?
            + fraction;
        // Digits alone that do not fit are too many.
        Self::from_cents(digits.parse().map_err(|_| ParseMoneyError::Range)?)
    }
}

/// The digits of a whole number whose commas, if it has any, part groups of three.
fn without_commas(whole: &str) -> Option<String> {
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let is_grouped = !whole.contains(',')
        || (first.len() <= GROUP_DIGITS && groups.all(|group| group.len() == GROUP_DIGITS));
    let digits = whole.replace(',', "");
    let is_number = !first.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    (is_grouped && is_number).then_some(digits)
}

impl fmt::Display for Money {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        DollarAmount(self.0).fmt(formatter)
    }
}

/// Any number of cents, shown as dollars: `$1,250.00`, `-$0.79`.
#[derive(Debug, Clone, Copy)]
pub struct DollarAmount(pub i64);

impl fmt::Display for DollarAmount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let cents = self.0.unsigned_abs();
        let whole = (cents / 100).to_string();
        let mut grouped = String::new();
        for (index, digit) in whole.chars().enumerate() {
            if index > 0 && (whole.len() - index).is_multiple_of(GROUP_DIGITS) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        write!(formatter, "{sign}${grouped}.{:02}", cents % 100)
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0)
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MoneyVisitor)
    }
}

struct MoneyVisitor;

impl Visitor<'_> for MoneyVisitor {
    type Value = Money;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("whole cents such as 25000, or dollars in quotes such as \"$250.00\"")
    }

    fn visit_i64<E: de::Error>(self, cents: i64) -> Result<Money, E> {
        Money::from_cents(cents).map_err(|error| E::custom(format!("{cents} cents: {error}")))
    }

    fn visit_u64<E: de::Error>(self, cents: u64) -> Result<Money, E> {
        self.visit_i64(i64::try_from(cents).unwrap_or(i64::MAX))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Money, E> {
        text.parse()
            .map_err(|error| E::custom(format!("{text:?} {error}")))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_amount_is_dollars_as_text_and_cents_as_a_number() {
        for (text, cents) in [
            ("$250.00", 25_000),
            ("250", 25_000),
            (" $1,250.07 ", 125_007),
            ("0.01", 1),
            ("1,000,000", 100_000_000),
        ] {
            assert_eq!(text.parse().map(Money::cents), Ok(cents), "{text}");
        }
        assert_eq!(
            serde_json::from_str::<Money>("25000").unwrap().cents(),
            25_000
        );
        assert_eq!(
            serde_json::from_str::<Money>("\"$250.00\"")
                .unwrap()
                .cents(),
            25_000
        );
    }

    #[test]
    fn what_could_be_meant_in_two_ways_is_refused() {
        for text in [
            "",
            "$",
            "$.50",
            "1.5",
            "1.234",
            "1,23",
            "12345,678",
            ",100",
            "1,,000",
            "1e3",
            "-5",
            "$$5",
            "٣",
        ] {
            assert_eq!(text.parse::<Money>(), Err(ParseMoneyError::Form), "{text}");
        }
        for text in ["0", "0.00", "1,000,000,000.01", "99999999999999999999"] {
            assert_eq!(text.parse::<Money>(), Err(ParseMoneyError::Range), "{text}");
        }
        for json in [
            "250.00",
            "0",
            "-1",
            "18446744073709551615",
            "true",
            "null",
            "[1]",
        ] {
            assert!(serde_json::from_str::<Money>(json).is_err(), "{json}");
        }
    }

    proptest! {
        #[test]
        fn an_amount_reads_back_as_it_is_shown(cents in 1..=MOST_CENTS) {
            let money = Money::from_cents(cents).unwrap();
            prop_assert_eq!(money.to_string().parse(), Ok(money));
        }
    }
}
